/**
 * Imports changes made to a database outside of the service: lock → read the schema → diff → persist → publish
 * (docs/contract.md#introspection). The database itself is only read.
 */
import { gone } from '../../core/access/gone.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { type Breaking, breakingChanges } from '../../core/migration/breaking.ts'
import { conventionalName } from '../../core/migration/derive.ts'
import { diffModel, type SchemaOperation } from '../../core/migration/diff/diff.ts'
import { invalidOperation } from '../../core/migration/fault.ts'
import { followRenames, type Rename, type RenamedFrom, withLedger } from '../../core/migration/renames.ts'
import type { Model, ModelRecords, SourceRecord } from '../../core/model/model.ts'
import { catalogIdsOf } from '../../core/sql/catalog-ids.ts'
import type { SkippedTable, SourceSchema } from '../../core/sql/source-schema.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { chooseTables, missingTable, type TableChoice } from '../../core/sql/table-choice.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { Imported } from '../../sources/provider.ts'
import { loadCatalogIds, saveCatalogIds } from '../../store/catalog-ids.ts'
import { loadSeenSchema, saveAgreement } from '../../store/drift.ts'
import { isPlaceSaved, savePlace } from '../../store/source-places.ts'
import { loadTableChoice, markedSources, saveTableChoice, unmarkSource } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import { type RequestScope, requireStill } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import { queuedFor } from '../caller/queued-requests.ts'
import type { QueuedWork, WorkQueue } from '../caller/work-queue.ts'
import { createAgreements, shortened } from './agreements.ts'
import type { Breaks, BrokenTests } from './migration-effects.ts'
import { compileModel } from './model-cache.ts'
import type { ModelChanges } from './model-changes.ts'
import type { OpenSources } from './open-sources.ts'
import { firstUse, type PolicyUse, policyUses, stillUnused } from './policy-use.ts'
import { planOn, requirePlan } from './reviewed.ts'
import { whereabouts } from './shared-names.ts'
import {
  createSourceCatalogs,
  INTROSPECTION_FAILED,
  type SourceCatalogs,
  type SourceCatalogsDeps,
  type WorkspaceSource,
} from './source-catalogs.ts'

export type Introspection = {
  /**
   * Imports the schema of a source and returns the changes as operations of a migration; 409 if the request's plan is of
   * another schema or model.
   */
  introspect(scope: RequestScope, request: IntrospectionRequest): Promise<ImportResult>
  /** Returns what `introspect` would import and what that breaks; changes nothing. */
  preview(scope: RequestScope, request: IntrospectionRequest): Promise<ImportPreview>
  /** Returns the schema that a source of the model has now. */
  look(workspace: WorkspaceRow, model: Model, sourceId: string): Promise<SourceSchema>
  /** Returns a digest of what one query of the catalog returns to this release, ids included. */
  outline(workspace: WorkspaceRow, current: ModelRecords, source: SourceRecord): Promise<string>
  /** Returns what an import would change in `current`; undefined if model and database agree except for additional indexes. */
  differences(workspace: WorkspaceRow, current: ModelRecords, sourceId: string): Promise<Differences | undefined>
}

export type Differences = { readonly hash: string; readonly operations: readonly SchemaOperation[] }

export type IntrospectionRequest = {
  readonly sourceId: string
  /** The tables to import from now on; undefined for the saved choice. */
  readonly tables: TableChoice | undefined
  /** The uncertain renames of a dry run that the import follows. */
  readonly renames: readonly RenamedFrom[] | undefined
  /** The plan of the dry run; the import is refused if schema or model differ from it. */
  readonly plan?: string | undefined
}

export type ImportResult = {
  readonly operations: readonly SchemaOperation[]
  /** The tables of the source that the model leaves out. */
  readonly skipped: readonly SkippedTable[]
}

export type ImportPreview = ImportResult & {
  readonly renames: readonly Rename[]
  readonly breaking: readonly Breaking[]
  /** The policies that name collections or fields that would be deleted. */
  readonly policies: readonly PolicyUse[]
  /** As for a migration, plus the policies that name anything else that is deleted. */
  readonly breaks: Breaks
  /** Digest of the schema that would be imported. */
  readonly hash: string
  /** The plan to send with an import that must apply to this schema and this model only. */
  readonly plan: string
}

