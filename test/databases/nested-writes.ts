/**
 * Items written together with their relations (docs/contract.md#nested-writes): what every SQL database has to make of
 * each operation on each kind of relation.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fullAccess, granted, type Viewer } from '../../src/core/access/access.ts'
import { buildModel, type DefaultValue, type IndexRecord, type Model } from '../../src/core/model/model.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { createTables, errorMessages, type Item, openItems, type WrittenItems } from '../support/data/items.ts'

export type Database = { readonly driver: SqlDriver; close(): Promise<void> }

/** `schema` names the one that statements have to name, since the connection has no own. */
export function describeNestedWrites(dialect: Dialect, start: () => Promise<Database>, schema?: string): void {
  const model = schema === undefined ? ownModel : inSchema(schema, ownModel)
  let database: Database
  let items: WrittenItems

  beforeAll(async () => {
    database = await start()
    await createTables(model, database.driver, dialect)
    items = openItems(model, database.driver, dialect)
  })

  afterAll(() => database?.close())

  beforeEach(async () => {
    await items.updateMany('topics', { parentId: null }, 'filter[parentId][_null]=false')
    for (const name of children) await items.deleteMany(name, `filter[${keyOf(name)}][_nin][0]=${nothing(name)}`)
  })

  const author = async (more: Item = {}) => {
    const [created] = await items.create('authors', [{ name: 'Ada', ...more }])
    return (created as { id: string }).id
  }
  const one = async (name: string, fields: string, key: unknown) => {
    const [found] = await items.list(name, `fields=${fields}&filter[${keyOf(name)}][_eq]=${key}`)
    return found
  }
  const titles = (id: string) => one('authors', 'articles.title,edited.title', id)
  const all = (name: string, fields: string) => items.list(name, `fields=${fields}`)

  describe('a new item', () => {
    it('makes what it refers to', async () => {
      const created = await items.create(
        'articles',
        [
          {
            title: 'One',
            author: { _create: { data: { name: 'Ada' } } },
            editor: { _create: { data: { name: 'Bo' } } },
          },
        ],
        'fields=title,author.name,editor.name',
      )

      expect(created).toEqual([{ title: 'One', author: { name: 'Ada' }, editor: { name: 'Bo' } }])
    })

    it('refers to what is there', async () => {
      const id = await author()

      const created = await items.create(
        'articles',
        [{ title: 'One', editor: { _connect: { key: { id } } }, author: { _connect: { key: { id: Number(id) } } } }],
        'fields=author.id,editor.name',
      )

      expect(created).toEqual([{ author: { id }, editor: { name: 'Ada' } }])
    })

    it('makes what refers to it, in the order sent', async () => {
      const created = await items.create(
        'authors',
        [
          {
            name: 'Ada',
            edited: [{ _create: { data: [{ title: 'b' }, { title: 'a' }] } }, { _create: { data: [{ title: 'c' }] } }],
            articles: [],
          },
        ],
        'fields=name,edited.title&deep[edited][_sort][0][position][direction]=asc',
      )

      expect(created).toEqual([{ name: 'Ada', edited: { data: [{ title: 'b' }, { title: 'a' }, { title: 'c' }] } }])
    })

    it('makes very many that refer to it, in the order sent, whichever members they have', async () => {
      const title = (index: number) => `t${String(index).padStart(4, '0')}`
      const data = Array.from({ length: 1_200 }, (_, index) =>
        index % 3 === 0 ? { title: title(index) } : { status: 'live', title: title(index) },
      )

      await items.create('authors', [{ name: 'Ada', edited: [{ _create: { data } }] }])

      const made = await items.list('articles', 'fields=title,status&sort[0][position][direction]=asc&limit=2000')
      expect(made).toEqual(
        data.map((_, index) => ({ title: title(index), status: index % 3 === 0 ? 'draft' : 'live' })),
      )
    })

    it('makes those of several parents, each where it belongs', async () => {
      const children = (...names: string[]) => [{ _create: { data: names.map((name) => ({ name })) } }]

      const created = await items.create(
        'topics',
        [
          { name: 'a', children: children('a1', 'a2') },
          { name: 'b', children: [...children('b1'), ...children('b2')] },
        ],
        'fields=name,children.name',
      )

      expect(created).toEqual([
        { name: 'a', children: { data: [{ name: 'a1' }, { name: 'a2' }] } },
        { name: 'b', children: { data: [{ name: 'b1' }, { name: 'b2' }] } },
      ])
    })

    it('takes over what refers to others', async () => {
      const other = await author({ name: 'Bo', edited: [{ _create: { data: [{ title: 'x' }, { title: 'y' }] } }] })
      const [x, y] = await all('articles', 'id')

      const [created] = await items.create(
        'authors',
        [{ name: 'Ada', edited: [{ _connect: { keys: [x, y] } }] }],
        'fields=edited.title',
      )

      expect(created).toEqual({ edited: { data: [{ title: 'x' }, { title: 'y' }] } })
      expect(await titles(other)).toEqual({ articles: { data: [] }, edited: { data: [] } })
    })

    it('makes or takes over the one that refers to it', async () => {
      const first = await author({ profile: { _create: { data: { text: 'p' } } } })
      const [profile] = await all('profiles', 'id')

      const [second] = await items.create(
        'authors',
        [{ name: 'Bo', profile: { _connect: { key: profile } }, account: { _create: { data: { balance: '1.50' } } } }],
        'fields=profile.text,account.balance',
      )

      expect(second).toEqual({ profile: { text: 'p' }, account: { balance: '1.50' } })
      expect(await one('authors', 'profile.text', first)).toEqual({ profile: null })
    })

    it('is made with others several levels deep, in both directions', async () => {
      const comments = [{ _create: { data: [{ text: 'c1' }, { text: 'c2 \' \\ " ü😀 ' }] } }]
      const data = [{ title: 'One', author: { _create: { data: { name: 'Bo' } } }, comments }]

      const created = await items.create(
        'authors',
        [{ name: 'Ada', edited: [{ _create: { data } }] }],
        'fields=name,edited.title,edited.author.name,edited.comments.text',
      )

      expect(created).toEqual([
        {
          name: 'Ada',
          edited: {
            data: [
              {
                title: 'One',
                author: { name: 'Bo' },
                comments: { data: [{ text: 'c1' }, { text: 'c2 \' \\ " ü😀 ' }] },
              },
            ],
          },
        },
      ])
    })

    it('comes back in the order sent, beside others', async () => {
      const edited = (title: string) => [{ _create: { data: [{ title }] } }]

      const created = await items.create(
        'authors',
        [{ name: 'z', edited: edited('1') }, { name: 'a' }, { name: 'm', edited: edited('3') }],
        'fields=name,edited.title',
      )

      expect(created).toEqual([
        { name: 'z', edited: { data: [{ title: '1' }] } },
        { name: 'a', edited: { data: [] } },
        { name: 'm', edited: { data: [{ title: '3' }] } },
      ])
    })

    it('stands in a tree', async () => {
      const created = await items.create(
        'topics',
        [
          {
            name: 'middle',
            parent: { _create: { data: { name: 'top' } } },
            children: [
              { _create: { data: [{ name: 'low', children: [{ _create: { data: [{ name: 'lowest' }] } }] }] } },
            ],
          },
        ],
        'fields=name,parent.name,children.name,children.children.name',
      )

      expect(created).toEqual([
        {
          name: 'middle',
          parent: { name: 'top' },
          children: { data: [{ name: 'low', children: { data: [{ name: 'lowest' }] } }] },
        },
      ])
    })

    it('is joined by several columns, texts among them', async () => {
      const place = { country: 'Ö', city: "O'Hara \\ " }
      await items.create('places', [place, { country: 'ö', city: 'x' }])

      const created = await items.create(
        'shops',
        [
          { name: 'old', place: { _connect: { key: place } } },
          { name: 'new', place: { _create: { data: { country: 'DE', city: '' } } } },
        ],
        'fields=name,country,city,place.city',
      )

      expect(created).toEqual([
        { name: 'old', ...place, place: { city: place.city } },
        { name: 'new', country: 'DE', city: '', place: { city: '' } },
      ])
    })

    it('gets the values that the service gives', async () => {
      const created = await items.create(
        'articles',
        [{ title: 'x', editor: { _create: { data: { name: 'Ada' } } } }],
        'fields=status,changedAt',
      )

      expect(created).toEqual([{ status: 'draft', changedAt: '2026-02-03T04:05:06.789Z' }])
    })

    it.each([
      ['an object that is not there', { key: { id: '999999' } }],
      ['another key that is not there', { key: { name: 'nobody' } }],
    ])('is refused where it refers to %s, and nothing stays', async (_name, target) => {
      const story = errorMessages(
        items.create('profiles', [{ text: 'fine' }, { text: 'x', owner: { _connect: target } }]),
      )

      expect(await story).toEqual(
        'id' in target.key
          ? ['Query failed', 'Foreign key constraint failed']
          : ['Failed to execute query', '[1].owner._connect.key', 'must name id'],
      )
      expect(await all('profiles', 'text')).toEqual([])
    })

    it('is refused as a whole where one that is nested in it is refused', async () => {
      const twice = { _create: { data: [{ code: 'same' }, { code: 'same' }] } }

      const story = await errorMessages(items.create('authors', [{ name: 'x', coupons: [twice] }]))

      expect(story).toEqual(['Query failed', 'Unique constraint failed'])
      expect(await all('authors', 'name')).toEqual([])
    })
  })

  describe('a change of an item that may refer to one', () => {
    let article: string
    let id: string

    beforeEach(async () => {
      id = await author()
      const [created] = await items.create('articles', [{ title: 'One', authorId: id, editorId: id }], 'fields=id')
      article = String(created?.id)
    })

    const change = (...author: unknown[]) => items.updateOne('articles', article, { author }, 'fields=author.name')

    it('lets it refer to another', async () => {
      const bo = await author({ name: 'Bo' })

      expect(await change({ _connect: { key: { id: bo } } })).toEqual([{ author: { name: 'Bo' } }])
    })

    it('lets it refer to a new one', async () => {
      expect(await change({ _create: { data: { name: 'New' } } })).toEqual([{ author: { name: 'New' } }])
    })

    it('changes what it refers to', async () => {
      expect(await change({ _update: { data: { name: 'Ada L.' } } })).toEqual([{ author: { name: 'Ada L.' } }])
      expect(await one('authors', 'name', id)).toEqual({ name: 'Ada L.' })
    })

    it('leaves alone what a filter does not match', async () => {
      const filter = { name: { _eq: 'Nobody' } }

      expect(await change({ _update: { data: { name: 'x' }, filter } })).toEqual([{ author: { name: 'Ada' } }])
      expect(await change({ _delete: { filter } })).toEqual([{ author: { name: 'Ada' } }])
    })

    it('lets go of it', async () => {
      expect(await change({ _disconnect: {} })).toEqual([{ author: null }])
      expect(await all('authors', 'name')).toEqual([{ name: 'Ada' }])
    })

    it('deletes what it refers to', async () => {
      const bo = await author({ name: 'Bo' })
      await change({ _connect: { key: { id: bo } } })

      expect(await change({ _delete: { filter: { name: { _eq: 'Bo' } } } })).toEqual([{ author: null }])
      expect(await all('authors', 'name')).toEqual([{ name: 'Ada' }])
    })

    it('does one after the other', async () => {
      const changed = await change(
        { _disconnect: {} },
        { _update: { data: { name: 'nobody is changed' } } },
        { _create: { data: { name: 'First' } } },
        { _create: { data: { name: 'Second' } } },
        { _update: { data: { name: 'Last' } } },
      )

      expect(changed).toEqual([{ author: { name: 'Last' } }])
      expect(await all('authors', 'name')).toEqual([{ name: 'Ada' }, { name: 'First' }, { name: 'Last' }])
    })

    it('is refused where the other is not there, and changes nothing', async () => {
      const operations = [{ _update: { data: { name: 'x' } } }, { _connect: { key: { id: '999999' } } }]

      const story = await errorMessages(items.updateOne('articles', article, { title: 'new', author: operations }))

      expect(story).toEqual(['Query failed', 'Foreign key constraint failed'])
      expect(await one('articles', 'title,author.name', article)).toEqual({ title: 'One', author: { name: 'Ada' } })
    })

    it('changes own columns and the key with it', async () => {
      const renamed = '019a0000-0000-7000-8000-00000000ffff'

      const changed = await items.updateOne(
        'articles',
        article,
        { id: renamed, title: 'Two', author: [{ _create: { data: { name: 'Bo' } } }] },
        'fields=id,title,author.name',
      )

      expect(changed).toEqual([{ id: renamed, title: 'Two', author: { name: 'Bo' } }])
      expect(await all('articles', 'title')).toEqual([{ title: 'Two' }])
    })
  })

  describe('a change of an item that has to refer to one', () => {
    it.each([
      ['another', (bo: string) => ({ _connect: { key: { id: bo } } }), 'Bo'],
      ['a new one', () => ({ _create: { data: { name: 'New' } } }), 'New'],
      ['the same, changed', () => ({ _update: { data: { name: 'Changed' } } }), 'Changed'],
    ])('lets it refer to %s', async (_name, operation, name) => {
      const id = await author({ edited: [{ _create: { data: [{ title: 'One' }] } }] })
      const bo = await author({ name: 'Bo' })
      const [article] = await all('articles', 'id')

      const changed = await items.updateOne('articles', article?.id, { editor: [operation(bo)] }, 'fields=editor.name')

      expect(changed).toEqual([{ editor: { name } }])
      expect(await one('authors', 'id', id)).toEqual({ id })
    })

    it.each(['_disconnect', '_delete'])('knows no %s', async (operation) => {
      await author({ edited: [{ _create: { data: [{ title: 'One' }] } }] })
      const [article] = await all('articles', 'id')

      const story = await errorMessages(items.updateOne('articles', article?.id, { editor: [{ [operation]: {} }] }))

      expect(story).toEqual([
        'Failed to execute query',
        `editor[0].${operation}`,
        'is not an operation of this relation here; allowed: _connect, _create, _update',
      ])
    })

    it('changes what its key refers to', async () => {
      const id = await author({ account: { _create: { data: { balance: '1.00' } } } })

      const changed = await items.updateOne(
        'accounts',
        id,
        { balance: '2.00', author: [{ _update: { data: { name: 'Rich' } } }] },
        'fields=balance,author.name',
      )

      expect(changed).toEqual([{ balance: '2.00', author: { name: 'Rich' } }])
    })
  })

  describe('a change of an item that one may refer to', () => {
    let id: string

    beforeEach(async () => {
      id = await author({ profile: { _create: { data: { text: 'old' } } } })
    })

    const change = (...profile: unknown[]) => items.updateOne('authors', id, { profile }, 'fields=profile.text')

    it('lets another refer to it instead', async () => {
      const [other] = await items.create('profiles', [{ text: 'other' }], 'fields=id')

      expect(await change({ _connect: { key: other } })).toEqual([{ profile: { text: 'other' } }])
      expect(await all('profiles', 'text,owner.id')).toEqual([
        { text: 'old', owner: null },
        { text: 'other', owner: { id } },
      ])
    })

    it('lets a new one refer to it once the old one is gone', async () => {
      const changed = await change({ _disconnect: {} }, { _create: { data: { text: 'new' } } })

      expect(changed).toEqual([{ profile: { text: 'new' } }])
    })

    it('changes it', async () => {
      expect(await change({ _update: { data: { text: 'new' } } })).toEqual([{ profile: { text: 'new' } }])
    })

    it('lets it go', async () => {
      expect(await change({ _disconnect: {} })).toEqual([{ profile: null }])
      expect(await all('profiles', 'text')).toEqual([{ text: 'old' }])
    })

    it('deletes it', async () => {
      expect(await change({ _delete: { filter: { text: { _eq: 'x' } } } })).toEqual([{ profile: { text: 'old' } }])
      expect(await change({ _delete: {} })).toEqual([{ profile: null }])
      expect(await all('profiles', 'text')).toEqual([])
    })

    it('changes and deletes the one whose key refers to it', async () => {
      await items.create('accounts', [{ authorId: id, balance: '1.00' }])
      const account = (operation: unknown) =>
        items.updateOne('authors', id, { account: [operation] }, 'fields=account.balance')

      expect(await account({ _update: { data: { balance: '2.00' } } })).toEqual([{ account: { balance: '2.00' } }])
      expect(await account({ _delete: {} })).toEqual([{ account: null }])
    })
  })

  describe('a change of an item that many may refer to', () => {
    let id: string

    beforeEach(async () => {
      id = await author()
      const articles = ['a', 'b', 'c'].map((title) => ({ title, authorId: id, editorId: id }))
      await items.create('articles', articles)
    })

    const change = (...articles: unknown[]) =>
      items.updateOne('authors', id, { articles }, 'fields=articles.title,articles.status')
    const listed = (...titles: string[]) => [
      { articles: { data: titles.map((title) => ({ title, status: 'draft' })) } },
    ]
    const filter = { title: { _in: ['a', 'b'] } }

    it('lets go of those that a filter matches, or of all', async () => {
      expect(await change({ _disconnect: { filter } })).toEqual(listed('c'))
      expect(await change({ _disconnect: {} })).toEqual(listed())
      expect(await all('articles', 'title')).toHaveLength(3)
    })

    it('deletes those that a filter matches, or all', async () => {
      expect(await change({ _delete: { filter } })).toEqual(listed('c'))
      expect(await change({ _delete: {} })).toEqual(listed())
      expect(await all('articles', 'title')).toEqual([])
    })

    it('changes those that a filter matches, or all', async () => {
      await items.create('articles', [{ title: 'a', editorId: id }])

      await change({ _update: { data: { status: 'live' }, filter } })

      expect(await all('articles', 'title,status')).toEqual([
        { title: 'a', status: 'live' },
        { title: 'b', status: 'live' },
        { title: 'c', status: 'draft' },
        { title: 'a', status: 'draft' },
      ])
      expect(await change({ _update: { data: { title: 'x', status: 'draft' } } })).toEqual(listed('x', 'x', 'x'))
    })

    it('finds them through relations, their own collection among those', async () => {
      const through = { author: { articles: { _some: { title: { _eq: 'c' } } } }, title: { _neq: 'c' } }

      expect(await change({ _delete: { filter: through } })).toEqual(listed('c'))
    })

    it('makes and takes over others', async () => {
      const bo = await author({ name: 'Bo', edited: [{ _create: { data: [{ title: 'e' }] } }] })
      const [article] = await items.list('articles', `fields=id&filter[title][_eq]=e`)

      const changed = await change(
        { _disconnect: { filter } },
        { _create: { data: [{ title: 'd', editor: { _connect: { key: { id: bo } } } }] } },
        { _connect: { keys: [article] } },
      )

      expect(changed).toEqual(listed('c', 'e', 'd'))
    })

    it('takes over many, each of which has to be there', async () => {
      const data = Array.from({ length: 30 }, (_, index) => ({ title: `many ${index}` }))
      await author({ edited: [{ _create: { data } }] })
      const keys = await items.list('articles', 'fields=id&filter[title][_starts_with]=many')
      const bo = await author({ name: 'Bo' })
      const take = (...more: readonly unknown[]) =>
        items.updateOne('authors', bo, { edited: [{ _connect: { keys: [...keys, ...keys, ...more] } }] })
      const missing = { id: '019a0000-0000-7000-8000-ffffffffffff' }

      expect(await errorMessages(take(missing))).toEqual(['Query failed', 'Foreign key constraint failed'])
      expect(await items.list('articles', `fields=id&filter[editorId][_eq]=${bo}`)).toEqual([])
      await take()
      expect(await items.list('articles', `fields=id&filter[editorId][_eq]=${bo}`)).toHaveLength(30)
    })

    it('does the same where they have to refer to one', async () => {
      const bo = await author({ name: 'Bo' })
      const [first] = await all('articles', 'id')
      const edited = [
        { _connect: { keys: [first] } },
        { _create: { data: [{ title: 'd' }] } },
        { _update: { data: { status: 'live' } } },
        { _delete: { filter: { title: { _eq: 'a' } } } },
      ]

      const changed = await items.updateOne('authors', bo, { edited }, 'fields=edited.title,edited.status')

      expect(changed).toEqual([{ edited: { data: [{ title: 'd', status: 'live' }] } }])
      expect(await errorMessages(items.updateOne('authors', bo, { edited: [{ _disconnect: {} }] }))).toEqual([
        'Failed to execute query',
        'edited[0]._disconnect',
        'is not an operation of this relation here; allowed: _connect, _create, _update, _delete',
      ])
    })

    it('is refused as a whole where one cannot be found', async () => {
      const keys = [{ id: '019a0000-0000-7000-8000-ffffffffffff' }]

      const story = await errorMessages(change({ _delete: {} }, { _connect: { keys } }))

      expect(story).toEqual(['Query failed', 'Foreign key constraint failed'])
      expect(await titles(id)).toMatchObject({
        articles: { data: [{ title: 'a' }, { title: 'b' }, { title: 'c' }] },
      })
    })

    it('is refused where the item itself is not there, and makes nothing', async () => {
      const change = { name: 'x', articles: [{ _create: { data: [{ title: 'x', editorId: id }] } }] }

      expect(await errorMessages(items.updateOne('authors', '999999', change))).toEqual([
        'Query failed',
        'No record found',
      ])
      expect(await all('articles', 'title')).toHaveLength(3)
    })
  })

  describe('somebody who may change drafts of live authors only', () => {
    const rows = build.read(model, 'articles', 'filter[status][_eq]=draft&filter[author][name][_neq]=Dead').where
    const validation = build.read(model, 'articles', 'filter[title][_neq]=forbidden').where
    const limited = granted([{ rows, fields: 'every', validation }])
    const accessTo: Viewer['accessTo'] = ({ apiName }, action) =>
      apiName === 'articles' && action !== 'read' ? limited : fullAccess
    let theirs: WrittenItems
    let ada: string
    let dead: string

    beforeEach(async () => {
      theirs = openItems(model, database.driver, dialect, { accessTo, seesModel: true })
      ada = await author()
      dead = await author({ name: 'Dead' })
      const articles = ['c', 'b', 'a'].map((title) => ({ title, authorId: ada, editorId: ada }))
      await items.create('articles', [...articles, { title: 'd', authorId: dead, editorId: ada }])
    })

    const titlesBy = (direction: string) => `fields=title,author.name&sort[0][title][direction]=${direction}`

    it('changes, deletes and makes those', async () => {
      const bo = await author({ name: 'Bo' })
      const some = 'fields=title,author.name&filter[title][_in][0]=a&filter[title][_in][1]=c'

      expect(await theirs.updateMany('articles', { authorId: bo }, some)).toEqual([
        { title: 'c', author: { name: 'Bo' } },
        { title: 'a', author: { name: 'Bo' } },
      ])
      expect(await theirs.deleteMany('articles', some)).toHaveLength(2)
      await theirs.create('articles', [{ title: 'e', authorId: bo, editorId: bo }])
      expect((await items.list('articles', titlesBy('asc'))).map(({ title }) => title)).toEqual(['b', 'd', 'e'])
    })

    it.each<[string, (items: WrittenItems) => Promise<unknown>]>([
      ['change', (items) => items.updateMany('articles', { status: 'live' }, 'filter[status][_eq]=draft')],
      ['delete', (items) => items.deleteMany('articles', 'filter[id][_neq]=00000000-0000-0000-0000-000000000000')],
      ['change into', (items) => items.updateMany('articles', { authorId: dead }, 'filter[title][_eq]=a')],
      ['make', (items) => items.create('articles', [{ title: 'e', authorId: dead, editorId: ada }])],
      ['change through a relation', (items) => items.updateOne('authors', dead, { articles: [{ _disconnect: {} }] })],
    ])('is refused to %s others, and nothing is changed', async (name, work) => {
      const before = await items.list('articles', titlesBy('desc'))

      expect(await errorMessages(work(theirs))).toEqual([
        'You are not allowed to do this',
        ...(name === 'change into' ? ['the item would leave what you may update'] : []),
      ])
      expect(await items.list('articles', titlesBy('desc'))).toEqual(before)
    })

    it('is refused the one among many that must not be', async () => {
      const data = (bad: string) =>
        Array.from({ length: 40 }, (_, index) => ({ title: index === 20 ? bad : 'fine', authorId: ada }))
      const made = (bad: string) =>
        theirs.create('authors', [{ name: 'x', edited: [{ _create: { data: data(bad) } }] }])

      expect(await errorMessages(made('forbidden'))).toEqual(['Validation failed'])
      expect(await items.list('authors', 'fields=name')).toEqual([{ name: 'Ada' }, { name: 'Dead' }])
      await made('good')
      expect(await items.list('articles', 'fields=id')).toHaveLength(4 + 40)
    })

    it('is refused what must not be, wherever it is nested', async () => {
      const edited = [{ _create: { data: [{ title: 'forbidden', authorId: ada }] } }]

      expect(await errorMessages(theirs.updateOne('authors', ada, { name: 'x', edited }))).toEqual([
        'Validation failed',
      ])
      expect(await items.list('authors', 'fields=name')).toEqual([{ name: 'Ada' }, { name: 'Dead' }])
    })
  })
}

