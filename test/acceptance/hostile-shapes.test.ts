/** Requests of hostile shape are refused soon, and neither they nor their like touch anybody else. */
import { beforeAll, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let blog: Workspace

beforeAll(async () => {
  blog = await world.workspace(
    'blog',
    { authors: { name: 'string' }, posts: { title: 'string', authorId: 'int64?' } },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [{ name: 'Ada' }])
  await blog.insert('posts', [{ title: 'Notes', authorId: 1 }])
})

const times = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, index) => one(index))
const many = (count: number, one: (index: number) => string) => times(count, one).join('&')

const shapes: readonly (readonly [string, () => string])[] = [
  ['500 conditions of _or', () => many(500, (index) => `filter[_or][${index}][name][_eq]=a`)],
  ['1,000 levels of _not', () => `filter${'[_not]'.repeat(1_000)}[name][_eq]=a`],
  ['200 levels of relations', () => `filter${'[posts][_some][author]'.repeat(100)}[name][_eq]=a`],
  ['a relation selected 60 levels deep', () => `fields=${'posts.author.'.repeat(30)}name`],
  ['arguments 60 levels deep', () => `fields=name&deep${'[posts][author]'.repeat(30)}[_limit]=1`],
  ['a huge limit', () => 'limit=99999999999999999999'],
  ['a negative offset', () => 'offset=-1'],
  ['an offset beyond any number', () => 'offset=99999999999999999999'],
  ['a huge index', () => 'filter[name][_in][4294967295]=a'],
  ['1,001 values of _in', () => many(1_001, () => 'filter[name][_in][]=a')],
  ['300 sorts', () => many(300, (index) => `sort[${index}][name][direction]=asc`)],
  ['300 different fields', () => `fields=${times(300, (index) => `f${index}`).join()}`],
  ['a prototype', () => 'filter[__proto__][name][_eq]=a'],
  ['a constructor', () => 'filter[constructor][prototype][name]=a'],
]

/** Workerd takes addresses of at most 64 KiB or so; all of these are shorter. */
it.each(shapes)('refuses %s', async (_, search) => {
  const response = await blog.get(`/items/authors?${search()}`)

  expect([400, 422]).toContain(response.status)
  expect(await response.json()).toMatchObject({ message: expect.any(String) })
})

it('refuses 10,000 conditions of a policy, and filters nested 1,000 deep', async () => {
  const wide = { _or: times(10_000, String).map((name) => ({ name: { _eq: name } })) }
  const deep = JSON.parse(`${'{"_and":['.repeat(1_000)}{"name":{"_eq":"a"}}${']}'.repeat(1_000)}`) as object

  const statuses = await Promise.all(
    [wide, deep].map(async (filter, index) => {
      const content = { collections: { authors: { read: { filter } } } }
      return (await blog.post('/policies', { name: `hostile ${index}`, content })).status
    }),
  )

  expect(statuses.every((status) => status === 413 || status === 422)).toBe(true)
})

it('asks once for a field that is named often', async () => {
  const fields = times(150, () => 'name').join()

  expect(await blog.data(`/items/authors?fields=${fields},posts.title,posts.title`)).toEqual([
    { name: 'Ada', posts: { data: [{ title: 'Notes' }] } },
  ])
})

it('takes a text that looks like an expensive pattern for a text', async () => {
  const operand = '%25_'.repeat(2_000)

  expect(await blog.data(`/items/authors?filter[name][_contains]=${operand}`)).toEqual([])
})

it('answers the next request as ever after a burst of bad ones', async () => {
  const good = '/items/authors?fields=name,posts.title'
  const before = await (await blog.get(good)).text()
  const bad = Array.from({ length: 20 }, () => [
    ...shapes.map(([, search]) => blog.get(`/items/authors?${search()}`)),
    blog.post('/items/authors', [{ nobody: 1 }]),
    blog.send('POST', '/items/authors', { body: '[{"name"' }),
    blog.post('/schema/migrate', { operations: [{ kind: 'explode', data: {} }] }),
    blog.anonymous.get('/items/authors'),
    world.bearer('no.such.token').get(`/api/${blog.name}/items/authors`),
    world.administrator.get('/api/nowhere_at_all/items/authors'),
  ]).flat()

  const statuses = (await Promise.all(bad)).map(({ status }) => status)
  const after = await blog.get(good)

  expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([])
  expect([after.status, await after.text()]).toEqual([200, before])
})

it('lets nobody but the caller keep an answer to a credential', async () => {
  const paths = [
    ...['/items/authors', '/items/authors/1', '/items/authors/999', '/items/ServiceCollection', '/members', '/roles'],
    ...['/policies', '/invitations', '/audit-log', '/license', '/connectors/data', '/manifest', '/openapi'],
  ].map((path) => `/api/${blog.name}${path}`)
  const ofSystem = ['info', 'users', 'users/me', 'workspaces', 'api-keys', 'service-accounts', 'providers', 'audit-log']
  const all = [...paths, ...ofSystem.map((name) => `/api/system/${name}`), '/api/system/openapi']

  const kept = await Promise.all(
    all.map(async (path) => {
      const response = await world.administrator.get(path)
      await response.body?.cancel()
      const cache = response.headers.get('Cache-Control') ?? ''
      const isSafe = cache === 'no-store' || (cache.includes('private') && cache.includes('no-cache'))
      return isSafe ? undefined : `${path}: ${cache}`
    }),
  )

  expect(kept.filter((line) => line !== undefined)).toEqual([])
})

/** On Node they wait for each other (docs/contract.md#memory); a Worker cannot let one request wait for another. */
it('bounds what the parsed bodies of one caller take together: others wait, or are 503 at once on Workers', async () => {
  const { token } = await people.member(blog, { collections: { authors: { create: 'all', read: 'all' } } })
  const one = world.bearer(token)
  const objects = Array.from({ length: 400_000 }, () => ({}))

  const sent = Array.from({ length: 6 }, () => one.post(`/api/${blog.name}/items/authors`, objects))
  const light = await one.get(`/api/${blog.name}/items/authors?fields=name`)
  const answers = await Promise.all(sent)

  expect(light.status).toBe(200)
  const busy = answers.filter(({ status }) => status === 503)
  for (const answer of busy) {
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.json()).toMatchObject({ code: '5008' })
  }
  if (world.platform === 'node') expect(busy).toEqual([])
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(busy.length > 0 ? [422, 503] : [422]))
})
