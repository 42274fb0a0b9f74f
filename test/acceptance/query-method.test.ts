/** QUERY (docs/contract.md#items): a list whose query is a JSON body, the same as by GET. */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { printRequest } from '../property/support/print.ts'
import { anyDraft, type Draft, requestOf, type Stock } from '../property/support/request.ts'
import { announce, seed } from '../property/support/seed.ts'
import { fieldOf, shopOf } from '../property/support/shop.ts'
import { casesOr } from '../support/run/cases.ts'
import { type Workspace, world } from '../support/service/world.ts'

const fields = {
  authors: { id: 'int64', name: 'string', born: 'int32?' },
  articles: { id: 'int64', title: 'string', price: 'decimal(10,2)?', details: 'json?', authorId: 'int64' },
}
const drawn = shopOf({
  collections: fields,
  links: [{ child: 'articles', name: 'author', columns: ['authorId'], parent: 'authors', opposite: 'articles' }],
})

let shop: Workspace

beforeAll(async () => {
  announce('QUERY')
  shop = await world.workspace('query', fields, ['articles.author(authorId) -> authors.articles'])
  await shop.insert('authors', [
    { id: '1', name: 'Ada', born: 1815 },
    { id: '2', name: 'Bob & Co', born: null },
  ])
  await shop.insert('articles', [
    { id: '1', title: 'Notes', price: '9.50', authorId: '1', details: { pages: 12 } },
    { id: '2', title: 'Letters', price: null, authorId: '1', details: null },
    { id: '3', title: 'Maps', price: '20.00', authorId: '2', details: [1, 'two'] },
  ])
})

const ask = (body: unknown, path = '/items/articles') => shop.send('QUERY', path, { body })

