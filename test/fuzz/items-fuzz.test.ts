/**
 * Whatever is sent to the item routes, the service answers: never 500, never late, never a word from behind it, and the
 * next plain read is as it was. SERVICE_TEST_SEED, which is printed, repeats a run.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Observation } from '../../src/ports/observe.ts'
import { type CollectionSketch, sketchesOf } from '../support/data/model-sketch.ts'
import { casesOr } from '../support/run/cases.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'
import { anyChange, anyFlatChange, anyItems } from './support/bodies.ts'
import { createDice, type Dice, seed } from './support/dice.ts'
import { invalid, open, valid } from './support/json-cases.ts'
import { library, restrictions } from './support/library.ts'
import { anyFilterSearch, anyItemSearch, anySearch, asBody, mutated, type Sketches } from './support/queries.ts'
import { anyText, escaped, hostile } from './support/values.ts'
import { describeSent, faultOf, openWire, type Sent, type Wire } from './support/wire.ts'

/** Of a thousand requests each: 20,000 in the full tier. */
const BATCHES = casesOr(20, { share: 1 / 20 })
const REQUESTS = 1_000
const AT_ONCE = 48

const sketches: Sketches = new Map(sketchesOf(library).map((sketch) => [sketch.name, sketch]))
let service: NodeService
let wire: Wire
let database: pg.Client
let member: string

beforeAll(async () => {
  console.log(`fuzzed items: SERVICE_TEST_SEED=${seed}`)
  service = await startService('library', library)
  wire = openWire(service.url, service.token)
  member = await service.member(...restrictions)
  database = new pg.Client({ connectionString: service.databaseUrl })
  await database.connect()
})

afterAll(async () => {
  wire?.close()
  await database?.end()
  await service?.close()
})

describe('fuzzed requests', () => {
  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))('are answered: batch %i', async (batch) => {
    const dice = createDice(seed + batch)
    const faultsBefore = service.faults.length
    await arrange()

    const wrong = await sendAll(Array.from({ length: REQUESTS }, () => asAnyone(dice, anyRequest(dice))))

    expect(wrong).toEqual([])
    expect(service.faults.slice(faultsBefore).map(storyOf)).toEqual([])
    expect(await service.send('GET', 'words/anchor')).toEqual({
      status: 200,
      body: { data: { word: 'anchor', meaning: 'holds' } },
    })
  })
})

describe('a body that is JSON', () => {
  it.each(valid)('is read: %s', async (_name, bytes) => {
    const { status, text } = await wire.send({ method: 'POST', path: `${service.items}days`, body: bytes })

    expect(status).not.toBe(500)
    expect(text).not.toContain('Failed to read the JSON body')
  })

  it.each(valid)('comes back as it was sent: %s', async (_name, bytes) => {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))

    const answer = await sendJson(bytes)

    expect(answer).toEqual({ data: [{ jsonValue: JSON.parse(JSON.stringify(value)) }] })
  })
})

describe('a body that is not JSON', () => {
  it.each(invalid)('is refused: %s', async (_name, bytes) => {
    const sent = { method: 'POST', path: `${service.items}days`, body: bytes }

    const received = await wire.send(sent)

    expect(received.status).toBe(422)
    expect(received.text).toContain('Failed to read the JSON body')
    expect(faultOf(sent, received)).toBeUndefined()
  })

  it.each(invalid)('is refused as a part, too: %s', async (_name, bytes) => {
    expect(await sendJson(bytes)).toMatchObject({ message: expect.stringContaining('Failed to read the JSON body: ') })
  })
})

describe('a body that may or may not be JSON', () => {
  it.each(open)('is answered: %s', async (_name, bytes) => {
    const requests = ['POST', 'PATCH'].map((method) => ({ method, path: `${service.items}days`, body: bytes }))

    const wrong = await sendAll([...requests, jsonRequest(bytes)])

    expect(wrong).toEqual([])
  })
})

/** The bytes as the value of a JSON field. */
function jsonRequest(bytes: Uint8Array): Sent {
  const body = Buffer.concat([Buffer.from('[{"jsonValue":'), bytes, Buffer.from('}]')])
  return { method: 'POST', path: `${service.items}things?fields=jsonValue`, body }
}

async function sendJson(bytes: Uint8Array): Promise<unknown> {
  const { text } = await wire.send(jsonRequest(bytes))
  return JSON.parse(text)
}

/** The same few items before every batch, so that a batch can be repeated and tables stay small. */
async function arrange(): Promise<void> {
  const tables = [...sketches.keys()].map((name) => `"${service.schema}"."${name}"`)
  await database.query(`truncate ${tables.join(', ')} restart identity`)
  for (const [collection, items] of Object.entries(stock)) {
    const { status } = await service.send('POST', collection, items)
    expect(status).toBe(200)
  }
}

