/** What becomes of the entries of the ledger; those of one key are in `ledger-claims.ts`. */
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, sql, statement } from './statements.ts'

export async function deleteExpiredEntries(database: SqlDriver, now: Instant): Promise<void> {
  await database.query(statement(sql`delete from service.ledger where expires_at <= ${param(String(now))}::bigint`))
}

/** Runs with the deletion of a workspace. */
export function forgetLedger(workspaceId: string): Statement {
  return statement(sql`delete from service.ledger where workspace_id = ${param(workspaceId)}`)
}
