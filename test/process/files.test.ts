/**
 * docs/contract.md#files, where time and settings are told: an upload, a replacement and a deletion whose process ends behind any of its steps leave no row without
 * its bytes and, once what is old was removed, no bytes without a row. The store is the one in the database, so that each step is
 * a statement.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openNodeImages } from '../../src/platform/node/image-scaler.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { ImageScaler } from '../../src/ports/files.ts'
import { LEASE } from '../../src/store/contents.ts'
import { type Client, client, signIn } from '../migration/support/client.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

const DAYS = 86_400_000
const address = 'http://localhost'
const secret = 'of all processes'.repeat(4)

let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let served: InProcess
let now = Date.now()
const eightBytes: ImageScaler = {
  async scale(read, _side, { keep }) {
    const made = (await read())?.subarray(0, 8)
    if (made !== undefined) await keep?.(made)
    return made
  },
}
let images = eightBytes
/** The process ends before or behind a statement, or only the answer of one is lost. */
const ends = ['before', 'behind', 'lost'] as const
/** How many statements are still answered, and what becomes of the next one. */
let left = Number.POSITIVE_INFINITY
let end: (typeof ends)[number] = 'before'
/** What happens before a statement, by its text. */
let meanwhile: ((text: string) => Promise<void>) | undefined
let headers: Record<string, string>
let administrator: Client

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  served = await openInProcess({
    database: mortal(),
    databaseUrl: postgres.url,
    clock: { now: () => now },
    variables: { SERVICE_SECRET: secret },
    images: { scale: (...call) => images.scale(...call) },
  })
  const signedIn = await signIn(served.administrator, address, served.request)
  const { body } = await signedIn.send('POST', '/api/system/api-keys', { name: 'robot' })
  const { key } = (body as { data: { key: string } }).data
  headers = { Authorization: `Bearer ${key}` }
  // A key outlives the days that pass here.
  administrator = client(address, key, served.request)
  await administrator.workspace('shop')
})

afterAll(async () => {
  await served?.close()
  await database?.close()
  await postgres?.close()
})

const acts: Readonly<Record<string, (id: string) => Promise<Response>>> = {
  'an upload': () => send('POST', '/assets?fileName=new.txt', 'new'),
  'an upload that is refused': () => send('POST', '/assets?fileName=new.txt&fields=nothing', 'new'),
  'a replacement': (id) => send('PUT', `/assets/${id}?fileName=other.txt`, 'other'),
  'a deletion': (id) => send('DELETE', `/items/ServiceFile/${id}`),
}

it.each(Object.keys(acts))('%s ends at any step', async (name) => {
  const act = acts[name]
  const states: unknown[] = []
  let points = 0
  for (const how of ends) {
    for (let step = 0; ; step += 1) {
      const id = await uploaded()
      const keptFor = step % 2 === 0
      left = step
      end = how
      const status = await act?.(id).then((response) => response.status)
      const isWhole = left >= 0
      left = Number.POSITIVE_INFINITY
      states.push(...(await faultsNow()))
      now += keptFor ? 2 * DAYS : 0
      await served.services.prune()
      states.push(...(await faultsNow()), ...(keptFor ? await strays() : []))
      await send('DELETE', '/items/ServiceFile?filter[fileName][_neq]=')
      points += 1
      if (isWhole) break
      expect(status).toBeGreaterThanOrEqual(400)
    }
  }

  expect(points).toBeGreaterThan(2)
  expect(states).toEqual([])
})

it('an upload goes on where its process has died in the middle of a part', async () => {
  const statuses = new Set<number>()
  for (const how of ends) {
    for (let step = 0; ; step += 1) {
      const begun = await send('POST', '/assets/uploads', '{"fileName":"part.txt","fileSize":4}')
      const at = `/assets/uploads/${((await begun.json()) as { data: { id: string } }).data.id}`
      left = step
      end = how
      const { status } = await send('PUT', `${at}/1`, 'part')
      const isWhole = left >= 0
      left = Number.POSITIVE_INFINITY
      // So much later as the part may count as being stored.
      await database.query({ text: `update service_shop_meta.loose_content set puts = ${aged}`, params: [] })
      const { data } = (await (await send('GET', at)).json()) as { data: { parts: unknown[] } }
      if (data.parts.length === 0) expect((await send('PUT', `${at}/1`, 'part')).status).toBe(204)
      statuses.add((await send('POST', `${at}/complete`)).status)
      if (isWhole) break
      expect(status).toBeGreaterThanOrEqual(400)
    }
  }

  expect(statuses).toEqual(new Set([201]))
  expect(await faultsNow()).toEqual([])
})

