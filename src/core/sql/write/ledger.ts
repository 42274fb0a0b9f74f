/**
 * The ledger of writes with an Idempotency-Key (docs/contract.md#idempotency): its rows, and the statements that create, find
 * and end them. An entry exists from the claim on; `kept-lists.ts` defines what is stored of the answer.
 */
import type { Collection } from '../../model/model.ts'
import type { Selection } from '../../plan/plan.ts'
import { all } from '../../query/filter.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Dialect } from '../dialect.ts'
import type { RowQuery } from '../read/row-query.ts'
import { rootScope } from '../read/scope.ts'
import { rendered } from '../read.ts'
import { ident, integer, type Sql, sql, type TemplateParam } from '../statement.ts'
import type { LedgerTable } from './ledger-table.ts'

/** The entry that a request writes to the ledger before it writes anything else. Times are in milliseconds. */
export type LedgerEntry = {
  /** Digest of workspace, principal and key. */
  readonly scope: string
  readonly workspaceId: string
  /** Digest of the request. */
  readonly fingerprint: string
  /** Digest of the rights on the collections of request and answer. */
  readonly rights: string
  readonly startedAt: number
  readonly expiresAt: number
} & KeptBounds

/** Maximum bytes of a stored answer: for items that can be read again by their keys, and for others. */
export type KeptBounds = { readonly mostAgain: number; readonly mostElse: number }

/** An entry as parameters of a statement. */
export type EntryParams = Readonly<Record<keyof LedgerEntry, TemplateParam>>

/** Placeholders for a statement that serves many entries; `entryBindings` binds the values of one. */
export const openEntry: EntryParams = {
  scope: { kind: 'entry', member: 'scope' },
  workspaceId: { kind: 'entry', member: 'workspaceId' },
  fingerprint: { kind: 'entry', member: 'fingerprint' },
  rights: { kind: 'entry', member: 'rights' },
  startedAt: { kind: 'entry', member: 'startedAt' },
  expiresAt: { kind: 'entry', member: 'expiresAt' },
  mostAgain: { kind: 'entry', member: 'mostAgain' },
  mostElse: { kind: 'entry', member: 'mostElse' },
}

export function entryTexts(entry: LedgerEntry): EntryParams {
  const { startedAt, expiresAt, mostAgain, mostElse, ...texts } = entry
  return {
    ...texts,
    startedAt: String(startedAt),
    expiresAt: String(expiresAt),
    mostAgain: String(mostAgain),
    mostElse: String(mostElse),
  }
}

/** `bindings` with the values of an entry. */
export function entryBindings(bindings: Bindings, entry: LedgerEntry): Bindings {
  const values = new Map<string, string | number>(Object.entries(entry))
  return (placeholder) => {
    const value = placeholder.kind === 'entry' ? values.get(placeholder.member) : undefined
    return value === undefined ? bindings(placeholder) : String(value)
  }
}

export type LedgerRow = Omit<LedgerEntry, 'scope' | 'workspaceId' | keyof KeptBounds> & {
  /** `unknown`: the write was sent, and no answer came back. */
  readonly outcome: 'running' | 'done' | 'unknown'
  /** The lists of its operations (`readKept`). */
  readonly body: string | undefined
  /** The lists of the items' keys, if the answer itself is not stored. */
  readonly itemKeys: string | undefined
}

/** Separates the lists of a text: a character that JSON never contains. */
export const SEPARATOR = 30

/** The statements of a ledger. `scope` is the expression of the first value of a claim. */
export function ledgerStatements(table: LedgerTable, { typed }: Pick<Dialect, 'typed'>) {
  const name = table.schema === undefined ? ident(table.dbName) : ident(table.schema, table.dbName)
  const text = (value: TemplateParam) => typed(string, value)
  const number = (value: number) => typed(int64, String(value))
  const isOf = (scope: TemplateParam) => sql`scope = ${text(scope)}`

  return {
    name,
    isOf,
    claim: (entry: EntryParams, outcome: LedgerRow['outcome'], scope = text(entry.scope)) => sql`
      insert into ${name} (scope, workspace_id, fingerprint, rights, outcome, started_at, expires_at)
      select ${scope}, ${text(entry.workspaceId)}, ${text(entry.fingerprint)}, ${text(entry.rights)},
        ${text(outcome)}, ${typed(int64, entry.startedAt)}, ${typed(int64, entry.expiresAt)}`,
    find: (scope: string) => sql`
      select fingerprint, rights, outcome, body, item_keys, started_at, expires_at from ${name} where ${isOf(scope)}`,
    finish: (scope: string, kept: { readonly body: string | null; readonly itemKeys: string | null }) => sql`
      update ${name} set outcome = 'done', body = ${typed(string, kept.body)}, item_keys = ${typed(string, kept.itemKeys)}
      where ${isOf(scope)}`,
    doubt: (scope: string) => sql`update ${name} set outcome = 'unknown' where ${isOf(scope)} and outcome = 'running'`,
    /** Takes over an entry that began at `startedAt` and has not ended. */
    retake: (entry: LedgerEntry, startedAt: number) => sql`
      update ${name} set outcome = 'running', rights = ${text(entry.rights)}, started_at = ${number(entry.startedAt)},
        expires_at = ${number(entry.expiresAt)}
      where ${isOf(entry.scope)} and outcome <> 'done' and started_at = ${number(startedAt)} returning scope`,
    release: (scope: string) => sql`delete from ${name} where ${isOf(scope)} and outcome <> 'done'`,
    expire: (scope: string, now: number) => sql`
      delete from ${name} where ${isOf(scope)} and expires_at <= ${number(now)}`,
    prune: (now: number) => sql`delete from ${name} where expires_at <= ${number(now)}`,
  }
}

const string = { type: { name: 'string', params: { length: 'unlimited' } }, isList: false } as const
const int64 = { type: { name: 'int64' }, isList: false } as const

/** Parses the row that `find` returns. */
export function ledgerRow([row]: readonly (readonly (string | null)[])[]): LedgerRow | undefined {
  if (row === undefined) return undefined
  const [fingerprint, rights, outcome, body, itemKeys, startedAt, expiresAt] = row
  return {
    fingerprint: fingerprint ?? '',
    rights: rights ?? '',
    outcome: outcome === 'done' || outcome === 'running' ? outcome : 'unknown',
    body: body ?? undefined,
    itemKeys: itemKeys ?? undefined,
    startedAt: Number(startedAt),
    expiresAt: Number(expiresAt),
  }
}

/** Selects the key of an item, by names that no field has. */
export function keySelection({ key }: Collection): Selection {
  return key.map((field, index) => ({ kind: 'field', name: `_key${index}`, field, visible: all }))
}

/** The key as members of rows that are rendered. */
export function keyMembers(collection: Collection, dialect: Dialect, alias: string): RowQuery['members'] {
  return rendered(keySelection(collection), rootScope(dialect, alias)).members
}

export const separator: Sql = integer(SEPARATOR)

/** In the error of a batch whose key a running transaction has. */
export const RUNNING = 'service:running'
/** In the error of a batch whose key is used already. */
export const TAKEN = 'service:taken'