const text = 'string(80)'

const ownModel = withMore(
  build.model(
    {
      authors: { id: 'int64', name: text },
      articles: {
        id: 'uuid',
        position: 'int32',
        title: text,
        status: text,
        changedAt: 'dateTimeWithTimezone?',
        authorId: 'int64?',
        editorId: 'int64',
      },
      comments: { id: 'int32', text: 'string', articleId: 'uuid' },
      profiles: { id: 'int32', text, ownerId: 'int64?' },
      accounts: { authorId: 'int64', balance: 'decimal(10,2)' },
      coupons: { code: 'string(20)', authorId: 'int64?' },
      topics: { id: 'int32', name: text, parentId: 'int32?' },
      places: { country: 'string(2)', city: 'string(40)' },
      shops: { id: 'int32', name: text, country: 'string(2)?', city: 'string(40)?' },
    },
    [
      'articles.author(authorId) -> authors.articles',
      'articles.editor(editorId) -> authors.edited',
      'comments.article(articleId) -> articles.comments',
      'profiles.owner(ownerId) -> authors.profile?',
      'accounts.author(authorId) -> authors.account?',
      'coupons.author(authorId) -> authors.coupons',
      'topics.parent(parentId) -> topics.children',
      'shops.place(country, city) -> places.shops',
    ],
  ),
  {
    'authors.id': 'counted',
    'articles.id': { kind: 'uuid' },
    'articles.position': 'counted',
    'articles.status': { kind: 'static', valueEncoded: 'draft' },
    'articles.changedAt': { kind: 'now' },
    'comments.id': 'counted',
    'profiles.id': 'counted',
    'topics.id': 'counted',
    'shops.id': 'counted',
  },
)

