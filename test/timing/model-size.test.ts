/**
 * A large model: 1,000 collections with 20 fields each take little memory. How long they load is a figure of `npm run bench`,
 * since that is the machine's as much as ours; what grows out of proportion is ours.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from '../migration/support/instance.ts'
import { measureLoad } from '../migration/support/measure-load.ts'
import { repeatUntilCalm } from '../support/run/work.ts'

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

it('takes 30 MB, and a load of it no more work than grows with it', async () => {
  const large = await make('large', 1_000)
  const fifth = await make('fifth', 200)

  const loaded = await measureLoad(instance.databaseUrl, large)
  expect(loaded.collections).toBeGreaterThanOrEqual(1_000)
  expect(loaded.bytes / 2 ** 20).toBeLessThan(30)
  const times = await repeatUntilCalm(
    () => compareLoads(large, fifth),
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

async function make(name: string, count: number): Promise<Workspace> {
  const client = await signIn(instance.administrator, replica.url)
  const workspace = await client.workspace(name)
  const operations = Array.from({ length: count }, (_, index) => plainCollection(workspace, `collection${index}`, 19))
  expect(await migrate(client, workspace, ...operations)).toEqual({ status: 200, body: undefined })
  return workspace
}