export type IntrospectionDeps = {
  readonly ports: Pick<Ports, 'database' | 'ids' | 'transliterate'>
  readonly models: ModelChanges
  /** The system database as a workspace uses it. */
  readonly systemOf: SourceCatalogsDeps['systemOf']
  readonly openSources: Pick<OpenSources, 'open'>
  readonly queues: Readonly<Record<'imports' | 'looks', WorkQueue>>
  /** Milliseconds for a statement about a source. */
  readonly timeLimit: number
  readonly brokenTests: BrokenTests
  /** The version of this release: another release may read more from the same catalog. */
  readonly version: string
}

export function createIntrospection(deps: IntrospectionDeps): Introspection {
  const { ports, models, systemOf, openSources, queues, timeLimit, brokenTests, version } = deps
  const { database, ids } = ports
  const catalogs = createSourceCatalogs({ systemOf, openSources, timeLimit })
  const agreements = createAgreements()
  const looked = async (at: WorkspaceSource) => ({ schema: await catalogs.look(at), statements: [] })

  /** Queues an import only if its source answers. */
  async function queued<Result>(
    at: WorkspaceSource,
    of: Omit<QueuedWork, 'isLarge'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await catalogs.reach(at)
    return queues.imports.run({ ...of, isLarge: true }, work)
  }

  function requireSource(workspace: WorkspaceRow, records: ModelRecords, sourceId: string): WorkspaceSource {
    const source = records.sources.find(({ id }) => id === sourceId.toLowerCase())
    if (source === undefined) throw new ServiceError('notFound', 'Source does not exist')
    return { workspace, records, source }
  }

  /** Returns the tables that the last import left out, if schema and model are unchanged since then; otherwise undefined. */
  async function stillSkipped(at: WorkspaceSource, { tables, renames, plan }: IntrospectionRequest) {
    const { workspace, records, source } = at
    const agreement = agreements.known(records, source.id)
    if (agreement === undefined || [tables, renames, plan].some((one) => one !== undefined)) return undefined
    if ((await markedSources(database, workspace.id)).has(source.id)) return undefined
    if ((await loadSeenSchema(database, source.id))?.isDrifted !== false) return undefined
    const digest = await shortened(await catalogs.digest(at, 'all'))
    return digest === agreement.digest ? agreement.skipped : undefined
  }

  /** Compares a schema with the model, and returns the changes that an import makes. */
  async function compare(
    { workspace, records: current, source }: WorkspaceSource,
    imported: Pick<Imported, 'schema' | 'statements'>,
    { tables, renames: requestedRenames = [] }: Pick<IntrospectionRequest, 'tables' | 'renames'>,
  ) {
    const place = { workspace: workspace.apiName, sourceId: source.id }
    if (tables !== undefined) requireTables(imported.schema, tables)
    const schema = await inParts(chooseTables(imported.schema, tables ?? (await loadTableChoice(database, place))))
    const transliterate = await ports.transliterate()
    const context = {
      toApiName: (dbName: string) => conventionalName(dbName, transliterate),
      newId: ids.next,
      workspace: workspace.apiName,
    }
    const known = await loadCatalogIds(database, workspace.apiName, source.id)
    const isAccepted = (rename: Rename) =>
      requestedRenames.some(({ from, to }) => from === rename.from && to === rename.to)
    const search = { schema, whole: imported.schema, known, isAccepted, newId: ids.next }
    const followed = await inParts(followRenames(current, source.id, search))
    requireOffered(followed.renames, requestedRenames)
    const { records, operations } = await inParts(diffModel(followed.records, source.id, { schema, context }))
    return {
      schema,
      records,
      operations: [...followed.operations, ...operations],
      renames: followed.renames,
      followed: followed.renames.filter((rename) => rename.certain || isAccepted(rename)),
      followsUncertain: followed.followsUncertain,
      statements: [...imported.statements, ...(tables === undefined ? [] : [saveTableChoice(place, tables)])],
      isNew: records !== current || imported.statements.length > 0,
      identify: saveCatalogIds(workspace.apiName, known, catalogIdsOf(records, source.id, schema)),
      /** True if the same import, repeated, would find nothing more. */
      isSettled: async () => (await inParts(diffModel(records, source.id, { schema, context }))).records === records,
    }
  }

  /** Collections and fields that only the choice of tables removes; their tables still exist in the database. */
  async function leftOut(
    at: WorkspaceSource,
    imported: Pick<Imported, 'schema' | 'statements'>,
    records: ModelRecords,
  ) {
    const lost = gone({ before: at.records, after: records })
    if (lost.size === 0) return lost
    const whole = await compare(at, imported, { tables: {}, renames: undefined })
    const anyway = gone({ before: at.records, after: whole.records })
    return new Map([...lost].filter(([id]) => !anyway.has(id)))
  }

  /** Returns the statement that saves which database the source connects to; none if this is saved already. */
  async function rememberPlace({ workspace, source }: WorkspaceSource) {
    const { database: open } = await openSources.open(workspace, source)
    if (open === undefined) return []
    const { driver, ...opened } = await open()
    const limited = { query: (statement: Statement) => driver.query(statement, { timeLimit }) }
    const found = await whereabouts({ ...opened, driver: limited })
    const place = { workspaceId: workspace.id, sourceId: source.id, ...found }
    return (await isPlaceSaved(database, place)) ? [] : [savePlace(place)]
  }

  type Changed = { readonly before: Model; readonly records: ModelRecords; readonly lost: ReadonlyMap<string, string> }

  async function breaks(scope: RequestScope, { before, records, lost }: Changed): Promise<Breaks> {
    const { breaksOf } = await import('./migration-effects.ts')
    const after = await compileModel(0, records)
    return breaksOf({ ports, brokenTests }, scope, { before, after, lost: new Set(lost.keys()) })
  }

  return {
    async introspect(scope, request) {
      const { workspace } = scope
      requireEntitlement(scope.rights, 'dataModel:edit')
      let keep = async () => {}
      const answer = await models.change(
        scope,
        'dataModel:edit',
        async ({ records: current, version: modelVersion }, { rights }) => {
          const at = requireSource(workspace, current, request.sourceId)
          const { source } = at
          return queued(at, queuedFor(scope), async () => {
            const skipped = await stillSkipped(at, request)
            if (skipped !== undefined) return { records: current, statements: [], answer: { operations: [], skipped } }
            const imported = await catalogs.read(at)
            const digest = await shortened(imported.digest)
            const found = await compare(at, imported, request)
            const { schema, operations, followed, isNew, identify, isSettled } = found
            if (request.plan !== undefined)
              await requirePlan({ workspace, plan: request.plan }, modelVersion, await hashOf(schema))
            const isMarked = (await markedSources(database, workspace.id)).has(source.id)
            const records = isMarked ? withLedgerFound(found.records, source, imported) : found.records
            // Changes by our own unfinished migration may look like deletions by others.
            const isFollowed = !isMarked || rights.kind === 'all'
            const lost = isFollowed ? await leftOut(at, imported, records) : gone({ before: current, after: records })
            const use = await firstUse(database, workspace.id, { lost, rights })
            if (use !== undefined) throw refusedImport(use)
            if (found.followsUncertain && rights.kind !== 'all') throw refusedImport(UNCERTAIN)
            keep = async () => {
              if (digest === undefined || !(await isSettled())) return
              agreements.keep(records, source.id, { digest, skipped: schema.skipped })
            }
            // Without changes nothing is written, not even an audit entry.
            const payload = {
              source: source.apiName,
              operations: operations.map(({ kind }) => kind),
              ...(followed.length > 0 && { renames: followed.map(({ from, to }) => `${from} to ${to}`) }),
            }
            const target = { type: 'source', id: source.id } as const
            const audit = isNew
              ? [recordWorkspaceEvent(ids, scope, { action: 'schema.introspect.v1', target, payload })]
              : []
            // The model now includes what an unfinished migration left in the database.
            const statements = [
              ...stillUnused(workspace.id, { lost }),
              ...found.statements,
              ...(isMarked ? [unmarkSource(source.id)] : []),
              ...audit,
            ]
            const isSame = records === current && statements.length === 0
            const seen = await loadSeenSchema(database, source.id)
            const isAgreed = seen !== undefined && !seen.isDrifted
            const place = await rememberPlace(at)
            const aside = [...identify, ...place, ...(isAgreed ? [] : [saveAgreement(workspace.id, source.id)])]
            // New ids and a resolved drift warning do not make a new version of the model.
            if (isSame && aside.length > 0) await database.batch(aside)
            return {
              records,
              statements: isSame ? [] : [...statements, ...aside],
              answer: { operations, skipped: schema.skipped },
            }
          })
        },
      )
      await keep()
      return answer
    },

    async outline(workspace, records, source) {
      const digest = await catalogs.digest({ workspace, records, source }, 'catalog')
      return sha256Hex(JSON.stringify([version, digest]))
    },

    async differences(workspace, current, sourceId) {
      const at = requireSource(workspace, current, sourceId)
      return queued(at, { id: workspace.id }, async () => {
        const { schema, records, operations } = await compare(at, await looked(at), unchosen)
        const isHarmless = operations.length > 0 && operations.every(harmsNobody)
        if (isHarmless || (operations.length === 0 && isAlike(records, current))) return undefined
        return { hash: await hashOf(schema), operations }
      })
    },

    async look(workspace, { records }, sourceId) {
      const at = requireSource(workspace, records, sourceId)
      await catalogs.reach(at)
      // Requests wait for this look, so it does not queue behind imports or looks at other sources.
      return queues.looks.run({ id: at.source.id, isLarge: true }, () => catalogs.look(at))
    },

    async preview(scope, request) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataModel:edit')
      const before = await models.current(workspace)
      const { records: current, version: modelVersion } = before
      const at = requireSource(workspace, current, request.sourceId)
      return queued(at, queuedFor(scope), async () => {
        const { schema, records, operations, renames } = await compare(at, await looked(at), request)
        await requireStill(scope, 'dataModel:edit')
        const hash = await hashOf(schema)
        const lost = gone({ before: current, after: records })
        return {
          operations,
          renames,
          breaking: breakingChanges(operations, current),
          policies: await policyUses(database, workspace.id, { lost, rights }),
          breaks: records === current ? unbroken : await breaks(scope, { before, records, lost }),
          skipped: schema.skipped,
          hash,
          plan: await planOn(workspace, modelVersion, hash),
        }
      })
    },
  }
}