it('an upload is completed where the process that completed it has died', async () => {
  const statuses = new Set<number>()
  for (const how of ends) {
    for (let step = 0; ; step += 1) {
      const id = await begunWith('part')
      left = step
      end = how
      const { status } = await send('POST', `/assets/uploads/${id}/complete`)
      const isWhole = left >= 0
      left = Number.POSITIVE_INFINITY
      await database.query(laterBy(LEASE))
      const again = await send('POST', `/assets/uploads/${id}/complete`)
      statuses.add(again.status)
      if (isWhole) break
      expect(status).toBeGreaterThanOrEqual(400)
    }
  }

  expect(statuses).toEqual(new Set([201]))
  expect(await faultsNow()).toEqual([])
})

it('an upload is completed for as long as that takes, and nothing comes between', async () => {
  const id = await begunWith('part')
  let others: number[] | undefined
  const timers = vi.spyOn(globalThis, 'setInterval')
  meanwhile = async (text) => {
    if (others !== undefined || !isReadOfBytes(text)) return
    others = []
    for (let third = 0; third < 6; third += 1) {
      await database.query(laterBy(LEASE / 3))
      for (const [said, each] of timers.mock.calls) if (each === LEASE / 3) said()
      await expect.poll(() => database.query(isRenewed)).toEqual([['t']])
    }
    others.push((await send('POST', `/assets/uploads/${id}/complete`)).status)
    others.push((await send('PUT', `/assets/uploads/${id}/1`, 'trap')).status)
  }
  const isRenewed = {
    text: `select completed_until > now() + interval '${LEASE / 2} milliseconds' from service_shop_meta.loose_content where key = $1::uuid`,
    params: [id],
  }
  const completed = await send('POST', `/assets/uploads/${id}/complete`).finally(() => timers.mockRestore())
  meanwhile = undefined

  expect([others, completed.status]).toEqual([[409, 409], 201])
  expect(await faultsNow()).toEqual([])
})

it('an upload that changes while whoever completes it is silent is completed as it is then', async () => {
  const id = await begunWith('trap')
  let put: number | undefined
  meanwhile = async (text) => {
    if (put !== undefined || !/set completed_until = now/.test(text)) return
    put = 0
    await database.query(laterBy(LEASE))
    put = (await send('PUT', `/assets/uploads/${id}/1`, 'part')).status
  }
  const overtaken = await send('POST', `/assets/uploads/${id}/complete`)
  meanwhile = undefined

  expect([put, overtaken.status]).toEqual([204, 409])
  expect((await send('POST', `/assets/uploads/${id}/complete`)).status).toBe(201)
  expect(await faultsNow()).toEqual([])
})

it('an image in small that is being made ends at any step, and goes with its original', async () => {
  const kept = {
    text: `select 1 from service.file_part where number > 1 and file_id::text not in (${used})`,
    params: [],
  }
  const sizes: unknown[] = []
  for (const how of ends) {
    for (let step = 0; ; step += 1) {
      const response = await send('POST', '/assets?fileName=a.png', png)
      const { id } = ((await response.json()) as { data: { id: string } }).data
      left = step
      end = how
      const { status } = await send('GET', `/assets/${id}?preset=64`)
      const isWhole = left >= 0
      left = Number.POSITIVE_INFINITY
      const again = await send('GET', `/assets/${id}?preset=64`)
      sizes.push((await again.arrayBuffer()).byteLength)
      await send('DELETE', `/items/ServiceFile/${id}`)
      expect(await database.query(kept)).toEqual([['1']])
      now += 2 * DAYS
      await served.services.prune()
      expect([await strays(), await database.query(kept)]).toEqual([[], []])
      if (isWhole) break
      expect(status).toBeGreaterThanOrEqual(400)
    }
  }

  expect(new Set(sizes)).toEqual(new Set([8]))
})

it('tries once what cannot be made small, also where many ask for it at once', async () => {
  const { scale } = openNodeImages()
  let reads = 0
  images = {
    scale: (read, ...terms) =>
      scale(
        async () => {
          const bytes = await read()
          if (bytes !== undefined) reads += 1
          return bytes
        },
        ...terms,
      ),
  }
  const broken = png.subarray(0, 50)
  const response = await send('POST', '/assets?fileName=a.png', broken)
  const { id } = ((await response.json()) as { data: { id: string } }).data
  const ask = async () => {
    const answer = await send('GET', `/assets/${id}?preset=64`)
    return [answer.status, answer.headers.get('content-type'), (await answer.arrayBuffer()).byteLength]
  }
  const atOnce = await Promise.all([ask(), ask(), ask()])
  const later = await ask()
  images = eightBytes
  await send('DELETE', `/items/ServiceFile/${id}`)

  const original = [200, 'image/png', 50]
  expect([atOnce, later, reads]).toEqual([[original, original, original], original, 1])
})

