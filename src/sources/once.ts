/**
 * A write and its entry in a ledger of the same database, in one transaction (docs/contract.md#idempotency): the claim of
 * the key, the write, and what is kept of its answer. Loaded by the first write under a key.
 */
import type { Conversation, Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { conversedOnce, isClaimed, isHeld } from '../core/sql/mysql/ledger.ts'
import { claim, combining, finish, recording } from '../core/sql/postgres/ledger.ts'
import { binder, compile } from '../core/sql/statement.ts'
import { ledgerRow, ledgerStatements, RUNNING } from '../core/sql/write/ledger.ts'
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
  readonly textOf: (results: readonly (readonly SqlRow[])[], answers: readonly number[]) => string
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

async function inSettings(
  { dialect, attempt, textOf }: OnceDeps,
  { plan, bindings, table, entry, kept }: OnceWrite,
  isFinal: IsFinal,
): Promise<string> {
  const combined =
    plan.kind === 'create' && plan.rows.length === 1
      ? await inParts(compileWrite(plan, combining(dialect, { table, entry, kept })))
      : undefined
  const [only, ...others] = combined?.statements ?? []
  if (only !== undefined && others.length === 0) {
    const statement = binder(only)(bindings)
    return textOf([await attempt((by, context) => by.query(statement, context), isFinal)], [0])
  }
  const write = await inParts(compileWrite(plan, recording(dialect, kept)))
  const statements = [
    compile(claim(table, entry, dialect), dialect),
    ...write.statements.map((statement) => binder(statement)(bindings)),
    compile(finish(table, entry.scope, { kept, dialect }), dialect),
  ]
  const answers = write.answers.map((index) => index + 1)
  return textOf(await attempt((by, context) => by.batch(statements, context), isFinal), answers)
}

async function inConversation({ dialect, attempt }: OnceDeps, write: OnceWrite, isFinal: IsFinal): Promise<string> {
  return attempt(async ({ converse }, context) => {
    if (converse === undefined) throw new TypeError('the driver sends a batch as a whole')
    const texts: string[] = []
    await converse(conversedOnce(dialect, write, texts), context)
    return concatenate(texts)
  }, isFinal)
}
