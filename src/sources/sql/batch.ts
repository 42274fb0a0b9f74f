/** Runs batches behind an SQL driver, each as one transaction. A single write is a batch of one operation. */
import { OperationFault } from '../../core/plan/operation-fault.ts'
import type { BatchPlan, PlannedOperation } from '../../core/plan/plan.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import { type PlanTerm, requireTerm } from '../../core/sql/begin/plan-term.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { isInDoubt, SqlFault } from '../../core/sql/fault.ts'
import { answeredWalk } from '../../core/sql/read/walk-page.ts'
import type { Statement } from '../../core/sql/statement.ts'
import {
  type BatchPlaces,
  type CompiledBatch,
  type CompiledForms,
  compileBatch,
  concatenate,
  conversedBatch,
  noPlaces,
  requireRows,
  type StatementsInParts,
  unmetOperation,
} from '../../core/sql/write/batch.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports/database.ts'
import { eachInParts, inParts } from '../in-parts.ts'
import type { BatchAnswer, Prepared, ReadOptions } from '../source.ts'
import { refused } from './caller-error.ts'
import { createRetry, passingCause } from './retry.ts'

export type SqlBatchDeps = {
  readonly driver: SqlDriver
  readonly dialect: Dialect
  readonly forms: CompiledForms
}

/** Prepares a batch; running it throws an OperationFault if it is known which operation failed. */
export function prepareSqlBatch(deps: SqlBatchDeps, plan: BatchPlan): Prepared<BatchAnswer> {
  const { driver, dialect, forms } = deps
  const isReading = plan.operations.every((operation) => !isChanging(operation.plan))
  const contextOf = (options: ReadOptions = {}) => (isReading ? options : writerOf(options))
  const begin = transactions(deps, plan)
  const ran = (bindings: Bindings, send: Send, term: PlanTerm | undefined) => {
    const { run, refuse } = begin(bindings, send, term)
    return run().catch(refuse)
  }
  if (dialect.transaction === 'stepwise') {
    return (bindings, options) => {
      const conversed = (places: BatchPlaces) => conversedBatch(plan, dialect, { bindings, places, forms })
      return ran(bindings, inTurn(plan, conversed, contextOf(options)), options?.term)
    }
  }
  const isConfirmed = plan.isAlone !== true && driver.confirms === true && dialect.confirming !== undefined
  const together = (compiled: CompiledBatch, bindings: Bindings, options?: ReadOptions) => {
    const context = contextOf(options)
    const confirmingContext = isConfirmed && {
      ...context,
      confirm: (results: Results) => requireRows(plan, compiled, results),
    }
    return ran(bindings, atOnce(plan, { compiled, bindings }, confirmingContext || context), options?.term)
  }
  const compiled = inParts(compileBatch(plan, dialect, { forms, isConfirmed }))
  if (!(compiled instanceof Promise)) return (bindings, options) => together(compiled, bindings, options)
  // Awaited when it runs; an error before that must not count as an unhandled rejection.
  compiled.catch(() => {})
  return (bindings, options) => compiled.then((ready) => together(ready, bindings, options))
}

type Results = readonly (readonly SqlRow[])[]

/** A write continues when its client disconnects. */
export const writerOf = ({ term, account }: Pick<QueryContext, 'term' | 'account'>): QueryContext => ({
  isWriting: true,
  term,
  account,
})

/** What each sent statement is for, and the statements if all were sent together. */
type Sent = Pick<BatchPlaces, 'operations' | 'answers'> & { readonly statements?: readonly Statement[] }

type Send = (by: SqlDriver) => { readonly sent: Sent; readonly results: Promise<Results> }

/** True for plans that write. A program without writes reads what an earlier operation of the batch answers. */
function isChanging(plan: PlannedOperation['plan']): boolean {
  if (plan.kind !== 'program') return plan.kind !== 'read'
  return plan.steps.some(({ kind }) => kind === 'insert' || kind === 'update' || kind === 'delete')
}

