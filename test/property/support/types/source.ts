/** A database whose tables have a column per type, imported by a service in this process. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseExactJson } from '../../../../src/core/exact-json.ts'
import type { FieldType } from '../../../../src/core/model/field-type.ts'
import { openMysql } from '../../../../src/platform/drivers/mysql.ts'
import { openNeon } from '../../../../src/platform/drivers/neon.ts'
import { openPostgres } from '../../../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../../../src/platform/node/embedded/neon-gateway.ts'
import { openEmbeddedPostgres } from '../../../../src/platform/node/embedded/postgres.ts'
import type { SqlDriver, SqlRow } from '../../../../src/ports/database.ts'
import { prepareEmbedded } from '../../../support/servers/embedded-cluster.ts'
import { startMariadb, type TestMariadb } from '../../../support/servers/mariadb.ts'
import { startPlanetscaleGateway } from '../../../support/servers/planetscale-gateway.ts'
import { startPostgres, type TestPostgres } from '../../../support/servers/postgres.ts'
import { openInProcess } from '../../../support/service/in-process.ts'
import type { ColumnType } from './column-type.ts'
import { mariadbSettings, mariadbTypes } from './mariadb.ts'
import { fieldText } from './page.ts'
import { postgresSettings, postgresSetup, postgresTypes } from './postgres.ts'

type Item = { readonly id: number; readonly v: unknown }
type FieldItem = {
  readonly type: FieldType
  readonly isList: boolean
  readonly collection: { readonly apiName: string }
}

export type TypeSource = {
  /** Runs statements behind the service's back and answers the rows of the last. */
  run(...statements: readonly string[]): Promise<readonly SqlRow[]>
  /** Imports what the statements made. */
  attach(): Promise<void>
  /** Items as they are shown, numbers inside JSON by their text. */
  read(path: string): Promise<readonly Item[]>
  one(path: string): Promise<unknown>
  idsOf(collection: string, filter: object): Promise<readonly number[]>
  /** The types of the fields of that name, by collection. */
  fieldsOf(name: string): Promise<ReadonlyMap<string, string>>
  write(method: string, path: string, body: unknown): Promise<unknown>
  /** The tag of an item that is sent, and the status of a write that names it and changes nothing. */
  tagged(path: string): Promise<readonly [tag: string, status: number]>
  close(): Promise<void>
}

export type TypeDatabase = {
  readonly title: string
  /** The way on which the service reaches the database, where it is not that of its own driver over TCP. */
  readonly way?: string
  readonly types: readonly ColumnType[]
  readonly settings: readonly string[]
  /** Names of types without `_in`. */
  readonly unlisted: readonly string[]
  readonly quote: (text: string, type: ColumnType) => string
  /** Fills the table of keys. */
  readonly distinct: (index: number) => string
  /** A column as the text that tells its values apart. */
  readonly text: (column: string) => string
  start(settings: readonly string[]): Promise<TypeSource>
}

export const postgresTypeDatabase: TypeDatabase = {
  title: 'PostgreSQL',
  types: postgresTypes,
  settings: postgresSettings,
  unlisted: ['boolean', 'json', 'jsonb', 'hstore', 'pair', 'parcel'],
  // Others may have stored what the database's own setting refuses.
  quote: (text, { name }) => {
    const quoted = `'${text.replaceAll("'", "''")}'`
    return name === 'xml' ? `xmlparse(content ${quoted})` : quoted
  },
  distinct: (index) => `insert into k${index} (v) select v from t${index} on conflict do nothing`,
  text: (column) => `${column}::text`,
  start: (settings) => postgresServed(settings, async (connectionString) => ['postgres', { connectionString }]),
}

/** The same by Neon's HTTP protocol, through our gateway, whose sessions have the settings that a read needs. */
export const neonTypeDatabase: TypeDatabase = {
  ...postgresTypeDatabase,
  way: 'by HTTP',
  start: (settings) =>
    postgresServed(settings, async (connectionString) => {
      const { url, close } = await startNeonGateway(connectionString)
      return ['neon', { connectionString: url }, close]
    }),
}

/** How a source is attached: its provider, its configuration, and what ends the way to it. */
type Way = readonly [provider: string, config: object, close?: () => Promise<void>]

async function postgresServed(
  settings: readonly string[],
  wayTo: (connectionString: string) => Promise<Way>,
): Promise<TypeSource> {
  const server = await startPostgres()
  const system = openPostgres({ connectionString: server.url })
  await system.query({ text: 'create database types', params: [] })
  for (const setting of settings) await system.query({ text: `alter database types set ${setting}`, params: [] })
  const connectionString = server.url.replace(/\/postgres$/, '/types')
  const own = openPostgres({ connectionString })
  for (const text of postgresSetup) await own.query({ text, params: [] })
  return served({ server, system, own, way: await wayTo(connectionString), close: async () => {} })
}

/** The embedded database, which has no extensions, and settings that nobody else can change. */
export const embeddedTypeDatabase: TypeDatabase = {
  ...postgresTypeDatabase,
  way: 'embedded',
  types: postgresTypes.filter(({ name }) => !/^(citext|hstore|ltree|cube|seg|isbn13)/.test(name)),
  settings: [],
  async start() {
    const server = await startPostgres()
    const directory = await mkdtemp(join(tmpdir(), 'embedded-types-'))
    await prepareEmbedded(directory)
    const embedded = await openEmbeddedPostgres({ directory })
    const gateway = await startNeonGateway(embedded)
    const own = openNeon({ connectionString: gateway.url })
    for (const text of postgresSetup.filter((one) => !/extension/.test(one))) await own.query({ text, params: [] })
    const close = async () => {
      await gateway.close()
      await embedded.close()
      await rm(directory, { recursive: true })
    }
    const system = openPostgres({ connectionString: server.url })
    return served({ server, system, own, way: ['neon', { connectionString: gateway.url }], close })
  },
}