/** Breaks nothing. */
const unbroken: Breaks = { policies: [], views: [], tests: [] }

/** Keeps the tables that were chosen before. */
const unchosen = { tables: undefined, renames: undefined }

const described: ReadonlySet<string> = new Set(['isView', 'isInherited', 'isTriggering', 'checks'])

/** Compares two models, ignoring marks that earlier releases did not import, and parts that only describe values. */
function isAlike(one: ModelRecords, other: ModelRecords): boolean {
  const text = (records: ModelRecords) =>
    JSON.stringify(records, (name, part: unknown) => (described.has(name) ? undefined : part))
  return one === other || text(one) === text(other)
}

/**
 * Returns true for changes that no request depends on: creating a namespace (new to every import for collections without one),
 * a non-unique index (MariaDB and MySQL keep those that a foreign key needed), or a many-to-many pair for a junction table
 * without fields in the model.
 */
function harmsNobody({ kind, data }: SchemaOperation): boolean {
  if (kind === 'createManyToManyFieldPair' || kind === 'createNamespace') return true
  if (kind !== 'updateCollection' || !('operations' in data)) return false
  const changes = data.operations as readonly { readonly kind: string; readonly data: { readonly kind?: string } }[]
  return changes.every((change) => change.kind === 'createIndex' && change.data.kind === 'normal')
}

