/**
 * Runs a batch behind an SQL driver: one transaction, and the operation that a failed one has failed in. Not every driver
 * tells which statement failed; then it is searched for, by transactions that never commit.
 */
import { OperationFault } from '../../core/plan/operation-fault.ts'
import type { BatchPlan } from '../../core/plan/plan.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import type { Conversation, Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { binder, compile, type Statement, sql } from '../../core/sql/statement.ts'
import {
  type BatchPlaces,
  type CompiledBatch,
  compileBatch,
  conversedBatch,
  noPlaces,
  unmetOperation,
} from '../../core/sql/write/batch.ts'
import { concatenate } from '../../core/sql/write/lists.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports.ts'
import { inParts } from '../in-parts.ts'
import type { BatchAnswer, ReadOptions } from '../source.ts'
import { refused } from './caller-error.ts'
import { isPassing, retry } from './retry.ts'

export type SqlBatchDeps = { readonly driver: SqlDriver; readonly dialect: Dialect | Conversation }

export type SqlBatchRun = { readonly bindings: Bindings; readonly options: ReadOptions | undefined }

/** Throws an OperationFault where it is known which operation has failed. */
export async function runSqlBatch(
  deps: SqlBatchDeps,
  plan: BatchPlan,
  { bindings, options = {} }: SqlBatchRun,
): Promise<BatchAnswer> {
  const { driver, dialect } = deps
  const plans = plan.operations.map((operation) => operation.plan)
  // A batch that writes continues when its client disconnects.
  const context: QueryContext = plans.every(({ kind }) => kind === 'read') ? options : { isWriting: true }
  const passing = isPassing(plans, dialect)
  const compiled = 'begun' in dialect ? undefined : await inParts(compileBatch(plan, dialect))
  const statements = compiled?.statements.map((template) => binder(template)(bindings)) ?? []
  let places: BatchPlaces = compiled ?? noPlaces(plan)

  async function attempt(): Promise<readonly (readonly SqlRow[])[]> {
    if (!('begun' in dialect)) return driver.batch(statements, context)
    if (driver.converse === undefined) throw new TypeError('the driver sends a batch as a whole')
    places = noPlaces(plan)
    return driver.converse(conversedBatch(plan, dialect, { bindings, places }), context)
  }

  try {
    return answersOf(plan, await retry(attempt, passing), { places, dialect })
  } catch (error) {
    if (!(error instanceof SqlFault)) throw error
    const fault = refused(dialect, error)
    const told = unmetOperation(error.message) ?? places.operations[error.position ?? -1]
    const isSearched = told === undefined && error.position === undefined && fault.kind === 'invalid'
    const operation = isSearched && compiled ? await search({ ...deps, compiled, statements }, error) : told
    throw operation === undefined ? fault : new OperationFault(fault, operation)
  }
}

function answersOf(
  { operations }: BatchPlan,
  results: readonly (readonly SqlRow[])[],
  { places, dialect }: { readonly places: BatchPlaces; readonly dialect: Dialect },
): BatchAnswer {
  return operations.map(({ plan }, index) => {
    const isCounted = plan.kind === 'read' && plan.count
    const lists = (places.answers[index] ?? []).map((place) => dialect.answerList(results[place] ?? [], isCounted))
    return { data: concatenate(lists.map(({ data }) => data)), total: lists[0]?.total }
  })
}

type Failed = SqlBatchDeps & { readonly compiled: CompiledBatch; readonly statements: readonly Statement[] }

/** The first operation up to which the batch fails in the same way; undefined if it does so no more. */
async function search(
  { driver, dialect, compiled, statements }: Failed,
  { state }: SqlFault,
): Promise<number | undefined> {
  const last = compiled.operations.at(-1) ?? 0
  const ending = compile(dialect.slots.assertion(sql`1 = 0`, ENDED), dialect)
  const failsUpTo = async (operation: number) => {
    const some = statements.filter((_, index) => (compiled.operations[index] ?? 0) <= operation)
    try {
      await driver.batch([...some, ending], { isWriting: true })
      return false
    } catch (error) {
      if (!(error instanceof SqlFault)) throw error
      return !error.message.includes(ENDED) && error.state === state
    }
  }
  let low = 0
  let high = last
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await failsUpTo(middle)) high = middle
    else low = middle + 1
  }
  return low < last || (await failsUpTo(last)) ? low : undefined
}

const ENDED = 'service:ended'
