/**
 * docs/contract.md#introspection: an import of what has not changed asks for a digest and reads nothing else; whatever
 * an import would find ends that, be it in the database, in another process or in what was chosen.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, signIn, type Workspace } from '../migration/support/client.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let postgres: TestPostgres
let mariadb: TestMariadb
let database: SqlDriver
let maria: SqlDriver
/** Two processes over one database. */
let services: readonly InProcess[]
let client: Client
let replica: Client
/** With the system database as its source. */
let own: Workspace
/** With a source on MariaDB. */
let attached: Workspace
/** The statements that the first process has sent to the system database. */
const sent: string[] = []

type Imported = { readonly operations: readonly { readonly kind: string }[]; readonly skipped: readonly object[] }

beforeAll(async () => {
  ;[postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()])
  database = openPostgres({ connectionString: postgres.url })
  const noting: SqlDriver = {
    ...database,
    query(statement, context) {
      sent.push(statement.text)
      return database.query(statement, context)
    },
    batch(statements, context) {
      sent.push(...statements.map(({ text }) => text))
      return database.batch(statements, context)
    },
  }
  const variables = {
    SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true',
    SERVICE_SECRET: randomBytes(32).toString('base64url'),
    SERVICE_ADMIN__PASSWORD: randomBytes(12).toString('base64url'),
  }
  const first = await openInProcess({ database: noting, databaseUrl: postgres.url, variables })
  const second = await openInProcess({ database, databaseUrl: postgres.url, variables })
  services = [first, second]
  client = await signIn(first.administrator, 'http://localhost', first.request)
  // Over HTTP a body has its length, without which there is none.
  const withLength = (url: string, init: RequestInit) => {
    const length = new TextEncoder().encode(String(init.body ?? '')).length
    return second.request(url, { ...init, headers: { ...init.headers, 'Content-Length': String(length) } })
  }
  replica = await signIn(second.administrator, 'http://localhost', withLength)
  own = await client.workspace('own')
  const { host, port, user, password, database: name } = mariadb
  const config = { host, port, user, password, database: name }
  maria = openMysql(config)
  await other('create table tasks (id int primary key, done tinyint(1))')
  const workspace = await client.workspace('attached')
  const source = await client.send('POST', '/api/attached/sources/data', {
    apiName: 'maria',
    provider: 'mariadb',
    config,
  })
  attached = { ...workspace, sourceId: (source.body as { data: { id: string } }).data.id }
  await run('create table harbours (id bigint primary key, name text)')
}, 120_000)

afterAll(async () => {
  await Promise.all((services ?? []).map((service) => service.close()))
  await maria?.close()
  await database?.close()
  await Promise.all([postgres?.close(), mariadb?.close()])
})

async function run(text: string): Promise<void> {
  const place = { text: 'set local search_path = service_own_data', params: [] }
  await database.batch([place, { text, params: [] }])
}

async function other(text: string): Promise<void> {
  await maria.query({ text, params: [] })
}

async function introspect(by: Client, at: Workspace, body?: object, search = ''): Promise<Imported> {
  const answer = await by.send('POST', `/api/${at.apiName}/schema/introspect/${at.sourceId}${search}`, body)
  expect(answer.status).toBe(200)
  return (answer.body as { data: Imported }).data
}

async function kinds(by: Client, at: Workspace, body?: object, search = ''): Promise<readonly string[]> {
  return (await introspect(by, at, body, search)).operations.map(({ kind }) => kind)
}

/** Whether the import read the catalog of the system database, and not its digest alone. */
async function isWhole(at: Workspace): Promise<boolean> {
  sent.length = 0
  await introspect(client, at)
  return sent.some((text) => text.includes("'kind', 'column'"))
}

it('reads a catalog once for each change, by others or of the service', async () => {
  const first = await kinds(client, own)
  const again = await isWhole(own)
  await run('alter table harbours add depth int')
  const changed = await isWhole(own)
  const unchanged = await isWhole(own)
  const { body } = await client.send('GET', '/api/own/items/ServiceCollection?fields=id')
  const [{ id } = { id: '' }] = (body as { data: { id: string }[] }).data
  const rename = { kind: 'changeApiName', data: { apiName: 'ports' } }
  const operation = { kind: 'updateCollection', data: { id, operations: [rename] } }
  const migrated = await client.send('POST', '/api/own/schema/migrate', { operations: [operation] })

  expect(first).toEqual(['createCollection'])
  expect([again, changed, unchanged]).toEqual([false, true, false])
  expect(migrated).toMatchObject({ status: 200 })
  expect([await isWhole(own), await isWhole(own)]).toEqual([true, false])
})

it.each([
  'alter table harbours alter name set not null',
  `alter table harbours alter name set default 'Elbe'`,
  `alter table harbours add constraint short check (length(name) < 9)`,
  'create table berths (id int primary key, harbour_id bigint references harbours)',
  'alter table berths rename harbour_id to at_id',
  'create unique index on berths (at_id)',
  'create view deep as select * from harbours',
  'drop view deep',
  'drop table berths',
])('imports what a dry run tells of: %s', async (change) => {
  await introspect(client, own)
  const none = await kinds(client, own)
  await run(change)
  const told = await kinds(client, own, undefined, '?dryRun=true')
  const imported = await kinds(client, own)

  expect(none).toEqual([])
  expect(imported).toEqual(told)
  expect(await kinds(client, own)).toEqual([])
  expect(await kinds(client, own, undefined, '?dryRun=true')).toEqual([])
})

it('follows what another process has imported or chosen', async () => {
  await run('create table cranes (id int primary key)')
  const mine = await kinds(client, own)
  const theirs = await kinds(replica, own, { tables: { exclude: ['cranes'] } })
  const left = await introspect(client, own)
  const again = await introspect(client, own)
  const back = await kinds(replica, own, { tables: {} })

  expect(mine).toEqual(['createCollection'])
  expect(theirs).toEqual(['deleteCollection'])
  expect(left).toEqual({ operations: [], skipped: [expect.objectContaining({ reason: 'is excluded' })] })
  expect(again).toEqual(left)
  expect(back).toEqual(['createCollection'])
  expect(await introspect(client, own)).toEqual({ operations: [], skipped: [] })
})

it('looks at the rows of a tinyint(1) each time', async () => {
  const first = await kinds(client, attached)
  const none = await kinds(client, attached)
  await other('insert into tasks values (1, 1)')
  const still = await kinds(client, attached)
  await other('insert into tasks values (2, 7)')

  expect(first).toContain('createCollection')
  expect([...none, ...still]).toEqual([])
  expect(await kinds(client, attached)).toEqual(['updateCollection'])
  expect(await kinds(client, attached)).toEqual([])
})
