/** The row of the instance: its id and the access version. */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { type Sql, sql, statement } from './statements.ts'

/** Part of every change of rights, keys and accounts: invalidates what other processes have cached of them. */
export const bumpAccess: Statement = bumpAccessWhere(sql`true`)

export function bumpAccessWhere(condition: Sql): Statement {
  return statement(sql`update service.instance set access_version = access_version + 1 where ${condition}`)
}

export async function loadEnvironmentId(database: SqlDriver): Promise<string> {
  const [[id] = []] = await database.query(statement(sql`select environment_id from service.instance`))
  return id ?? ''
}

/** Throws where the system database does not answer. */
export async function probeDatabase(database: SqlDriver): Promise<void> {
  await database.query(statement(sql`select 1`))
}
