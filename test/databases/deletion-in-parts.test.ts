/**
 * docs/contract.md#errors: a workspace of more tables than one transaction drops is unknown (404) to who misses some of them, and who
 * was interrupted deletes it by asking again.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { deletedWorkspaces } from '../../src/store/contents.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
/** Runs before each statement and batch; not those that it leads to. */
let between: (() => Promise<unknown>) | undefined

async function interrupt(): Promise<void> {
  const work = between
  between = undefined
  await work?.()
  between = work
}

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const interrupted: SqlDriver = {
    ...database,
    query: (statement, context) => interrupt().then(() => database.query(statement, context)),
    batch: (statements, context) => interrupt().then(() => database.batch(statements, context)),
  }
  service = await openInProcess({ database: interrupted, databaseUrl: server.url })
  client = await signIn(service.administrator, 'http://localhost', service.request)
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

/** Of more tables than are dropped at once, the last of which is that of `notes`. */
async function large(apiName: string): Promise<Workspace> {
  const made = await client.workspace(apiName)
  const tables = Array.from({ length: 510 }, (_, index) => ({
    text: `create table "service_${apiName}_data".bare${index} ()`,
    params: [],
  }))
  await database.batch(tables)
  await migrate(client, made, plainCollection(made, 'notes'))
  return made
}

/** What is answered to who plans to delete all collections, of which it says how many rows they have. */
async function plan({ apiName }: Workspace): Promise<number> {
  const { status } = await client.send('POST', `/api/${apiName}/schema/plan`, {
    model: { version: 1, collections: {} },
  })
  return status
}

const remove = ({ id }: Workspace) => client.send('DELETE', `/api/system/workspaces/${id}`)

it('is answered with 404 as soon as something is missed', async () => {
  const shop = await large('shop')
  const statuses: number[] = []
  between = async () => statuses.push(await plan(shop))

  const { status } = await remove(shop)
  between = undefined

  const there = statuses.indexOf(404)
  expect(status).toBe(204)
  expect(there).toBeGreaterThan(0)
  expect(statuses).toEqual(statuses.map((_, index) => (index < there ? 200 : 404)))
})

it('is deleted by asking again where its deletion was interrupted, and keeps its files until then', async () => {
  const shop = await large('half')
  const statuses: number[] = []
  between = async () => {
    statuses.push(await plan(shop))
    if (statuses.at(-1) !== 200) throw new Error('The process ends')
  }

  const { status } = await remove(shop)
  between = undefined

  expect([statuses.at(-1), status, await plan(shop)]).toEqual([404, 500, 404])
  expect(await deletedWorkspaces(database)).not.toContain(shop.id)
  expect((await remove(shop)).status).toBe(204)
  expect(await deletedWorkspaces(database)).toContain(shop.id)
  expect((await client.send('POST', '/api/system/workspaces', { apiName: 'half' })).status).toBe(201)
})