it('makes images in small in the share of their workspace, and for whoever still waits', async () => {
  const turns: unknown[] = []
  images = {
    async scale(_read, side, { share, isDisconnected }) {
      turns.push([side, share, isDisconnected?.()])
      return undefined
    },
  }
  const response = await send('POST', '/assets?fileName=a.png', png)
  const { id } = ((await response.json()) as { data: { id: string } }).data
  const sent = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: '{}' }
  const link = await served.request(`${address}/api/shop/assets/${id}/link`, sent)
  const { url } = ((await link.json()) as { data: { url: string } }).data
  for (const isGone of [false, true]) {
    await served.request(`${url}&preset=64`, {}, { isDisconnected: () => isGone })
    await served.request(`${address}/api/shop/assets/${id}?preset=128`, { headers }, { isDisconnected: () => isGone })
  }
  images = eightBytes
  await send('DELETE', `/items/ServiceFile/${id}`)

  const share = expect.stringMatching(/^[0-9a-f-]{36}$/)
  expect(turns).toEqual([
    [64, share, false],
    [128, share, false],
    [64, share, true],
    [128, share, true],
  ])
})

const used = 'select content_key::text from service_shop_meta.file'
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const isReadOfBytes = (text: string) => /select .* from service.file_part/s.test(text) && /substring|substr/.test(text)

/** So much later for whoever completes an upload. */
const laterBy = (milliseconds: number) => ({
  text: `update service_shop_meta.loose_content set completed_until = completed_until - interval '${milliseconds} milliseconds'`,
  params: [],
})

const aged = `(select coalesce(jsonb_object_agg(key, value::timestamptz - interval '${LEASE} milliseconds'), '{}') from jsonb_each_text(puts))`

it('removes the bytes of a workspace that is deleted', async () => {
  const { id } = await administrator.workspace('gone')
  const sent = { method: 'POST', headers, body: 'bytes' }
  const { status } = await served.request(`${address}/api/gone/assets?fileName=a`, sent)
  const parts = { text: 'select 1 from service.file_part where workspace_id = $1::uuid', params: [id] }

  expect([status, await database.query(parts)]).toEqual([201, [['1']]])
  expect((await administrator.send('DELETE', `/api/system/workspaces/${id}`)).status).toBe(204)
  now += DAYS
  await served.services.prune()

  expect(await database.query(parts)).toEqual([])
})

it('keeps to its quota, its size and its types', async () => {
  const variables = {
    SERVICE_FILES__QUOTA: '2000',
    SERVICE_FILES__MAX_SIZE: '1500',
    SERVICE_FILES__TYPES: 'text/*',
    SERVICE_SECRET: secret,
  }
  await administrator.workspace('bounded')
  const bounded = await openInProcess({ database, databaseUrl: postgres.url, variables })
  const answers: unknown[] = []
  for (const [name, body] of [
    ['a.txt', 'a'.repeat(1500)],
    ['b.txt', 'b'.repeat(1501)],
    ['c.txt', 'c'.repeat(501)],
    ['d.bin', '\0'],
    ['e.txt', 'e'.repeat(500)],
  ]) {
    const response = await bounded.request(`${address}/api/bounded/assets?fileName=${name}`, {
      method: 'POST',
      headers,
      body: body ?? '',
    })
    const { message } = (await response.json()) as { message?: string }
    answers.push([response.status, message])
  }
  await bounded.close()

  expect(answers).toEqual([
    [201, undefined],
    [413, 'The body is larger than 1500 bytes, which SERVICE_FILES__MAX_SIZE sets'],
    [
      422,
      'Failed to read the file: there is no room for 501 bytes more: the files of the workspace have 1500 bytes of the 2000 that SERVICE_FILES__QUOTA allows, with those that are kept for a while after they were deleted',
    ],
    [422, 'Failed to read the file: d.bin: is application/octet-stream, which is not allowed here'],
    [201, undefined],
  ])
})

