/**
 * docs/contract.md#drift: every change of a database that others make is noticed, and what is told of it is what the next
 * introspection lists; migrations of the service are never taken for one, not even while they run.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelRecords } from '../../src/core/model/model.ts'
import type { Change } from '../../src/core/sql/ddl/change.ts'
import { compileChange } from '../../src/core/sql/ddl/compile-change.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { compile } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { storableTypes } from '../support/data/imported.ts'
import { anyThrows, applyThrows, type RandomOptions } from '../support/data/random-operations.ts'
import { casesOr } from '../support/run/cases.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'
import { type Client, introspect, migrate, signIn, storedModel, type Workspace } from './support/client.ts'

type Place = {
  readonly workspace: Workspace
  readonly dialect: Dialect
  /** Connected as others are who change it. */
  readonly driver: SqlDriver
  readonly namespaceNames: readonly string[]
}

let server: Awaited<ReturnType<typeof startPostgres>>
let other: Awaited<ReturnType<typeof startMariadb>>
let database: SqlDriver
let service: InProcess
let client: Client
const places: Record<string, Place> = {}

const numRuns = casesOr(12)
const seed = Number(process.env.SERVICE_TEST_SEED)

beforeAll(async () => {
  console.log(`drift: SERVICE_TEST_SEED=${seed}`)
  ;[server, other] = await Promise.all([startPostgres(), startMariadb()])
  database = openPostgres({ connectionString: server.url })
  service = await openInProcess({
    database,
    databaseUrl: server.url,
    variables: { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' },
  })
  client = await signIn(service.administrator, 'http://localhost', service.request)
  const own = await client.workspace('own')
  places.own = {
    workspace: own,
    dialect: postgres,
    driver: database,
    namespaceNames: ['service_own_x', 'service_own_y'],
  }
  const attached = await client.workspace('attached')
  const { host, port, user, password, database: name } = other
  const config = { host, port, user, password, database: name }
  const { body } = await client.send('POST', '/api/attached/sources/data', {
    apiName: 'maria',
    provider: 'mariadb',
    config,
  })
  const { data: source } = body as { data: { id: string } }
  const workspace = { ...attached, sourceId: source.id }
  await introspect(client, workspace)
  places.attached = { workspace, dialect: mariadb, driver: openMysql(config), namespaceNames: [] }
}, 120_000)

afterAll(async () => {
  await places.attached?.driver.close()
  await service?.close()
  await database?.close()
  await Promise.all([server?.close(), other?.close()])
})

/** Kinds of change, of both sources. */
const noticed = new Set<string>()

describe.each(['own', 'attached'])('in a source that is %s', (name) => {
  it('takes no migration of the service for a change by others', async () => {
    const place = placeOf(name)
    let count = 0

    for (const throws of samples()) {
      const { records } = await storedModel(database, place.workspace)
      const { operations } = applyThrows(records, throws, optionsOf(place, records))
      const [answer] = await Promise.all([
        migrate(client, place.workspace, ...operations),
        ...[0, 20, 60].map((delay) => wait(delay).then(() => look(place))),
      ])
      await look(place)

      count += answer?.status === 200 ? 1 : 0
      expect(await drifts(place)).toEqual([])
      // Further migrations are refused until then.
      if (answer?.status !== 200) await introspect(client, place.workspace)
    }

    expect(count).toBeGreaterThan(numRuns / 3)
  })

  it('notices each change by others, until it is imported, and lists what the import lists', async () => {
    const place = placeOf(name)
    // A migration that failed half-way has its own mark, and no alarm.
    await introspect(client, place.workspace)

    for (const throws of draws()) {
      const { records } = await storedModel(database, place.workspace)
      for (const { change } of applyThrows(records, throws, optionsOf(place, records)).changes) {
        const before = await storedModel(database, place.workspace)
        if (!(await run(place, change))) continue
        await look(place)
        const told = (await drifts(place)) as { operations: unknown }[]
        const { body } = await introspect(client, place.workspace)
        const { operations } = (body as { data: { operations: unknown[] } }).data
        await look(place)

        const isAlarm = isNormalIndex(change) ? takesIndex(operations) : operations.length > 0
        expect(told.map((one) => withoutIds(one.operations))).toEqual(isAlarm ? [withoutIds(operations)] : [])
        expect(await drifts(place)).toEqual([])
        if (isSaid(place, change, before.records)) {
          expect(operations.length, `operations of ${JSON.stringify(change)}`).toBeGreaterThan(0)
        }
        noticed.add(change.kind)
      }
    }
  })
})

it('has tried the kinds of change that matter', () => {
  expect(missing()).toEqual([])
})

function missing() {
  return ['createTable', 'addColumn', 'createIndex', 'addForeignKey'].filter((kind) => !noticed.has(kind))
}

function placeOf(name: string): Place {
  const place = places[name]
  if (place === undefined) throw new Error(`no source ${name}`)
  return place
}

function samples(count = numRuns, from = seed) {
  return fc.sample(anyThrows({ minLength: 5, maxLength: 25 }), { numRuns: count, seed: from })
}

/** As many as are asked for, and more while a kind that matters is missing: two dozen lack one in two of a hundred runs. */
function* draws() {
  yield* samples()
  for (let more = 1; more <= 50 && missing().length > 0; more += 1) yield* samples(1, seed + more)
}

function optionsOf({ workspace, dialect, namespaceNames }: Place, { namespaces }: ModelRecords): RandomOptions {
  const own = namespaces.find(({ dbName }) => dbName === `service_${workspace.apiName}_data`)
  const isOwn = own?.sourceId === workspace.sourceId
  const types = storableTypes({ dialect })
  return {
    sourceId: workspace.sourceId,
    context: {
      workspace: workspace.apiName,
      dialectOf: () => dialect,
      dataNamespaceOf: () => (isOwn ? (own?.id ?? null) : null),
    },
    namespaceNames,
    typesOf: () => types,
  }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function look({ workspace }: Place): Promise<void> {
  return service.services.drift.look({ ...workspace, displayName: null }, workspace.sourceId)
}

async function drifts({ workspace }: Place): Promise<unknown> {
  const { body } = await client.send('GET', `/api/${workspace.apiName}/schema/drift`)
  return (body as { data: { sources: unknown } }).data.sources
}

/** False where the database refuses the change, since an earlier one was. */
async function run({ dialect, driver }: Place, change: Change): Promise<boolean> {
  try {
    await driver.batch(compileChange(change, dialect).map((fragment) => compile(fragment, dialect)))
    return true
  } catch {
    return false
  }
}

/** Whether an import has something to say of a change that has run. */
function isSaid({ namespaceNames }: Place, change: Change, { namespaces, ...records }: ModelRecords): boolean {
  const place = 'table' in change ? change.table : { schema: change.schema, dbName: undefined }
  // A workspace has its own schemas only: one that others made in its database, and what stands there, is none of them.
  const isOthers =
    namespaceNames.includes(place.schema ?? '') && !namespaces.some(({ dbName }) => dbName === place.schema)
  if (isOthers || isNormalIndex(change) || change.kind === 'takeCollation') return false
  if (change.kind !== 'changeInitial' && change.kind !== 'setDefault') return true
  // A default that the service gives stays, whatever the database has besides.
  const namespaceId = namespaces.find(({ dbName }) => dbName === place.schema)?.id ?? null
  const collections = records.collections.filter(
    (one) => one.dbName === place.dbName && (one.namespaceId ?? namespaceId) === namespaceId,
  )
  return !records.primitiveFields.some(
    ({ collectionId, dbName, defaultValue }) =>
      dbName === change.column.dbName &&
      defaultValue?.source === 'engineManaged' &&
      collections.some(({ id }) => id === collectionId),
  )
}

/** No request depends on an index that is not unique; MariaDB may drop another one for it, though. */
function isNormalIndex(change: Change): boolean {
  return (change.kind === 'createIndex' || change.kind === 'keepIndex') && change.index.kind === 'normal'
}

/** Whether some index is gone. */
function takesIndex(operations: readonly unknown[]): boolean {
  return JSON.stringify(operations).includes('"kind":"deleteIndex"')
}

/** New things get ids of their own each time. */
function withoutIds(operations: unknown): unknown {
  return JSON.parse(JSON.stringify(operations).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'))
}
