/**
 * `npm run bench -- --figures files`: files in and out beside a handler that only moves bytes into the same kind of store and out
 * of it, and the first byte of a small file beside the read of an item. All sides take turns.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findCase, requestsOf } from '../cases.ts'
import { median } from '../compare.ts'
import type { Bound, Measured } from '../figures.ts'
import type { Lab } from '../lab.ts'
import type { LoadOrder, LoadResult } from '../load.ts'
import type { BareFilesStart } from './bare.ts'

const MIB = 1024 ** 2
const SIZE = 32 * MIB
const PART = 8 * MIB
const ROUNDS = 15
const READ_ROUNDS = 25
/** On a disk: in memory a store costs nothing. */
const DISK = '/var/tmp'

type Times = readonly number[]

export async function measureFiles(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const { token } = await lab.data()
  const directory = await mkdtemp(join(DISK, 'bench-files-'))
  const { child, port } = await lab.ourNode({ SERVICE_FILES__PATH: join(directory, 'ours') })
  try {
    const start: BareFilesStart = { directory: join(directory, 'bare'), size: SIZE }
    const bare = `http://127.0.0.1:${await lab.child('./files/bare.ts').ask<number>(start)}`
    const ours = `http://127.0.0.1:${port}/api/bench/assets`
    const bytes = randomBytes(SIZE)
    const send = async (method: string, url: string, body?: Uint8Array<ArrayBuffer> | string) => {
      const headers = {
        Authorization: `Bearer ${token}`,
        ...(typeof body === 'string' && { 'Content-Type': 'application/json' }),
      }
      const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
      const taken = Buffer.from(await response.arrayBuffer())
      if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${taken}`)
      return taken
    }
    const made = async (url: string, body: Uint8Array<ArrayBuffer> | string) =>
      (JSON.parse(String(await send('POST', url, body))) as { data: { id: string } }).data.id
    const parts = async () => {
      const upload = `${ours}/uploads/${await made(`${ours}/uploads`, JSON.stringify({ fileName: 'a', fileSize: SIZE }))}`
      for (let at = 0; at < SIZE; at += PART)
        await send('PUT', `${upload}/${at / PART + 1}`, bytes.subarray(at, at + PART))
      await send('POST', `${upload}/complete`)
    }
    const key = () => `${randomUUID()}/${randomUUID()}`
    const [id, other] = [await made(`${ours}?fileName=a`, bytes), key()]
    await send('PUT', `${bare}/${other}`, bytes)
    const put = () => send('PUT', `${bare}/${key()}`, bytes)
    const putParts = async () => {
      for (let at = 0; at < SIZE; at += PART) await send('PUT', `${bare}/${key()}`, bytes.subarray(at, at + PART))
    }
    const within = { bound: { kind: 'atLeast', value: 0.8 }, progress } as const
    const into = [
      await inTurn(
        'a file in one piece: throughput over bare',
        within,
        () => send('POST', `${ours}?fileName=a`, bytes),
        put,
      ),
      await inTurn('a file in parts: throughput over bare', within, parts, putParts),
      await inTurn(
        'a file out: throughput over bare',
        within,
        () => send('GET', `${ours}/${id}`),
        () => send('GET', `${bare}/${other}`),
      ),
    ]
    const small = await made(`${ours}?fileName=small.txt`, randomBytes(1024))
    return [...into, await firstByte(lab, { port, path: `/api/bench/assets/${small}` }, progress)]
  } finally {
    await child.close()
    await rm(directory, { recursive: true, force: true })
  }
}

type Within = { readonly bound: Bound; readonly progress: (text: string) => void }

/** The median of the rounds' ratios of what the second takes over what the first does. */
async function inTurn(
  what: string,
  { bound, progress }: Within,
  own: () => Promise<unknown>,
  bare: () => Promise<unknown>,
): Promise<Measured> {
  const rounds: [number, number][] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(`${what}: round ${round} of ${ROUNDS}`)
    const pair: [number, number] = [0, 0]
    const sides = [async () => (pair[0] = await timeOf(own)), async () => (pair[1] = await timeOf(bare))]
    for (const side of round % 2 === 0 ? sides : sides.reverse()) await side()
    // The first warms up.
    if (round > 0) rounds.push(pair)
  }
  const speed = (times: Times) => `${(SIZE / MIB / (median(times) / 1_000)).toFixed(0)} MiB/s`
  const detail = `${speed(rounds.map(([first]) => first))}, bare ${speed(rounds.map(([, second]) => second))}`
  return { what, bound, value: median(rounds.map(([first, second]) => second / first)), unit: '', detail }
}

/** Over one connection, so that what is measured is how long somebody waits. */
async function firstByte(
  lab: Lab,
  { port, path }: { readonly port: number; readonly path: string },
  progress: (text: string) => void,
): Promise<Measured> {
  const load = await lab.load()
  const { token } = await lab.data()
  const read = findCase('point-read')
  const ask = async (requests: readonly string[]) => {
    const order: LoadOrder = { port, requests, seconds: 0.4, connections: 1 }
    return (await load.ask<LoadResult>(order)).p50
  }
  const file = requestsOf({ keys: 1 }, path, token)
  const item = requestsOf(read, `/api/bench${read.path}`, token)
  const rounds: [number, number][] = []
  for (let round = 0; round <= READ_ROUNDS; round += 1) {
    progress(`a small file: round ${round} of ${READ_ROUNDS}`)
    const [first, second] = [await ask(file), await ask(item)]
    if (round > 0) rounds.push([first, second])
  }
  const timeText = (times: Times) => `${median(times).toFixed(2)} ms`
  return {
    what: 'a small file: wait over that of an item',
    bound: { kind: 'atMost', value: 1.2 },
    value: median(rounds.map(([first, second]) => first / second)),
    unit: '',
    detail: `${timeText(rounds.map(([first]) => first))}, an item ${timeText(rounds.map(([, second]) => second))}`,
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
