/** Model files for a workspace of a served instance: random ones, and what the service says of them. */
import { exportModel } from '../../../src/core/file/export/model.ts'
import { printModelFile } from '../../../src/core/file/print.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { mariadb } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { build } from '../../support/data/build.ts'
import { applyThrows, type Throw } from '../../support/data/random-operations.ts'
import { startMariadb } from '../../support/servers/mariadb.ts'
import { type Answer, type Client, introspect, storedModel, type Workspace } from './client.ts'

export type File = {
  readonly collections: Readonly<Record<string, CollectionOfFile>>
  readonly [member: string]: unknown
}
export type CollectionOfFile = {
  readonly fields: Readonly<Record<string, FieldOfFile>>
  readonly key?: readonly string[]
  readonly [member: string]: unknown
}
export type FieldOfFile = string | { readonly type?: string; readonly to?: string; readonly [member: string]: unknown }

export type Plan = {
  readonly plan: string
  readonly changes: readonly object[]
  readonly operations: readonly object[]
  readonly destructive: readonly object[]
}

/** Where the collections of a workspace are: in its own schema, or in an attached MariaDB. */
export const places = {
  PostgreSQL: { dialect: postgres, open: async (_: Client, workspace: Workspace) => ({ workspace, close: nothing }) },
  MariaDB: { dialect: mariadb, open: openMariadb },
} as const

export type Place = keyof typeof places

/** What a service needs that is to reach the databases of this machine. */
export const reaching = { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' }

async function nothing(): Promise<void> {}

async function openMariadb(client: Client, workspace: Workspace) {
  const server = await startMariadb()
  const { host, port, user, password, database } = server
  const config = { host, port, user, password, database }
  const made = await client.send('POST', `/api/${workspace.apiName}/sources/data`, {
    apiName: 'target',
    provider: 'mariadb',
    config,
  })
  const { data } = made.body as { data: { id: string } }
  const attached = { ...workspace, sourceId: data.id }
  await introspect(client, attached)
  return { workspace: attached, server, close: server.close }
}

const texts: Readonly<Record<string, readonly string[]>> = {
  flag: ['boolean'],
  at: ['date', 'dateTime'],
  doc: ['json'],
}

/** The canonical file of a random model of the workspace, beginning with no collection. */
export async function fileOfThrows(
  database: SqlDriver,
  {
    workspace,
    place,
    throws,
  }: { readonly workspace: Workspace; readonly place: Place; readonly throws: readonly Throw[] },
): Promise<File> {
  const stored = await storedModel(database, workspace)
  const bare = withoutOwn(stored.records, workspace.sourceId)
  const isOwn = place === 'PostgreSQL'
  const dataNamespace = bare.namespaces.find(({ dbName }) => dbName === `service_${workspace.apiName}_data`)
  const made = applyThrows(bare, throws, {
    sourceId: workspace.sourceId,
    context: {
      workspace: workspace.apiName,
      dialectOf: (id) => (id === workspace.sourceId ? places[place].dialect : postgres),
      dataNamespaceOf: (id) => (isOwn && id === workspace.sourceId ? (dataNamespace?.id ?? null) : null),
    },
    namespaceNames: isOwn ? [`service_${workspace.apiName}_x`, `service_${workspace.apiName}_y`] : [],
    typesOf(column) {
      const isNumber = column === 'id' || column.startsWith('n')
      const types = isNumber ? ['int32', 'int64'] : (texts[column] ?? ['string(40)', 'string(9)'])
      return types.map((text) => ({ type: build.type(text), isList: false }))
    },
  })
  const records = isOwn ? made.records : countingKeys(made.records)
  const file = atOnce(exportModel(buildModel(1, records), workspace.apiName))
  return JSON.parse(atOnce(printModelFile({ ...file, ids: new Map() }))) as File
}

/** MariaDB counts columns that begin a key alone. */
function countingKeys(records: ModelRecords): ModelRecords {
  const leading = new Set(
    records.indexes.flatMap(({ kind, fieldIds }) => (kind === 'primary' ? fieldIds.slice(0, 1) : [])),
  )
  const primitiveFields = records.primitiveFields.map((field) =>
    field.defaultValue?.source === 'connectorManaged' && !leading.has(field.id)
      ? { ...field, defaultValue: null }
      : field,
  )
  return { ...records, primitiveFields }
}

/** The model without what the data source has. */
function withoutOwn(records: ModelRecords, sourceId: string): ModelRecords {
  const gone = new Set(records.collections.filter((collection) => collection.sourceId === sourceId).map(({ id }) => id))
  const system = new Set(records.collections.filter(({ isSystem }) => isSystem).map(({ id }) => id))
  const stays = ({ collectionId }: { readonly collectionId: string }) =>
    !gone.has(collectionId) || system.has(collectionId)
  return {
    ...records,
    namespaces: records.namespaces.filter(({ dbName }) => !/_[xy]$/.test(dbName)),
    collections: records.collections.filter(({ id }) => !gone.has(id) || system.has(id)),
    primitiveFields: records.primitiveFields.filter(stays),
    relationFields: records.relationFields.filter(stays),
    indexes: records.indexes.filter(stays),
    constraints: records.constraints.filter(({ id }) =>
      records.relationFields.some(({ constraintId, collectionId }) => constraintId === id && stays({ collectionId })),
    ),
  }
}

export async function exported({ send }: Client, { apiName }: Workspace): Promise<File> {
  const { body } = await send('GET', `/api/${apiName}/schema/model?ids=false`)
  const { names: _names, roles: _roles, policies: _policies, $schema: _schema, ...file } = body as File
  return file as File
}

export function planned({ send }: Client, { apiName }: Workspace, model: object): Promise<Answer> {
  return send('POST', `/api/${apiName}/schema/plan`, { model })
}

export function planIn({ body }: Answer): Plan {
  return (body as { data: Plan }).data
}

export function apply({ send }: Client, { apiName }: Workspace, model: object, plan: string): Promise<Answer> {
  return send('POST', `/api/${apiName}/schema/apply`, { model, plan, allow: ['drop'] })
}
