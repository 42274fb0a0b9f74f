/** Account passwords and password reset tokens. Only hashes of passwords and digests of tokens are stored. */
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, sql, statement, timestamp } from './statements.ts'

export type PasswordRow = { readonly email: string | null; readonly hash: string | null }

/** Loads address and hash of an active person; undefined for every other account. */
export async function loadPassword(database: SqlDriver, userId: string): Promise<PasswordRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select email, password_hash from service."user"
      where id = ${param(userId)}::uuid and status = 'active' and not is_service`),
  )
  return row && { email: row[0] ?? null, hash: row[1] ?? null }
}

export function setPassword(userId: string, hash: string): Statement {
  return statement(sql`
    update service."user" set password_hash = ${param(hash)} where id = ${param(userId)}::uuid`)
}

export type NewReset = { readonly tokenHash: string; readonly userId: string; readonly expiresAt: Instant }

/** Does nothing for an account that has been suspended since it was asked for. */
export async function insertReset(database: SqlDriver, { tokenHash, userId, expiresAt }: NewReset): Promise<void> {
  await database.query(
    statement(sql`
      insert into service.password_reset (token_hash, user_id, expires_at)
      select ${param(tokenHash)}, id, ${timestamp(expiresAt)} from service."user"
      where id = ${param(userId)}::uuid and status = 'active'`),
  )
}

/** Returns the active user whose password this unexpired token resets. */
export async function findResetUser(database: SqlDriver, tokenHash: string): Promise<string | undefined> {
  const [row] = await database.query(
    statement(sql`
      select u.id from service.password_reset r join service."user" u on u.id = r.user_id
      where r.token_hash = ${param(tokenHash)} and r.expires_at > now() and u.status = 'active' and not u.is_service`),
  )
  return row?.[0] ?? undefined
}

/** Deletes all reset tokens of an account, when one was used, the password changed or the account was suspended. */
export function deleteResets(userId: string): Statement {
  return statement(sql`delete from service.password_reset where user_id = ${param(userId)}::uuid`)
}

export async function deleteEndedResets(database: SqlDriver): Promise<void> {
  await database.query(statement(sql`delete from service.password_reset where expires_at < now()`))
}