it('keeps to its quota where files come at once, go, or are only said to come', async () => {
  const variables = { SERVICE_FILES__QUOTA: '2000', SERVICE_SECRET: secret }
  await administrator.workspace('full')
  const full = await openInProcess({ database, databaseUrl: postgres.url, variables })
  const ask = async (method: string, path: string, body = '') => {
    const sent = path.endsWith('/uploads') ? { ...headers, 'Content-Type': 'application/json' } : headers
    const init = { method, headers: sent, ...(body !== '' && { body }) }
    return full.request(`${address}/api/full${path}`, init)
  }
  const upload = async (bytes: number) => (await ask('POST', '/assets?fileName=a', 'a'.repeat(bytes))).status
  const announce = (bytes: number) => ask('POST', '/assets/uploads', JSON.stringify({ fileName: 'a', fileSize: bytes }))
  const begun = async (bytes: number) => ((await (await announce(bytes)).json()) as { data: { id: string } }).data.id
  const send = async (id: string, bytes: number) =>
    (await ask('PUT', `/assets/uploads/${id}/1`, 'a'.repeat(bytes))).status

  const atOnce = await Promise.all(Array.from({ length: 4 }, () => upload(600)))
  const left = [await ask('DELETE', '/items/ServiceFile?filter[_all]=true').then(({ status }) => status)]
  const behind = [await upload(300), (await announce(300)).status]
  // What is only said to come holds no room, what has come does.
  const [first, second] = [await begun(150), await begun(200)]
  const parts = [
    await send(first, 150),
    await send(second, 200),
    await send(first, 150),
    await upload(51),
    await upload(50),
  ]
  const done = (await ask('POST', `/assets/uploads/${first}/complete`)).status
  await full.close()

  expect(atOnce.sort()).toEqual([201, 201, 201, 422])
  expect([left, behind, parts, done]).toEqual([[204], [422, 422], [204, 422, 204, 422, 201], 201])
})

it('keeps to its quota where parts are sent again and again at once', async () => {
  await administrator.workspace('doubled')
  const variables = { SERVICE_FILES__QUOTA: '2000', SERVICE_SECRET: secret }
  const doubled = await openInProcess({ database, databaseUrl: postgres.url, variables })
  const path = `${address}/api/doubled/assets/uploads`
  const json = { ...headers, 'Content-Type': 'application/json' }
  const begin = async () => {
    const init = { method: 'POST', headers: json, body: JSON.stringify({ fileName: 'a', fileSize: 900 }) }
    return ((await (await doubled.request(path, init)).json()) as { data: { id: string } }).data.id
  }
  const uploads = await Promise.all(Array.from({ length: 4 }, begin))

  const send = (id: string) =>
    doubled.request(`${path}/${id}/1`, { method: 'PUT', headers, body: 'a'.repeat(900) }).then(({ status }) => status)
  const answers = await Promise.all(uploads.map((id) => Promise.all(Array.from({ length: 5 }, () => send(id)))))

  expect(answers.map((each) => new Set(each).size)).toEqual([1, 1, 1, 1])
  expect(answers.map(([one]) => one).sort()).toEqual([204, 204, 422, 422])
  const kept = {
    text: `select count(*) from service.file_part where file_id = any($1::uuid[])`,
    params: [`{${uploads}}`],
  }
  expect(await database.query(kept)).toEqual([['2']])
  await doubled.close()
})

it('removes a part that is stored while its upload is given up', async () => {
  const sent = { fileName: 'a', fileSize: 9_000_000 }
  const begun = await served.request(`${address}/api/shop/assets/uploads`, {
    ...{ method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(sent) },
  })
  const { id } = ((await begun.json()) as { data: { id: string } }).data
  let given: number | undefined
  meanwhile = async (text) => {
    if (given !== undefined || !/insert into service.file_part/.test(text)) return
    given = 0
    given = (await send('DELETE', `/assets/uploads/${id}`)).status
  }
  const put = { method: 'PUT', headers, body: 'a'.repeat(9_000_000 - 8 * 2 ** 20) }
  const { status } = await served.request(`${address}/api/shop/assets/uploads/${id}/2`, put)
  meanwhile = undefined

  expect([given, status]).toEqual([204, 409])
  const parts = { text: 'select count(*) from service.file_part where file_id = $1::uuid', params: [id] }
  expect(await database.query(parts)).toEqual([['0']])
})

