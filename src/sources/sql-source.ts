/** A source behind an SQL driver: its dialect compiles plans, and each read is one statement. */
import { ServiceError } from '../core/error.ts'
import type { Assertion, ReadPlan, WritePlan } from '../core/plan/plan.ts'
import { all, and, type Filter } from '../core/query/filter.ts'
import type { Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { compilePieces, compileRead } from '../core/sql/read.ts'
import { binder } from '../core/sql/statement.ts'
import { assertionMarker, type CompiledWrite, compileWrite } from '../core/sql/write.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../ports.ts'
import { assertionError, queryFailed } from './assertion-error.ts'
import { inParts } from './in-parts.ts'
import type { Prepared, Source } from './source.ts'

type Rows = readonly SqlRow[]

export type SqlSourceDeps = {
  readonly driver: SqlDriver
  /** What the database of the driver speaks. */
  readonly dialect: Dialect
}

export function openSqlSource(deps: SqlSourceDeps): Source {
  const { driver, dialect } = deps
  const refuse = refusal(dialect)
  const textOf = (rows: Rows) => dialect.answerList(rows, false).data

  // Chained by `then` instead of async functions, since each await costs every request a step.
  return {
    prepareList(plan: ReadPlan) {
      const bind = binder(compileRead(plan, dialect))
      const answer = (rows: Rows) => dialect.answerList(rows, plan.count)
      return (bindings, options = reader) => driver.query(bind(bindings), options).then(answer, refuse)
    },

    prepareLong(plan: ReadPlan) {
      const statement = compilePieces(plan, dialect)
      if (statement === undefined || driver.stream === undefined) return undefined
      const stream = driver.stream.bind(driver)
      const bind = binder(statement)
      return (bindings, options = reader) => stream(bind(bindings), options).then((pieces) => ({ pieces }), refuse)
    },

    prepareOne(plan: ReadPlan) {
      const bind = binder(compileRead(plan, dialect))
      return (bindings, options = reader) => driver.query(bind(bindings), options).then(dialect.answerOne, refuse)
    },

    prepareLookup(plan, { field, values }) {
      const among: Filter = { kind: 'in', field, visible: all, negated: false, operands: values }
      const bind = binder(compileRead({ ...plan, where: and([plan.where, among]) }, dialect))
      return (bindings, options = reader) => driver.query(bind(bindings), options).then(textOf, refuse)
    },

    prepareWrite(plan: WritePlan) {
      const compiled = inParts(compileWrite(plan, dialect))
      if (!(compiled instanceof Promise)) return ready(compiled)
      // Awaited when it runs; an error before that must not count as an unhandled rejection.
      compiled.catch(() => {})
      return (bindings) => compiled.then((write) => ready(write)(bindings))
    },
  }

  function ready({ statements, answers }: CompiledWrite): Prepared<string> {
    const binders = statements.map(binder)
    const answer = (results: readonly Rows[]) => concatenate(answers.map((index) => textOf(results[index] ?? [])))
    const [only] = binders
    if (only === undefined) return async () => '[]'
    if (binders.length > 1) {
      return (bindings) => {
        const bound = binders.map((bind) => bind(bindings))
        return retryRolledBack(() => driver.batch(bound, writer)).then(answer, refuse)
      }
    }
    return (bindings) => {
      const bound = only(bindings)
      return retryRolledBack(() => driver.query(bound, writer)).then((rows) => answer([rows]), refuse)
    }
  }
}

/** A read has a client even if it is not known here; a write continues when its client disconnects. */
const reader: QueryContext = {}
const writer: QueryContext = { isWriting: true }

/** Concatenates JSON arrays given as texts. */
function concatenate(lists: readonly string[]): string {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  const contents = lists.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${contents.join(',')}]`
}

const MAX_ATTEMPTS = 5
/** Serialization failure and deadlock: the transaction was rolled back in favour of another, so it left no changes. */
const rolledBack: ReadonlySet<string> = new Set(['40001', '40P01'])

/** Retries `work` while concurrent writes make it fail. */
function retryRolledBack<T>(work: () => Promise<T>, attempts = MAX_ATTEMPTS): Promise<T> {
  return work().catch((error: unknown) => {
    const isRolledBack = error instanceof SqlFault && rolledBack.has(error.state)
    if (!isRolledBack || attempts === 1) throw error
    return retryRolledBack(work, attempts - 1)
  })
}

/** Throws database errors in the words of docs/contract.md#what-the-caller-sees, without the message of the driver. */
function refusal(dialect: Dialect): (cause: unknown) => never {
  return (cause) => {
    throw cause instanceof SqlFault ? refused(dialect, cause) : cause
  }
}

function refused(dialect: Dialect, fault: SqlFault): ServiceError {
  const unmet = demands.find((assertion) => fault.message.includes(assertionMarker(assertion)))
  if (unmet !== undefined) return assertionError(unmet)
  const explained = dialect.explain(fault)
  if (explained === undefined)
    return queryFailed(new ServiceError('failed', 'Failed to query the database', { cause: fault }))
  // The SqlFault is not shown to callers; code that knows the model reads the constraint's name from it.
  const { kind, message, code, cause = fault } = explained
  return queryFailed(new ServiceError(kind, message, { cause, ...(code !== undefined && { code }) }))
}

const demands: readonly Assertion[] = ['noRecord', 'noReference', 'forbidden', 'invalid']
