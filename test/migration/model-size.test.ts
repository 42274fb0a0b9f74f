/**
 * A large model: 1,000 collections with 20 fields each come in one migration, and their model takes little memory. How
 * long it loads is a figure of `npm run bench`, since that is the machine's as much as ours; what grows out of proportion is ours.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repeatUntilCalm } from '../support/run/work.ts'
import { introspect, migrate, signIn, type Workspace } from './support/client.ts'
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
  const large = await make('large', 1_000)

  expect(large.answer).toEqual({ status: 200, body: undefined })
  expect(large.found).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
  const loaded = await measureLoad(instance.databaseUrl, large.workspace)
  expect(loaded.collections).toBeGreaterThanOrEqual(1_000)
  expect(loaded.bytes / 2 ** 20).toBeLessThan(30)
  const fifth = await make('fifth', 200)
  const times = await repeatUntilCalm(
    () => compareLoads(large.workspace, fifth.workspace),
    (found) => found < PROPORTIONAL,
  )
  expect(times).toBeLessThan(PROPORTIONAL)
})

/** Five times as many collections are five times the work, 25 times where it grows as their square. */
const PROPORTIONAL = 10

/** How many times as much work the load of the first is. */
async function compareLoads(large: Workspace, fifth: Workspace): Promise<number> {
  const { work: whole } = await measureLoad(instance.databaseUrl, large)
  const { work: part } = await measureLoad(instance.databaseUrl, fifth)
  console.log(`work of a load: ${whole.toFixed(1)} ms for 1,000 collections, ${part.toFixed(1)} ms for 200`)
  return whole / part
}

async function make(name: string, count: number) {
  const client = await signIn(instance.administrator, replica.url)
  const workspace = await client.workspace(name)
  const operations = Array.from({ length: count }, (_, index) => plainCollection(workspace, `collection${index}`, 19))
  const answer = await migrate(client, workspace, ...operations)
  return { workspace, answer, found: await introspect(client, workspace) }
}
