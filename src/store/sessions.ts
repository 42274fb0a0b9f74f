/**
 * Sessions, opened by a sign-in and extended by refreshes. A session stores the id of its only valid refresh token, so
 * that a reused older token is recognized.
 */

import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { AuditStatement } from './audit.ts'
import { bumpAccessWhere } from './instance.ts'
import { empty, isoTime, param, type Sql, sql, statement, timestamp } from './statements.ts'

/** What sends a request: the IP address and the `User-Agent`, as far as known. */
export type SessionClient = { readonly address: string | undefined; readonly userAgent: string | undefined }

export type NewSession = {
  readonly id: string
  readonly userId: string
  readonly refreshTokenId: string
  readonly expiresAt: Instant
  readonly client: SessionClient
  /** The account must still have this hash. */
  readonly passwordHash?: string | null | undefined
  /** The provider of the sign-in, which must still be enabled. */
  readonly providerId?: string | undefined
}

/**
 * First in what opens a session: whatever ends all sessions of the account (`holdAccount`) has been done, or waits and ends it, too.
 */
export function keepAccount(userId: string): Statement {
  return statement(sql`select 1 from service."user" where id = ${param(userId)}::uuid for share`)
}

/** Before what ends all sessions of an account, and after what holds the row of the instance. */
export function holdAccount(userId: string): Statement {
  return statement(sql`select 1 from service."user" where id = ${param(userId)}::uuid for no key update`)
}

/** Returns false, and writes nothing, if the account or the provider is no longer valid or the password has changed. */
export async function insertSession(
  database: SqlDriver,
  session: NewSession,
  record: AuditStatement,
): Promise<boolean> {
  const [, rows] = await database.batch([
    keepAccount(session.userId),
    statement(sql`
      insert into service.session (id, user_id, refresh_token_id, expires_at, provider_id, user_agent, ip)
      select ${param(session.id)}::uuid, u.id, ${param(session.refreshTokenId)}::uuid, ${timestamp(session.expiresAt)},
        ${param(session.providerId ?? null)}::uuid, ${clientColumns(session.client)}
      from service."user" u where u.id = ${param(session.userId)}::uuid and u.status = 'active'
        and ${isSignInOpen(sql`${param(session.providerId ?? null)}::uuid`)}
        ${session.passwordHash === undefined ? empty : sql`and u.password_hash = ${param(session.passwordHash)}`}
      returning id`),
    record(sql`exists (select 1 from service.session where id = ${param(session.id)}::uuid)`),
  ])
  return rows?.length === 1
}

/** A session as a refresh token names it. */
export type SessionToken = { readonly id: string; readonly userId: string; readonly refreshTokenId: string }

/**
 * Replaces the refresh token that was used with `next`. Returns false if it was not the current one, or if the session,
 * its account or its provider is no longer valid. Of concurrent calls with one token, one returns true.
 */
export async function rotateSession(
  database: SqlDriver,
  used: SessionToken,
  next: Pick<NewSession, 'refreshTokenId' | 'expiresAt' | 'client'> & { readonly record: AuditStatement },
): Promise<boolean> {
  const [rows] = await database.batch([
    statement(sql`
      update service.session s
      set refresh_token_id = ${param(next.refreshTokenId)}::uuid, expires_at = ${timestamp(next.expiresAt)},
        last_used_at = now(), (user_agent, ip) = (select ${clientColumns(next.client)})
      where ${isValidSession(used)} and s.refresh_token_id = ${param(used.refreshTokenId)}::uuid
        and ${isSignInOpen(sql`s.provider_id`)}
        and exists (select 1 from service."user" u where u.id = s.user_id and u.status = 'active')
      returning s.id`),
    next.record(sql`exists (
      select 1 from service.session s
      where ${isNotEnded(used)} and s.refresh_token_id = ${param(next.refreshTokenId)}::uuid)`),
  ])
  return rows?.length === 1
}

/**
 * Ends a session whose refresh token is used a second time; returns false if the token was the current one or the
 * session has ended.
 */
export function revokeReused(database: SqlDriver, used: SessionToken, record: AuditStatement): Promise<boolean> {
  return revoke(
    database,
    {
      userId: used.userId,
      which: sql`${isNotEnded(used)} and s.refresh_token_id <> ${param(used.refreshTokenId)}::uuid`,
    },
    record,
  )
}