export const mariadbTypeDatabase: TypeDatabase = {
  title: 'MariaDB',
  types: mariadbTypes,
  settings: mariadbSettings,
  unlisted: ['json', 'tinyint(1) not null', 'bit(1)'],
  quote: (text, { name }) =>
    /^(binary|varbinary|blob|bit|point)/.test(name) ? text : `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`,
  distinct: (index) => `insert ignore into k${index} (v) select v from t${index}`,
  text: (column) => `cast(${column} as binary)`,
  start: (settings) => mariadbServed(settings, async (account) => ['mariadb', account]),
}

/** The same by PlanetScale's HTTP protocol, as conversations. Its sessions have a mode that refuses dates with zeros. */
export const planetscaleTypeDatabase: TypeDatabase = {
  ...mariadbTypeDatabase,
  types: mariadbTypes.map((type) => ({ ...type, values: type.values.filter((text) => !isZeroDate.test(text)) })),
  way: 'behind PlanetScale',
  start: (settings) =>
    mariadbServed(settings, async (account) => {
      const { config, close } = await startPlanetscaleGateway(account)
      return ['planetscale', config, close]
    }),
}

const isZeroDate = /^(0000-|\d{4}-\d\d-00|\d{4}-00)/

type Account = Pick<TestMariadb, 'host' | 'port' | 'user' | 'password' | 'database'>

async function mariadbServed(
  settings: readonly string[],
  wayTo: (account: Account) => Promise<Way>,
): Promise<TypeSource> {
  const [server, mariadb] = await Promise.all([startPostgres(), startMariadb()])
  const system = openPostgres({ connectionString: server.url })
  const own = openMysql({ ...mariadb, max: 1 })
  for (const setting of settings) await own.query({ text: `set global ${setting}`, params: [] })
  const { host, port, user, password, database } = mariadb
  const way = await wayTo({ host, port, user, password, database })
  return served({ server, system, own, way, close: () => mariadb.close() })
}

type Serving = {
  readonly server: TestPostgres
  readonly system: SqlDriver
  readonly own: SqlDriver
  readonly way: Way
  readonly close: () => Promise<void>
}

async function served({ server, system, own, way, close }: Serving): Promise<TypeSource> {
  const variables = { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true', SERVICE_QUERY_LIMIT_MAX: '100000' }
  const password = randomBytes(12).toString('base64url')
  const credentials = { SERVICE_ADMIN__EMAIL: 'admin@example.com', SERVICE_ADMIN__PASSWORD: password }
  const service = await openInProcess({
    database: system,
    databaseUrl: server.url,
    variables: { ...variables, ...credentials },
  })
  const [provider, config, leave] = way
  let token = ''

  const requested = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.request(`http://localhost/api/${path}`, {
      method,
      headers: {
        ...(token !== '' && { Authorization: `Bearer ${token}` }),
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  async function send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await requested(method, path, body)
    const text = await response.text()
    if (response.status >= 300)
      throw new Error(`${method} ${path} ${JSON.stringify(body)} answered ${response.status}: ${text}`)
    return parseExactJson(text)
  }
  const data = async <T>(...request: Parameters<typeof send>) => ((await send(...request)) as { data: T }).data

  const account = { email: 'admin@example.com', password }
  const signedIn = (await send('POST', 'auth/login', { credentials: account, mode: 'json' })) as { accessToken: string }
  token = signedIn.accessToken
  await send('POST', 'system/workspaces', { apiName: 'types' })

  return {
    async run(...statements) {
      let rows: readonly SqlRow[] = []
      for (const text of statements) rows = await own.query({ text, params: [] })
      return rows
    },
    async attach() {
      const { id } = await data<{ id: string }>('POST', 'types/sources/data', { apiName: 'typed', provider, config })
      await send('POST', `types/schema/introspect/${id}`)
    },
    read: (path) => data<readonly Item[]>('GET', `types/items/${path}`),
    one: (path) => data<unknown>('GET', `types/items/${path}`),
    async idsOf(collection, filter) {
      const text = encodeURIComponent(JSON.stringify(filter))
      const found = await data<readonly Item[]>('GET', `types/items/${collection}?fields=id&limit=-1&filter=${text}`)
      return found.map(({ id }) => id)
    },
    async fieldsOf(name) {
      const path = `ServicePrimitiveField?fields=type,isList,collection.apiName&limit=-1&filter[apiName][_eq]=${name}`
      const fields = await data<readonly FieldItem[]>('GET', `types/items/${path}`)
      return new Map(fields.map(({ collection, type, isList }) => [collection.apiName, fieldText(type, isList)]))
    },
    write: (method, path, body) => data<unknown>(method, `types/items/${path}`, body),
    async tagged(path) {
      const tag = (await requested('GET', `types/items/${path}`)).headers.get('ETag') ?? ''
      const { status } = await requested('PATCH', `types/items/${path}`, {}, { 'If-Match': tag })
      return [tag, status]
    },
    async close() {
      await service.close()
      await own.close()
      await system.close()
      await leave?.()
      await Promise.all([server.close(), close()])
    },
  }
}