const [first, last] = ['00000000-0000-0000-0000-000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

const stock = {
  words: [{ word: 'anchor', meaning: 'holds' }],
  authors: [
    {
      name: 'Ada',
      email: 'ada@example.com',
      books: [
        { _create: { data: [{ id: first, title: 'Notes', detail: { _create: { data: { summary: 'all' } } } }] } },
        { _create: { data: [{ id: last, title: 'Tables', cover: { _create: { data: { image: 'AA==' } } } }] } },
      ],
      things: [{ _create: { data: [{ stringValue: 'a' }, {}] } }],
    },
    { name: 'Ben', students: [{ _create: { data: [{ name: 'Cem' }] } }] },
  ],
  tags: [{ code: 'a', lang: 'A', bookTags: [{ _create: { data: [{ rank: 1, bookId: first }, {}, {}] } }] }],
  marks: [{}, {}, {}],
  days: [{ day: '0001-01-01' }, { day: '2024-02-29', weight: 1.5 }],
}

/** What is wrong with the answers, the first few. */
async function sendAll(requests: readonly Sent[]): Promise<readonly string[]> {
  const wrong: string[] = []
  const waiting = requests.values()
  const work = async () => {
    for (const sent of waiting) {
      if (wrong.length >= 5) return
      try {
        const received = await wire.send(sent)
        const fault = faultOf(sent, received)
        if (fault !== undefined)
          wrong.push(`${fault}: ${describeSent(sent)} → ${received.status} ${received.text.slice(0, 600)}`)
      } catch (error) {
        wrong.push(String(error))
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return wrong
}

function storyOf(observation: Observation): string {
  const messages: string[] = []
  let next: unknown = observation.kind === 'fault' ? observation.error : observation
  for (; next instanceof Error; next = next.cause) messages.push(next.message)
  return messages.join(' > ')
}

/** All but the anchor's collection may be written. */
const collections = [...sketches.values()]
const writable = collections
  .filter(({ name }) => name !== 'words')
  .map((sketch) => ({ ...sketch, hasKey: sketch.name !== 'tags' && sketch.name !== 'logs' }))
const keyedAndWritable = writable.filter(({ hasKey }) => hasKey)
const system = ['ServiceCollection', 'ServicePrimitiveField', 'ServiceDataSource', 'ServiceIndexField', 'nothing']

/** As the administrator, or as a member to whom much is hidden. */
function asAnyone(dice: Dice, sent: Sent): Sent {
  if (!dice.once(3)) return sent
  return { ...sent, headers: { ...sent.headers, Authorization: `Bearer ${member}` } }
}

/** Two of three requests are meant well, so that they get far. */
function anyRequest(chance: Dice): Sent {
  const dice = chance.once(3) ? chance : chance.calm()
  const path = (name: string, search: string) => `${service.items}${name}${search === '' ? '' : `?${search}`}`
  const collection = dice.pick(collections)
  const written = dice.pick(writable)
  const one = dice.pick(written.hasKey || dice.spoils(4) ? [written] : keyedAndWritable)
  switch (dice.below(13)) {
    case 0:
    case 1:
    case 2:
      return { method: 'GET', path: path(collection.name, anySearch(dice, sketches, collection)) }
    case 3:
      return {
        method: 'QUERY',
        path: path(collection.name, dice.spoils(20) ? anySearch(dice, sketches, collection) : ''),
        body: asBody(anySearch(dice, sketches, collection)),
        headers: anyHeaders(dice),
      }
    case 4:
      return { method: 'GET', path: path(keyed(dice, one), anyItemSearch(dice, sketches, one)) }
    case 5:
    case 6:
      return {
        method: 'POST',
        path: path(written.name, dice.once(2) ? '' : anyItemSearch(dice, sketches, written)),
        body: anyItems(dice, sketches, written),
        headers: anyHeaders(dice),
      }
    case 7:
    case 8:
    case 9:
      return {
        method: 'PATCH',
        path: path(keyed(dice, one), dice.once(2) ? '' : anyItemSearch(dice, sketches, one)),
        body: anyChange(dice, sketches, one),
        headers: anyHeaders(dice),
      }
    case 10:
      return {
        method: 'PATCH',
        path: path(written.name, anyFilterSearch(dice, sketches, written)),
        body: anyFlatChange(dice, sketches, written),
      }
    case 11:
      return dice.once(3)
        ? { method: 'DELETE', path: path(written.name, anyFilterSearch(dice, sketches, written)) }
        : { method: 'DELETE', path: path(keyed(dice, one), anyItemSearch(dice, sketches, one)) }
    default: {
      const name = dice.once(2)
        ? dice.pick(system)
        : `${mutated(dice, escaped(dice.pick(hostile))).replaceAll('/', '')}x`
      const method = dice.pick(['GET', 'GET', 'POST', 'PATCH', 'DELETE'])
      const body = method === 'POST' || method === 'PATCH' ? { body: anyItems(dice, sketches, collection) } : {}
      return { method, path: path(name, anySearch(dice, sketches, collection)), ...body }
    }
  }
}

function keyed(dice: Dice, { name, fields: [key] }: CollectionSketch): string {
  if (key === undefined || dice.spoils(3)) {
    return `${name}/${mutated(dice, escaped(dice.pick(hostile))).replaceAll(/[/?#]/g, '')}`
  }
  const isCounted = key.type.startsWith('int') && !dice.once(8)
  return `${name}/${isCounted ? dice.pick(['1', '2', '3']) : escaped(anyText(dice, key)).slice(0, 2_000)}`
}

function anyHeaders(dice: Dice): Readonly<Record<string, string>> {
  if (!dice.spoils(25)) return {}
  return dice.pick<Readonly<Record<string, string>>>([
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json; charset=utf-16' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Type': '' },
    { 'Content-Encoding': 'gzip' },
    { 'Transfer-Encoding': 'chunked' },
    { Prefer: 'return=minimal' },
  ])
}
