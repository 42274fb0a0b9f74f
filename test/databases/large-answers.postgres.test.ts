/** An answer that no process could hold is refused, whoever asks for it, and nobody else notices. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Drawing } from '../support/data/model-sketch.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const library: Drawing = {
  collections: {
    shelves: { id: 'int32 = counted', label: 'string?' },
    texts: { id: 'int32 = counted', shelfId: 'int32', text: 'string', note: 'string?' },
    slips: { id: 'int32 = counted', shelfId: 'int32?', ...columns('int32?') },
  },
  keys: {},
  relations: ['texts.shelf(shelfId) -> shelves.texts', 'slips.shelf(shelfId) -> shelves.slips'],
}

/** So many that a statement inserts fewer than 200 rows. */
function columns<T>(value: T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`column${index}`, value]))
}

let service: NodeService

beforeAll(async () => {
  service = await startService('library', library)
  await service.send('POST', 'shelves', [{}])
  const database = new pg.Client({ connectionString: service.databaseUrl })
  await database.connect()
  await database.query(
    `insert into "${service.schema}".texts ("shelfId", text) select 1, repeat('x', 1048576) from generate_series(1, 70)`,
  )
  await database.end()
})

afterAll(() => service?.close())

const refusal = {
  status: 422,
  body: {
    message: 'Query failed',
    source: { message: 'The answer is too large: ask for fewer items or fields', code: '1006' },
  },
}

describe('an answer of more than 16 MiB', () => {
  it('is refused to a list, and the next one is answered', async () => {
    expect(await service.send('GET', 'texts')).toEqual(refusal)
    expect(await service.send('GET', 'texts?meta=totalCount&limit=5')).toMatchObject({
      status: 200,
      body: { meta: { totalCount: 70 } },
    })
  })

  it('is refused to a list in one text, and to one in pieces whose pieces are larger', async () => {
    expect(await service.send('GET', 'texts?limit=20')).toEqual(refusal)
    expect(await service.send('GET', 'texts?limit=2000&filter[id][_lte]=20')).toEqual(refusal)
  })

  it('is refused to one item', async () => {
    expect(await service.send('GET', 'shelves/1?fields=texts.text')).toEqual(refusal)
  })

  it('is refused to a write, which then changes nothing', async () => {
    expect(await service.send('PATCH', 'texts?filter[shelfId]=1', { note: 'changed' })).toEqual(refusal)
    expect(await service.send('DELETE', 'texts?filter[shelfId]=1&fields=text')).toEqual(refusal)
    expect(await service.send('PATCH', 'shelves/1?fields=texts.text', { label: 'changed' })).toEqual(refusal)
    expect(await service.send('GET', 'texts?filter[note][_null]=true&meta=totalCount&fields=note&limit=1')).toEqual({
      status: 200,
      body: { data: [{ note: null }], meta: { totalCount: 70 } },
    })
    expect(await service.send('GET', 'shelves/1')).toMatchObject({ body: { data: { label: null } } })
  })

  it('is refused to a write that answers by several statements, together too much', async () => {
    const shelves = await service.send('POST', 'shelves', [{ id: 2, label: 'x'.repeat(60_000) }])
    const slip = { shelfId: 2 }
    const slips = [{ ...slip, ...columns(1) }, ...Array.from({ length: 400 }, () => slip)]

    expect(shelves.status).toBe(200)
    expect(await service.send('POST', 'slips?fields=shelf.label', slips)).toEqual(refusal)
    expect(await service.send('GET', 'slips?meta=totalCount&limit=1')).toMatchObject({
      body: { meta: { totalCount: 0 } },
    })
  })
})

describe('an answer of less', () => {
  it('is given', async () => {
    const { status, body } = await service.send('GET', 'texts?fields=text&limit=15')

    expect(status).toBe(200)
    expect((body as { data: unknown[] }).data).toHaveLength(15)
  })
})
