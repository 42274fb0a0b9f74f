/**
 * A write and its entry in a ledger of the same database, in one transaction (docs/contract.md#idempotency): the claim of
 * the key, the write, and what is kept of its answer. Loaded by the first write under a key.
 */
import type { WritePlan } from '../core/plan/plan.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import type { Conversation, Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { conversedOnce, isClaimed, isHeld } from '../core/sql/mysql/ledger.ts'
import { claim, combining, finish, recording } from '../core/sql/postgres/ledger.ts'
import { binder, compile, compileTemplate, type Statement } from '../core/sql/statement.ts'
import { entryBindings, ledgerRow, ledgerStatements, RUNNING } from '../core/sql/write/ledger.ts'
import { concatenate } from '../core/sql/write/lists.ts'
import { compileWrite } from '../core/sql/write.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../ports.ts'
import { inParts } from './in-parts.ts'
import type { OnceOutcome, OnceWrite } from './source.ts'

/** What the source has for it: how its own writes are sent, tried again, and read. */
export type OnceDeps = {
  readonly driver: SqlDriver
  readonly dialect: Dialect | Conversation
  /** Runs a transaction of a write, again where that may help; a fault that `isFinal` ends it. */
  readonly attempt: <T>(
    work: (driver: SqlDriver, context: QueryContext) => Promise<T>,
    isFinal: (fault: SqlFault) => boolean,
  ) => Promise<T>
  readonly compiled: CompiledOnces
  readonly textOf: (results: readonly (readonly SqlRow[])[], answers: readonly number[]) => string
}

/** By its plan, which is that of one collection and its ledger, and is kept for other writes where it serves several. */
export type CompiledOnces = WeakMap<WritePlan, CompiledOnce>

type CompiledOnce = {
  readonly statements: readonly ((bindings: Bindings) => Statement)[]
  readonly answers: readonly number[]
}

/** Throws what a write throws; in that case nothing of it, and nothing in the ledger, is left. */
export function writeOnce(deps: OnceDeps, write: OnceWrite): Promise<OnceOutcome> {
  const run = { bySettings: inSettings, byUs: inConversation }[deps.dialect.answersGo]
  return onceInLedger(deps, write, (isFinal) => run(deps, write, isFinal))
}

/** The outcome of a transaction that has an entry. `run` ends at once with a fault that is final. */
export async function onceInLedger<Answer>(
  { driver, dialect }: Pick<OnceDeps, 'driver' | 'dialect'>,
  { table, entry }: Pick<OnceWrite, 'table' | 'entry'>,
  run: (isFinal: IsFinal) => Promise<Answer>,
): Promise<OnceOutcome<Answer>> {
  const { find, expire, prune } = ledgerStatements(table, dialect)
  const isTaken = (fault: SqlFault) => fault.constraint === table.key || isClaimed(fault)
  const isRunning = (fault: SqlFault) => fault.message.includes(RUNNING) || isHeld(fault)
  try {
    const answer = await run((fault) => isTaken(fault) || isRunning(fault))
    return { kind: 'written', answer, prune: () => driver.query(compile(prune(entry.startedAt), dialect)) }
  } catch (error) {
    if (!(error instanceof SqlFault)) throw error
    if (isRunning(error)) return { kind: 'running' }
    // Another request may have done the same, so that a constraint of the written table failed before that of the key.
    const isDoubtful = isTaken(error) || (dialect.answersGo === 'bySettings' && error.state.startsWith('23'))
    if (!isDoubtful) throw error
    await driver.query(compile(expire(entry.scope, entry.startedAt), dialect))
    const row = ledgerRow(await driver.query(compile(find(entry.scope), dialect)))
    if (row !== undefined) return { kind: 'known', row, completed: async (kept) => kept }
    if (isTaken(error)) return { kind: 'gone' }
    throw error
  }
}

export type IsFinal = (fault: SqlFault) => boolean

async function inSettings(deps: OnceDeps, write: OnceWrite, isFinal: IsFinal): Promise<string> {
  const { attempt, textOf, compiled } = deps
  const known = compiled.get(write.plan) ?? (await compileOnce(deps, write))
  compiled.set(write.plan, known)
  const bindings = entryBindings(write.bindings, write.entry)
  const [only, ...others] = known.statements.map((bind) => bind(bindings))
  if (only === undefined) throw new TypeError('a write under a key has a statement')
  if (others.length === 0) return textOf([await attempt((by, context) => by.query(only, context), isFinal)], [0])
  return textOf(await attempt((by, context) => by.batch([only, ...others], context), isFinal), known.answers)
}

async function compileOnce(
  { dialect }: OnceDeps,
  { plan, table, kept }: Pick<OnceWrite, 'plan' | 'table' | 'kept'>,
): Promise<CompiledOnce> {
  if (plan.kind === 'create' && plan.rows.length === 1) {
    const { statements } = await inParts(compileWrite(plan, combining(dialect, { table, kept })))
    if (statements.length === 1) return { statements: statements.map(binder), answers: [0] }
  }
  const { statements, answers } = await inParts(compileWrite(plan, recording(dialect, kept)))
  const all = [
    compileTemplate(claim(table, dialect), dialect),
    ...statements,
    compileTemplate(finish(table, { kept, dialect }), dialect),
  ]
  return { statements: all.map(binder), answers: answers.map((index) => index + 1) }
}

async function inConversation({ dialect, attempt }: OnceDeps, write: OnceWrite, isFinal: IsFinal): Promise<string> {
  return attempt(async ({ converse }, context) => {
    if (converse === undefined) throw new TypeError('the driver sends a batch as a whole')
    const texts: string[] = []
    await converse(conversedOnce(dialect, write, texts), context)
    return concatenate(texts)
  }, isFinal)
}
