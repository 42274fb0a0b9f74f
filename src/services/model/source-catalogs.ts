/**
 * Reads the schemas of sources: attached databases through their providers, and the workspace's own schemas of the system
 * database. Errors say that an introspection failed, and why.
 */

import { isStartFailure } from '../../core/connector/activity.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { isSystemSource, type ModelRecords, type SourceRecord } from '../../core/model/model.ts'
import { keyOf, locatedCollections } from '../../core/sql/catalog-ids.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { SourceSchema, SourceTable } from '../../core/sql/source-schema.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { isLedger, ledgerOf } from '../../core/sql/write/ledger-table.ts'
import { askCatalog, catalogDigest, PING, readCatalog } from '../../sources/catalog.ts'
import type { DigestDepth, Imported, SourceDatabase } from '../../sources/provider.ts'
import { dataSchema } from '../../store/installation.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { OpenSources } from './open-sources.ts'

/** A source of a workspace, and the records of the workspace's model. */
export type WorkspaceSource = {
  readonly workspace: WorkspaceRow
  readonly records: ModelRecords
  readonly source: SourceRecord
}

export type SourceCatalogs = {
  /** Resolves when an attached database has answered; at once for other sources. */
  reach(place: WorkspaceSource): Promise<void>
  /** Returns the importable schema, without ledgers; waits for migrations that still run. */
  read(place: WorkspaceSource): Promise<Imported & { readonly ledger: SourceTable | undefined }>
  /** Like `read`, but changes nothing in the source. */
  look(place: WorkspaceSource): Promise<SourceSchema>
  /** Returns a digest of the catalog that `read` reads; undefined for a source without a catalog. */
  digest(place: WorkspaceSource, depth: DigestDepth): Promise<string | undefined>
}

export type SourceCatalogsDeps = {
  /** The system database as a workspace uses it. */
  readonly systemOf: (workspace: WorkspaceRow) => SourceDatabase
  readonly openSources: Pick<OpenSources, 'open'>
  /** Milliseconds for the first answer. */
  readonly timeLimit: number
}

export function createSourceCatalogs(deps: SourceCatalogsDeps): SourceCatalogs {
  const { systemOf, openSources, timeLimit } = deps

  async function readOwn(place: WorkspaceSource): Promise<Imported> {
    const system = systemOf(place.workspace)
    const ask = (statement: Statement) => askCatalog(system, statement)
    const rows = await ask(system.catalog.statement(ownSchemas(place)))
    return { ...(await readCatalog(system, rows, ask)), statements: [] }
  }

  async function ownDigest(place: WorkspaceSource, depth: DigestDepth): Promise<string> {
    const system = systemOf(place.workspace)
    const ask = (statement: Statement) => askCatalog(system, statement)
    const rows = await ask(system.catalog.digest.statement(ownSchemas(place)))
    return catalogDigest(system, { rows, depth }, ask)
  }

  async function explained<T>({ workspace }: WorkspaceSource, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (cause) {
      if (cause instanceof ServiceError && !isStartFailure(cause))
        throw new ServiceError(cause.kind, INTROSPECTION_FAILED, { cause })
      if (!(cause instanceof SqlFault)) throw cause
      const { kind, message } = systemOf(workspace).dialect.explain(cause) ?? denied
      throw nested(kind === 'unavailable' ? kind : 'failed', [INTROSPECTION_FAILED, message], { cause })
    }
  }

  const open = ({ workspace, source }: WorkspaceSource) => openSources.open(workspace, source)

  async function reachAttached(place: WorkspaceSource): Promise<void> {
    const { database } = await open(place)
    if (database === undefined) return
    const { driver, dialect } = await database()
    try {
      await driver.query(PING, { timeLimit })
    } catch (cause) {
      throw cause instanceof SqlFault ? (dialect.explain(cause) ?? cause) : cause
    }
  }

  return {
    reach: (place) => (isSystemSource(place.source) ? Promise.resolve() : explained(place, reachAttached(place))),
    read: (place) =>
      explained(
        place,
        isSystemSource(place.source) ? readOwn(place) : open(place).then((source) => source.introspect()),
      ).then((imported) => ({ ...imported, ...apart(place, imported.schema) })),
    look: (place) =>
      explained(
        place,
        isSystemSource(place.source)
          ? readOwn(place).then(({ schema }) => schema)
          : open(place).then((source) => source.look()),
      ).then((schema) => apart(place, schema).schema),
    digest: (place, depth) =>
      explained(
        place,
        isSystemSource(place.source) ? ownDigest(place, depth) : open(place).then((source) => source.digest?.(depth)),
      ),
  }
}

const denied = { kind: 'failed', message: 'The database denied access to its schema' } as const

/** Separates ledgers from the schema, and finds this source's own. A table that is a collection is no ledger. */
function apart({ records, source }: WorkspaceSource, schema: SourceSchema) {
  const { tables, defaultNamespace } = schema
  const known = new Set(locatedCollections(records, source.id, defaultNamespace).map(({ place }) => keyOf(place)))
  const ledgers = new Set(tables.filter((table) => isLedger(table) && !known.has(keyOf(table))))
  const { dbName } = ledgerOf({ id: source.id, ledgerSchema: '' })
  return {
    schema: ledgers.size === 0 ? schema : { ...schema, tables: tables.filter((table) => !ledgers.has(table)) },
    ledger: [...ledgers].find((table) => table.dbName === dbName),
  }
}

/** The workspace's own schemas in the system database; others belong to the service or to other workspaces. */
function ownSchemas({ workspace, records, source }: WorkspaceSource) {
  const own = records.namespaces.filter(({ sourceId, isSystem }) => sourceId === source.id && !isSystem)
  const names = [...new Set([dataSchema(workspace.apiName), ...own.map(({ dbName }) => dbName)])]
  return { kind: 'schemas', names } as const
}

export const INTROSPECTION_FAILED = 'Failed to execute the introspection'
