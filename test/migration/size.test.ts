/**
 * A large model: 1,000 collections with 20 fields each come in one migration, and their model takes little memory. How
 * long it loads is a figure of `npm run bench`, since that is the machine's as much as ours; what grows out of proportion is ours.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { introspect, migrate, signIn } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'
import { measureLoad } from './support/measure-load.ts'

let instance: Instance
let replica: Replica

beforeAll(async () => {
  instance = await openInstance()
  replica = await startReplica(instance)
})

afterAll(async () => {
  await replica?.kill()
  await instance?.close()
})

it('makes 1,000 collections with 20 fields in one migration, whose model takes 30 MB', async () => {
  const { answer, found, loaded } = await make('large', 1_000)

  expect(answer).toEqual({ status: 200, body: undefined })
  expect(found).toEqual({ status: 200, body: { data: { operations: [] } } })
  expect(loaded.collections).toBeGreaterThanOrEqual(1_000)
  expect(loaded.bytes / 2 ** 20).toBeLessThan(30)
  const { loaded: fifth } = await make('fifth', 200)
  console.log(`work of a load: ${loaded.work.toFixed(1)} ms for 1,000 collections, ${fifth.work.toFixed(1)} ms for 200`)
  expect(loaded.work / fifth.work).toBeLessThan(10)
})

async function make(name: string, count: number) {
  const client = await signIn(instance.administrator, replica.url)
  const workspace = await client.workspace(name)
  const operations = Array.from({ length: count }, (_, index) => plainCollection(workspace, `collection${index}`, 19))
  const answer = await migrate(client, workspace, ...operations)
  const found = await introspect(client, workspace)
  return { answer, found, loaded: await measureLoad(instance.databaseUrl, workspace) }
}
