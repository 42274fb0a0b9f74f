/**
 * A write and its ledger entry in one transaction of the same database (docs/contract.md#idempotency): the claim of the
 * idempotency key, the write, and the stored answer. Loaded with the first such write.
 */
import type { PlannedOperation } from '../core/plan/plan.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { conversedOnce, isClaimed, isHeld } from '../core/sql/mysql/ledger.ts'
import { claim, combining, finish, recording } from '../core/sql/postgres/ledger.ts'
import { compile } from '../core/sql/statement.ts'
import { type BatchPlaces, type CompiledBatch, compileBatch } from '../core/sql/write/batch.ts'
import { entryBindings, ledgerRow, ledgerStatements, RUNNING } from '../core/sql/write/ledger.ts'
import { inParts } from './in-parts.ts'
import type { OnceOutcome, OnceWrite } from './source.ts'
import { atOnce, inTurn, type SqlBatchDeps, type Transaction, transactions, writerOf } from './sql/batch.ts'

export type OnceDeps = SqlBatchDeps & {
  /** Compiled batches by their first operation; reused by writes to one ledger that share a plan. */
  readonly compiled: WeakMap<PlannedOperation, CompiledBatch>
}

/** Throws what a write throws; then the write and the ledger entry are rolled back. */
export async function writeOnce(deps: OnceDeps, write: OnceWrite): Promise<OnceOutcome> {
  const { plan } = write
  const bindings = entryBindings(write.bindings, write.entry)
  const send = await { whole: inSettings, stepwise: inConversation }[deps.dialect.transaction](deps, write, bindings)
  const { run, refuse } = transactions(deps, plan)(bindings, send, write.term)
  return outcomeOf(deps, write, run).catch(refuse)
}

async function outcomeOf(
  { driver, dialect }: OnceDeps,
  { table, entry }: OnceWrite,
  run: Transaction['run'],
): Promise<OnceOutcome> {
  const { find, expire, prune } = ledgerStatements(table, dialect)
  const isTaken = (fault: SqlFault) => fault.constraint === table.key || isClaimed(fault)
  const isRunning = (fault: SqlFault) => fault.message.includes(RUNNING) || isHeld(fault)
  try {
    const answer = await run((fault) => isTaken(fault) || isRunning(fault))
    return { kind: 'written', answer, prune: () => driver.query(compile(prune(entry.startedAt), dialect)) }
  } catch (error) {
    if (!(error instanceof SqlFault)) throw error
    if (isRunning(error)) return { kind: 'running' }
    // Another request may have run the same write, so that the table's constraint failed before the key's.
    const isDoubtful = isTaken(error) || (dialect.transaction === 'whole' && error.state.startsWith('23'))
    if (!isDoubtful) throw error
    await driver.query(compile(expire(entry.scope, entry.startedAt), dialect))
    const row = ledgerRow(await driver.query(compile(find(entry.scope), dialect)))
    if (row !== undefined) return { kind: 'known', row, completed: async (kept) => kept }
    if (isTaken(error)) return { kind: 'gone' }
    throw error
  }
}

async function inSettings(deps: OnceDeps, write: OnceWrite, bindings: Bindings) {
  const { plan } = write
  const [first] = plan.operations
  const compiled = (first && deps.compiled.get(first)) ?? (await compileOnce(deps, write))
  if (first !== undefined) deps.compiled.set(first, compiled)
  return atOnce(plan, { compiled, bindings }, writerOf(write))
}

async function compileOnce(
  { dialect }: OnceDeps,
  { plan, table, keepings }: Pick<OnceWrite, 'plan' | 'table' | 'keepings'>,
): Promise<CompiledBatch> {
  const [operation] = plan.operations
  if (plan.isAlone && operation?.plan.kind === 'create' && operation.plan.rows.length === 1) {
    const combined = combining(dialect, operation, { table, keeping: keepings[0] })
    const compiled = await inParts(compileBatch(plan, combined))
    if (compiled.operations.length === 1) return compiled
  }
  return inParts(
    compileBatch(plan, dialect, {
      recording: {
        before: claim(table, dialect),
        dialectOf: (own, operation, index) =>
          recording(own, operation, { keeping: keepings[index] ?? 'nothing', index }),
        behind: finish(table, { keepings, dialect }),
      },
    }),
  )
}

function inConversation({ dialect }: OnceDeps, write: OnceWrite, bindings: Bindings) {
  return inTurn(
    write.plan,
    (places: BatchPlaces) => conversedOnce(dialect, { ...write, bindings }, places),
    writerOf(write),
  )
}