/** Sends all statements of a batch together. */
export function atOnce(
  plan: BatchPlan,
  { compiled, bindings }: { readonly compiled: CompiledBatch; readonly bindings: Bindings },
  context: QueryContext,
): Send {
  const statements = compiled.statements(bindings)
  const { operations, answers } = compiled
  const sent = { operations, answers, statements }
  const [only, ...others] = statements
  if (only === undefined) return () => ({ sent, results: Promise.resolve([]) })
  if (plan.isAlone && others.length === 0) {
    const own = isAdding(plan) ? { ...context, mayFollow: true } : context
    return (by) => ({ sent, results: by.query(only, own).then((rows) => [rows]) })
  }
  return (by) => ({ sent, results: by.batch(statements, context) })
}

/** True for a batch that only adds rows, and returns only their own columns. */
function isAdding({ operations }: BatchPlan): boolean {
  return operations.every(({ plan }) => plan.kind === 'create' && plan.selection.every(({ kind }) => kind === 'field'))
}

/** Sends each statement after the answer to the previous one; `statements` records what they are for. */
export function inTurn(
  plan: BatchPlan,
  statements: (places: BatchPlaces) => StatementsInParts,
  context: QueryContext,
): Send {
  return ({ converse }) => {
    if (converse === undefined) throw new TypeError('the driver sends a batch as a whole')
    const sent = noPlaces(plan)
    return { sent, results: converse(eachInParts(statements(sent)), context) }
  }
}

export type Transaction = {
  /** Runs the batch, and retries it if that may help, unless `isFinal` returns true for the fault. Throws SqlFaults. */
  readonly run: (isFinal?: (fault: SqlFault) => boolean) => Promise<BatchAnswer>
  /**
   * Throws SqlFaults as errors of the failed operations. Throws OUTDATED if the plan has expired, because the fault might name
   * another field's column by now; nothing of the failed batch is left.
   */
  readonly refuse: (error: unknown) => Promise<never>
}

export function transactions(
  deps: SqlBatchDeps,
  plan: BatchPlan,
): (bindings: Bindings, send: Send, term: PlanTerm | undefined) => Transaction {
  const { dialect } = deps
  const { operations, isAlone } = plan
  const plans = operations.map((operation) => operation.plan)
  const passing = passingCause(plans, dialect)
  const retry = createRetry(deps)
  const nothing = noPlaces(plan)
  return (bindings, send, term) => {
    let sent: Sent = nothing
    const run = (by: SqlDriver) => {
      const sending = send(by)
      sent = sending.sent
      return sending.results
    }
    return {
      run: (isFinal) =>
        retry({ run, passing: (fault) => (isFinal?.(fault) ? undefined : passing(fault)) }).then((results) =>
          answersOf(plan, results, { places: sent, dialect, bindings }),
        ),
      async refuse(error) {
        if (!(error instanceof SqlFault)) throw error
        if (!isInDoubt(error)) await requireTerm(term)
        const failedOperation = isAlone ? 0 : (unmetOperation(error.message) ?? sent.operations[error.position ?? -1])
        const fault = refused(dialect, error, plans[failedOperation ?? -1])
        const isSearched = failedOperation === undefined && error.position === undefined && fault.kind === 'invalid'
        const operation = isSearched ? await searched(deps, error, sent) : failedOperation
        // The search may have taken as long as the batch, so the plan may have expired.
        if (isSearched) await requireTerm(term)
        throw operation === undefined || isAlone ? fault : new OperationFault(fault, operation)
      },
    }
  }
}

async function searched(
  deps: SqlBatchDeps,
  fault: SqlFault,
  { operations, statements }: Sent,
): Promise<number | undefined> {
  if (statements === undefined) return undefined
  const { search } = await import('./failed-operation.ts')
  return search(deps, fault, { operations, statements })
}

function answersOf(
  { operations }: BatchPlan,
  results: Results,
  how: { readonly places: Pick<BatchPlaces, 'answers'>; readonly dialect: Dialect; readonly bindings: Bindings },
): BatchAnswer {
  const { places, dialect, bindings } = how
  return operations.map(({ plan }, index) => {
    const read = plan.kind === 'read' ? plan : undefined
    const walk = answeredWalk(read?.page, bindings)
    const lists = (places.answers[index] ?? []).map((place) =>
      dialect.answerList(results[place] ?? [], read?.count === true, walk),
    )
    const [first = { total: undefined }] = lists
    return { ...first, data: concatenate(lists.map(({ data }) => data)) }
  })
}
