/** Writes under an Idempotency-Key happen once, and who sends them again gets the same answer (docs/contract.md#idempotency). */
import { beforeAll, describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'idempotent',
    {
      authors: { name: 'string' },
      articles: { title: 'string', state: 'string?', authorId: 'int64?' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
})

type Told = { readonly status: number; readonly replayed: string | null; readonly body: unknown }

const newKey = () => crypto.randomUUID()

/** Sends a write with a key, and tells what the answer says. */
async function send(
  on: Client,
  key: string,
  [method, path, body]: readonly [string, string, unknown?],
  tag?: string,
): Promise<Told> {
  const condition: Record<string, string> = tag === undefined ? {} : { 'If-Match': tag }
  const response = await on.send(method, path, { body, headers: { 'Idempotency-Key': key, ...condition } })
  const text = await response.text()
  return {
    status: response.status,
    replayed: response.headers.get('Idempotency-Replayed'),
    body: text === '' ? '' : JSON.parse(text),
  }
}

const titled = (title: string) => shop.data(`/items/articles?fields=title,state&filter[title][_eq]=${title}`)
const coded = (code: string) => expect.objectContaining({ code })

describe('a write that is sent again', () => {
  it('creates once, and answers the same', async () => {
    const key = newKey()
    const write = ['POST', '/items/articles', [{ title: key }, { title: key }]] as const

    const first = await send(shop, key, write)
    const again = await send(shop, key, write)

    expect(first).toMatchObject({ status: 200, replayed: null })
    expect(again).toEqual({ ...first, replayed: 'true' })
    expect(await titled(key)).toHaveLength(2)
  })

  it('is one write where it is sent by many at once', async () => {
    const key = newKey()
    const write = ['POST', '/items/articles', [{ title: key, author: { _create: { data: { name: key } } } }]] as const

    const answers = await Promise.all(Array.from({ length: 20 }, () => send(shop, key, write)))

    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
    expect(await titled(key)).toHaveLength(1)
    expect(await shop.data(`/items/authors?fields=name&filter[name][_eq]=${key}`)).toHaveLength(1)
  })

  it('answers what it has answered, whatever became of the item since', async () => {
    const key = newKey()
    const [made] = await shop.insert('articles', [{ title: key, state: 'new' }])
    const write = ['PATCH', `/items/articles/${made?.id}?fields=title,state`, { state: 'first' }] as const

    const first = await send(shop, key, write)
    await shop.patch(`/items/articles/${made?.id}`, { state: 'later' })
    const again = await send(shop, key, write)

    expect(first.body).toEqual({ data: { title: key, state: 'first' } })
    expect(again).toEqual({ ...first, replayed: 'true' })
    expect(await titled(key)).toEqual([{ title: key, state: 'later' }])
  })

  it('deletes once, with and without an answer', async () => {
    const [key, other] = [newKey(), newKey()]
    const [one, two] = await shop.insert('articles', [{ title: key }, { title: other }])

    const silent = ['DELETE', `/items/articles/${one?.id}`] as const
    const told = ['DELETE', `/items/articles?filter[id][_eq]=${two?.id}&fields=title`] as const
    const answers = [
      await send(shop, key, silent),
      await send(shop, key, silent),
      await send(shop, other, told),
      await send(shop, other, told),
    ]

    expect(answers).toEqual([
      { status: 204, replayed: null, body: '' },
      { status: 204, replayed: 'true', body: '' },
      { status: 200, replayed: null, body: { data: [{ title: other }] } },
      { status: 200, replayed: 'true', body: { data: [{ title: other }] } },
    ])
  })

  it('changes many once', async () => {
    const key = newKey()
    await shop.insert('articles', [{ title: key }, { title: key }])
    const path = `/items/articles?filter[title][_eq]=${key}&fields=title,state`

    const first = await send(shop, key, ['PATCH', path, { state: 'changed' }])
    const again = await send(shop, key, ['PATCH', path, { state: 'changed' }])

    expect(first.body).toEqual({ data: Array(2).fill({ title: key, state: 'changed' }) })
    expect(again).toEqual({ ...first, replayed: 'true' })
  })

  it('creates nothing once, too', async () => {
    const key = newKey()

    const answers = [
      await send(shop, key, ['POST', '/items/articles', []]),
      await send(shop, key, ['POST', '/items/articles', []]),
    ]

    expect(answers.map(({ body, replayed }) => [body, replayed])).toEqual([
      [{ data: [] }, null],
      [{ data: [] }, 'true'],
    ])
  })

  it('reads the items of a long answer again', async () => {
    const key = newKey()
    const write = [
      'POST',
      '/items/articles?fields=state,title',
      Array.from({ length: 40 }, (_, index) => ({ title: key, state: `${index} ${'x'.repeat(3_000)}` })),
    ] as const

    const first = await send(shop, key, write)
    const again = await send(shop, key, write)

    expect(again).toEqual({ ...first, replayed: 'true' })
    expect(await titled(key)).toHaveLength(40)
  })
})

describe('many long answers of one caller', () => {
  const long = 'x'.repeat(60_000)
  let person: Client
  let id: string

  beforeAll(async () => {
    const all = { read: 'all', create: 'all', update: 'all', delete: 'all' } as const
    person = await people.member(shop, { collections: { articles: all } })
    id = String((await shop.insert('articles', [{ title: '0', state: long }]))[0]?.id)
  })

  it('are kept up to a bound, above which their items are read again, and short ones always', async () => {
    const titled = (title: string, fields: string) =>
      ['PATCH', `/items/articles/${id}?fields=${fields}`, { title }] as const
    const keys = Array.from({ length: 80 }, newKey)
    for (const [index, key] of keys.entries()) await send(person, key, titled(String(index), 'title,state'))
    const short = newKey()
    await send(person, short, titled('short', 'title'))
    await person.patch(`/items/articles/${id}`, { title: 'now' })

    const again = []
    for (const [key, title] of [
      [keys[0], '0'],
      [keys[79], '79'],
    ] as const) {
      const { replayed, body } = await send(person, key ?? '', titled(title, 'title,state'))
      again.push([replayed, (body as { data: { title: string; state: string } }).data.title])
    }

    expect(again).toEqual([
      ['true', '0'],
      ['true', 'now'],
    ])
    expect((await send(person, short, titled('short', 'title'))).body).toEqual({ data: { title: 'short' } })
  })

  it('of what is gone are then not kept, which the second answer says', async () => {
    const [one, two] = await shop.insert('articles', [{ title: 'gone', state: long }, { title: 'gone' }])
    const [key, other] = [newKey(), newKey()]
    const gone = (item: typeof one) => ['DELETE', `/items/articles/${item?.id}?fields=state`] as const

    const first = await send(person, key, gone(one))
    const again = await send(person, key, gone(one))
    await send(person, other, gone(two))

    expect([first.status, again.status, again.body]).toEqual([200, 409, coded('4096')])
    expect(await send(person, other, gone(two))).toEqual({
      status: 200,
      replayed: 'true',
      body: { data: { state: null } },
    })
  })
})

describe('a key', () => {
  it('is bare or in quotes, and the same either way', async () => {
    const key = newKey()

    const first = await send(shop, key, ['POST', '/items/articles', [{ title: key }]])
    const again = await send(shop, `"${key}"`, ['POST', '/items/articles', [{ title: key }]])

    expect(again).toEqual({ ...first, replayed: 'true' })
  })

  it.each([
    ['nothing in quotes', '""'],
    ['two keys', '"one", "two"'],
    ['an open quote', '"one'],
    ['256 characters', 'x'.repeat(256)],
  ])('is refused as %s', async (_, key) => {
    const { status, body } = await send(shop, key, ['POST', '/items/articles', [{ title: 'never' }]])

    expect(status).toBe(422)
    expect(body).toMatchObject({ source: { message: 'Idempotency-Key' } })
    expect(await titled('never')).toEqual([])
  })

  it('has 255 characters at most', async () => {
    const key = newKey().padEnd(255, 'x')

    const { status } = await send(shop, key, ['POST', '/items/articles', [{ title: 'long' }]])

    expect(status).toBe(200)
  })

  it('belongs to one request', async () => {
    const key = newKey()
    const [made] = await shop.insert('articles', [{ title: key }])
    await send(shop, key, ['POST', '/items/articles', [{ title: key }]])

    const others = [
      await send(shop, key, ['POST', '/items/articles', [{ title: `${key}!` }]]),
      await send(shop, key, ['POST', '/items/articles?fields=id', [{ title: key }]]),
      await send(shop, key, ['POST', '/items/authors', [{ name: key }]]),
      await send(shop, key, ['DELETE', `/items/articles/${made?.id}`]),
    ]

    expect(others.map(({ status, body }) => [status, body])).toEqual(Array(4).fill([422, coded('4221')]))
    expect(await titled(key)).toHaveLength(2)
  })

  it('belongs to one caller in one workspace', async () => {
    const key = newKey()
    const rights = { articles: { read: 'all', create: 'all' } }
    const [one, two] = [
      await people.member(shop, { collections: rights }),
      await people.member(shop, { collections: rights }),
    ]
    const write = ['POST', '/items/articles', [{ title: key }]] as const

    const answers = [await send(one, key, write), await send(two, key, write), await send(one, key, write)]

    expect(answers.map(({ replayed }) => replayed)).toEqual([null, null, 'true'])
    expect(await titled(key)).toHaveLength(2)
  })

  it('is only taken of callers who sign in', async () => {
    const policy = await people.policy(shop, { collections: { articles: { create: 'all' } } })
    await shop.patch(`/roles/${await people.publicRole(shop)}`, { policies: [policy] })

    await expect
      .poll(async () => (await send(shop.anonymous, newKey(), ['POST', '/items/articles', [{ title: 'x' }]])).status)
      .toBe(422)
  })
})

describe('a first try that failed', () => {
  it('leaves nothing, so that the next one is done', async () => {
    const key = newKey()
    const write = ['PATCH', '/items/articles/987654321', { state: 'there' }] as const

    const missing = [await send(shop, key, write), await send(shop, key, write)]
    await shop.insert('articles', [{ id: 987654321, title: key }])
    const found = await send(shop, key, write)

    expect(missing.map(({ status }) => status)).toEqual([404, 404])
    expect(found).toMatchObject({ status: 200, replayed: null })
  })

  it('may be repeated as another request', async () => {
    const key = newKey()

    const refused = await send(shop, key, ['POST', '/items/articles', [{ title: key, authorId: 987654321 }]])
    const done = await send(shop, key, ['POST', '/items/articles', [{ title: key }]])

    expect([refused.status, done.status, done.replayed]).toEqual([422, 200, null])
  })
})

describe('a write of an item as it was read', () => {
  const tagged = async (title: string) => {
    const [made] = await shop.insert('articles', [{ title, state: 'new' }])
    const path = `/items/articles/${made?.id}`
    return { path, tag: `"${await tagOf(path)}"` }
  }
  const tagOf = async (path: string) => ((await shop.data(`${path}?fields=_etag`)) as { _etag: string })._etag

  it('is done once, and answered the same again, when the item is another by then', async () => {
    const [key, late, deletion] = [newKey(), newKey(), newKey()]
    const { path, tag } = await tagged(key)
    const change = ['PATCH', `${path}?fields=state,_etag`, { state: 'changed' }] as const

    const answers = await Promise.all(Array.from({ length: 20 }, () => send(shop, key, change, tag)))
    const again = await send(shop, key, change, tag)
    const refused = await send(shop, late, change, tag)
    const now = `"${await tagOf(path)}"`
    const deletions = [
      await send(shop, deletion, ['DELETE', path], now),
      await send(shop, deletion, ['DELETE', path], now),
    ]

    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
    expect(again).toEqual({
      status: 200,
      replayed: 'true',
      body: { data: { state: 'changed', _etag: now.slice(1, -1) } },
    })
    expect(refused).toEqual({ status: 412, replayed: null, body: coded('4120') })
    expect(deletions.map(({ status, replayed }) => [status, replayed])).toEqual([
      [204, null],
      [204, 'true'],
    ])
  })

  it('is another request with another tag, or none', async () => {
    const key = newKey()
    const { path, tag } = await tagged(key)
    const change = ['PATCH', path, { state: 'changed' }] as const
    await send(shop, key, change, tag)

    const others = [await send(shop, key, change, `"${await tagOf(path)}"`), await send(shop, key, change)]

    expect(others.map(({ status, body }) => [status, body])).toEqual(Array(2).fill([422, coded('4221')]))
  })

  it('leaves no key where the item was another', async () => {
    const key = newKey()
    const { path, tag } = await tagged(key)
    await shop.patch(path, { state: 'another' })
    const change = ['PATCH', `${path}?fields=state`, { state: 'changed' }] as const

    const refused = [await send(shop, key, change, tag), await send(shop, key, change, tag)]
    const done = await send(shop, key, change, `"${await tagOf(path)}"`)

    expect(refused.map(({ status }) => status)).toEqual([412, 412])
    expect(done).toEqual({ status: 200, replayed: null, body: { data: { state: 'changed' } } })
  })
})

describe('an answer that is shown again', () => {
  const mayWrite = { read: 'all', create: 'all', update: 'all' }

  it('is not shown to a caller whose rights on it are others by now', async () => {
    const key = newKey()
    const policy = await people.policy(shop, { collections: { articles: mayWrite } })
    const member = await people.memberWith(shop, [await people.role(shop, [policy])])
    const write = ['POST', '/items/articles?fields=title,state', [{ title: key, state: 'hidden' }]] as const

    const first = await send(member, key, write)
    const fewer = { ...mayWrite, read: { fields: ['title', 'state'], filter: { title: { _neq: key } } } }
    await shop.patch(`/policies/${policy}`, { content: { collections: { articles: fewer } } })
    await expect.poll(async () => (await send(member, key, write)).status).toBe(409)
    const again = await send(member, key, write)

    expect(first.body).toEqual({ data: [{ title: key, state: 'hidden' }] })
    expect(again).toMatchObject({ status: 409, replayed: null, body: coded('4092') })
    expect(await titled(key)).toHaveLength(1)
  })

  it('stays 403 without any right, and is shown where other rights changed', async () => {
    const key = newKey()
    const policy = await people.policy(shop, { collections: { articles: mayWrite } })
    const member = await people.memberWith(shop, [await people.role(shop, [policy])])
    const write = ['POST', '/items/articles', [{ title: key }]] as const

    await send(member, key, write)
    await shop.patch(`/policies/${policy}`, { content: { collections: { articles: mayWrite, authors: mayWrite } } })
    await expect.poll(async () => (await member.get('/items/authors')).status).toBe(200)
    const again = await send(member, key, write)
    await shop.patch(`/policies/${policy}`, { content: { collections: {} } })
    await expect.poll(async () => (await member.get('/items/authors')).status).toBe(403)
    const without = await send(member, key, write)

    expect([again.status, again.replayed, without.status]).toEqual([200, 'true', 403])
  })

  it('has of rows that decide who reads them what the caller may read now', async () => {
    const key = newKey()
    const own = { filter: { state: { _eq: 'open' } } }
    const member = await people.member(shop, { collections: { articles: { ...mayWrite, read: own } } })
    const write = ['POST', '/items/articles?fields=title,state', [{ title: key, state: 'open' }]] as const

    const first = await send(member, key, write)
    const same = await send(member, key, write)
    await shop.patch(`/items/articles?filter[title][_eq]=${key}`, { state: 'closed' })
    const hidden = await send(member, key, write)

    expect(first.body).toEqual({ data: [{ title: key, state: 'open' }] })
    expect(same).toEqual({ ...first, replayed: 'true' })
    expect(hidden).toEqual({ status: 200, replayed: 'true', body: { data: [{ title: null, state: null }] } })
  })
})
