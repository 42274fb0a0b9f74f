/** What compiles, each with the exact type that a person would write. */
import {
  type Call,
  type Create,
  type compareDecimals,
  createClient,
  type Data,
  type Filter,
  type Key,
  type Row,
  type Sort,
  type toBigInt,
  type Update,
  type User,
} from '../../packages/client/src/index.ts'
import type { Fields } from '../../packages/client/src/queries.ts'
import type { Schema } from './schema.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const exact = <_A, _B>(_: Equal<_A, _B>) => {}
const db = createClient<Schema>('http://127.0.0.1:8787', { workspace: 'demo' })

type Article = {
  id: string
  title: string
  status: 'draft' | 'published'
  words: string[] | null
  rating: number | null
  details: unknown
  price: string | null
  isOpen: boolean
  authorId: string | null
}
type Author = { id: string; name: string; born: string | null }

// Rows by name
exact<Row<Schema, 'articles'>, Article>(true)
exact<Row<Schema, 'articles', readonly ['id']>, { id: string }>(true)
exact<Row<Schema, 'articles', ['id']>, { id: string }>(true)
exact<Row<Schema, 'articles', { fields: ['id'] }>, { id: string }>(true)
exact<Row<Schema, 'articles', { limit: 3 }>, Article>(true)
exact<Row<Schema, 'articles', readonly ['*']>, Article>(true)
exact<Row<Schema, 'articles', readonly ['*', 'id']>, Article>(true)
exact<Row<Schema, 'articles', readonly ['id', 'id']>, { id: string }>(true)
exact<Row<Schema, 'articles', readonly ['id', '_etag']>, { id: string; _etag: string }>(true)
exact<Row<Schema, 'articles', readonly ['status']>, { status: 'draft' | 'published' }>(true)
exact<Row<Schema, 'articles', readonly ['words']>, { words: string[] | null }>(true)
exact<Row<Schema, 'articles', readonly ['details']>, { details: unknown }>(true)
exact<Row<Schema, 'articles', readonly [{ author: ['name'] }]>, { author: { name: string } | null }>(true)
exact<Row<Schema, 'comments', readonly [{ article: ['title'] }]>, { article: { title: string } }>(true)
exact<Row<Schema, 'authors', readonly [{ profile: ['isPublic'] }]>, { profile: { isPublic: boolean } | null }>(true)
exact<Row<Schema, 'articles', readonly [{ tags: ['name'] }]>, { tags: { data: { name: string }[] } }>(true)
exact<Row<Schema, 'articles', readonly [{ tags: { limit: 3 } }]>, { tags: { data: { id: number; name: string }[] } }>(
  true,
)
exact<
  Row<Schema, 'articles', readonly ['id', { tags: { aggregate: { n: { count: '*' }; last: { max: 'name' } } } }]>,
  { id: string; tags: { aggregate: { n: number; last: string | null } } }
>(true)
exact<
  Row<Schema, 'articles', readonly [{ tags: { fields: ['id']; aggregate: { n: { count: '*' } }; meta: ['cursor'] } }]>,
  {
    tags: {
      data: { id: number }[]
      meta: { next: string | null; previous: string | null }
      aggregate: { n: number }
    }
  }
>(true)
exact<
  Row<Schema, 'articles', readonly [{ tags: ['id'] }, { tags: { aggregate: { ids: { sum: 'id' } } } }]>,
  { tags: { data: { id: number }[]; aggregate: { ids: string | null } } }
>(true)
exact<Row<Schema, 'articles', readonly [{ author: ['*'] }]>, { author: Author | null }>(true)
exact<
  Row<Schema, 'articles', readonly [{ author: ['id'] }, { author: ['name'] }]>,
  { author: { id: string; name: string } | null }
>(true)
exact<
  Row<Schema, 'articles', readonly [{ author: ['id']; tags: ['id'] }]>,
  { author: { id: string } | null; tags: { data: { id: number }[] } }
>(true)
exact<
  Row<Schema, 'comments', readonly [{ article: [{ author: [{ articles: { fields: ['id'] } }] }] }]>,
  { article: { author: { articles: { data: { id: string }[] } } | null } }
