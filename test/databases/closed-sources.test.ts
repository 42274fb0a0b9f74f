/** Connections to data sources end with the source and with its workspace, in every process, not when they were idle for long. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

const address = 'http://localhost'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let first: InProcess
let second: InProcess
let here: Client
let elsewhere: Client
let count = 0
let workspace: Workspace
let sourceId: string

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  await database.query({ text: 'create database library', params: [] })
  const variables = {
    SERVICE_SECRET: 'one secret for both of the processes',
    SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true',
  }
  first = await openInProcess({ database, databaseUrl: postgres.url, variables })
  second = await openInProcess({ database, databaseUrl: postgres.url, variables })
  here = await signIn(first.administrator, address, first.request)
  const token = await tokenOf(first)
  elsewhere = client(address, token, second.request)
})

afterAll(async () => {
  await first?.close()
  await second?.close()
  await database?.close()
  await postgres?.close()
})

/** A source that both processes have read. */
beforeEach(async () => {
  count += 1
  workspace = await here.workspace(`closing${count}`)
  const connectionString = postgres.url.replace(/\/postgres$/, '/library')
  const made = await here.send('POST', `/api/${workspace.apiName}/sources/data`, {
    apiName: 'library',
    provider: 'postgres',
    config: { connectionString },
  })
  sourceId = (made.body as { data: { id: string } }).data.id
  await here.send('POST', `/api/${workspace.apiName}/schema/introspect/${sourceId}`)
  await migrate(here, workspace, plainCollection({ ...workspace, sourceId }, `books${count}`))
  expect(await read(here, `books${count}`)).toBe(200)
  expect(await read(elsewhere, `books${count}`)).toBe(200)
})

it('close when the source is deleted', async () => {
  const both = await connections()

  await here.send('DELETE', `/api/${workspace.apiName}/sources/data/${sourceId}`)

  const left = await settled((number) => number < both)
  expect(left).toBeGreaterThan(0)
  // Whatever is read in the workspace tells the other process.
  await expect.poll(readOf('ServiceDataSource'), patience).toBe(0)
})

it('close when the workspace is deleted', async () => {
  const both = await connections()

  await here.send('DELETE', `/api/system/workspaces/${workspace.id}`)

  const left = await settled((number) => number < both)
  expect(left).toBeGreaterThan(0)
  await expect.poll(readOf(`books${count}`), patience).toBe(0)
  expect(await read(elsewhere, `books${count}`)).toBe(404)
})

const patience = { timeout: 30_000 }

/** Connections that are left after the other process was asked for items. */
function readOf(collection: string) {
  return async () => {
    await read(elsewhere, collection)
    return connections()
  }
}

async function read({ send }: Client, collection: string): Promise<number> {
  return (await send('GET', `/api/${workspace.apiName}/items/${collection}`)).status
}

async function connections(): Promise<number> {
  const text = `select count(*) from pg_stat_activity where datname = 'library'`
  const [[number] = []] = await database.query({ text, params: [] })
  return Number(number)
}

async function settled(isEnough: (number: number) => boolean): Promise<number> {
  await expect.poll(async () => isEnough(await connections()), patience).toBe(true)
  return connections()
}

async function tokenOf({ administrator, request }: InProcess): Promise<string> {
  const response = await request(`${address}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ credentials: administrator, mode: 'json' }),
  })
  const { accessToken } = (await response.json()) as { accessToken: string }
  return accessToken
}
