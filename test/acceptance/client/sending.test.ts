/** What the client does when requests are slow, lost, refused or given up (packages/client). */
import { beforeAll, expect, it } from 'vitest'
import type { Client } from '../../../packages/client/src/index.ts'
import type { Workspace } from '../../support/service/world.ts'
import { world } from '../../support/service/world.ts'
import { clientOf, openShop, type Schema } from './shop.ts'

let shop: Workspace
let db: Client<Schema>

beforeAll(async () => {
  const opened = await openShop('sending')
  shop = opened.shop
  db = opened.db
  await db.authors.create({ name: 'Ada' }).orThrow()
})

type Fetch = typeof fetch

/** Goes wrong so many times first; `sent` has the headers of each try. */
function unreliable(times: number, fault: () => Response) {
  const sent: Headers[] = []
  const send: typeof fetch = async (url, init) => {
    sent.push(new Headers(init?.headers))
    return sent.length > times ? fetch(url, init) : fault()
  }
  return { sent, fetch: send }
}

const lost = (): never => {
  throw new TypeError('the connection was lost')
}
const busy = (after: string) => () => new Response('{}', { status: 503, headers: { 'Retry-After': after } })

it.each([
  ['a lost connection', lost],
  ['503', busy('0')],
  ['429', () => new Response('', { status: 429, headers: { 'Retry-After': new Date(0).toUTCString() } })],
])('sends a read again after %s, twice', async (_, fault) => {
  const twice = unreliable(2, fault)
  const thrice = unreliable(3, fault)

  const found = await db.authors.list({ fields: ['name'], fetch: twice.fetch })
  const failed = await db.authors.list({ fields: ['name'], fetch: thrice.fetch })

  expect(found.orThrow()).toEqual([{ name: 'Ada' }])
  expect(twice.sent).toHaveLength(3)
  expect(failed.ok).toBe(false)
  expect(thrice.sent).toHaveLength(3)
})

it.each([
  ['a creation', (fetch: Fetch) => db.authors.create({ name: 'Bob' }, { fetch })],
  ['a change', (fetch: Fetch) => db.authors.update('1', { name: 'Bob' }, { fetch })],
  ['a change of many', (fetch: Fetch) => db.authors.update({ filter: { name: 'Ada' } }, { name: 'Bob' }, { fetch })],
  ['a deletion', (fetch: Fetch) => db.authors.delete('1', { fetch })],
  ['a PUT under a tag', (fetch: Fetch) => db.$request('PUT', 'assets/a', { ifMatch: '"a"', body: 'a', fetch })],
  ['a deletion of many', (fetch: Fetch) => db.authors.delete({ filter: { name: 'Ada' } }, { fetch })],
])('does not send %s again without a key', async (_, write) => {
  const { sent, fetch } = unreliable(1, lost)

  const failed = await write(fetch)

  expect(failed).toMatchObject({ ok: false, status: 0, error: { code: 'network', message: 'the connection was lost' } })
  expect(sent).toHaveLength(1)
})

it('sends a write again under a key, which stays the same', async () => {
  const keyed = unreliable(1, lost)

  const made = await db.authors.create({ name: 'Eve' }, { fetch: keyed.fetch, idempotencyKey: true })
  const keys = keyed.sent.map((headers) => headers.get('Idempotency-Key'))

  expect(made.ok).toBe(true)
  expect(keys).toEqual([keys[0], keys[0]])
})

it('does not wait for what is too far away', async () => {
  const { sent, fetch } = unreliable(1, busy('3600'))

  const result = await db.authors.list({ fetch })

  expect(result).toMatchObject({ ok: false, status: 503 })
  expect(sent).toHaveLength(1)
})

it('ends by a signal, and after its time, the pauses between its tries included', async () => {
  const { sent, fetch } = unreliable(9, busy('30'))
  const hanging: typeof globalThis.fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      const end = () => reject(new Error('ended'))
      if (init?.signal?.aborted) end()
      else init?.signal?.addEventListener('abort', end)
    })
  const controller = new AbortController()

  const call = db.authors.list({ fetch: hanging, signal: controller.signal })
  setTimeout(() => controller.abort(), 20)
  const aborted = await call
  const late = await db.authors.list({ fetch: hanging, timeout: 20 })
  const paused = await db.authors.list({ fetch, timeout: 20 })
  const before = await db.authors.list({ fetch: hanging, signal: AbortSignal.abort() })

  expect(aborted).toMatchObject({ ok: false, status: 0, error: { code: 'aborted' } })
  expect(late).toMatchObject({ ok: false, status: 0, error: { code: 'timeout' } })
  expect(paused).toMatchObject({ ok: false, status: 0, error: { code: 'timeout' } })
  expect(before).toMatchObject({ ok: false, status: 0, error: { code: 'aborted' } })
  expect(sent).toHaveLength(1)
})

it('says what it can of an answer that is not of the service', async () => {
  const page = async () => new Response('<h1>Bad gateway</h1>', { status: 502 })

  const result = await db.authors.list({ fetch: page })

  expect(result).toMatchObject({ ok: false, status: 502, error: { messages: ['The answer has status 502'] } })
})

it('sends headers of the client and of the call, the latter before the former', async () => {
  const { sent, fetch } = unreliable(0, lost)
  const other = clientOf(shop, { fetch, headers: { 'X-One': 'client', 'X-Two': 'client' } })

  await other.authors.list({ headers: { 'X-Two': 'call', Authorization: `Bearer ${world.administrator.token}` } })

  expect([sent[0]?.get('X-One'), sent[0]?.get('X-Two')]).toEqual(['client', 'call'])
})
