/** Accounts, as administrators of the instance see and change them. */
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, type Sql, sql, statement } from './statements.ts'

export type AccountRow = {
  readonly fullName: string | null
  readonly status: 'active' | 'suspended'
  readonly isAdministrator: boolean
  readonly isService: boolean
  /** The owner of a service account. */
  readonly ownerId: string | null
  /** The account's e-mail address is proven; for a service account, its owner's. */
  readonly isProven: boolean
  /** Number of other people who can currently act as administrator of the instance. */
  readonly otherAdministrators: number
}

/** Loads a person or a service account; undefined if it does not exist. */
export async function loadAccount(database: SqlDriver, id: string): Promise<AccountRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select json_build_object('fullName', u.full_name, 'status', u.status, 'isAdministrator', u.is_administrator,
        'isService', u.is_service, 'ownerId', u.service_account_owner_id, 'isProven', ${isProven(sql`u`)},
        'otherAdministrators', (
          select count(*) from service."user" o
          where o.id <> u.id and o.is_administrator and not o.is_service and o.status = 'active'))::text
      from service."user" u where u.id = ${param(id)}::uuid`),
  )
  return row === undefined ? undefined : (parseJson(row[0] ?? 'null') as AccountRow)
}

/** SQL condition: the e-mail address of `u` is proven; for a service account, its owner's. */
export function isProven(u: Sql): Sql {
  return sql`exists (
    select 1 from service."user" p
    where p.id = coalesce(${u}.service_account_owner_id, ${u}.id) and p.email_proven_at is not null)`
}

/** Inserts an account whose e-mail address was just proven. */
export function insertAccount(account: {
  readonly id: string
  readonly email: string
  readonly fullName: string | null
  /** Null if the account has no password. */
  readonly passwordHash: string | null
}): Statement {
  return statement(sql`
    insert into service."user" (id, email, full_name, password_hash, email_proven_at)
    values (${param(account.id)}::uuid, ${param(account.email)}, ${param(account.fullName)},
      ${param(account.passwordHash)}, now())`)
}

export function updateAccount(id: string, account: Pick<AccountRow, 'status' | 'isAdministrator'>): Statement {
  return statement(sql`
    update service."user" set status = ${param(account.status)},
      is_administrator = ${param(String(account.isAdministrator))}::boolean
    where id = ${param(id)}::uuid`)
}

export function setFullName(id: string, fullName: string | null): Statement {
  return statement(sql`update service."user" set full_name = ${param(fullName)} where id = ${param(id)}::uuid`)
}

export function deleteAccount(id: string): Statement {
  return statement(sql`delete from service."user" where id = ${param(id)}::uuid`)
}