/** Ends a session; returns false if it has already ended. */
export function endSession(
  database: SqlDriver,
  session: Pick<SessionToken, 'id' | 'userId'>,
  record: AuditStatement,
): Promise<boolean> {
  return revoke(database, { userId: session.userId, which: isNotEnded(session) }, record)
}

/** Ends what `loadSessions` shows of a user except `kept`; returns false if there is nothing to end. */
export function endOtherSessions(
  database: SqlDriver,
  { userId, kept }: { readonly userId: string; readonly kept: string | undefined },
  record: AuditStatement,
): Promise<boolean> {
  const isSeen = isOpenOf(userId)
  const which = sql`${isSeen} ${kept === undefined ? empty : sql`and s.id <> ${param(kept)}::uuid`}`
  return revoke(database, { userId, which, isSeen }, record)
}

/** The JSON text of the newest thousand sessions of a user that can be refreshed; `current` is the one that asks. */
export async function loadSessions(
  database: SqlDriver,
  { userId, current }: { readonly userId: string; readonly current: string | undefined },
): Promise<string> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('id', s.id, 'createdAt', ${isoTime(sql`s.created_at`)},
        'lastUsedAt', ${isoTime(sql`s.last_used_at`)}, 'name', s.name, 'userAgent', s.user_agent, 'ip', s.ip,
        'current', s.id is not distinct from ${param(current ?? null)}::uuid)
        order by s.last_used_at desc, s.id desc), '[]')::text
      from (select * from service.session s where ${isOpenOf(userId)} order by s.last_used_at desc, s.id desc limit 1000) s`),
  )
  return text ?? '[]'
}

/** Ends all sessions of a user except `kept`. */
export function endSessions(userId: string, kept?: string): readonly Statement[] {
  const others = kept === undefined ? empty : sql`and id <> ${param(kept)}::uuid`
  return [
    holdAccount(userId),
    statement(sql`
      update service.session set revoked_at = now() where user_id = ${param(userId)}::uuid and revoked_at is null ${others}`),
  ]
}

/** Deletes sessions whose last token expired before `instant`. */
export async function deleteSessionsBefore(database: SqlDriver, instant: Instant): Promise<void> {
  await database.query(statement(sql`delete from service.session where expires_at < ${timestamp(instant)}`))
}

/**
 * Increments the access version only if there may be a session to revoke, so that other caches stay valid otherwise. `isSeen` is of
 * those that there are before what opens others at the same time has ended.
 */
async function revoke(
  database: SqlDriver,
  { userId, which, isSeen = which }: { readonly userId: string; readonly which: Sql; readonly isSeen?: Sql },
  record: AuditStatement,
): Promise<boolean> {
  const isThere = (of: Sql) => sql`exists (select 1 from service.session s where ${of})`
  const [, , , rows] = await database.batch([
    bumpAccessWhere(isThere(isSeen)),
    holdAccount(userId),
    record(isThere(which)),
    statement(sql`update service.session s set revoked_at = now() where ${which} returning s.id`),
  ])
  return rows !== undefined && rows.length > 0
}

/** SQL condition: `s` is the session, which has not been ended, and whose time is not up. */
export function isValidSession(session: Pick<SessionToken, 'id' | 'userId'>): Sql {
  return sql`${isNotEnded(session)} and s.expires_at > now()`
}

function isOpenOf(userId: string): Sql {
  return sql`s.user_id = ${param(userId)}::uuid and s.revoked_at is null and s.expires_at > now()`
}

function isNotEnded({ id, userId }: Pick<SessionToken, 'id' | 'userId'>): Sql {
  return sql`s.id = ${param(id)}::uuid and s.user_id = ${param(userId)}::uuid and s.revoked_at is null`
}

/** SQL condition: the session's sign-in method is available, that is, the password or an enabled provider. */
export function isSignInOpen(providerId: Sql): Sql {
  return sql`(${providerId} is null or exists (
    select 1 from service.provider p where p.id = ${providerId} and p.enabled))`
}

/** Longest `User-Agent` that is kept, in characters. */
const LONGEST_USER_AGENT = 400

/** The columns `user_agent` and `ip`. */
export function clientColumns({ userAgent, address }: SessionClient): Sql {
  return sql`${param(userAgent?.slice(0, LONGEST_USER_AGENT) ?? null)}::text, ${param(address ?? null)}::text`
}
