/** A large model: 1,000 collections with 20 fields each come in one migration, load in no time and take little memory. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { introspect, migrate, signIn } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'
import type { Figures } from './support/load.ts'

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

it('makes 1,000 collections with 20 fields in one migration; the model loads in 150 ms and takes 30 MB', async () => {
  const client = await signIn(instance.administrator, replica.url)
  const workspace = await client.workspace('large')
  const operations = Array.from({ length: 1_000 }, (_, index) => plainCollection(workspace, `collection${index}`, 19))

  const start = performance.now()
  const answer = await migrate(client, workspace, ...operations)
  const duration = performance.now() - start
  const found = await introspect(client, workspace)
  const figures = await load(workspace)

  const { collections, first, fastest, bytes } = figures
  const megabytes = bytes / 2 ** 20
  console.log(
    `migration ${duration.toFixed(0)} ms; load ${first.toFixed(0)} ms at first, ${fastest.toFixed(0)} ms at best; ${megabytes.toFixed(1)} MB`,
  )
  expect(answer).toEqual({ status: 200, body: undefined })
  expect(found).toEqual({ status: 200, body: { data: { operations: [] } } })
  expect(collections).toBeGreaterThanOrEqual(1_000)
  expect(fastest).toBeLessThan(150)
  expect(megabytes).toBeLessThan(30)
})

async function load({ id, apiName }: { readonly id: string; readonly apiName: string }): Promise<Figures> {
  const script = join(import.meta.dirname, 'support/load.ts')
  const parameters = ['--expose-gc', script, instance.databaseUrl, id, apiName]
  const { stdout } = await promisify(execFile)(process.execPath, parameters)
  return JSON.parse(stdout) as Figures
}
