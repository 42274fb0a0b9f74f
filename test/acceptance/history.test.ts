/**
 * docs/contract.md#history: who changed what of an item, as far as its caller may read it now: rows, fields, fields on a
 * condition, and what was another item.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

type Change = {
  readonly at: string
  readonly actor: string | null
  readonly action: string
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
}
type Page = { readonly data: readonly Change[]; readonly meta: { readonly next: string | null } }

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('history', {
    notes: {
      title: 'string',
      text: 'string?',
      owner: 'string?',
      price: 'decimal(20,4)?',
      big: 'int64?',
      more: 'json?',
      at: 'dateTimeWithTimezone?',
    },
    plain: { title: 'string' },
    pairs: { id: 'string', title: 'string' },
  })
  const on = (name: string) => ({
    kind: 'updateCollection',
    data: { id: shop.ids.get(name), operations: [{ kind: 'changeHasHistory', data: { hasHistory: true } }] },
  })
  expect((await shop.migrate(on('notes'), on('pairs'))).status).toBe(200)
})

async function page(of: Client, path: string): Promise<Page> {
  const response = await of.get(`/items/${path}`)
  expect(response.status, path).toBe(200)
  return (await response.json()) as Page
}

/** The titles of each page of an item's changes, to the one that is the last. */
async function walk(of: Client, id: string, limit: number): Promise<readonly (readonly unknown[])[]> {
  const titles: unknown[][] = []
  for (let after: string | null = ''; after !== null; ) {
    const { data, meta }: Page = await page(of, `notes/${id}/changes?limit=${limit}${after && `&after=${after}`}`)
    titles.push(data.map((one) => one.after?.title))
    after = meta.next
  }
  return titles
}

/** What the cursor behind the last change tells of it. */
async function lastId(of: Client, id: string): Promise<string | null> {
  return (await page(of, `notes/${id}/changes?limit=1`)).meta.next
}

const states = ({ data }: Page) => data.map(({ action, before, after }) => [action, before, after])

async function made(item: object): Promise<string> {
  const [note] = await shop.insert('notes', [item])
  return String(note?.id)
}

const change = async (id: string, item: object) =>
  expect((await shop.patch(`/items/notes/${id}`, item)).status).toBe(200)

