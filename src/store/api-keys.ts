/** API keys in the system database. A key is managed by its user, or by the owner if that user is a service account. */
import type { KeyScope } from '../core/access/scope.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { AuditStatement } from './audit.ts'
import { bumpAccessWhere } from './instance.ts'
import { actsBy, type Credential } from './principal-state.ts'
import { json, milliseconds, param, type Sql, sql, statement, timestamp } from './statements.ts'

/** Whose keys may be created: anyone's, or only those of this user and of its service accounts. */
export type UserFilter = { readonly kind: 'anyone' } | { readonly kind: 'user'; readonly id: string }

type RequestCredential = Exclude<Credential, { readonly kind: 'user' }>

/** `record` is the change's audit entry; `by` is the requester's credential, which must still be valid when it runs. */
type Requested = { readonly record: AuditStatement; readonly by: RequestCredential }

/** Which keys may be changed: with an API key, only that key and the keys made with it. */
export type KeyFilter = UserFilter | { readonly kind: 'key'; readonly id: string }

export type NewApiKey = {
  readonly id: string
  readonly userId: string
  readonly name: string
  readonly description: string | null
  readonly expiresAt: Instant | undefined
  readonly scope: KeyScope | undefined
  /** The key that was used to create this one. Deleting it deletes this one. */
  readonly madeBy: string | undefined
}

export type ApiKeyRow = {
  /** Undefined if the key does not expire. */
  readonly expiresAt: Instant | undefined
  /** Length of the chain of keys that made this one, itself included. */
  readonly generation: number
}

export async function loadApiKey(database: SqlDriver, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select ${milliseconds(sql`k.expires_at`)}, (select count(*) from service.key_line(k.id))
      from service.api_key k where k.id = ${param(id)}::uuid`),
  )
  if (row === undefined) return undefined
  const [end, generation] = row
  return { expiresAt: end === null || end === undefined ? undefined : Number(end), generation: Number(generation) }
}

/**
 * Returns false, and writes nothing, if the user does not exist, `userFilter` does not include it, or the requester's
 * credential is no longer valid. Locks the user, so that no key is created while the account changes its owner, and the
 * session, so that no key is created while the session is being ended.
 */
export async function insertApiKey(
  database: SqlDriver,
  userFilter: UserFilter,
  { record, by, ...key }: NewApiKey & Requested,
): Promise<boolean> {
  const [, rows] = await database.batch([
    holdSession(by),
    statement(sql`
      insert into service.api_key (id, user_id, name, description, expires_at, scope, made_by)
      select ${param(key.id)}::uuid, u.id, ${param(key.name)}, ${param(key.description)}, ${timestamp(key.expiresAt ?? null)},
        ${key.scope === undefined ? sql`null` : json(key.scope)}::jsonb, ${param(key.madeBy ?? null)}::uuid
      from service."user" u where u.id = ${param(key.userId)}::uuid and ${matchesUser(userFilter)}
        and ${isAllowed(by, userFilter)}
      for share of u
      returning id`),
    record(sql`exists (select 1 from service.api_key where id = ${param(key.id)}::uuid)`),
  ])
  return rows?.length === 1
}

export type ApiKeyChange = { readonly name?: string; readonly description?: string | null; readonly active?: boolean }

/** Returns false if `keyFilter` includes no such key, or the requester's credential is no longer valid. */
export async function updateApiKey(
  database: SqlDriver,
  key: FilteredKey & Requested,
  change: ApiKeyChange,
): Promise<boolean> {
  const { name = null, active = null } = change
  const [, , , rows] = await database.batch([
    bumpAccessWhere(isThere(key)),
    holdSession(key.by),
    key.record(sql`${isThere(key)} and ${isAllowed(key.by, key.keyFilter)}`),
    statement(sql`
      update service.api_key k set
        name = coalesce(${param(name)}, k.name),
        description = case when ${param(String('description' in change))}::boolean
          then ${param(change.description ?? null)} else k.description end,
        active = coalesce(${param(active === null ? null : String(active))}::boolean, k.active)
      from service."user" u where ${isKey(key)} and ${isAllowed(key.by, key.keyFilter)} returning k.id`),
  ])
  return rows?.length === 1
}

/**
 * Deletes a key and all keys made with it. Returns false if `keyFilter` includes no such key, or the requester's credential is no
 * longer valid.
 */
export async function deleteApiKey(database: SqlDriver, key: FilteredKey & Requested): Promise<boolean> {
  const [, , , rows] = await database.batch([
    bumpAccessWhere(isThere(key)),
    holdSession(key.by),
    key.record(sql`${isThere(key)} and ${isAllowed(key.by, key.keyFilter)}`),
    statement(sql`
      delete from service.api_key k using service."user" u
      where ${isKey(key)} and ${isAllowed(key.by, key.keyFilter)} returning k.id`),
  ])
  return rows?.length === 1
}

/** Lists the keys of one account by id and name. */
export async function keysOf(
  database: SqlDriver,
  userId: string,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const rows = await database.query(
    statement(sql`select id, name from service.api_key where user_id = ${param(userId)}::uuid order by id`),
  )
  return rows.map(([id, name]) => ({ id: id ?? '', name: name ?? '' }))
}

/** Runs after the statement that changes the account's owner, so that no key of the previous owner remains. */
export function deleteKeysOf(userId: string): Statement {
  return statement(sql`delete from service.api_key where user_id = ${param(userId)}::uuid`)
}

/** Keeps a later time that another process has written. */
export async function markKeyUsed(database: SqlDriver, id: string, at: Instant): Promise<void> {
  const time = timestamp(at)
  await database.query(
    statement(sql`
      update service.api_key set last_used_at = ${time}
      where id = ${param(id)}::uuid and (last_used_at is null or last_used_at < ${time})`),
  )
}

/** Waits for a transaction that is ending the session, and keeps others from ending it before this batch commits. */
function holdSession({ kind, id }: RequestCredential): Statement {
  return statement(
    sql`select 1 from service.session where id = ${param(kind === 'session' ? id : null)}::uuid for share`,
  )
}

/** SQL condition: the credential is valid, and of an administrator of the instance where `keyFilter` is `anyone`. */
function isAllowed(by: RequestCredential, { kind }: KeyFilter): Sql {
  return actsBy(by, kind === 'anyone' ? 'administrator' : 'anybody')
}

type FilteredKey = { readonly id: string; readonly keyFilter: KeyFilter }

function isThere(key: FilteredKey): Sql {
  return sql`exists (select 1 from service.api_key k, service."user" u where ${isKey(key)})`
}

function isKey({ id, keyFilter }: FilteredKey): Sql {
  return sql`k.id = ${param(id)}::uuid and u.id = k.user_id and ${matchesKey(keyFilter)}`
}

function matchesKey(keyFilter: KeyFilter): Sql {
  if (keyFilter.kind !== 'key') return matchesUser(keyFilter)
  const id = sql`${param(keyFilter.id)}::uuid`
  return sql`(k.id = ${id} or k.made_by = ${id})`
}

function matchesUser(userFilter: UserFilter): Sql {
  if (userFilter.kind === 'anyone') return sql`true`
  const id = sql`${param(userFilter.id)}::uuid`
  return sql`(u.id = ${id} or u.service_account_owner_id = ${id})`
}
