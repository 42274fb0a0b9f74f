/** A database whose tables have a column per type, imported by a service in this process. */
import { randomBytes } from 'node:crypto'
import { parseExactJson } from '../../../../src/core/exact-json.ts'
import type { FieldType } from '../../../../src/core/model/field-type.ts'
import { openMysql } from '../../../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver, SqlRow } from '../../../../src/ports.ts'
import { startMariadb } from '../../../support/servers/mariadb.ts'
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
  close(): Promise<void>
}

export type TypeDatabase = {
  readonly title: string
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
  unlisted: ['boolean', 'json', 'jsonb', 'hstore', 'pair'],
  quote: (text) => `'${text.replaceAll("'", "''")}'`,
  distinct: (index) => `insert into k${index} (v) select v from t${index} on conflict do nothing`,
  text: (column) => `${column}::text`,
  async start(settings) {
    const server = await startPostgres()
    const system = openPostgres({ connectionString: server.url })
    await system.query({ text: 'create database types', params: [] })
    for (const setting of settings) {
      await system.query({ text: `alter database types set ${setting}`, params: [] })
    }
    const connectionString = server.url.replace(/\/postgres$/, '/types')
    const own = openPostgres({ connectionString })
    for (const text of postgresSetup) await own.query({ text, params: [] })
    return served({ server, system, own, provider: 'postgres', config: { connectionString }, close: async () => {} })
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
  async start(settings) {
    const [server, mariadb] = await Promise.all([startPostgres(), startMariadb()])
    const system = openPostgres({ connectionString: server.url })
    const own = openMysql({ ...mariadb, max: 1 })
    for (const setting of settings) await own.query({ text: `set global ${setting}`, params: [] })
    const { host, port, user, password, database } = mariadb
    const config = { host, port, user, password, database }
    return served({ server, system, own, provider: 'mariadb', config, close: () => mariadb.close() })
  },
}

type Serving = {
  readonly server: TestPostgres
  readonly system: SqlDriver
  readonly own: SqlDriver
  readonly provider: string
  readonly config: object
  readonly close: () => Promise<void>
}

async function served({ server, system, own, provider, config, close }: Serving): Promise<TypeSource> {
  const variables = { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true', SERVICE_QUERY_LIMIT_MAX: '100000' }
  const password = randomBytes(12).toString('base64url')
  const credentials = { SERVICE_ADMIN__EMAIL: 'admin@example.com', SERVICE_ADMIN__PASSWORD: password }
  const service = await openInProcess({
    database: system,
    databaseUrl: server.url,
    variables: { ...variables, ...credentials },
  })
  let token = ''

  async function send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await service.request(`http://localhost/api/${path}`, {
      method,
      headers: { ...(token !== '' && { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
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
    async close() {
      await service.close()
      await own.close()
      await system.close()
      await Promise.all([server.close(), close()])
    },
  }
}
