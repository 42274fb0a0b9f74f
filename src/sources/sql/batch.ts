/**
 * Runs a batch behind an SQL driver: one transaction, and the operation that a failed one has failed in. Not every driver
 * tells which statement failed; then it is searched for, by transactions that never commit.
 */
import { OperationFault } from '../../core/plan/operation-fault.ts'
import type { BatchPlan } from '../../core/plan/plan.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import type { Conversation, Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { type BatchTold, conversedBatchOnce } from '../../core/sql/mysql/ledger.ts'
import { claim, finishBatch, recordingOperation } from '../../core/sql/postgres/ledger.ts'
import type { AnsweredWalk } from '../../core/sql/read/row-query.ts'
import { compile, type Statement, sql } from '../../core/sql/statement.ts'
import {
  type BatchPlaces,
  type CompiledForms,
  compileBatch,
  conversedBatch,
  type DialectOf,
  noPlaces,
  requireRows,
  unmetOperation,
} from '../../core/sql/write/batch.ts'
import { entryTexts } from '../../core/sql/write/ledger.ts'
import { concatenate } from '../../core/sql/write/lists.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports.ts'
import { inParts } from '../in-parts.ts'
import { type IsFinal, onceInLedger } from '../once.ts'
import type { BatchAnswer, KeptAnswer, ListAnswer, OnceBatch, OnceOutcome, ReadOptions } from '../source.ts'
import { refused } from './caller-error.ts'
import { createRetry, passingCause } from './retry.ts'
import { answeredWalk } from './walked.ts'

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
  const { dialect } = deps
  const plans = plan.operations.map((operation) => operation.plan)
  // A batch that writes continues when its client disconnects.
  const context: QueryContext = plans.every(({ kind }) => kind === 'read') ? options : { isWriting: true }
  const passing = passingCause(plans, dialect)
  const retry = createRetry(deps)
  if ('begun' in dialect) {
    let places = noPlaces(plan)
    const run = (by: SqlDriver) => {
      places = noPlaces(plan)
      return converse(by, conversedBatch(plan, dialect, { bindings, places }), context)
    }
    try {
      return answersOf(plan, await retry({ run, passing }), { places, dialect, bindings })
    } catch (error) {
      throw await explained(deps, plan, error, places)
    }
  }
  const isHeard = deps.driver.hears === true && dialect.heard !== undefined
  const compiled = await inParts(compileBatch(plan, dialect, { bindings, forms: deps.forms, isHeard }))
  const { statements } = compiled
  const heard: QueryContext = { ...context, confirm: (results) => requireRows(plan, compiled, results) }
  try {
    const results = await retry({ run: (by) => by.batch(statements, isHeard ? heard : context), passing })
    return answersOf(plan, results, { places: compiled, dialect, bindings })
  } catch (error) {
    throw await explained(deps, plan, error, compiled)
  }
}

/** The same with its entry in a ledger of the source. Throws what a batch throws; nothing of it is left then. */
export async function runSqlBatchOnce(deps: SqlBatchDeps, batch: OnceBatch): Promise<OnceOutcome<KeptAnswer>> {
  const { dialect } = deps
  const { plan, bindings, table, entry, keepings } = batch
  const plans = plan.operations.map((operation) => operation.plan)
  const passing = passingCause(plans, dialect)
  const retry = createRetry(deps)
  let sent: Sent = { operations: [] }

  async function inSettings(isFinal: IsFinal): Promise<KeptAnswer> {
    const dialectOf: DialectOf = (marked, operation) => {
      const [{ collection } = {}, keeping = 'nothing'] = [plan.operations[operation], keepings[operation]]
      return collection === undefined ? marked : recordingOperation(marked, { collection, keeping, operation })
    }
    const { answers, ...compiled } = await inParts(compileBatch(plan, dialect, { bindings, dialectOf }))
    const statements = [
      compile(claim(table, dialect, entryTexts(entry)), dialect),
      ...compiled.statements,
      compile(finishBatch(table, entry.scope, { keepings, dialect }), dialect),
    ]
    sent = { statements, operations: [undefined, ...compiled.operations, undefined] }
    const results = await retry({
      run: (by) => by.batch(statements, writer),
      passing: (fault) => (isFinal(fault) ? undefined : passing(fault)),
    })
    const places = { answers: answers.map((list) => list.map((place) => place + 1)) }
    return answersOf(plan, results, { places, dialect, bindings })
  }

  async function inConversation(isFinal: IsFinal): Promise<KeptAnswer> {
    const run = async (by: SqlDriver) => {
      const told: BatchTold = { lists: plan.operations.map(() => []), operations: [] }
      sent = told
      const once = { plan, bindings, table, entry, keepings, walks: walksOf(plan, bindings) }
      await converse(by, conversedBatchOnce(dialect, once, told), writer)
      return told.lists.map(joinedLists)
    }
    return retry({ run, passing: (fault) => (isFinal(fault) ? undefined : passing(fault)) })
  }

  const run = { bySettings: inSettings, byUs: inConversation }[dialect.answersGo]
  try {
    return await onceInLedger(deps, batch, run)
  } catch (error) {
    throw await explained(deps, plan, error, sent)
  }
}

const writer: QueryContext = { isWriting: true }

function converse(
  driver: SqlDriver,
  statements: Iterable<Statement>,
  context: QueryContext,
): Promise<readonly (readonly SqlRow[])[]> {
  if (driver.converse === undefined) throw new TypeError('the driver sends a batch as a whole')
  return driver.converse(statements, context)
}

/** What was sent: the operation of each statement, if it has one, and the statements where all were sent at once. */
type Sent = { readonly operations: readonly (number | undefined)[]; readonly statements?: readonly Statement[] }

/** The error of the operation that failed. */
async function explained(deps: SqlBatchDeps, { operations }: BatchPlan, error: unknown, sent: Sent): Promise<unknown> {
  if (!(error instanceof SqlFault)) return error
  const told = unmetOperation(error.message) ?? sent.operations[error.position ?? -1]
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
    const list = (place: number) => dialect.answerList(results[place] ?? [], read?.count === true, walk)
    return joinedLists((places.answers[index] ?? []).map(list))
  })
}

/** Of each operation. */
function walksOf({ operations }: BatchPlan, bindings: Bindings): readonly (AnsweredWalk | undefined)[] {
  return operations.map(({ plan }) => answeredWalk(plan.kind === 'read' ? plan.page : undefined, bindings))
}

function joinedLists(lists: readonly ListAnswer[]): ListAnswer {
  const [{ total, cursors } = { total: undefined }] = lists
  return { data: concatenate(lists.map(({ data }) => data)), total, ...(cursors && { cursors }) }
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