describe('QUERY', () => {
  it('answers byte for byte what GET and JSON texts answer', async () => {
    const property = fc.asyncProperty(anyDraft(stock, Object.keys(fields)), async (draft) => {
      const path = `/items/${draft.collection}`
      const asked = requestOf(draft.request, 0, 'sent')

      const texts = await (await ask(asked, path)).text()

      expect(await (await shop.get(`${path}?${inTexts(draft)}`)).text()).toBe(texts)
      // Only JSON has nulls and empty lists.
      const brackets = printRequest(requestOf(draft.request, 0, 'text'), draft)
      expect(draft.form === 'text' ? await (await shop.get(`${path}?${brackets}`)).text() : texts).toBe(texts)
    })

    await fc.assert(property, { seed, numRuns: casesOr(150) })
  })

  it('takes the members of list_items', async () => {
    const response = await ask({
      fields: ['title', 'author.name'],
      filter: { _or: [{ price: { _gt: 9 } }, { details: { _eq: { pages: 12 } } }] },
      sort: [{ price: { direction: 'desc' } }],
      limit: 1,
      offset: 0,
      deep: {},
      meta: ['totalCount'],
    })

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      data: [{ title: 'Maps', author: { name: 'Bob & Co' } }],
      meta: { totalCount: 2 },
    })
  })

  it('takes 10,000 values in a list, a URL a thousand', async () => {
    const _in = Array.from({ length: 10_000 }, (_, index) => index + 3)

    const found = await ask({ fields: 'id', filter: { id: { _in } }, meta: 'totalCount' })

    expect(await found.json()).toEqual({ data: [{ id: '3' }], meta: { totalCount: 1 } })
    expect(await innermost(await ask({ filter: { id: { _in: [..._in, 0] } } }))).toBe(
      'has a list of more than 10000 elements',
    )
    const text = encodeURIComponent(JSON.stringify({ id: { _in: _in.slice(0, 1_001) } }))
    expect(await innermost(await shop.get(`/items/articles?filter=${text}`))).toBe('has more than 1000 values')
  })

  it('is read with the token of the query string, and nothing else beside it', async () => {
    const token = world.administrator.token

    const asked = await shop.anonymous.send('QUERY', `/items/articles?access_token=${token}`, { body: { limit: 1 } })
    const beside = await ask({ limit: 1 }, '/items/articles?fields=title')

    expect(asked.status).toBe(200)
    expect(beside.status).toBe(422)
    expect(await innermost(beside)).toBe('must be empty: the body is the query')
  })

  it.each([
    ['no object', [], 'must be an object'],
    ['a number', 1.1, 'must be an object'],
    ['an unknown member', { field: 'id' }, 'is not a parameter of this route; did you mean fields?'],
    ['a name that every object has', { toString: {} }, /^is not a parameter of this route; allowed: /],
    ['a filter that is null', { filter: null }, 'must be an object'],
    ['a sort that is no list', { sort: { title: { direction: 'asc' } } }, 'must be a list'],
    ['fields that are null', { fields: null }, 'must not be null'],
    ['a limit that is none', { limit: 'many' }, 'must be an integer'],
    [
      'an unknown meta',
      { meta: ['count'] },
      'must be totalCount or totalEstimate or cursor, or several with commas between',
    ],
    ['an operator of other types', { filter: { id: { _contains: '1' } } }, /^is not an operator of int64; allowed: /],
    ['__proto__', '{"filter":{"__proto__":{"_eq":1}}}', 'unknown field __proto__'],
    ['no JSON', '{', 'is not JSON: line 1, column 2'],
    ['nothing', '', 'is empty'],
  ])('is refused with %s', async (_, body, reason) => {
    const response = await shop.send('QUERY', '/items/articles', {
      body,
      headers: { 'Content-Type': 'application/json' },
    })

    expect(response.status).toBe(422)
    expect(await innermost(response)).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason))
  })

  it('is refused with a body that is not JSON by its type', async () => {
    const response = await shop.send('QUERY', '/items/articles', {
      body: 'limit=1',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })

    expect(response.status).toBe(415)
    expect(response.headers.get('Accept-Query')).toBe('"application/json"')
  })

  it('is announced where it is, and 405 elsewhere', async () => {
    const list = await shop.get('/items/articles?limit=1')
    const refused = await shop.send('PUT', '/items/articles')
    const one = await shop.send('QUERY', '/items/articles/1', { body: {} })

    expect(list.headers.get('Accept-Query')).toBe('"application/json"')
    expect(refused.headers.get('Allow')).toBe('GET, HEAD, QUERY, POST, PATCH, DELETE')
    expect([one.status, one.headers.get('Accept-Query')]).toEqual([405, null])
  })

  it('asks for the right to read', async () => {
    const response = await shop.anonymous.send('QUERY', '/items/articles', { body: {} })

    expect(response.status).toBe(403)
  })
})

async function innermost(response: Response): Promise<string> {
  type Fault = { message: string; source?: Fault }
  let fault = (await response.json()) as Fault
  while (fault.source !== undefined) fault = fault.source
  return fault.message
}

function inTexts(draft: Draft): string {
  const { fields: names, ...rest } = requestOf(draft.request, 0, 'sent')
  const entries = Object.entries({ ...rest, ...(names !== undefined && { fields: names.join(',') }) })
  return entries
    .map(([name, value]) => `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : value)}`)
    .join('&')
}

const values: Readonly<Record<string, readonly unknown[]>> = {
  int64: ['1', '2', '9'],
  int32: [1815, -1],
  decimal: ['9.50', '20.00', '0.00'],
  string: ['Ada', 'Notes', ' & ', 'o', '', '%'],
  json: [{ pages: 12 }, [1, 'two'], 'two'],
}

const stock: Stock = {
  shop: drawn,
  unsorted: ['json'],
  operands(collection, field) {
    const whole = (values[fieldOf(drawn, collection, field)?.name ?? ''] ?? []).map((value) => ({
      value,
      sent: value,
      text: typeof value === 'string' ? value : JSON.stringify(value),
    }))
    return { whole, parts: whole, ascii: whole }
  },
}
