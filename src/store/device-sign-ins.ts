/**
 * Sign-ins of devices without a browser (docs/contract.md#devices). Of both codes only digests are stored. An approval opens
 * the session at once, so that it is listed, revoked and ended like any other; the device then takes its tokens, once.
 */
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { AuditStatement } from './audit.ts'
import {
  clientColumns,
  isSignInOpen,
  isValidSession,
  keepAccount,
  type SessionClient,
  type SessionToken,
} from './sessions.ts'
import { isoTime, param, type Sql, sql, statement, timestamp } from './statements.ts'

export type NewDeviceSignIn = {
  readonly deviceHash: string
  readonly userHash: string
  /** What the device calls itself. */
  readonly name: string | null
  readonly client: SessionClient
  readonly expiresAt: Instant
}

/** Returns false, and writes nothing, where another one that has not been deleted yet has the same user code. */
export async function insertDeviceSignIn(database: SqlDriver, made: NewDeviceSignIn): Promise<boolean> {
  const rows = await database.query(
    statement(sql`
      insert into service.device_sign_in (device_hash, user_hash, name, expires_at, user_agent, ip)
      values (${param(made.deviceHash)}, ${param(made.userHash)}, ${param(made.name)}, ${timestamp(made.expiresAt)},
        ${clientColumns(made.client)})
      on conflict do nothing returning 1`),
  )
  return rows.length === 1
}

/** The JSON text of what is known of a device that waits for a decision. */
export async function findWaitingDevice(database: SqlDriver, userHash: string): Promise<string | undefined> {
  const [row] = await database.query(
    statement(sql`
      select json_build_object('name', d.name, 'userAgent', d.user_agent, 'ip', d.ip,
        'createdAt', ${isoTime(sql`d.created_at`)}, 'expiresAt', ${isoTime(sql`d.expires_at`)})::text
      from service.device_sign_in d where ${isWaiting(userHash)}`),
  )
  return row?.[0] ?? undefined
}

export type DeviceApproval = {
  readonly userHash: string
  /** The session that approves; it must be valid still, and the provider that it was signed in by enabled. */
  readonly by: Pick<SessionToken, 'id' | 'userId'>
  /** The id of the session that is opened. */
  readonly openedId: string
}

/** Opens the session of a device, which lasts as its code until the tokens are taken. Of concurrent decisions one returns true. */
export async function approveDevice(
  database: SqlDriver,
  { userHash, by, openedId }: DeviceApproval,
  record: AuditStatement,
): Promise<boolean> {
  const [, rows] = await database.batch([
    keepAccount(by.userId),
    statement(sql`
      with approver as (
        select s.user_id, s.provider_id from service.session s join service."user" u on u.id = s.user_id
        where ${isValidSession(by)} and u.status = 'active' and ${isSignInOpen(sql`s.provider_id`)}
      ), approved as (
        update service.device_sign_in d set session_id = ${param(openedId)}::uuid
        from approver a where ${isWaiting(userHash)}
        returning d.name, d.expires_at, d.user_agent, d.ip, a.user_id, a.provider_id
      )
      insert into service.session (id, user_id, refresh_token_id, expires_at, provider_id, name, user_agent, ip)
      select ${param(openedId)}::uuid, user_id, gen_random_uuid(), expires_at, provider_id, name,
        user_agent, ip
      from approved returning id`),
    record(sql`exists (select 1 from service.session where id = ${param(openedId)}::uuid)`),
  ])
  return rows?.length === 1
}

/** Returns false where there is nothing left to decide. */
export async function denyDevice(database: SqlDriver, userHash: string, record: AuditStatement): Promise<boolean> {
  const [, rows] = await database.batch([
    record(sql`exists (select 1 from service.device_sign_in d where ${isWaiting(userHash)})`),
    statement(sql`update service.device_sign_in d set is_denied = true where ${isWaiting(userHash)} returning 1`),
  ])
  return rows?.length === 1
}

export type DeviceState =
  | { readonly kind: 'waiting' | 'hasty' | 'denied' }
  | { readonly kind: 'approved'; readonly session: Pick<SessionToken, 'id' | 'userId'> }

/** Undefined for an unknown code and one whose time is up. `hasty`: it was asked less than `interval` milliseconds ago. */
export async function askDevice(
  database: SqlDriver,
  { deviceHash, interval }: { readonly deviceHash: string; readonly interval: number },
): Promise<DeviceState | undefined> {
  const isOwn = sql`d.device_hash = ${param(deviceHash)} and d.expires_at > now()`
  const recently = sql`clock_timestamp() - ${param(String(interval))}::int * interval '1 millisecond'`
  const [counted, found] = await database.batch([
    statement(sql`
      update service.device_sign_in d set asked_at = clock_timestamp()
      where ${isOwn} and d.session_id is null and not d.is_denied and (d.asked_at is null or d.asked_at < ${recently})
      returning 1`),
    statement(sql`
      select d.is_denied, s.id, s.user_id
      from service.device_sign_in d left join service.session s on s.id = d.session_id
      where ${isOwn} and (d.session_id is null or s.id is not null)`),
  ])
  const [row] = found ?? []
  if (row === undefined) return undefined
  const [isDenied, id, userId] = row
  if (isDenied === 't') return { kind: 'denied' }
  if (id && userId) return { kind: 'approved', session: { id, userId } }
  return { kind: counted?.length === 1 ? 'waiting' : 'hasty' }
}

export type TakenSession = SessionToken & { readonly expiresAt: Instant }

/** Takes the session of a device, once: it lasts from now on. Returns false where it was taken, has ended, or is no longer valid. */
export async function takeDeviceSession(
  database: SqlDriver,
  { deviceHash, session }: { readonly deviceHash: string; readonly session: TakenSession },
  record: AuditStatement,
): Promise<boolean> {
  const [rows] = await database.batch([
    statement(sql`
      with taken as (
        delete from service.device_sign_in d
        where d.device_hash = ${param(deviceHash)} and d.expires_at > now()
          and d.session_id = ${param(session.id)}::uuid
        returning d.session_id
      )
      update service.session s
      set expires_at = ${timestamp(session.expiresAt)}, last_used_at = now(),
        refresh_token_id = ${param(session.refreshTokenId)}::uuid
      from taken t, service."user" u
      where s.id = t.session_id and ${isValidSession(session)} and u.id = s.user_id and u.status = 'active'
        and ${isSignInOpen(sql`s.provider_id`)}
      returning s.id`),
    record(sql`exists (
      select 1 from service.session s
      where s.id = ${param(session.id)}::uuid and s.refresh_token_id = ${param(session.refreshTokenId)}::uuid)`),
  ])
  return rows?.length === 1
}

export async function deleteEndedDeviceSignIns(database: SqlDriver): Promise<void> {
  await database.query(statement(sql`delete from service.device_sign_in where expires_at < now()`))
}

function isWaiting(userHash: string): Sql {
  return sql`d.user_hash = ${param(userHash)} and d.expires_at > now() and d.session_id is null and not d.is_denied`
}
