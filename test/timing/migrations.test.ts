/** docs/contract.md#migration-lock: workspaces are migrated beside each other, at a distance from the database that most of it waits for. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { type Distance, openDistance } from '../migration/support/distance.ts'
import { type Instance, openInstance, type Replica, startReplica } from '../migration/support/instance.ts'

let instance: Instance
let distance: Distance
let replica: Replica
let client: Client
let alone: Workspace
let together: readonly Workspace[]

// Without a distance a migration never waits but keeps a core busy, and what is measured are the cores. On a slow machine
// they are busy for longer, so the distance is one at which most of a migration is waiting there, too.
beforeAll(async () => {
  instance = await openInstance()
  distance = await openDistance(instance.databaseUrl, 10)
  replica = await startReplica(instance, { SERVICE_DATABASE_URL: distance.url })
  client = await signIn(instance.administrator, replica.url)
  alone = await client.workspace('alone')
  together = await Promise.all(Array.from({ length: 10 }, (_, index) => client.workspace(`beside${index}`)))
  await Promise.all(together.map((workspace) => migrate(client, workspace, plainCollection(workspace, 'first'))))
})

afterAll(async () => {
  await replica?.kill()
  await distance?.close()
  await instance?.close()
})

it('migrates ten workspaces at once in less than three times the time of one', async () => {
  // The fastest of several rounds each, as other work of the machine only ever adds to them.
  let one = Number.POSITIVE_INFINITY
  let ten = Number.POSITIVE_INFINITY
  for (let round = 0; round < 2 || (round < 6 && ten / one >= 3); round += 1) {
    one = Math.min(one, await timeOf(() => build(alone)))
    ten = Math.min(ten, await timeOf(() => Promise.all(together.map(build))))
  }

  console.log(`one workspace: ${one.toFixed(0)} ms, ten at once: ${ten.toFixed(0)} ms, ${(ten / one).toFixed(2)} times`)
  expect(ten / one).toBeLessThan(3)
})

let made = 0

/** One migration after the other, as a client does that makes a model step by step. */
async function build(workspace: Workspace): Promise<void> {
  for (let step = 0; step < 5; step += 1) {
    made += 1
    const answer = await migrate(client, workspace, plainCollection(workspace, `step${made}`, 10))
    if (answer.status !== 200) throw new Error(JSON.stringify(answer))
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
