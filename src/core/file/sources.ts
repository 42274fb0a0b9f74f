/** What the kind of a data source says of its collections: which namespace needs no mention, and what it enforces. */
import { type CollectionRecord, isSystemSource, type NamespaceRecord, type SourceRecord } from '../model/model.ts'
import { type SqlProvider, sqlProviders } from '../sql/address.ts'

/** The schema of a connection; a connection of the MySQL family names its database itself. */
const usualSchema: Readonly<Record<SqlProvider, string | undefined>> = {
  postgres: 'public',
  neon: 'public',
  mysql: undefined,
  mariadb: undefined,
  planetscale: undefined,
}

/**
 * The namespace that a file leaves out: that of data in `_system`, `public` of PostgreSQL, the database of a connection of MySQL,
 * which is the only one then. Without `workspace` the system database has none.
 */
export function ownNamespaceOf(
  source: SourceRecord,
  namespaces: readonly NamespaceRecord[],
  workspace: string | undefined,
): NamespaceRecord | undefined {
  const own = namespaces.filter(({ sourceId, isSystem }) => sourceId === source.id && !isSystem)
  if (isSystemSource(source)) return own.find(({ dbName }) => dbName === `service_${workspace}_data`)
  const usual = usualSchema[source.provider as SqlProvider]
  if (usual !== undefined) return own.find(({ dbName }) => dbName === usual)
  return own.length === 1 ? own[0] : undefined
}

type Kept = Pick<CollectionRecord, 'sourceId' | 'isView'>

/** Whether a database keeps relations between the two, so that there is a constraint. */
export function isEnforced(one: Kept, other: Kept, sources: readonly SourceRecord[]): boolean {
  if (one.sourceId !== other.sourceId || one.isView || other.isView) return false
  return isOfDatabase(one.sourceId, sources)
}

/** Whether its table can have indexes of ours. */
export function isIndexed({ sourceId, isView }: Kept, sources: readonly SourceRecord[]): boolean {
  return !isView && isOfDatabase(sourceId, sources)
}

function isOfDatabase(sourceId: string, sources: readonly SourceRecord[]): boolean {
  const source = sources.find(({ id }) => id === sourceId)
  return isSystemSource(source) || sqlProviders.some((provider) => provider === source?.provider)
}