/** Those that refer to others first. */
const children = ['coupons', 'accounts', 'profiles', 'comments', 'articles', 'authors', 'topics', 'shops', 'places']

function keyOf(name: string): string {
  return ownModel.byName.get(name)?.primaryKey[0]?.apiName ?? ''
}

/** A key that no item has. */
function nothing(name: string): string {
  const type = ownModel.byName.get(name)?.primaryKey[0]?.type.name
  return type === 'uuid' ? '00000000-0000-0000-0000-000000000000' : type === 'string' ? '-' : '0'
}

function inSchema(dbName: string, { records }: Model): Model {
  return buildModel(1, {
    ...records,
    namespaces: [{ id: 'schema', sourceId: 'main', dbName, isSystem: false }],
    collections: records.collections.map((collection) => ({ ...collection, namespaceId: 'schema' })),
  })
}

type Default = 'counted' | Extract<DefaultValue, { readonly source: 'engineManaged' }>['onCreate']

function withMore({ records }: Model, defaults: Readonly<Record<string, Default>>): Model {
  const index = (collectionId: string, kind: IndexRecord['kind'], ...names: string[]): IndexRecord => {
    const id = [collectionId, ...names].join('_')
    return { id, collectionId, dbName: id, kind, fieldIds: names.map((name) => `${collectionId}.${name}`) }
  }
  return buildModel(1, {
    ...records,
    primitiveFields: records.primitiveFields.map((field) => ({
      ...field,
      defaultValue: defaultOf(defaults[field.id]),
    })),
    indexes: [
      ...records.indexes.filter(({ collectionId }) => collectionId !== 'places'),
      index('places', 'primary', 'country', 'city'),
      index('profiles', 'unique', 'ownerId'),
    ],
  })
}

function defaultOf(value: Default): DefaultValue | null {
  if (value === undefined) return null
  return value === 'counted'
    ? { source: 'connectorManaged', isAutoincrement: true }
    : { source: 'engineManaged', onCreate: value }
}
