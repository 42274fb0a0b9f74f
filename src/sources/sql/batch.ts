/**
 * Runs a batch behind an SQL driver: one transaction, and the operation that a failed one has failed in. Not every driver
 * tells which statement failed; then it is searched for, by transactions that never commit.
 */
import { OperationFault } from '../../core/plan/operation-fault.ts'
import type { BatchPlan } from '../../core/plan/plan.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import type { Conversation, Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { answeredWalk } from '../../core/sql/read/answered-walk.ts'
import { compile, type Statement, sql } from '../../core/sql/statement.ts'
import {
  type BatchPlaces,
  type CompiledBatch,
  type CompiledForms,
  compileBatch,
  conversedBatch,
  noPlaces,
  requireRows,
  unmetOperation,
} from '../../core/sql/write/batch.ts'
import { concatenate } from '../../core/sql/write/lists.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports.ts'
import { inParts } from '../in-parts.ts'
import type { BatchAnswer, ReadOptions } from '../source.ts'
import { refused } from './caller-error.ts'
import { createRetry, passingCause } from './retry.ts'

export type SqlBatchDeps = {
  readonly driver: SqlDriver
  readonly dialect: Dialect | Conversation
  readonly forms: CompiledForms
}

export type SqlBatchRun = { readonly bindings: Bindings; readonly options: ReadOptions | undefined }

/** Throws an OperationFault where it is known which operation has failed. */
export async function runSqlBatch(
  deps: SqlBatchDeps,
  plan: BatchPlan,
  { bindings, options = {} }: SqlBatchRun,
): Promise<BatchAnswer> {
  const { driver, dialect, forms } = deps
  // A batch that writes continues when its client disconnects.
  const context = plan.operations.every((operation) => operation.plan.kind === 'read') ? options : writer
  if ('begun' in dialect) {
    const conversed = (places: BatchPlaces) => conversedBatch(plan, dialect, { bindings, places })
    return transaction(deps, { plan, bindings, send: inTurn(plan, conversed, context) }, (run) => run())
  }
  const isHeard = driver.hears === true && dialect.heard !== undefined
  const compiled = await inParts(compileBatch(plan, dialect, { forms, isHeard }))
  const heard: QueryContext = { ...context, confirm: (results) => requireRows(plan, compiled, results) }
  const send = atOnce(plan, { compiled, bindings }, isHeard ? heard : context)
  return transaction(deps, { plan, bindings, send }, (run) => run())
}

export const writer: QueryContext = { isWriting: true }

/** What was sent: what each statement is for, and the statements where all were sent at once. */
type Sent = BatchPlaces & { readonly statements?: readonly Statement[] }

type Send = (by: SqlDriver) => { readonly sent: Sent; readonly results: Promise<readonly (readonly SqlRow[])[]> }

/** Sends all statements of a batch together. */
export function atOnce(
  { isAlone }: BatchPlan,
  { compiled, bindings }: { readonly compiled: CompiledBatch; readonly bindings: Bindings },
  context: QueryContext,
): Send {
  const statements = compiled.statements(bindings)
  const sent = { ...compiled, statements }
  const [only, ...others] = statements
  if (isAlone && only !== undefined && others.length === 0) {
    return (by) => ({ sent, results: by.query(only, context).then((rows) => [rows]) })
  }
  return (by) => ({ sent, results: by.batch(statements, context) })
}

/** Sends each when the one before it was answered; `statements` notes what they are for. */
export function inTurn(
  plan: BatchPlan,
  statements: (places: BatchPlaces) => Iterable<Statement>,
  context: QueryContext,
): Send {
  return ({ converse }) => {
    if (converse === undefined) throw new TypeError('the driver sends a batch as a whole')
    const sent = noPlaces(plan)
    return { sent, results: converse(statements(sent), context) }
  }
}

/** Runs a batch, again where that may help, but not after a fault that `isFinal`. */
export type RunBatch = (isFinal?: (fault: SqlFault) => boolean) => Promise<BatchAnswer>

/** What comes of running a batch; its SqlFaults are thrown as errors of the operations that have failed. */
export async function transaction<Outcome>(
  deps: SqlBatchDeps,
  { plan, bindings, send }: { readonly plan: BatchPlan; readonly bindings: Bindings; readonly send: Send },
  outcomeOf: (run: RunBatch) => Promise<Outcome>,
): Promise<Outcome> {
  const { dialect } = deps
  const plans = plan.operations.map((operation) => operation.plan)
  const passing = passingCause(plans, dialect)
  const retry = createRetry(deps)
  let sent: Sent = noPlaces(plan)
  const run = (by: SqlDriver) => {
    const sending = send(by)
    sent = sending.sent
    return sending.results
  }
  try {
    return await outcomeOf(async (isFinal) => {
      const results = await retry({ run, passing: (fault) => (isFinal?.(fault) ? undefined : passing(fault)) })
      return answersOf(plan, results, { places: sent, dialect, bindings })
    })
  } catch (error) {
    throw await explained(deps, plan, error, sent)
  }
}

/** The error of the operation that failed. */
async function explained(
  deps: SqlBatchDeps,
  { operations, isAlone }: BatchPlan,
  error: unknown,
  sent: Sent,
): Promise<unknown> {
  if (!(error instanceof SqlFault)) return error
  const told = isAlone ? 0 : (unmetOperation(error.message) ?? sent.operations[error.position ?? -1])
  const fault = refused(deps.dialect, error, operations[told ?? -1]?.plan)
  const isSearched = told === undefined && error.position === undefined && fault.kind === 'invalid'
  const operation = isSearched && sent.statements ? await search(deps, error, sent) : told
  return operation === undefined ? fault : new OperationFault(fault, operation)
}

function answersOf(
  { operations }: BatchPlan,
  results: readonly (readonly SqlRow[])[],
  how: { readonly places: Pick<BatchPlaces, 'answers'>; readonly dialect: Dialect; readonly bindings: Bindings },
): BatchAnswer {
  const { places, dialect, bindings } = how
  return operations.map(({ plan }, index) => {
    const read = plan.kind === 'read' ? plan : undefined
    const walk = answeredWalk(read?.page, bindings)
    const lists = (places.answers[index] ?? []).map((place) =>
      dialect.answerList(results[place] ?? [], read?.count === true, walk),
    )
    const [{ total, cursors } = { total: undefined }] = lists
    return { data: concatenate(lists.map(({ data }) => data)), total, ...(cursors && { cursors }) }
  })
}

/** The first operation up to which the batch fails in the same way; undefined if it does so no more. */
async function search(
  { driver, dialect }: SqlBatchDeps,
  { state }: SqlFault,
  { operations, statements = [] }: Sent,
): Promise<number | undefined> {
  const last = Math.max(...operations.map((operation) => operation ?? 0))
  const ending = compile(dialect.slots.assertion(sql`1 = 0`, ENDED), dialect)
  const failsUpTo = async (operation: number) => {
    const some = statements.filter((_, index) => (operations[index] ?? 0) <= operation)
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
