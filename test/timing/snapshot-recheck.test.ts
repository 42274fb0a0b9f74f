/** What one replica has made, the others know at once; and what is never there does not cost them a statement each time. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorkerd, type Workerd } from '../../scripts/workerd.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { type NeonGateway, startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from '../migration/support/instance.ts'
import { openInProcess } from '../support/service/in-process.ts'

let instance: Instance
let replicas: readonly Replica[]
let gateway: NeonGateway
let worker: Workerd
let node: Client
let workspace: Workspace

beforeAll(async () => {
  instance = await openInstance()
  replicas = [await startReplica(instance), await startReplica(instance)]
  gateway = await startNeonGateway(instance.databaseUrl)
  worker = await startWorkerd({
    variables: { ...instance.variables, SERVICE_DATABASE_URL: gateway.url },
    host: '127.0.0.1',
    port: 0,
    onLog: () => {},
  })
  node = await signIn(instance.administrator, replicas[0]?.url ?? '')
  workspace = await node.workspace('looked')
})

afterAll(async () => {
  await worker?.close()
  await gateway?.close()
  await Promise.all((replicas ?? []).map((replica) => replica.kill()))
  await instance?.close()
})

it.each([
  ['another Node process', () => replicas[1]?.url ?? ''],
  ['a Worker', () => worker.url],
])('%s knows a collection, and a field, as soon as it was made', async (platform, url) => {
  const other = node.at(url())
  const name = platform.replaceAll(' ', '_')

  for (let round = 0; round < 5; round += 1) {
    const collection = `${name}_${round}`
    // It has just read the versions, which it then holds for a second.
    await other.send('GET', '/api/looked/items/ServiceCollection?fields=id')
    await migrate(node, workspace, plainCollection(workspace, collection))

    expect(await other.send('GET', `/api/looked/items/${collection}?fields=id,field0`)).toEqual({
      status: 200,
      body: { data: [] },
    })
  }
})

it('asks the database a bounded number of times, however many requests are refused', async () => {
  const database = openPostgres({ connectionString: instance.databaseUrl })
  let looks = 0
  const counting = {
    ...database,
    query: (...asked: Parameters<typeof database.query>) => {
      if (asked[0].text.includes('model_version')) looks += 1
      return database.query(...asked)
    },
  }
  const service = await openInProcess({
    database: counting,
    databaseUrl: instance.databaseUrl,
    variables: instance.variables,
  })
  const { send } = await signIn(instance.administrator, 'http://localhost', service.request)
  const refused = () => send('GET', '/api/looked/items/nowhere')
  await refused()
  looks = 0

  const begun = performance.now()
  const answers = await Promise.all(Array.from({ length: 300 }, refused))
  const intervals = (performance.now() - begun) / 50
  await service.close()
  await database.close()

  expect(answers.filter(({ status }) => status !== 404)).toEqual([])
  // One more where a moment falls into two of them, and one where the versions are read each second.
  expect(looks).toBeLessThanOrEqual(intervals + intervals / 20 + 2)
  expect(looks).toBeLessThan(answers.length / 2)
})
