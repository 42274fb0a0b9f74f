/** A source behind an SQL driver: plans are compiled by its dialect, each read is one statement. */
import { ServiceError } from '../core/error.ts'
import type { Demand, ReadPlan, WritePlan } from '../core/plan/plan.ts'
import { all, and, type Filter } from '../core/query/filter.ts'
import type { Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { compilePieces, compileRead } from '../core/sql/read.ts'
import { bind } from '../core/sql/statement.ts'
import { compileWrite, demandMarker } from '../core/sql/write.ts'
import type { SqlDriver } from '../ports.ts'
import type { Source } from './source.ts'
import { queryFailed, unmetDemand } from './unmet-demand.ts'

export function openSqlSource(driver: SqlDriver, dialect: Dialect): Source {
  return {
    prepareList(plan: ReadPlan) {
      const statement = compileRead(plan, dialect)
      return async (fill) => {
        const rows = await explained(dialect, driver.query(bind(statement, fill)))
        return dialect.answerList(rows, plan.count)
      }
    },

    prepareLong(plan: ReadPlan) {
      const statement = compilePieces(plan, dialect)
      if (statement === undefined || driver.stream === undefined) return undefined
      const stream = driver.stream.bind(driver)
      return async (fill) => ({ pieces: await explained(dialect, stream(bind(statement, fill))) })
    },

    prepareOne(plan: ReadPlan) {
      const statement = compileRead(plan, dialect)
      return async (fill) => dialect.answerOne(await explained(dialect, driver.query(bind(statement, fill))))
    },

    prepareLookup(plan, { field, values }) {
      const among: Filter = { kind: 'in', field, visible: all, negated: false, operands: values }
      const statement = compileRead({ ...plan, where: and([plan.where, among]) }, dialect)
      return async (fill) => {
        const rows = await explained(dialect, driver.query(bind(statement, fill)))
        return dialect.answerList(rows, false).data
      }
    },

    prepareWrite(plan: WritePlan) {
      const { statements, answers } = compileWrite(plan, dialect)
      return async (fill) => {
        const bound = statements.map((statement) => bind(statement, fill))
        const [only] = bound
        if (only === undefined) return '[]'
        const work = () => (bound.length === 1 ? driver.query(only).then((rows) => [rows]) : driver.batch(bound))
        const results = await explained(dialect, undisturbed(work))
        return concatenate(answers.map((index) => dialect.answerList(results[index] ?? [], false).data))
      }
    },
  }
}

/** Arrays as texts, one behind the other. */
function concatenate(lists: readonly string[]): string {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  const contents = lists.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${contents.join(',')}]`
}

const MAX_ATTEMPTS = 5
/** Serialization failure and deadlock: the transaction was rolled back for the sake of another, so nothing of it is left. */
const sacrificed: ReadonlySet<string> = new Set(['40001', '40P01'])

/** What `work` answers when no other write is in its way. */
async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const isSacrificed = error instanceof SqlFault && sacrificed.has(error.state)
      if (!isSacrificed || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** A database's refusal in the words of the seed's table; nothing that the driver said is shown. */
async function explained<T>(dialect: Dialect, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw cause instanceof SqlFault ? refused(dialect, cause) : cause
  }
}

function refused(dialect: Dialect, fault: SqlFault): ServiceError {
  const unmet = demands.find((demand) => fault.message.includes(demandMarker(demand)))
  if (unmet !== undefined) return unmetDemand(unmet)
  return queryFailed(
    dialect.explain(fault) ?? new ServiceError('failed', 'Failed to query the database', { cause: fault }),
  )
}

const demands: readonly Demand[] = ['noRecord', 'noReference', 'forbidden', 'invalid']
