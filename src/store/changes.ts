/** The history of items in the system database (docs/contract.md#history), which triggers of the collections' tables write. */
import { isSystemSource, type SourceRecord } from '../core/model/model.ts'
import type { TableRef } from '../core/sql/ddl/change.ts'
import { SqlFault } from '../core/sql/fault.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, sql, statement, timestamp } from './statements.ts'
import { everyWorkspace } from './workspaces.ts'

/** Where what is recorded of a source's collections is kept; undefined for a source that records nothing. */
export function changesTable(workspace: string, source: SourceRecord | undefined): TableRef | undefined {
  return isSystemSource(source) ? { schema: metaSchema(workspace), dbName: 'change' } : undefined
}

/** Deletes in all workspaces what was recorded before `time`. */
export async function deleteChangesBefore(database: SqlDriver, time: Instant): Promise<void> {
  for (const { apiName } of await everyWorkspace(database)) {
    const changes = ident(metaSchema(apiName), 'change')
    try {
      await database.query(statement(sql`delete from ${changes} where "at" < ${timestamp(time)}`))
    } catch (error) {
      // The workspace was deleted meanwhile.
      if (!(error instanceof SqlFault) || error.state !== UNDEFINED_TABLE) throw error
    }
  }
}

const UNDEFINED_TABLE = '42P01'
