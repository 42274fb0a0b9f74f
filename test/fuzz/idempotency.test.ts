/**
 * Random writes under few keys, by two callers, against a model in memory of what a key stands for
 * (docs/contract.md#idempotency): each answer is the one that the model expects, and so are the rows in the end.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { casesOr } from '../support/run/cases.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'
import { createDice, type Dice, seed } from './support/dice.ts'

const RUNS = casesOr(20)
const STEPS = 30

type Row = { readonly id: number; readonly title: string }
type Answer = { readonly status: number; readonly body: unknown }
type Request = { readonly method: string; readonly path: string; readonly body?: unknown }
/** What a request does to the rows of a run; an answer of 400 and up changes none. */
type Deed = Request & { readonly expected: (rows: Map<number, Row>) => Answer & { readonly effect?: () => void } }

let service: NodeService
let callers: readonly string[]

beforeAll(async () => {
  console.log(`idempotency: SERVICE_TEST_SEED=${seed}`)
  service = await startService('shop', {
    collections: { notes: { id: 'int32', run: 'int32', title: 'string' } },
    keys: {},
    relations: [],
  })
  const member = await service.member({
    collections: { notes: { read: 'all', create: 'all', update: 'all', delete: 'all' } },
  })
  callers = [service.token, member]
})

afterAll(() => service?.close())

it('does what a key stands for once, and forgets what failed', async () => {
  const counts = { done: 0, shown: 0, otherwise: 0, failed: 0 }
  for (let run = 0; run < RUNS; run += 1) {
    const dice = createDice(seed + run)
    const rows = new Map<number, Row>()
    const known = new Map<string, { readonly request: string; readonly answer: Answer }>()
    let last: Deed | undefined
    for (let step = 0; step < STEPS; step += 1) {
      const about = `run ${run}, step ${step} of SERVICE_TEST_SEED=${seed}`
      const [caller, key] = [dice.below(callers.length), `${run} ${dice.below(4)}`]
      last = last !== undefined && dice.once(3) ? last : anyDeed(dice, run)
      const { expected, ...request } = last
      const [name, text] = [`${caller} ${key}`, JSON.stringify(request)]
      const earlier = known.get(name)

      const { replayed, ...answer } = await send(callers[caller] ?? '', key, request)

      if (earlier === undefined) {
        const { effect, ...wanted } = expected(rows)
        expect({ ...answer, replayed }, about).toEqual({ ...wanted, replayed: null })
        effect?.()
        if (wanted.status < 400) known.set(name, { request: text, answer })
        counts[wanted.status < 400 ? 'done' : 'failed'] += 1
      } else if (earlier.request === text) {
        expect({ ...answer, replayed }, about).toEqual({ ...earlier.answer, replayed: 'true' })
        counts.shown += 1
      } else {
        // What is wrong by itself is told before the key is looked at.
        const isWrong = request.path === 'notes'
        expect(answer, about).toMatchObject({ status: 422, body: isWrong ? {} : { code: '4221' } })
        counts.otherwise += 1
      }
    }
    expect(await rowsOf(run)).toEqual([...rows.values()].sort((one, other) => one.id - other.id))
  }
  console.log(`idempotency: ${JSON.stringify(counts)}`)
  expect(service.faults).toEqual([])
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0)
})

/** Few ids and titles, so that requests meet. */
function anyDeed(dice: Dice, run: number): Deed {
  const id = run * 10 + dice.below(3)
  const title = dice.pick(['one', 'two'])
  return dice.pick([create, change, remove, broken])(id, title, run)
}

function create(id: number, title: string, run: number): Deed {
  return {
    method: 'POST',
    path: 'notes?fields=id,title',
    body: [{ id, run, title }],
    expected: (rows) =>
      rows.has(id)
        ? { status: 422, body: expect.anything() }
        : { status: 200, body: { data: [{ id, title }] }, effect: () => rows.set(id, { id, title }) },
  }
}

function change(id: number, title: string): Deed {
  return {
    method: 'PATCH',
    path: `notes/${id}?fields=id,title`,
    body: { title },
    expected: (rows) => {
      const row = rows.get(id)
      if (row === undefined) return { status: 404, body: expect.anything() }
      return { status: 200, body: { data: { id, title } }, effect: () => rows.set(id, { id, title }) }
    },
  }
}

function remove(id: number, title: string): Deed {
  const isTold = title === 'one'
  return {
    method: 'DELETE',
    path: `notes/${id}${isTold ? '?fields=title' : ''}`,
    expected: (rows) => {
      const row = rows.get(id)
      if (row === undefined) return { status: 404, body: expect.anything() }
      const effect = () => rows.delete(id)
      return isTold
        ? { status: 200, body: { data: { title: row.title } }, effect }
        : { status: 204, body: undefined, effect }
    },
  }
}

function broken(): Deed {
  return {
    method: 'POST',
    path: 'notes',
    body: [{ id: 'none' }],
    expected: () => ({ status: 422, body: expect.anything() }),
  }
}

async function send(token: string, key: string, { method, path, body }: Request) {
  const response = await fetch(service.url + service.items + path, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      'Idempotency-Key': `"${key}"`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    replayed: response.headers.get('Idempotency-Replayed'),
  }
}

async function rowsOf(run: number): Promise<unknown> {
  const { body } = await service.send('GET', `notes?fields=id,title&filter[run][_eq]=${run}&sort[0][id][direction]=asc`)
  return (body as { data: unknown }).data
}