it('says that an upload was given up while it was completed', async () => {
  const sent = { fileName: 'a', fileSize: 4 }
  const begun = await served.request(`${address}/api/shop/assets/uploads`, {
    ...{ method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(sent) },
  })
  const { id } = ((await begun.json()) as { data: { id: string } }).data
  expect((await send('PUT', `/assets/uploads/${id}/1`, 'text')).status).toBe(204)
  let given: number | undefined
  meanwhile = async (text) => {
    if (given !== undefined || !isReadOfBytes(text)) return
    given = 0
    given = (await send('DELETE', `/assets/uploads/${id}`)).status
  }
  const completed = await send('POST', `/assets/uploads/${id}/complete`)
  meanwhile = undefined

  expect([given, completed.status, await completed.json()]).toEqual([
    204,
    409,
    { message: 'The upload was given up while it was completed' },
  ])
  expect(await faultsNow()).toEqual([])
})

it('gives a file that is restored while its bytes are removed neither back nor away', async () => {
  const id = await uploaded()
  await send('DELETE', `/items/ServiceFile/${id}`)
  now += 2 * DAYS
  let restored: number | undefined
  meanwhile = async (text) => {
    if (restored !== undefined || !/delete from service.file_part/.test(text)) return
    restored = 0
    restored = (await send('POST', `/assets/${id}/restore`)).status
  }
  await served.services.prune()
  meanwhile = undefined

  expect(restored).toBe(404)
  expect(await faultsNow()).toEqual([])
})

it('leaves no bytes of an upload whose workspace is deleted meanwhile', async () => {
  const { id } = await administrator.workspace('left')
  let go = (): void => {}
  const isDeleted = new Promise<void>((resolve) => {
    go = resolve
  })
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(9_000_000)),
    async pull(controller) {
      await isDeleted
      controller.close()
    },
  })
  const sent = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const answer = served.request(`${address}/api/left/assets?fileName=a`, sent)
  const parts = { text: 'select count(*) from service.file_part where workspace_id = $1::uuid', params: [id] }
  await expect.poll(async () => (await database.query(parts))[0]?.[0]).not.toBe('0')
  await administrator.send('DELETE', `/api/system/workspaces/${id}`)
  now += DAYS
  await served.services.prune()
  go()

  expect((await answer).status).toBe(404)
  expect(await database.query(parts)).toEqual([['0']])
})

/** Files whose bytes are not those that their row tells of. */
async function faultsNow(): Promise<readonly string[]> {
  const { data } = (await (await send('GET', '/items/ServiceFile?limit=1000')).json()) as { data: File[] }
  const faults: string[] = []
  for (const { id, fileName, fileSize } of data) {
    const response = await send('GET', `/assets/${id}`)
    const text = await response.text()
    if (response.status !== 200 || text.length !== fileSize || !fileName.startsWith(text))
      faults.push(`${fileName}: ${text}`)
  }
  return faults
}

type File = { readonly id: string; readonly fileName: string; readonly fileSize: number }

/** Keys of bytes that are of no file, and of what is on the list of such. */
async function strays(): Promise<readonly unknown[]> {
  return database.query({
    text: `select distinct file_id::text from service.file_part where file_id::text not in (${used})
      union select key::text from service_shop_meta.loose_content`,
    params: [],
  })
}

async function uploaded(): Promise<string> {
  const response = await send('POST', '/assets?fileName=old.txt', 'old')
  return ((await response.json()) as { data: { id: string } }).data.id
}

/** An upload of one part of four bytes, which is there. */
async function begunWith(part: string): Promise<string> {
  const begun = await send('POST', '/assets/uploads', '{"fileName":"part.txt","fileSize":4}')
  const { id } = ((await begun.json()) as { data: { id: string } }).data
  expect((await send('PUT', `/assets/uploads/${id}/1`, part)).status).toBe(204)
  return id
}

function send(method: string, path: string, body?: BodyInit): Promise<Response> {
  const sent = path.endsWith('/uploads') ? { ...headers, 'Content-Type': 'application/json' } : headers
  return served.request(`${address}/api/shop${path}`, { method, headers: sent, ...(body !== undefined && { body }) })
}

/** A driver of a process that may end: from then on nothing is run or answered, unless one answer alone is lost. */
function mortal(): SqlDriver {
  const lived = async <T>(run: () => Promise<T>): Promise<T> => {
    left -= 1
    if (left >= 0 || (left < -1 && end === 'lost')) return run()
    if (left === -1 && end !== 'before') await run()
    throw new Error('the process has ended')
  }
  return new Proxy(database, {
    get(driver, name: keyof SqlDriver) {
      const member: unknown = Reflect.get(driver, name)
      if (typeof member !== 'function' || name === 'close') return member
      return async (...args: unknown[]) => {
        await meanwhile?.(JSON.stringify(args))
        return lived(() => Promise.resolve(Reflect.apply(member, driver, args)))
      }
    },
  })
}
