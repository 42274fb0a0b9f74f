/** One-time links that sign an administrator in, made by a local run. Only digests of their secrets are stored. */
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, sql, statement, timestamp } from './statements.ts'

export type NewSignInLink = { readonly tokenHash: string; readonly email: string; readonly expiresAt: Instant }

/**
 * Stores a link for the active administrator of this address in place of all earlier ones; returns false, and only
 * forgets those, where there is no such administrator.
 */
export async function replaceSignInLinks(database: SqlDriver, link: NewSignInLink): Promise<boolean> {
  const [, rows] = await database.batch([
    statement(sql`delete from service.sign_in_link`),
    statement(sql`
      insert into service.sign_in_link (token_hash, user_id, expires_at)
      select ${param(link.tokenHash)}, id, ${timestamp(link.expiresAt)} from service."user"
      where lower(email) = lower(${param(link.email)}) and status = 'active' and is_administrator and not is_service
      returning user_id`),
  ])
  return rows?.length === 1
}

/** Uses a link up and returns its user, if it is not expired and the user still an active administrator. */
export async function takeSignInLink(database: SqlDriver, tokenHash: string): Promise<string | undefined> {
  const [row] = await database.query(
    statement(sql`
      with taken as (
        delete from service.sign_in_link where token_hash = ${param(tokenHash)} returning user_id, expires_at)
      select u.id from taken t join service."user" u on u.id = t.user_id
      where t.expires_at > now() and u.status = 'active' and u.is_administrator and not u.is_service`),
  )
  return row?.[0] ?? undefined
}