/** Digest of a schema, without the ids that a restore of the database changes. */
function hashOf({ namespaces, tables }: SourceSchema): Promise<string> {
  return sha256Hex(
    JSON.stringify([namespaces, tables], (name, part: unknown) => (name === 'identity' ? undefined : part)),
  )
}

/** Throws 422 for a name without wildcards that is no table of the source. */
function requireTables(schema: SourceSchema, tables: TableChoice): void {
  const missing = missingTable(schema, tables)
  if (missing === -1) return
  throw nested('invalid', [
    'Failed to read the JSON body',
    `tables.include[${missing}]`,
    'is not a table of this source',
  ])
}

/** Sets the ledger that was found in the source: an unfinished migration may have created or dropped it. */
function withLedgerFound(
  records: ModelRecords,
  source: SourceRecord,
  { ledger, schema: { defaultNamespace } }: Awaited<ReturnType<SourceCatalogs['read']>>,
): ModelRecords {
  const schema = ledger?.schema === defaultNamespace ? '' : ledger?.schema
  const found = withLedger(source, ledger && schema)
  return { ...records, sources: records.sources.map((one) => (one.id === source.id ? found : one)) }
}

const UNCERTAIN = 'only an Administrator follows a rename that the database does not prove'

function refusedImport(reason: string): ServiceError {
  return new ServiceError('unfit', INTROSPECTION_FAILED, { cause: invalidOperation('usedByPolicy', reason) })
}

/** Throws 422 for a rename that was not found. */
function requireOffered(found: readonly Rename[], requested: readonly RenamedFrom[]): void {
  const unknown = requested.findIndex(
    ({ from, to }) => !found.some((rename) => rename.from === from && rename.to === to),
  )
  if (unknown === -1) return
  throw nested('invalid', ['Failed to read the JSON body', `renames[${unknown}]`, 'is no rename that a dry run offers'])
}
