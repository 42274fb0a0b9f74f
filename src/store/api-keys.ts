/** API keys in the system database. Whoever looks after a key is its user, or the owner of that service account. */
import type { KeyScope } from '../core/access/scope.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant, SqlDriver } from '../ports.ts'
import { type AuditStatement, actsBy, bumpAccess, type Credential } from './accounts.ts'
import { json, param, type Sql, sql, statement } from './statements.ts'

/** Whose keys are made: anybody's, or those that this user looks after. */
export type Guardian = { readonly kind: 'anyone' } | { readonly kind: 'user'; readonly id: string }

type Presented = Exclude<Credential, { readonly kind: 'user' }>

/** What is asked is written down, and done only while what it is asked with counts. */
type Asked = { readonly record: AuditStatement; readonly by: Presented }

/** Which keys may be touched: by a key only itself and those that were made with it. */
export type Keeper = Guardian | { readonly kind: 'key'; readonly id: string }

export type NewApiKey = {
  readonly id: string
  readonly userId: string
  readonly name: string
  readonly description: string | null
  readonly expiresAt: Instant | undefined
  readonly scope: KeyScope | undefined
  /** The key that it is made with, and ends with. */
  readonly madeBy: string | undefined
}

export type ApiKeyRow = {
  /** Undefined where it has no end. */
  readonly expiresAt: Instant | undefined
  /** How many keys it was made with, one by the other; itself counts too. */
  readonly generation: number
}

export async function loadApiKey(database: SqlDriver, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select (extract(epoch from k.expires_at) * 1000)::bigint, (select count(*) from service.key_line(k.id))
      from service.api_key k where k.id = ${param(id)}::uuid`),
  )
  if (row === undefined) return undefined
  const [end, generation] = row
  return { expiresAt: end === null || end === undefined ? undefined : Number(end), generation: Number(generation) }
}

/**
 * Answers false, and writes nothing, where there is no such user, the guardian does not look after them, or who asks may not
 * act any more, perhaps since the body was on its way. The user is held while it runs, so that nobody makes a key of an
 * account that is handed on at the same moment, and the session, so that none slips in beside what ends it.
 */
export async function insertApiKey(
  database: SqlDriver,
  guardian: Guardian,
  { record, by, ...key }: NewApiKey & Asked,
): Promise<boolean> {
  const expiry = key.expiresAt === undefined ? null : new Date(key.expiresAt).toISOString()
  const [, rows] = await database.batch([
    holdSession(by),
    statement(sql`
      insert into service.api_key (id, user_id, name, description, expires_at, scope, made_by)
      select ${param(key.id)}::uuid, u.id, ${param(key.name)}, ${param(key.description)}, ${param(expiry)}::timestamptz,
        ${key.scope === undefined ? sql`null` : json(key.scope)}::jsonb, ${param(key.madeBy ?? null)}::uuid
      from service."user" u where u.id = ${param(key.userId)}::uuid and ${isGuardedBy(guardian)}
        and ${mayAsk(by, guardian)}
      for share of u
      returning id`),
    record(sql`exists (select 1 from service.api_key where id = ${param(key.id)}::uuid)`),
  ])
  return rows?.length === 1
}

export type ApiKeyChange = { readonly name?: string; readonly description?: string | null; readonly active?: boolean }

/** Answers false where there is no such key for that keeper, or who asks may not act any more. */
export async function updateApiKey(database: SqlDriver, key: Kept & Asked, change: ApiKeyChange): Promise<boolean> {
  const { name = null, active = null } = change
  const [, , , rows] = await database.batch([
    bumpAccess,
    holdSession(key.by),
    key.record(sql`${isThere(key)} and ${mayAsk(key.by, key.keeper)}`),
    statement(sql`
      update service.api_key k set
        name = coalesce(${param(name)}, k.name),
        description = case when ${param(String('description' in change))}::boolean
          then ${param(change.description ?? null)} else k.description end,
        active = coalesce(${param(active === null ? null : String(active))}::boolean, k.active)
      from service."user" u where ${isKey(key)} and ${mayAsk(key.by, key.keeper)} returning k.id`),
  ])
  return rows?.length === 1
}

export async function deleteApiKey(
  database: SqlDriver,
  key: { readonly id: string; readonly keeper: Keeper; readonly record: AuditStatement },
): Promise<boolean> {
  const [, , rows] = await database.batch([
    bumpAccess,
    key.record(isThere(key)),
    statement(sql`delete from service.api_key k using service."user" u where ${isKey(key)} returning k.id`),
  ])
  return rows?.length === 1
}

/** The keys of one account, by id and name. */
export async function keysOf(
  database: SqlDriver,
  userId: string,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const rows = await database.query(
    statement(sql`select id, name from service.api_key where user_id = ${param(userId)}::uuid order by id`),
  )
  return rows.map(([id, name]) => ({ id: id ?? '', name: name ?? '' }))
}

/** Behind the statement that changes the account's owner, so that no key of the one before slips in. */
export function deleteKeysOf(userId: string): Statement {
  return statement(sql`delete from service.api_key where user_id = ${param(userId)}::uuid`)
}

/** Never puts back the time that another process has written. */
export async function markKeyUsed(database: SqlDriver, id: string, at: Instant): Promise<void> {
  const time = sql`${param(new Date(at).toISOString())}::timestamptz`
  await database.query(
    statement(sql`
      update service.api_key set last_used_at = ${time}
      where id = ${param(id)}::uuid and (last_used_at is null or last_used_at < ${time})`),
  )
}

/** Waits for what is about to end the session, and lets nothing end it before this batch does. */
function holdSession({ kind, id }: Presented): Statement {
  return statement(
    sql`select 1 from service.session where id = ${param(kind === 'session' ? id : null)}::uuid for share`,
  )
}

/** Whether who asks may still do so, after anybody's keys as an administrator of the instance. */
function mayAsk(by: Presented, { kind }: Keeper): Sql {
  return actsBy(by, kind === 'anyone' ? 'administrator' : 'anybody')
}

type Kept = { readonly id: string; readonly keeper: Keeper }

function isThere(key: Kept): Sql {
  return sql`exists (select 1 from service.api_key k, service."user" u where ${isKey(key)})`
}

function isKey({ id, keeper }: Kept): Sql {
  return sql`k.id = ${param(id)}::uuid and u.id = k.user_id and ${isKeptBy(keeper)}`
}

function isKeptBy(keeper: Keeper): Sql {
  if (keeper.kind !== 'key') return isGuardedBy(keeper)
  const id = sql`${param(keeper.id)}::uuid`
  return sql`(k.id = ${id} or k.made_by = ${id})`
}

function isGuardedBy(guardian: Guardian): Sql {
  if (guardian.kind === 'anyone') return sql`true`
  const id = sql`${param(guardian.id)}::uuid`
  return sql`(u.id = ${id} or u.service_account_owner_id = ${id})`
}
