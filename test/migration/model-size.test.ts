/** A large model: 1,000 collections with 20 fields each come in one migration. What it takes is measured in test/timing. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { introspect, migrate, signIn } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'

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

it('makes 1,000 collections with 20 fields in one migration', async () => {
  const client = await signIn(instance.administrator, replica.url)
  const workspace = await client.workspace('large')
  const operations = Array.from({ length: 1_000 }, (_, index) => plainCollection(workspace, `collection${index}`, 19))

  expect(await migrate(client, workspace, ...operations)).toEqual({ status: 200, body: undefined })
  expect(await introspect(client, workspace)).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
})
