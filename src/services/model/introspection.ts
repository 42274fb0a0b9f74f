/**
 * Imports changes made to a database outside of the service: lock → read the schema → diff → persist → publish
 * (docs/contract.md#introspection). The database itself is only read.
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import { isStartFailure } from '../../core/connector/activity.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { type Breaking, breakingChanges } from '../../core/migration/breaking.ts'
import { conventionalName } from '../../core/migration/derive.ts'
import { diffModel, type SchemaOperation } from '../../core/migration/diff.ts'
import { followRenames, type Rename, type RenamedFrom } from '../../core/migration/renames.ts'
import { isSystemSource, type Model, type ModelRecords, type SourceRecord } from '../../core/model/model.ts'
import { catalogIdsOf } from '../../core/sql/catalog-ids.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { SkippedTable, SourceSchema } from '../../core/sql/source-schema.ts'
import { chooseTables, missingTable, type TableChoice } from '../../core/sql/table-choice.ts'
import type { Ports } from '../../ports.ts'
import type { Imported, SourceDatabase } from '../../sources/provider.ts'
import { loadCatalogIds, saveCatalogIds } from '../../store/catalog-ids.ts'
import { dataSchema } from '../../store/installation.ts'
import { loadTableChoice, markedSources, saveTableChoice, unmarkSource } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { ModelChanges } from './model-changes.ts'
import type { OpenSources } from './open-sources.ts'
import { type PolicyUse, policyUses } from './policy-use.ts'

export type Introspection = {
  /** Imports the schema of a source and returns the changes as operations of a migration. */
  introspect(scope: RequestScope, request: IntrospectionRequest): Promise<ImportResult>
  /** Returns what `introspect` would import and what that breaks; changes nothing. */
  preview(scope: RequestScope, request: IntrospectionRequest): Promise<ImportPreview>
  /** Returns the schema that a source of the model has now. */
  look(workspace: WorkspaceRow, model: Model, sourceId: string): Promise<SourceSchema>
}

export type IntrospectionRequest = {
  readonly sourceId: string
  /** Which tables to import, from now on; undefined for the choice that was kept. */
  readonly tables: TableChoice | undefined
  /** Which of the uncertain renames of a dry run are meant. */
  readonly renames: readonly RenamedFrom[] | undefined
}

export type ImportResult = {
  readonly operations: readonly SchemaOperation[]
  /** What the source has and the model leaves out. */
  readonly skipped: readonly SkippedTable[]
}

export type ImportPreview = ImportResult & {
  readonly renames: readonly Rename[]
  readonly breaking: readonly Breaking[]
  /** The policies that name what would be deleted. */
  readonly policies: readonly PolicyUse[]
  /** Of what would be imported; the same as long as the schema is. */
  readonly hash: string
}

export type IntrospectionDeps = {
  readonly ports: Pick<Ports, 'database' | 'ids' | 'transliterate'>
  readonly models: ModelChanges
  /** The system database. */
  readonly system: SourceDatabase
  readonly openSources: Pick<OpenSources, 'open'>
}