describe('the history of an item', () => {
  it('has its changes, the newest first, with who made them', async () => {
    const whole = {
      title: 'Lamp',
      text: null,
      owner: null,
      price: '1.5000',
      big: '9007199254740993',
      more: { n: [1, 1e21] },
      at: '2026-01-01T10:00:00.25Z',
    }
    const id = await made(whole)
    const all = { read: 'all', create: 'all', update: 'all', delete: 'all' }
    const editor = await people.member(shop, { collections: { notes: all } })
    await editor.patch(`/items/notes/${id}`, { title: 'Desk lamp', text: 'new' })
    await editor.patch(`/items/notes/${id}`, { title: 'Desk lamp' })
    const before = Date.now()
    await editor.delete(`/items/notes/${id}`)

    const found = await page(shop, `notes/${id}/changes`)

    expect(states(found)).toEqual([
      ['delete', { id, ...whole, title: 'Desk lamp', text: 'new' }, null],
      ['update', { title: 'Lamp', text: null }, { title: 'Desk lamp', text: 'new' }],
      ['create', null, { id, ...whole }],
    ])
    const [deleted, updated, created] = found.data.map(({ actor }) => actor)
    expect([deleted, updated]).toEqual([editor.userId, editor.userId])
    expect(created).toMatch(/^[0-9a-f-]{36}$/)
    expect(created).not.toBe(editor.userId)
    expect(Math.abs(Date.parse(found.data[0]?.at ?? '') - before)).toBeLessThan(60_000)
    expect(found.meta).toEqual({ next: null })
  })

  it('comes in pages', async () => {
    const id = await made({ title: '0' })
    for (const title of ['1', '2', '3', '4']) await change(id, { title })

    const titles: unknown[] = []
    let after = ''
    for (let count = 0; count < 3; count += 1) {
      const { data, meta } = await page(shop, `notes/${id}/changes?limit=2${after}`)
      titles.push(data.map((one) => one.after?.title))
      after = `&after=${meta.next}`
      if (meta.next === null) break
    }

    expect(titles).toEqual([['4', '3'], ['2', '1'], ['0']])
  })

  it('comes in shorter pages where what is shown of its changes is large', async () => {
    const large = 'x'.repeat(600_000)
    const id = await made({ title: '0', text: large })
    for (const title of ['1', '2']) await change(id, { title, text: `${title}${large}` })
    for (const title of ['3', '4']) await change(id, { title })

    expect(await walk(shop, id, 100)).toEqual([['4', '3'], ['2'], ['1'], ['0']])
  })

  it('has a write under a key once, and all operations of a batch', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const once = async () => {
      const response = await shop.send('POST', '/items/notes', { body: [{ title: 'once' }], headers })
      return ((await response.json()) as { data: readonly { id: string }[] }).data[0]?.id ?? ''
    }
    const [id, again] = [await once(), await once()]
    const operations = ['two', 'three'].map((title) => {
      return { kind: 'update', collection: 'notes', key: id, data: { title } }
    })
    expect((await shop.post('/items', { operations })).status).toBe(200)

    const { data } = await page(shop, `notes/${id}/changes`)

    expect(again).toBe(id)
    expect(data.map(({ after }) => after?.title)).toEqual(['three', 'two', 'once'])
    expect(new Set(data.map(({ actor }) => actor)).size).toBe(1)
    expect(data[0]?.actor).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is found by a key of any text', async () => {
    await shop.insert('pairs', [{ id: 'a/b,"c" %', title: 'x' }])

    const { data } = await page(shop, `pairs/${encodeURIComponent('a/b,"c" %')}/changes`)

    expect(data.map(({ after }) => after)).toEqual([{ id: 'a/b,"c" %', title: 'x' }])
  })

  it('takes a former state back by a change, which is one more', async () => {
    const id = await made({ title: 'Good' })
    await change(id, { title: 'Bad' })
    const [last] = (await page(shop, `notes/${id}/changes`)).data

    await change(id, last?.before ?? {})

    expect(states(await page(shop, `notes/${id}/changes?limit=1`))).toEqual([
      ['update', { title: 'Bad' }, { title: 'Good' }],
    ])
  })

  it.each([
    ['an item that is not there', 'notes/0/changes', 404, 'No record found'],
    ['a collection without one', 'plain/1/changes', 404, 'plain has no history'],
    ['a key of another type', 'notes/x/changes', 422, 'key'],
    ['too many', 'notes/1/changes?limit=101', 422, 'must be at most 100'],
    ['none', 'notes/1/changes?limit=0', 422, 'must be at least 1'],
    ['another parameter', 'notes/1/changes?fields=title', 422, 'is not a parameter of this route'],
    ['no cursor', 'notes/1/changes?after=abc', 422, 'is not a cursor of this list'],
  ])('is refused: %s', async (_, path, status, reason) => {
    const response = await shop.get(`/items/${path}`)

    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(reason)])
  })

  it('takes no cursor of another item', async () => {
    const [one, other] = [await made({ title: '1' }), await made({ title: '2' })]
    await change(one, { title: '3' })
    const { meta } = await page(shop, `notes/${one}/changes?limit=1`)

    expect((await shop.get(`/items/notes/${other}/changes?after=${meta.next}`)).status).toBe(422)
  })
})

