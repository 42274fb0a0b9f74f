/** `filter`, `sort` and `deep` of a URL as one JSON text each: what brackets say, for clients that can only write JSON. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'json',
    {
      authors: { name: 'string', born: 'int32?' },
      articles: { title: 'string', price: 'decimal(10,2)?', authorId: 'int64', details: 'json?' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
  await shop.insert('authors', [
    { name: 'Ada', born: 1815 },
    { name: 'Bob', born: null },
  ])
  await shop.insert('articles', [
    { title: 'Notes', price: '9.50', authorId: '1', details: { pages: 12 } },
    { title: 'Letters & more', price: null, authorId: '1', details: null },
    { title: 'Maps', price: '20.00', authorId: '2', details: [1, 'two'] },
  ])
})

const text = (value: unknown) => encodeURIComponent(JSON.stringify(value))

describe('a JSON text as', () => {
  it.each([
    ['a filter', 'filter[price][_gt]=9.5', `filter=${text({ price: { _gt: '9.5' } })}`],
    ['a filter with numbers', 'filter[born][_eq]=1815', `filter=${text({ born: { _eq: 1815 } })}`],
    [
      'a filter of groups and relations',
      'filter[_or][0][author][name][_eq]=Bob&filter[_or][1][title][_contains]=%26 more',
      `filter=${text({ _or: [{ author: { name: { _eq: 'Bob' } } }, { title: { _contains: '& more' } }] })}`,
    ],
    ['a list of operands', 'filter[id][_in][0]=1&filter[id][_in][1]=3', `filter=${text({ id: { _in: [1, '3'] } })}`],
    ['a filter on null', 'filter[price][_null]=true', `filter=${text({ price: { _null: true } })}`],
    ['a filter on JSON', 'filter[details][_eq]={"pages":12}', `filter=${text({ details: { _eq: { pages: 12 } } })}`],
    [
      'a sort',
      'sort[0][price][direction]=desc&sort[0][price][nulls]=last&sort[1][title][direction]=asc',
      `sort=${text([{ price: { direction: 'desc', nulls: 'last' } }, { title: { direction: 'asc' } }])}`,
    ],
  ])('%s says what brackets say', async (_, brackets, json) => {
    const collection = brackets.includes('born') ? 'authors' : 'articles'
    const [one, other] = await Promise.all(
      [brackets, json].map((query) => shop.get(`/items/${collection}?meta=totalCount&${query}`)),
    )

    expect(one?.status).toBe(200)
    expect(await other?.text()).toBe(await one?.text())
  })

  it('arguments of relations says what brackets say', async () => {
    const fields = 'fields=name,articles.title'
    const brackets =
      'deep[articles][_filter][price][_null]=false&deep[articles][_sort][0][title][direction]=desc&deep[articles][_limit]=1'
    const json = {
      articles: { _filter: { price: { _null: false } }, _sort: [{ title: { direction: 'desc' } }], _limit: 1 },
    }

    const answer = await shop.get(`/items/authors?${fields}&deep=${text(json)}`)

    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(await (await shop.get(`/items/authors?${fields}&${brackets}`)).text())
  })

  it('a filter is read by directories and by writes of many as well', async () => {
    const roles = await shop.get(`/roles?fields=name&filter=${text({ name: { _eq: 'Public' } })}`)
    const collections = await shop.get(
      `/schema/structure/collections?fields=apiName&filter=${text({ apiName: { _eq: 'authors' } })}`,
    )
    const log = await shop.get(
      `/audit-log?fields=action&limit=1&filter=${text({ action: { _eq: 'schema.migrate.v1' } })}`,
    )
    const deleted = await shop.delete(`/items/articles?fields=title&filter=${text({ title: { _eq: 'nothing' } })}`)

    expect(await roles.json()).toEqual({ data: [{ name: 'Public' }] })
    expect(await collections.json()).toEqual({ data: [{ apiName: 'authors' }] })
    expect(await log.json()).toEqual({ data: [{ action: 'schema.migrate.v1' }] })
    expect(await deleted.json()).toEqual({ data: [] })
  })

  it.each([
    ['filter', '{"title":', 'is not JSON: line 1, column 10'],
    ['filter', '[]', /must be given in brackets/],
    ['filter', '{"title":{"_eq":"a\\u0000b"}}', /NUL|u0000|must/],
    ['filter', '{"title":{"_eq":"\\u0000?0"}}', /NUL|u0000|must/],
    ['filter', '{"__proto__":{"_eq":1}}', 'must not use the key __proto__'],
    ['filter', `${'{"_not":'.repeat(40)}{}${'}'.repeat(40)}`, 'is nested deeper than 32 levels'],
    ['filter', 'title', /must be given in brackets, such as filter\[title\]\[_eq\]=text, or as one JSON text/],
    ['sort', '{"title":{}}', /must be given as sort\[0\]\[field\]\[direction\]=asc, or as one JSON text/],
    ['deep', '[1]', 'must name relations and their arguments'],
  ])('%s is refused where it is %s', async (name, value, reason) => {
    const answer = await shop.get(`/items/articles?${name}=${encodeURIComponent(value)}`)

    expect(answer.status).toBe(422)
    const matching = typeof reason === 'string' ? reason : expect.stringMatching(reason)
    expect(await answer.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: expect.stringMatching(new RegExp(`^${name}`)), source: { message: matching } },
    })
  })

  it('a filter is not mixed with brackets', async () => {
    const answer = await shop.get(`/items/articles?filter=${text({})}&filter[title][_eq]=a`)

    expect(answer.status).toBe(422)
  })
})
