/** Qualifies the ids of a database's tables with their cluster: a restored database has other ids under another cluster. */
import { inCluster } from '../core/sql/catalog-ids.ts'
import { SqlFault } from '../core/sql/fault.ts'
import type { Introspection } from '../core/sql/introspect.ts'
import type { SourceTable } from '../core/sql/source-schema.ts'
import type { SqlDriver } from '../ports/database.ts'

type Database = { readonly driver: Pick<SqlDriver, 'query'>; readonly catalog: Pick<Introspection, 'identities'> }

/** Returns the tables with ids qualified by their cluster; unqualified if the cluster is unknown. */
export async function withClusterIds<Found extends { readonly tables: readonly Pick<SourceTable, 'identity'>[] }>(
  database: Database,
  found: Found,
): Promise<Found> {
  return { ...found, tables: inCluster(found.tables, await loadCluster(database)) }
}

/** The id of the cluster; empty if the database does not provide it, or has no table ids. */
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
