/** Users as they sign in, and the creation of the first. */
import { takeAdvisoryLock } from '../core/sql/postgres/advisory-locks.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { AuditStatement } from './audit.ts'
import { param, sql, statement } from './statements.ts'

export type UserRow = {
  readonly id: string
  readonly email: string | null
  readonly fullName: string | null
  readonly passwordHash: string | null
  readonly status: 'active' | 'suspended'
}

/** Counts people; service accounts are excluded. */
export async function countUsers(database: SqlDriver): Promise<number> {
  const [[count] = []] = await database.query(statement(sql`select count(*) from service."user" where not is_service`))
  return Number(count)
}

/** Creates the first user, with a proven address. Returns false if a user exists; concurrent calls create only one. */
export async function insertFirstUser(
  database: SqlDriver,
  user: {
    readonly id: string
    readonly email: string
    readonly fullName: string | null
    readonly passwordHash: string
  },
  record: AuditStatement,
): Promise<boolean> {
  const [, rows] = await database.batch([
    takeAdvisoryLock('firstUser'),
    statement(sql`
      insert into service."user" (id, email, full_name, password_hash, is_administrator, email_proven_at)
      select ${param(user.id)}::uuid, ${param(user.email)}, ${param(user.fullName)}, ${param(user.passwordHash)}, true,
        now()
      where not exists (select 1 from service."user")
      returning id`),
    record(sql`exists (select 1 from service."user" where id = ${param(user.id)}::uuid)`),
  ])
  return rows?.length === 1
}

/** Finds a person by e-mail address, in any case; service accounts are excluded. */
export async function findUserByEmail(database: SqlDriver, email: string): Promise<UserRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select id, email, full_name, password_hash, status from service."user"
      where lower(email) = lower(${param(email)}) and not is_service`),
  )
  if (row === undefined) return undefined
  const [id, address, fullName, passwordHash, status] = row
  return {
    id: id ?? '',
    email: address ?? null,
    fullName: fullName ?? null,
    passwordHash: passwordHash ?? null,
    status: status === 'active' ? 'active' : 'suspended',
  }
}
