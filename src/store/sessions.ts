/**
 * Sessions: what a sign-in opened and a refresh goes on with. A session knows the one refresh token that may be used
 * next, so that an older one is told by not being that.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { Instant, SqlDriver } from '../ports.ts'
import type { AuditStatement } from './accounts.ts'
import { empty, param, type Sql, sql, statement } from './statements.ts'

export type NewSession = {
  readonly id: string
  readonly userId: string
  readonly refreshTokenId: string
  readonly expiresAt: Instant
  /** The account has to have it still. */
  readonly passwordHash?: string | null | undefined
  /** Of the provider that it was opened by, which has to be switched on. */
  readonly providerId?: string | undefined
}

/** Answers false, and writes nothing, where the account or the provider does not count any more, or the password is another one. */
export async function insertSession(
  database: SqlDriver,
  session: NewSession,
  record: AuditStatement,
): Promise<boolean> {
  const [rows] = await database.batch([
    statement(sql`
      insert into service.session (id, user_id, refresh_token_id, expires_at, provider_id)
      select ${param(session.id)}::uuid, u.id, ${param(session.refreshTokenId)}::uuid, ${time(session.expiresAt)},
        ${param(session.providerId ?? null)}::uuid
      from service."user" u where u.id = ${param(session.userId)}::uuid and u.status = 'active'
        and ${isOpen(sql`${param(session.providerId ?? null)}::uuid`)}
        ${session.passwordHash === undefined ? empty : sql`and u.password_hash = ${param(session.passwordHash)}`}
      returning id`),
    record(sql`exists (select 1 from service.session where id = ${param(session.id)}::uuid)`),
  ])
  return rows?.length === 1
}

/** A session as a refresh token names it. */
export type SessionToken = { readonly id: string; readonly userId: string; readonly refreshTokenId: string }

/**
 * Puts `next` in the place of the refresh token that was used. Answers false where that was not the current one, or the
 * session, its account or its provider do not count any more: of many who use one token at the same time one gets true.
 */
export async function rotateSession(
  database: SqlDriver,
  used: SessionToken,
  next: { readonly refreshTokenId: string; readonly expiresAt: Instant; readonly record: AuditStatement },
): Promise<boolean> {
  const [rows] = await database.batch([
    statement(sql`
      update service.session s
      set refresh_token_id = ${param(next.refreshTokenId)}::uuid, expires_at = ${time(next.expiresAt)}
      where ${isAlive(used)} and s.refresh_token_id = ${param(used.refreshTokenId)}::uuid and s.expires_at > now()
        and ${isOpen(sql`s.provider_id`)}
        and exists (select 1 from service."user" u where u.id = s.user_id and u.status = 'active')
      returning s.id`),
    next.record(sql`exists (
      select 1 from service.session s
      where ${isAlive(used)} and s.refresh_token_id = ${param(next.refreshTokenId)}::uuid)`),
  ])
  return rows?.length === 1
}

/** Ends a session whose refresh token was used before; answers false where that is not so. */
export function revokeReused(database: SqlDriver, used: SessionToken, record: AuditStatement): Promise<boolean> {
  return revoke(database, sql`${isAlive(used)} and s.refresh_token_id <> ${param(used.refreshTokenId)}::uuid`, record)
}

/** Ends a session; answers false where it had ended before. */
export function endSession(
  database: SqlDriver,
  session: Pick<SessionToken, 'id' | 'userId'>,
  record: AuditStatement,
): Promise<boolean> {
  return revoke(database, isAlive(session), record)
}

/** Forgets sessions whose last token was over before `time`. */
export async function deleteSessionsBefore(database: SqlDriver, instant: Instant): Promise<void> {
  await database.query(statement(sql`delete from service.session where expires_at < ${time(instant)}`))
}

/** Rights are counted up only where there is something to revoke, so that nobody makes others read theirs for nothing. */
async function revoke(database: SqlDriver, which: Sql, record: AuditStatement): Promise<boolean> {
  const isThere = sql`exists (select 1 from service.session s where ${which})`
  const [, , rows] = await database.batch([
    bumpAccessWhere(isThere),
    record(isThere),
    statement(sql`update service.session s set revoked_at = now() where ${which} returning s.id`),
  ])
  return rows?.length === 1
}

function bumpAccessWhere(condition: Sql): Statement {
  return statement(sql`update service.instance set access_version = access_version + 1 where ${condition}`)
}

function isAlive({ id, userId }: Pick<SessionToken, 'id' | 'userId'>): Sql {
  return sql`s.id = ${param(id)}::uuid and s.user_id = ${param(userId)}::uuid and s.revoked_at is null`
}

/** Whether people can sign in that way: by password, or by a provider that is switched on. */
function isOpen(providerId: Sql): Sql {
  return sql`(${providerId} is null or exists (
    select 1 from service.provider p where p.id = ${providerId} and p.enabled))`
}

function time(instant: Instant): Sql {
  return sql`${param(new Date(instant).toISOString())}::timestamptz`
}
