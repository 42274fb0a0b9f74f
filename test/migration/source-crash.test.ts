/**
 * The service is killed while it migrates a database that is not its own. Afterwards one introspection brings model and
 * database together, whatever was done of the migration, and the next migration works. SERVICE_TEST_ROUNDS is how often.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { roundsOr } from '../support/run/cases.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type Client, introspect, migrate, signIn, storedModel, type Workspace } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { compileReplica, type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'
import { marked } from './support/marks.ts'

const ROUNDS = Math.min(roundsOr(3), 40)
const variables = { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' }

let instance: Instance
let replica: Replica
let client: Client

beforeAll(async () => {
  await compileReplica()
  instance = await openInstance()
  replica = await startReplica(instance, variables)
  client = await signIn(instance.administrator, replica.url)
})

afterAll(async () => {
  await replica?.kill()
  await instance?.close()
})

async function mariadbSource() {
  const server = await startMariadb()
  const { host, port, user, password, database } = server
  const driver = openMysql(server)
  return { config: { host, port, user, password, database }, driver, schema: database, close: server.close }
}

async function postgresSource() {
  const server = await startPostgres()
  const driver = openPostgres({ connectionString: server.url })
  return { config: { connectionString: server.url }, driver, schema: 'public', close: server.close }
}

describe.each([
  ['mariadb', mariadbSource],
  ['postgres', postgresSource],
])('%s', (provider, start) => {
  let target: Awaited<ReturnType<typeof start>>
  let workspace: Workspace

  beforeAll(async () => {
    target = await start()
    const own = await client.workspace(`crashed_${provider}`)
    const made = await client.send('POST', `/api/${own.apiName}/sources/data`, {
      apiName: 'target',
      provider,
      config: target.config,
    })
    const { data } = made.body as { data: { id: string } }
    workspace = { ...own, sourceId: data.id }
    await introspect(client, workspace)
  })

  afterAll(async () => {
    await target?.driver.close()
    await target?.close()
  })

  it('is brought together with its model by one introspection after the service was killed', async () => {
    const outcomes: string[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const names = Array.from({ length: 8 }, (_, index) => `t${round}_${index}`)
      const sending = migrate(client, workspace, ...names.map((name) => plainCollection(workspace, name, 12))).then(
        ({ status }) => status,
        () => undefined,
      )
      await marked(instance.database, workspace.sourceId, sending)
      await wait(randomInt(80))
      await replica.kill()
      const status = await sending
      replica = await startReplica(instance, variables)
      client = client.at(replica.url)

      const first = await introspect(client, workspace)
      const second = await introspect(client, workspace)
      const { records } = await storedModel(instance.database, workspace)
      const collections = records.collections.filter(({ sourceId }) => sourceId === workspace.sourceId)
      const probe = await migrate(client, workspace, plainCollection(workspace, `probe${round}`))

      const about = `round ${round}, answered ${status}`
      expect(first.status, about).toBe(200)
      expect(second, about).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
      const tables = await tablesOf(target.driver, target.schema)
      expect(collections.map(({ dbName }) => dbName).sort(), about).toEqual(
        tables.filter((name) => name !== `probe${round}`),
      )
      expect(probe, about).toMatchObject({ status: 200 })
      const done = tables.filter((name) => names.includes(name)).length
      outcomes.push(`${status ?? 'no answer'}: ${done} of ${names.length}`)
    }
    console.log(`${provider}: ${outcomes.join('; ')}`)
  })
})

async function tablesOf(driver: SqlDriver, schema: string): Promise<readonly string[]> {
  const text = `select table_name from information_schema.tables where table_schema = '${schema}'`
  return (await driver.query({ text, params: [] })).map(([name]) => name ?? '').sort()
}
