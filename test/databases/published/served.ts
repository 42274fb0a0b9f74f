/** Published schemas behind a service in this process, each in a database and a workspace of its own. */
import { randomBytes } from 'node:crypto'
import { parseExactJson } from '../../../src/core/exact-json.ts'
import type { Manifest } from '../../../src/core/manifest/format.ts'
import { openMysql } from '../../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { startMariadb } from '../../support/servers/mariadb.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { openInProcess } from '../../support/service/in-process.ts'
import { mariadbDialect, type PublishedDialect, postgresDialect } from './dialect.ts'

export type Answer = { readonly status: number; readonly body: unknown; readonly text: string }

export type Imported = {
  readonly driver: SqlDriver
  /** What an import found to be left out, by now. */
  attach(): Promise<readonly { readonly table: string; readonly reason: string }[]>
  manifest(): Promise<Manifest>
  send(method: string, path: string, body?: unknown): Promise<Answer>
}

export type PublishedServer = {
  readonly dialect: PublishedDialect
  /** A database of that name, made by a script, for a workspace of that name. */
  database(name: string, script: readonly string[]): Promise<Imported>
  close(): Promise<void>
}

export async function startPublishedPostgres(): Promise<PublishedServer> {
  const server = await startPostgres()
  const system = openPostgres({ connectionString: server.url })
  return publishedServer({
    dialect: postgresDialect,
    provider: 'postgres',
    system,
    url: server.url,
    async make(name) {
      await system.query({ text: `create database ${name}`, params: [] })
      return { connectionString: server.url.replace(/\/postgres$/, `/${name}`) }
    },
    open: openPostgres,
    // What a script sets holds for one connection.
    run: async (driver, script) => void (await driver.batch(script.map((text) => ({ text, params: [] })))),
    close: () => server.close(),
  })
}

export async function startPublishedMariadb(): Promise<PublishedServer> {
  const [server, mariadb] = await Promise.all([startPostgres(), startMariadb()])
  const { host, port, user, password } = mariadb
  const starting = openMysql({ ...mariadb, max: 1 })
  return publishedServer({
    dialect: mariadbDialect,
    provider: 'mariadb',
    system: openPostgres({ connectionString: server.url }),
    url: server.url,
    async make(name) {
      await starting.query({
        text: `create database ${name} character set utf8mb4 collate utf8mb4_general_ci`,
        params: [],
      })
      return { host, port, user, password, database: name }
    },
    open: (config) => openMysql({ ...config, max: 1 }),
    async run(driver, script) {
      for (const text of script) await driver.query({ text, params: [] })
    },
    async close() {
      await starting.close()
      await Promise.all([server.close(), mariadb.close()])
    },
  })
}

type Parts<Config extends object> = {
  readonly dialect: PublishedDialect
  readonly provider: string
  readonly system: SqlDriver
  readonly url: string
  make(name: string): Promise<Config>
  open(config: Config): SqlDriver
  run(driver: SqlDriver, script: readonly string[]): Promise<void>
  close(): Promise<void>
}

async function publishedServer<Config extends object>(parts: Parts<Config>): Promise<PublishedServer> {
  const { dialect, provider, system, url, close } = parts
  const password = randomBytes(12).toString('base64url')
  const faults: unknown[] = []
  const service = await openInProcess({
    observe: (one) => void (one.kind === 'fault' && faults.push(one.error)),
    database: system,
    databaseUrl: url,
    variables: {
      SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true',
      SERVICE_QUERY_LIMIT_MAX: '10000',
      SERVICE_ADMIN__EMAIL: 'admin@example.com',
      SERVICE_ADMIN__PASSWORD: password,
    },
  })
  const drivers: SqlDriver[] = []
  let token = ''

  async function send(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await service.request(`http://localhost/api/${path}`, {
      method,
      headers: { ...(token !== '' && { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answered = await response.text()
    const { status } = response
    const text = status >= 500 ? `${answered} since ${faults.map(causes)}` : answered
    faults.length = 0
    return { status, text, body: answered === '' ? undefined : parsed(method, path, answered) }
  }

  async function succeeded<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await send(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.body as Body
  }

  const credentials = { email: 'admin@example.com', password }
  const { accessToken } = await succeeded<{ accessToken: string }>('POST', 'auth/login', { credentials, mode: 'json' })
  token = accessToken

  return {
    dialect,
    async database(name, script) {
      const config = await parts.make(name)
      const making = parts.open(config)
      await parts.run(making, script).finally(() => making.close())
      const driver = parts.open(config)
      drivers.push(driver)
      await succeeded('POST', 'system/workspaces', { apiName: name })
      return {
        driver,
        async attach() {
          const source = { apiName: 'published', provider, config }
          const { data } = await succeeded<{ data: { id: string } }>('POST', `${name}/sources/data`, source)
          const imported = await succeeded<{ data: { skipped: { table: string; reason: string }[] } }>(
            'POST',
            `${name}/schema/introspect/${data.id}`,
          )
          return imported.data.skipped
        },
        manifest: () => succeeded<Manifest>('GET', `${name}/schema`),
        send: (method, path, body) => send(method, `${name}/${path}`, body),
      }
    },
    async close() {
      await service.close()
      for (const driver of drivers) await driver.close()
      await system.close()
      await close()
    },
  }
}

function parsed(method: string, path: string, text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (cause) {
    throw new Error(`${method} ${path} answered no JSON: ${text}`, { cause })
  }
}

/** What an error says, with what is behind it. */
function causes(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${causes(error.cause)}`
}