describe('of a history is shown', () => {
  const member = (read: object) => people.member(shop, { collections: { notes: { read } } })

  it('no field that is hidden, and no change of nothing else', async () => {
    const id = await made({ title: 'Secret sale', text: 'SECRET', owner: 'ada' })
    await change(id, { text: 'SECRET 2' })
    await change(id, { text: 'SECRET 3', owner: 'bob' })
    await shop.delete(`/items/notes/${id}`)
    const reader = await member({ fields: ['id', 'owner'] })

    const found = await page(reader, `notes/${id}/changes`)

    expect(states(found)).toEqual([
      ['delete', { id, owner: 'bob' }, null],
      ['update', { owner: 'ada' }, { owner: 'bob' }],
      ['create', null, { id, owner: 'ada' }],
    ])
    expect(JSON.stringify(found)).not.toMatch(/SECRET|Secret/)
    expect((await page(reader, `notes/${id}/changes?limit=1`)).data).toHaveLength(1)
  })

  it('nothing of a row that is hidden, is hidden now, or is gone', async () => {
    const reader = await member({ filter: { owner: { _eq: 'ada' } } })
    const [others, former, own, gone] = [
      await made({ title: 'SECRET', owner: 'bob' }),
      await made({ title: 'SECRET', owner: 'ada' }),
      await made({ title: 'Shown', owner: 'bob' }),
      await made({ title: 'SECRET', owner: 'ada' }),
    ]
    await change(former, { owner: 'bob' })
    await change(own, { owner: 'ada' })
    await shop.delete(`/items/notes/${gone}`)

    for (const id of [others, former, gone]) {
      expect((await reader.get(`/items/notes/${id}/changes`)).status).toBe(404)
    }
    expect((await page(reader, `notes/${own}/changes`)).data).toHaveLength(2)
  })

  it('nothing of another item that had the key before', async () => {
    const reader = await member({ filter: { owner: { _eq: 'ada' } } })
    const [id] = [await made({ title: 'SECRET', owner: 'bob' })]
    await shop.delete(`/items/notes/${id}`)
    await shop.insert('notes', [{ id, title: 'Mine', owner: 'ada' }])

    expect(states(await page(reader, `notes/${id}/changes`)).map(([action]) => action)).toEqual(['create'])
    expect((await page(shop, `notes/${id}/changes`)).data).toHaveLength(3)
  })

  it('a field that is visible on a condition where the item meets it now, and of another item never', async () => {
    const policies = [
      { filter: undefined, fields: ['id', 'owner'] },
      { filter: { owner: { _eq: 'ada' } }, fields: ['text'] },
    ].map((read) => people.roleWith(shop, { collections: { notes: { read } } }))
    const reader = await people.memberWith(shop, await Promise.all(policies))
    const id = await made({ title: '-', text: 'SECRET', owner: 'bob' })
    const hidden = await page(reader, `notes/${id}/changes`)
    await shop.delete(`/items/notes/${id}`)
    await shop.insert('notes', [{ id, title: '-', text: 'one', owner: 'ada' }])
    await change(id, { text: 'two' })

    const found = await page(reader, `notes/${id}/changes`)
    await change(id, { owner: 'bob' })
    const later = await page(reader, `notes/${id}/changes`)

    expect(states(hidden)).toEqual([['create', null, { id, owner: 'bob' }]])
    expect(states(found)).toEqual([
      ['update', { text: 'one' }, { text: 'two' }],
      ['create', null, { id, owner: 'ada', text: 'one' }],
      ['delete', { id, owner: 'bob' }, null],
      ['create', null, { id, owner: 'bob' }],
    ])
    expect(JSON.stringify(later)).not.toMatch(/one|two|SECRET/)
  })

  it('of hidden changes neither how many there are nor when, nor how large: pages are as if there were none', async () => {
    const policies = [
      { filter: undefined, fields: ['id', 'title'] },
      { filter: { owner: { _eq: 'ada' } }, fields: ['text'] },
    ].map((read) => people.roleWith(shop, { collections: { notes: { read } } }))
    const reader = await people.memberWith(shop, await Promise.all(policies))
    const hiddenText = 'SECRET'.repeat(200_000)
    const walks = await Promise.all(
      [0, 45].map(async (hidden) => {
        const id = await made({ title: '0', text: hidden > 0 ? hiddenText : null, owner: 'bob' })
        const hide = async () => {
          for (let count = 0; count < hidden; count += 1) await change(id, { text: `SECRET ${count}` })
        }
        const ids = [await lastId(reader, id)]
        for (const title of ['1', '2', '3']) {
          await change(id, hidden > 0 ? { title, text: `${title}${hiddenText}` } : { title })
          ids.push(await lastId(reader, id))
          await hide()
          expect(await lastId(reader, id)).toBe(ids.at(-1))
        }
        const [whole] = await walk(reader, id, 100)
        // A number that changes share would count those between.
        expect(atob(ids.at(-1) ?? '')).toMatch(/^\[1,"\w+","[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}"\]$/)
        return { ones: await walk(reader, id, 1), pairs: await walk(reader, id, 2), whole }
      }),
    )

    expect(walks[1]).toEqual(walks[0])
    expect(walks[0]).toEqual({
      ones: [['3'], ['2'], ['1'], ['0']],
      pairs: [
        ['3', '2'],
        ['1', '0'],
      ],
      whole: ['3', '2', '1', '0'],
    })
  })

  it('the next page exactly where a change is left for it', async () => {
    const policies = [
      { filter: undefined, fields: ['id'] },
      { filter: { owner: { _eq: 'ada' } }, fields: ['title'] },
    ].map((read) => people.roleWith(shop, { collections: { notes: { read } } }))
    const reader = await people.memberWith(shop, await Promise.all(policies))
    const id = await made({ title: '0', owner: 'bob' })
    for (const title of ['1', '2']) await change(id, { title })
    const hidden = await walk(reader, id, 1)
    await change(id, { owner: 'ada' })

    expect(hidden).toEqual([[undefined]])
    expect(await walk(reader, id, 1)).toEqual([['2'], ['1'], ['0']])
    expect(await walk(reader, id, 3)).toEqual([['2', '1', '0']])
  })

  it('nothing to whoever does not read the collection', async () => {
    const id = await made({ title: 'SECRET' })
    const reader = await people.member(shop, { collections: { plain: { read: 'all' } } })

    expect((await reader.get(`/items/notes/${id}/changes`)).status).toBe(403)
    expect((await shop.anonymous.get(`/items/notes/${id}/changes`)).status).toBe(403)
    expect((await reader.get(`/items/plain/1/changes`)).status).toBe(404)
  })
})