export function createIntrospection(deps: IntrospectionDeps): Introspection {
  const { ports, models, system, openSources } = deps
  const { database, ids } = ports

  async function schemaOf(
    workspace: WorkspaceRow,
    current: ModelRecords,
    { source, isDryRun }: { readonly source: SourceRecord; readonly isDryRun: boolean },
  ): Promise<Imported> {
    if (isSystemSource(source)) {
      return { schema: await readOwn(system, ownSchemas(workspace, current, source.id)), statements: [] }
    }
    try {
      const opened = await openSources.open(workspace, source)
      return isDryRun ? { schema: await opened.look(), statements: [] } : await opened.introspect()
    } catch (cause) {
      throw cause instanceof ServiceError && !isStartFailure(cause)
        ? new ServiceError(cause.kind, FAILED, { cause })
        : cause
    }
  }

  async function compare(
    workspace: WorkspaceRow,
    current: ModelRecords,
    { sourceId, tables, renames: meant = [], isDryRun }: IntrospectionRequest & { readonly isDryRun: boolean },
  ) {
    const source = current.sources.find(({ id }) => id === sourceId.toLowerCase())
    if (source === undefined) throw new ServiceError('notFound', 'Source does not exist')
    const imported = await schemaOf(workspace, current, { source, isDryRun })
    const place = { workspace: workspace.apiName, sourceId: source.id }
    if (tables !== undefined) requireTables(imported.schema, tables)
    const schema = chooseTables(imported.schema, tables ?? (await loadTableChoice(database, place)))
    const transliterate = await ports.transliterate()
    const context = {
      toApiName: (dbName: string) => conventionalName(dbName, transliterate),
      newId: ids.next,
      workspace: workspace.apiName,
    }
    const known = await loadCatalogIds(database, workspace.apiName, source.id)
    const isAccepted = (rename: Rename) => meant.some(({ from, to }) => from === rename.from && to === rename.to)
    const followed = followRenames(current, source.id, { schema, known, isAccepted, newId: ids.next })
    requireOffered(followed.renames, meant)
    const { records, operations } = diffModel(followed.records, source.id, { schema, context })
    return {
      source,
      schema,
      records,
      operations: [...followed.operations, ...operations],
      renames: followed.renames,
      statements: [...imported.statements, ...(tables === undefined ? [] : [saveTableChoice(place, tables)])],
      isNew: records !== current || imported.statements.length > 0,
      identify: saveCatalogIds(workspace.apiName, known, catalogIdsOf(records, source.id, schema)),
    }
  }

  return {
    async introspect(scope, request) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataModel:edit')
      return models.change(workspace, async (current) => {
        const found = await compare(workspace, current, { ...request, isDryRun: false })
        const { source, schema, records, operations, isNew, identify } = found
        // Without changes nothing is written, not even an audit entry.
        const payload = { source: source.apiName, operations: operations.map(({ kind }) => kind) }
        const target = { type: 'source', id: source.id } as const
        const audit = isNew
          ? [recordWorkspaceEvent(ids, scope, { action: 'schema.introspect.v1', target, payload })]
          : []
        // The model now includes what an unfinished migration left in the database.
        const isMarked = (await markedSources(database, workspace.id)).has(source.id)
        const statements = [...found.statements, ...(isMarked ? [unmarkSource(source.id)] : []), ...audit]
        const isSame = records === current && statements.length === 0
        // Ids alone are no new version of the model.
        if (isSame && identify.length > 0) await database.batch(identify)
        return {
          records,
          statements: isSame ? [] : [...statements, ...identify],
          answer: { operations, skipped: schema.skipped },
        }
      })
    },

    async look(workspace, { records }, sourceId) {
      const source = records.sources.find(({ id }) => id === sourceId)
      if (source === undefined) throw new ServiceError('notFound', 'Source does not exist')
      return (await schemaOf(workspace, records, { source, isDryRun: true })).schema
    },

    async preview({ workspace, rights }, request) {
      requireEntitlement(rights, 'dataModel:edit')
      const current = await models.current(workspace)
      const { schema, records, operations, renames } = await compare(workspace, current, { ...request, isDryRun: true })
      return {
        operations,
        renames,
        breaking: breakingChanges(operations, current),
        policies: await policyUses(database, workspace.id, current, records),
        skipped: schema.skipped,
        hash: await sha256Hex(
          JSON.stringify([schema.namespaces, schema.tables], (name, part: unknown) =>
            name === 'identity' ? undefined : part,
          ),
        ),
      }
    },
  }
}

/** Throws 422 where a name, which is no pattern, is no table of the source. */
function requireTables(schema: SourceSchema, tables: TableChoice): void {
  const missing = missingTable(schema, tables)
  if (missing === -1) return
  throw nested('invalid', [
    'Failed to read the JSON body',
    `tables.include[${missing}]`,
    'is not a table of this source',
  ])
}

/** Throws 422 for a rename that was not found. */
function requireOffered(found: readonly Rename[], meant: readonly RenamedFrom[]): void {
  const unknown = meant.findIndex(({ from, to }) => !found.some((rename) => rename.from === from && rename.to === to))
  if (unknown === -1) return
  throw nested('invalid', ['Failed to read the JSON body', `renames[${unknown}]`, 'is no rename that a dry run offers'])
}

/**
 * Of the system database only the workspace's own schemas are read; others belong to the service or to other
 * workspaces.
 */
function ownSchemas(workspace: WorkspaceRow, { namespaces }: ModelRecords, systemSourceId: string): readonly string[] {
  const own = namespaces.filter(({ sourceId, isSystem }) => sourceId === systemSourceId && !isSystem)
  return [...new Set([dataSchema(workspace.apiName), ...own.map(({ dbName }) => dbName)])]
}

async function readOwn({ driver, dialect, catalog }: SourceDatabase, names: readonly string[]): Promise<SourceSchema> {
  try {
    return catalog.parse(await driver.query(catalog.statement({ kind: 'schemas', names })))
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
    throw nested('failed', [FAILED, dialect.explain(cause)?.message ?? 'The database denied access to its schema'], {
      cause,
    })
  }
}

const FAILED = 'Failed to execute the introspection'