>(true)
exact<Row<Schema, 'articles', readonly ['id'] | readonly ['title']>, { id: string } | { title: string }>(true)
exact<Row<Schema, 'sales'>, { month: string; total: string }>(true)
exact<Row<Schema, 'tags', readonly string[]>['name'], string | undefined>(true)
exact<Row<Schema, 'articles', { fields: Fields<Schema, 'articles'> }>['id'], string | undefined>(true)
exact<
  Row<Schema, 'articles', { fields: readonly [{ author: { fields: readonly ['id'] } }] }>,
  { author: { id: string } | null }
>(true)
exact<Row<Schema, 'lines', readonly ['order', 'total']>, { order: string; total: string }>(true)
exact<Row<Schema, 'shipments', readonly [{ position: ['total'] }]>, { position: { total: string } }>(true)
exact<
  Row<Schema, 'tags', readonly [{ articles: { fields: [{ tags: ['id'] }] } }]>,
  { articles: { data: { tags: { data: { id: number }[] } }[] } }
>(true)
exact<Row<Schema, 'articles', readonly [{ comments: ['_etag'] }]>, { comments: { data: { _etag: string }[] } }>(true)
exact<
  Row<Schema, 'articles', readonly [{ author: readonly string[] }]>['author'],
  Row<Schema, 'authors', readonly string[]> | null
>(true)
exact<
  Row<Schema, 'profiles', readonly ['isPublic', { author: ['name'] }]>,
  { isPublic: boolean; author: { name: string } }
>(true)
exact<Row<Schema, 'then'>, { id: number }>(true)

// What calls answer
const author = db.authors.get('1')
exact<Data<typeof author>, Author>(true)
const list = db.articles.list()
exact<Data<typeof list>, Article[]>(true)
const nested = db.articles.list({ fields: ['id', { author: ['name'] }], filter: { title: { _contains: 'e' } } })
exact<typeof nested, Call<{ id: string; author: { name: string } | null }[], object>>(true)
const counted = db.tags.list({ fields: ['id'], meta: ['totalCount'] })
exact<typeof counted, Call<{ id: number }[], { meta: { totalCount: number } }>>(true)
const paged = db.articles.list({
  fields: [{ comments: { fields: ['text'], filter: { text: 'x' }, sort: [{ text: 'asc' }], limit: 2, offset: 1 } }],
})
exact<Data<typeof paged>, { comments: { data: { text: string }[] } }[]>(true)
const computed = db.articles.list({
  fields: ['id', { comments: { filter: { text: 'x' }, aggregate: { n: { count: '*' }, first: { min: 'text' } } } }],
})
exact<Data<typeof computed>, { id: string; comments: { aggregate: { n: number; first: string | null } } }[]>(true)
const filtered = db.articles.list({ fields: [{ author: { fields: ['name'], filter: { born: null } } }] })
exact<Data<typeof filtered>, { author: { name: string } | null }[]>(true)
const one = db.articles.get('7', { fields: ['title', '_etag'], ifNoneMatch: 'x', timeout: 100 })
exact<typeof one, Call<{ title: string; _etag: string }>>(true)
const line = db.lines.get(['1', 2], { fields: ['total'] })
exact<Data<typeof line>, { total: string }>(true)
const made = db.authors.create({ name: 'Ada' })
exact<Data<typeof made>, Author>(true)
const several = db.authors.create([{ name: 'Ada' }], { fields: ['id'], idempotencyKey: true })
exact<Data<typeof several>, { id: string }[]>(true)
const changed = db.articles.update('7', { title: 'New' }, { fields: ['id'], ifMatch: 'x' })
exact<Data<typeof changed>, { id: string }>(true)
const many = db.articles.update({ filter: { isOpen: true }, max: 5 }, { isOpen: false }, { fields: ['id'] })
exact<Data<typeof many>, { id: string }[]>(true)
const gone = db.tags.delete(7)
exact<Data<typeof gone>, void>(true)
const shown = db.tags.delete(7, { fields: ['name'] })
exact<Data<typeof shown>, { name: string }>(true)
const cleared = db.tags.delete({ filter: { name: 'x' }, max: 3 })
exact<Data<typeof cleared>, void>(true)
const clearedShown = db.tags.delete({ filter: { name: 'x' } }, { fields: ['id'] })
exact<Data<typeof clearedShown>, { id: number }[]>(true)
const names = db.articles.list({ fields: ['id', 'title'] as ('id' | 'title')[] })
exact<Data<typeof names>[number]['title'], string | undefined>(true)
const any = db.articles.list({ fields: ['id'] as Fields<Schema, 'articles'> })
exact<Data<typeof any>[number]['title'], string | undefined>(true)
const none = db.articles.list({ fields: [] })
exact<Data<typeof none>, Record<never, never>[]>(true)
const fields = ['id', { author: ['name'] }] as const
const constant = db.articles.list({ fields })
exact<Data<typeof constant>, { id: string; author: { name: string } | null }[]>(true)
const spread = db.articles.list({ fields: [...fields, 'title'] })
exact<Data<typeof spread>, { id: string; title: string; author: { name: string } | null }[]>(true)
const named = db.then.get(1)
exact<Data<typeof named>, { id: number }>(true)
const thrown = db.authors.get('1').orThrow()
exact<typeof thrown, Promise<Author>>(true)
const result = await made
exact<(typeof result)['ok'], boolean>(true)
if (result.ok) exact<typeof result.data, Author>(true)
if (!result.ok) exact<typeof result.error.code, string | undefined>(true)
const me = db.$auth.me()
exact<Data<typeof me>, User>(true)
const raw = db.$request<{ data: 1 }>('GET', 'x', { query: { a: 1 } })
exact<typeof raw, Call<{ data: 1 }>>(true)
const unknown = db.$request('GET', 'x')
exact<Data<typeof unknown>, unknown>(true)

