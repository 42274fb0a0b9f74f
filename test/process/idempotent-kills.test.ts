/**
 * docs/contract.md#idempotency: a service that is killed by SIGKILL behind any message of a write, while 20 clients send the
 * same write again to another one, leaves one write, and all get one answer.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Workspace } from '../migration/support/client.ts'
import { type Instance, type Replica, startReplica } from '../migration/support/instance.ts'
import { effort } from '../support/run/effort.ts'
import type { CuttingProxy } from '../support/servers/cutting-proxy.ts'
import { type Client, client } from '../support/service/client.ts'
import { type KilledService, openKilledService } from './killed-service.ts'

const RETRIES = 20

/** In the quick tier a service is killed behind every seventh message. */
const STRIDE = effort() === 'full' ? 1 : 7

let service: KilledService
let instance: Instance
let proxy: CuttingProxy
let steady: Replica
let workspace: Workspace
let token: string

beforeAll(async () => {
  service = await openKilledService()
  ;({ instance, proxy, steady, workspace } = service)
  token = await service.tokenAt(steady)
})

afterAll(() => service?.close())

/** As it was sent at a replica, with a key. */
type Write = (key: string) => readonly [method: string, path: string, body: object]

const plain: Write = (key) => ['POST', '/items/articles', [{ title: key }]]
const nested: Write = (key) => [
  'POST',
  '/items/articles?fields=id,title,author.name',
  [{ title: key, author: { _create: { data: { name: key } } } }],
]

const batch: Write = (key) => [
  'POST',
  '/items',
  {
    operations: [
      { kind: 'create', collection: 'authors', as: 'made', data: [{ name: key }] },
      {
        kind: 'create',
        collection: 'articles',
        as: 'written',
        data: [{ title: key, authorId: { $ref: 'made[0].id' } }, { title: key }],
      },
      { kind: 'delete', collection: 'articles', key: { $ref: 'written[1].id' }, fields: ['title'] },
      { kind: 'read', collection: 'articles', filter: { title: { _eq: key } }, meta: 'totalCount' },
    ],
  },
]

it.each([
  // One statement, of four messages at least.
  ['of one item', plain, 1, { each: 1, least: 4 }],
  // Three statements at least, of five messages each.
  ['of related items', nested, 2, { each: effort() === 'full' ? 1 : 3, least: 5 }],
  // Eight statements at least, each of which is met.
  ['of a batch', batch, 2, { each: 4, least: 10 }],
])('a write %s happens once, wherever its service is killed', async (_, write, rows, { each, least }) => {
  let kills = 0
  for (let messages = 0, isCut = true; isCut; messages += each * STRIDE) {
    const key = crypto.randomUUID()
    const victim = await startReplica(instance, { SERVICE_DATABASE_URL: proxy.url })
    // What a caller is allowed is read before, so that the next transaction is the write.
    await at(victim).get('/items/articles?limit=1')
    const reached = proxy.cutAfter(messages)

    const first = send(at(victim), key, write(key)).catch(() => undefined)
    isCut = await Promise.race([reached.then(() => true), first.then(() => false)])
    const retries = Array.from({ length: RETRIES }, () => send(at(steady), key, write(key)))
    await victim.kill()
    const answers = await Promise.all(retries)
    proxy.calm()

    const told = [...answers, ...(isCut ? [] : [await first])]
    const about = `killed behind message ${messages}`
    expect(new Set(told.map((answer) => answer?.body)).size, about).toBe(1)
    expect(told[0], about).toMatchObject({ status: 200 })
    expect(await written(key), about).toBe(rows)
    kills += isCut ? 1 : 0
  }

  console.log(`${kills} kills`)
  expect(kills).toBeGreaterThanOrEqual(Math.ceil(least / STRIDE))
})

function at(replica: Replica): Client {
  return client(`${replica.url}/api/${workspace.apiName}`, { Authorization: `Bearer ${token}` })
}

async function send(on: Client, key: string, [method, path, body]: ReturnType<Write>) {
  const response = await on.send(method, path, { body, headers: { 'Idempotency-Key': key } })
  return { status: response.status, body: await response.text() }
}

/** How many articles and authors have the key as their text. */
async function written(key: string): Promise<number> {
  const lists = [`/items/articles?filter[title][_eq]=${key}`, `/items/authors?filter[name][_eq]=${key}`]
  let count = 0
  for (const list of lists) {
    const { data } = (await (await at(steady).get(list)).json()) as { data: unknown[] }
    count += data.length
  }
  return count
}
