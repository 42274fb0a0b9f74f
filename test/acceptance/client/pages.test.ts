/** Walks from page to page by cursors, through the client (packages/client). */
import { beforeAll, expect, it } from 'vitest'
import type { Client } from '../../../packages/client/src/index.ts'
import { openShop, type Schema } from './shop.ts'

let db: Client<Schema>

beforeAll(async () => {
  db = (await openShop('pages')).db
  await db.authors.create({ id: 101, name: 'Ada' }).orThrow()
  await db.articles
    .create(Array.from({ length: 7 }, (_, index) => ({ id: 101 + index, title: `T${index % 3}`, authorId: 101 })))
    .orThrow()
})

it('walks through all pages, and through the items of all of them', async () => {
  const query = { fields: ['id'], sort: [{ title: 'desc' }], limit: 3 } as const
  const pages: string[][] = []
  const ids: string[] = []

  for await (const { data } of db.articles.pages(query)) pages.push(data.map(({ id }) => id))
  for await (const { id } of db.articles.each(query)) ids.push(id)
  const all = await db.articles.list({ fields: ['id'], sort: [{ title: 'desc' }] }).orThrow()

  expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
  expect(pages.flat()).toEqual(all.map(({ id }) => id))
  expect(ids).toEqual(pages.flat())
})

it('goes on behind a page, and back, and ends a walk where it is left', async () => {
  const asked: string[] = []
  const noting: typeof fetch = (url, init) => {
    asked.push(String(url))
    return fetch(url, init)
  }
  const { next } = await (async () => {
    for await (const page of db.articles.pages({ limit: 2, fetch: noting })) return page
    return { next: null }
  })()
  const rest: string[] = []
  for await (const { id } of db.articles.each({ fields: ['id'], limit: 2, after: next ?? '' })) rest.push(id)
  const second = await db.articles.list({ fields: ['id'], limit: 2, after: next ?? '', meta: ['totalCount', 'cursor'] })
  const previous = second.ok ? (second.meta.previous ?? '') : ''
  const first = await db.articles.list({ fields: ['id'], limit: 2, before: previous }).orThrow()

  expect(asked).toHaveLength(1)
  expect(rest).toEqual(['103', '104', '105', '106', '107'])
  expect(second).toMatchObject({ ok: true, meta: { totalCount: 7, next: expect.any(String) } })
  expect(first).toEqual([{ id: '101' }, { id: '102' }])
})

it('ends a walk where a service does not say what is next', async () => {
  const lengths: number[] = []
  const silent: typeof fetch = async (url, init) => {
    if (lengths.length > 3) throw new TypeError('it begins again')
    const { data } = (await (await fetch(url, init)).json()) as { data: unknown[] }
    return Response.json({ data, meta: {} })
  }

  for await (const { data, next } of db.articles.pages({ limit: 2, fetch: silent })) {
    lengths.push(data.length)
    expect(next).toBeNull()
  }

  expect(lengths).toEqual([2])
})

it('tells where a nested list is cut', async () => {
  const read = (after?: string) =>
    db.authors
      .get('101', {
        fields: [{ articles: { fields: ['id'], limit: 5, meta: ['cursor'], ...(after !== undefined && { after }) } }],
      })
      .orThrow()

  const { articles } = await read()
  const { articles: rest } = await read(articles.meta.next ?? '')

  expect(articles.data).toHaveLength(5)
  expect(rest).toMatchObject({ data: [{ id: '106' }, { id: '107' }], meta: { next: null } })
})

it('works out what is related, beside a page of it or instead', async () => {
  const aggregate = { n: { count: '*' }, last: { max: 'title' } } as const
  const filter = { title: { _neq: 'T2' } }

  const [alone] = await db.authors.list({ fields: ['name', { articles: { aggregate, filter } }] }).orThrow()
  const beside = await db.authors
    .get('101', { fields: [{ articles: { fields: ['id'], limit: 1, aggregate } }] })
    .orThrow()

  expect(alone).toEqual({ name: 'Ada', articles: { aggregate: { n: 5, last: 'T1' } } })
  expect(beside).toEqual({ articles: { data: [{ id: '101' }], aggregate: { n: 7, last: 'T2' } } })
})

it('throws what fails on the way', async () => {
  const walk = async () => {
    for await (const _ of db.articles.each({ after: 'no cursor' })) throw new Error('has an item')
  }

  await expect(walk()).rejects.toMatchObject({ name: 'ServiceError', status: 422 })
})