const counts = db.articles.aggregate({
  aggregate: { n: { count: '*' }, top: { max: 'rating' }, revenue: { sum: 'price' }, mean: { avg: 'rating' } },
  group: ['status', { title: { trunc: 'month' } }, { title: { trunc: 'day', as: 'day' } }],
  having: { n: { _gt: 3 }, revenue: 1n },
  sort: [{ n: 'desc' }, { day: 'asc' }],
  meta: ['totalCount'],
})
exact<
  typeof counts,
  Call<
    {
      group: { status: 'draft' | 'published'; title: string; day: string }
      n: number
      top: number | null
      revenue: string | null
      mean: number | null
    }[],
    { meta: { totalCount: number } }
  >
>(true)
const far = db.articles.aggregate({
  aggregate: { n: { countDistinct: 'title' }, floats: { sum: 'rating' } },
  group: [{ author: ['name', { profile: ['isPublic'] }] }],
  sort: [{ 'author.name': 'asc' }],
})
exact<
  Data<typeof far>,
  {
    group: { 'author.name': string | null; 'author.profile.isPublic': boolean | null }
    n: number
    floats: number | null
  }[]
>(true)
const whole = db.comments.aggregate({ aggregate: { n: { count: '*' } }, group: [{ article: ['title'] }] })
exact<Data<typeof whole>, { group: { 'article.title': string }; n: number }[]>(true)
const ada = db.authors.create({ name: 'Ada' }, { fields: ['id'] })
const batch = db.$batch([
  ada,
  db.articles.create({ title: 'B', isOpen: true, authorId: ada.ref('id') }),
  db.tags.delete(1, { fields: ['id'] }),
])
exact<Data<typeof batch>, [{ id: string }, Article, { id: number }]>(true)
const reads = db.$batch([db.tags.list({ fields: ['id'], meta: ['totalCount'] }), db.tags.get(ada.ref('id'))], {
  timeout: 5,
})
exact<Data<typeof reads>, [{ id: number }[], { id: number; name: string }]>(true)

const added = db.authors.upsert({ name: 'Ada' }, { on: ['id'] })
exact<Data<typeof added>, Author>(true)
const ignored = db.tags.upsert([{ name: 'x' }], { on: ['name'], do: 'ignore', fields: ['id'] })
exact<Data<typeof ignored>, { id: number }[]>(true)
const each = db.lines.update([{ order: 1n, line: 2, total: '3' }], { fields: ['total'] })
exact<Data<typeof each>, { total: string }[]>(true)
const cursors = db.tags.list({ fields: ['id'], meta: ['cursor', 'totalCount'], after: 'x' })
exact<
  typeof cursors,
  Call<{ id: number }[], { meta: { totalCount: number; next: string | null; previous: string | null } }>
