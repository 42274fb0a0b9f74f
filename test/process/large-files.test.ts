/**
 * docs/contract.md#files: a file of 2 GiB goes through a process that holds 256 MiB at most, which is killed in the middle of the
 * upload; the upload goes on in the next process, and the bytes that come out are those that went in.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, client, signIn } from '../migration/support/client.ts'
import { type Instance, openInstance, type Replica, startReplica } from '../migration/support/instance.ts'

const MIB = 1024 ** 2
const PART = 8 * MIB
const PARTS = 256
/** Parts that are sent at a time; the client sends one. */
const AT_ONCE = 4

/** On a disk: the bytes of a file in memory are nobody's memory and everybody's. */
const DISK = '/var/tmp'
const MINUTES = 60_000

let instance: Instance
let folder: string
let replica: Replica | undefined
const random = randomBytes(PART)

beforeAll(async () => {
  instance = await openInstance()
  folder = await mkdtemp(join(DISK, 'large-files-'))
})

afterAll(async () => {
  await replica?.kill()
  await instance?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

it(
  'goes in and out of a process of 256 MiB, which is killed in between',
  async () => {
    const peaks: number[] = []
    // Before any connection is open, which a server closes that hears nothing for seconds.
    const hash = createHash('sha256')
    for (let number = 1; number <= PARTS; number += 1) hash.update(part(number))
    const sha256 = hash.digest('base64url')
    const first = await serve()
    const administrator = await signIn(instance.administrator, first.url)
    await administrator.workspace('films')
    const { body } = await administrator.send('POST', '/api/system/api-keys', { name: 'robot' })
    const { key } = (body as { data: { key: string } }).data
    const uploads = '/api/films/assets/uploads'
    const begun = await administrator.send('POST', uploads, { fileName: 'film.mp4', fileSize: PARTS * PART, sha256 })
    const { id } = (begun.body as { data: { id: string } }).data

    await put(`${first.url}${uploads}/${id}`, key, range(1, PARTS / 2))
    const cut = put(`${first.url}${uploads}/${id}`, key, range(PARTS / 2 + 1, PARTS)).catch(() => 'cut')
    const has = async () => (await stored(administrator, `${uploads}/${id}`)).length
    await expect.poll(has, { interval: 5 }).toBeGreaterThan(PARTS / 2)
    peaks.push(await peakOf(first))
    await first.kill()
    expect(await cut).toBe('cut')

    const second = await serve()
    const again = client(second.url, key)
    const there = await stored(again, `${uploads}/${id}`)
    expect(there.length).toBeGreaterThanOrEqual(PARTS / 2)
    await put(
      `${second.url}${uploads}/${id}`,
      key,
      range(1, PARTS).filter((number) => !there.includes(number)),
    )
    const completed = await again.send('POST', `${uploads}/${id}/complete`)
    const file = (completed.body as { data: { id: string } }).data
    expect([completed.status, file]).toMatchObject([201, { fileSize: PARTS * PART }])
    const content = await fetch(`${second.url}/api/films/assets/${file.id}`, { headers: bearer(key) })
    const taken = createHash('sha256')
    for await (const piece of content.body ?? []) taken.update(piece)
    peaks.push(await peakOf(second))

    expect(taken.digest('base64url')).toBe(sha256)
    console.log(`most of the two processes: ${peaks.map((peak) => Math.round(peak / MIB)).join(' and ')} MiB`)
    expect(Math.max(...peaks)).toBeLessThan(256 * MIB)
  },
  10 * MINUTES,
)

/** As docs/operations.md#memory advises. */
async function serve(): Promise<Replica> {
  replica = await startReplica(instance, {
    NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=96',
    SERVICE_FILES__PATH: folder,
  })
  return replica
}

function part(number: number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(random)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

async function put(upload: string, key: string, numbers: readonly number[]): Promise<void> {
  const left = [...numbers]
  const one = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      const { status } = await fetch(`${upload}/${number}`, { method: 'PUT', headers: bearer(key), body: part(number) })
      if (status !== 204) throw new Error(`part ${number}: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

async function stored(client: Client, upload: string): Promise<readonly number[]> {
  const { body } = await client.send('GET', upload)
  return (body as { data: { parts: { n: number }[] } }).data.parts.map(({ n }) => n)
}

/** The most bytes that were resident so far. */
async function peakOf({ pid }: Replica): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
