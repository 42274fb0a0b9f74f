/**
 * What was changed in a database behind our back comes into the model: lock → read the schema → diff → persist →
 * publish (contract 7). The database itself is only read.
 */
import { requireEntitlement } from '../core/access/principal.ts'
import { nested, ServiceError } from '../core/error.ts'
import { conventionalName } from '../core/migration/derive.ts'
import { diffModel, type SchemaOperation } from '../core/migration/diff.ts'
import type { ModelRecords, SourceRecord } from '../core/model/model.ts'
import type { Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import type { Introspection as Catalog, IntrospectionScope } from '../core/sql/introspect.ts'
import type { SourceSchema } from '../core/sql/source-schema.ts'
import type { Ids, SqlDriver } from '../ports.ts'
import { dataSchema } from '../store/installation.ts'
import type { WorkspaceRow } from '../store/workspaces.ts'
import { recordIn } from './audit.ts'
import type { Entry } from './callers.ts'
import type { ModelChanges } from './model-changes.ts'

export type Introspection = {
  /** Imports the schema of a source and answers what has changed, as the operations of a migration. */
  introspect(entry: Entry, sourceId: string): Promise<{ readonly operations: readonly SchemaOperation[] }>
}

/** A database whose schema can be read. */
export type SourceDatabase = { readonly driver: SqlDriver; readonly dialect: Dialect; readonly catalog: Catalog }

type Deps = {
  readonly ids: Ids
  readonly models: ModelChanges
  /** Undefined where there is no database behind the source. */
  readonly openDatabase: (source: SourceRecord) => SourceDatabase | undefined
}

export function createIntrospection({ ids, models, openDatabase }: Deps): Introspection {
  return {
    async introspect(entry, sourceId) {
      const { workspace, rights } = entry
      requireEntitlement(rights, 'dataModel:edit')
      const { default: transliterate } = await import('@sindresorhus/transliterate')
      const context = {
        toApiName: (dbName: string) => conventionalName(dbName, transliterate),
        newId: ids.next,
        workspace: workspace.apiName,
      }
      return models.change(workspace, async (current) => {
        const source = current.sources.find(({ id }) => id === sourceId.toLowerCase())
        if (source === undefined) throw new ServiceError('notFound', 'Source does not exist')
        const database = openDatabase(source)
        if (database === undefined) throw failed('The source has no schema to read')
        const schema = await readSchema(database, scopeOf(workspace, current, source))
        const { records, operations } = diffModel(current, source.id, { schema, context })
        // An import that finds nothing new changes nothing, so it leaves no entry either.
        const payload = { source: source.apiName, operations: operations.map(({ kind }) => kind) }
        const target = { type: 'source', id: source.id } as const
        const statements =
          records === current ? [] : [recordIn(ids, entry, { action: 'schema.introspect.v1', target, payload })]
        return { records, statements, answer: { operations } }
      })
    },
  }
}

/** The system database holds everything, also what belongs to others: of it only what is the workspace's own. */
function scopeOf(
  workspace: WorkspaceRow,
  { namespaces }: ModelRecords,
  { id, apiName }: SourceRecord,
): IntrospectionScope {
  if (apiName !== '_system') return { kind: 'all' }
  const own = namespaces.filter(({ sourceId, isSystem }) => sourceId === id && !isSystem)
  const names = new Set([dataSchema(workspace.apiName), ...own.map(({ dbName }) => dbName)])
  return { kind: 'schemas', names: [...names] }
}

async function readSchema(
  { driver, dialect, catalog }: SourceDatabase,
  scope: IntrospectionScope,
): Promise<SourceSchema> {
  try {
    return catalog.parse(await driver.query(catalog.statement(scope)))
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
    throw failed(dialect.explain(cause)?.message ?? 'The database refused to show its schema', cause)
  }
}

function failed(reason: string, cause?: unknown): ServiceError {
  return nested('failed', ['Failed to execute the introspection', reason], { cause })
}
