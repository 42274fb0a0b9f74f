/** Which cluster the ids of a database's tables hold in: one that was restored gives ids of its own. */
import { inCluster } from '../core/sql/catalog-ids.ts'
import { SqlFault } from '../core/sql/fault.ts'
import type { Introspection } from '../core/sql/introspect.ts'
import type { SourceTable } from '../core/sql/source-schema.ts'
import type { SqlDriver } from '../ports/database.ts'

type Database = { readonly driver: Pick<SqlDriver, 'query'>; readonly catalog: Pick<Introspection, 'identities'> }

/** The same tables with ids of their cluster; those of the database alone where it is not told. */
export async function withClusterIds<Found extends { readonly tables: readonly Pick<SourceTable, 'identity'>[] }>(
  database: Database,
  found: Found,
): Promise<Found> {
  return { ...found, tables: inCluster(found.tables, await loadCluster(database)) }
}

/** Empty where the database does not tell, or has no ids. */
export async function loadCluster({ driver, catalog: { identities } }: Database): Promise<string> {
  if (identities === undefined) return ''
  try {
    const [[cluster] = []] = await driver.query(identities.cluster)
    return cluster ?? ''
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
    return ''
  }
}
