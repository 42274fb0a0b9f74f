/** What one replica has made, the others know at once; and what is never there does not cost them a statement each time. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { type Crowd, openCrowd } from '../migration/support/crowd.ts'
import type { Instance } from '../migration/support/instance.ts'
import { openInProcess } from '../support/service/in-process.ts'

let crowd: Crowd
let instance: Instance
let node: Client
let workspace: Workspace

beforeAll(async () => {
  crowd = await openCrowd()
  instance = crowd.instance
  node = crowd.node
  workspace = await node.workspace('looked')
})

afterAll(() => crowd?.close())

it.each([
  ['another Node process', () => crowd.urls[1]],
  ['a Worker', () => crowd.urls[2]],
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