>(true)
const tagged = db.tags.list({ meta: ['etag'], ifNoneMatch: 'x' })
exact<typeof tagged, Call<{ id: number; name: string }[], object>>(true)
const cut = db.articles.list({ fields: [{ comments: { fields: ['id'], after: 'x', meta: ['cursor'] } }] })
exact<
  Data<typeof cut>,
  { comments: { data: { id: string }[]; meta: { next: string | null; previous: string | null } } }[]
>(true)
const walk = db.articles.pages({ fields: ['id'], limit: 500 })
exact<typeof walk, AsyncIterable<{ data: { id: string }[]; next: string | null }>>(true)
const items = db.articles.each({ fields: [{ author: ['name'] }] })
exact<typeof items, AsyncIterable<{ author: { name: string } | null }>>(true)

// Keys
exact<Key<Schema, 'tags'>, number>(true)
exact<Key<Schema, 'lines'>, [order: string, line: number]>(true)
exact<Key<Schema, 'sales'>, never>(true)

// Values
exact<ReturnType<typeof toBigInt>, bigint>(true)
exact<ReturnType<typeof compareDecimals>, number>(true)

/** What may be written and asked, where the type is taken and not made. */
const taken = <T>(_: T) => {}
const create = taken<Create<Schema, 'articles'>>
create({ title: 'x', isOpen: true })
create({ title: 'x', isOpen: true, price: 12n, id: 7, words: null })
create({ title: 'x', isOpen: true, authorId: '1' })
create({
  title: 'x',
  isOpen: true,
  author: { _create: { data: { name: 'Ada', profile: { _connect: { key: { authorId: '1' } } } } } },
})
create({ title: 'x', isOpen: true, author: { _connect: { key: { id: '1' } } } })
create({
  title: 'x',
  isOpen: true,
  comments: [{ _create: { data: [{ text: 'y' }] } }, { _connect: { keys: [{ id: 1n }] } }],
})
create({ title: 'x', isOpen: true, tags: [{ _connect: { keys: [{ name: 'new' }, { id: 1 }] } }] })
taken<Create<Schema, 'comments'>>({ text: 'x', articleId: 1 })
taken<Create<Schema, 'comments'>>({ text: 'x', article: { _connect: { key: { title: 'x' } } } })
taken<Create<Schema, 'shipments'>>({ id: 1, order: 1n, line: 2 })
taken<Create<Schema, 'shipments'>>({ id: 1, position: { _connect: { key: { order: '1', line: 2 } } } })
taken<Create<Schema, 'shipments'>>({ id: 1, position: { _connect: { key: { order: '1', productId: 2 } } } })
const update = taken<Update<Schema, 'articles'>>
update({})
update({ rating: { _increment: -1 }, price: { _increment: '0.5' }, words: { _append: ['x'] } })
update({ words: { _remove: ['x'] }, details: { any: ['thing'] } })
update({ author: [{ _update: { data: { name: 'x' }, filter: { born: null } } }] })
update({ author: [{ _disconnect: {} }, { _delete: {} }], comments: [{ _delete: { filter: { text: 'x' } } }] })
const filter = taken<Filter<Schema, 'articles'>>
filter({ id: 7n, title: 'x', authorId: null, rating: { _null: true } })
filter({ _or: [{ rating: { _gt: 3 } }, { _not: { status: { _in: ['draft'] } } }] })
filter({ author: { name: { _starts_with: 'A' }, profile: { isPublic: true } } })
filter({ comments: { _none: { text: { _icontains: 'x' } } }, tags: { name: 'new' } })
filter({ price: { _between: [1, '2.5'] }, words: { _has: 'x', _empty: false } })
filter({ details: { _path: ['size', 0], _gt: 5 } })
filter({ details: { _contains: { size: [1] } } })
const sort = taken<Sort<Schema, 'articles'>>
sort([{ title: 'asc' }, { author: { name: 'desc nulls last' } }])