it('is no change by others, and stays where its source is introspected', async () => {
  const id = await made({ title: 'before' })
  const imported = await shop.post(`/schema/introspect/${shop.sourceId}`, undefined)
  await change(id, { title: 'after' })

  expect(await imported.json()).toEqual({ data: { operations: [], skipped: [] } })
  expect(await shop.data('/schema/drift')).toEqual({ sources: [] })
  expect((await page(shop, `notes/${id}/changes`)).data).toHaveLength(2)
})

it('has no past of a collection that records again, and none while it does not', async () => {
  const other = await world.workspace('again', { notes: { title: 'string' } })
  const set = (hasHistory: boolean) =>
    other.migrate({
      kind: 'updateCollection',
      data: { id: other.ids.get('notes'), operations: [{ kind: 'changeHasHistory', data: { hasHistory } }] },
    })
  await set(true)
  const [note] = await other.insert('notes', [{ title: 'one' }])
  const path = `notes/${note?.id}/changes`
  const first = await page(other, path)
  await set(false)
  const off = await other.get(`/items/${path}`)
  await other.patch(`/items/notes/${note?.id}`, { title: 'two' })
  await set(true)
  await other.patch(`/items/notes/${note?.id}`, { title: 'three' })

  expect(first.data).toHaveLength(1)
  expect(off.status).toBe(404)
  expect(states(await page(other, path))).toEqual([['update', { title: 'two' }, { title: 'three' }]])
})

it('follows new names, and forgets what a field of the same id held', async () => {
  const other = await world.workspace('renamed', { notes: { title: 'string', text: 'string?' } })
  const changed = (...operations: object[]) =>
    other.migrate({ kind: 'updateCollection', data: { id: other.ids.get('notes'), operations } })
  await changed({ kind: 'changeHasHistory', data: { hasHistory: true } })
  const [note] = await other.insert('notes', [{ title: 'one', text: 'SECRET' }])
  const id = other.ids.get('notes.title')
  const textId = other.ids.get('notes.text')
  const renamed = await changed(
    {
      kind: 'updatePrimitiveField',
      data: {
        id,
        operations: [
          { kind: 'changeDbName', data: { dbName: 'heading' } },
          { kind: 'changeApiName', data: { apiName: 'heading' } },
        ],
      },
    },
    { kind: 'changeApiName', data: { apiName: 'papers' } },
    { kind: 'changeDbName', data: { dbName: 'papers' } },
    { kind: 'deletePrimitiveField', data: { id: textId } },
  )
  const text = {
    id: textId,
    dbName: 'other',
    apiName: 'other',
    type: { name: 'string', params: { length: 'unlimited' } },
    isNullable: true,
    isList: false,
  }
  await changed({ kind: 'createPrimitiveField', data: text })
  await other.patch(`/items/papers/${note?.id}`, { heading: 'two', other: 'new' })

  expect(renamed.status).toBe(200)
  expect(states(await page(other, `papers/${note?.id}/changes`))).toEqual([
    ['update', { heading: 'one', other: null }, { heading: 'two', other: 'new' }],
    ['create', null, { id: note?.id, heading: 'one' }],
  ])
})
