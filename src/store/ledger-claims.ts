/**
 * Entries of writes whose data source has no ledger of its own: claimed before the write, ended after it. Loaded by the
 * first of them.
 */
import { postgres } from '../core/sql/postgres/dialect.ts'
import { entryTexts, type LedgerEntry, type LedgerRow, ledgerRow, ledgerStatements } from '../core/sql/write/ledger.ts'
import { systemLedger } from '../core/sql/write/ledger-table.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isDuplicate } from './failed-batch.ts'
import { statement } from './statements.ts'

const statements = () => ledgerStatements(systemLedger, postgres)

/** Returns false if the key is taken. */
export async function claimKey(database: SqlDriver, entry: LedgerEntry): Promise<boolean> {
  try {
    await database.query(statement(statements().claim(entryTexts(entry), 'running')))
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** Returns the entry of a key, unless it has expired. */
export async function findEntry(database: SqlDriver, scope: string, now: Instant): Promise<LedgerRow | undefined> {
  const { expire, find } = statements()
  const [, rows = []] = await database.batch([statement(expire(scope, now)), statement(find(scope))])
  return ledgerRow(rows)
}

/** Returns false if another request was quicker. */
export async function retakeEntry(database: SqlDriver, entry: LedgerEntry, startedAt: Instant): Promise<boolean> {
  const rows = await database.query(statement(statements().retake(entry, startedAt)))
  return rows.length > 0
}

/** Keeps the answer of a write: a list of items, or of their keys. */
export async function finishEntry(
  database: SqlDriver,
  scope: string,
  kept: { readonly body: string | null; readonly itemKeys: string | null },
): Promise<void> {
  await database.query(statement(statements().finish(scope, kept)))
}

/** The write was sent, and nobody knows what came of it. */
export async function doubtEntry(database: SqlDriver, scope: string): Promise<void> {
  await database.query(statement(statements().doubt(scope)))
}

/** The write left nothing. */
export async function releaseEntry(database: SqlDriver, scope: string): Promise<void> {
  await database.query(statement(statements().release(scope)))
}
