/**
 * A client that knows of the service only what its documents say: it creates, reads with what is nested, changes and
 * deletes. Compiled against the types of the documents, then run; prints what it got as JSON.
 */
import createClient from 'openapi-fetch'
import type { paths as SystemPaths } from './system.d.ts'
import type { components, paths } from './workspace.d.ts'

declare const process: { readonly argv: readonly string[] }
const [, , baseUrl = '', token = ''] = process.argv
const headers = { Authorization: `Bearer ${token}` }

const shop = createClient<paths>({ baseUrl, headers, querySerializer: serialize })
const system = createClient<SystemPaths>({ baseUrl, headers, querySerializer: serialize })

const created = await shop.POST('/api/typed/items/authors', {
  params: { query: { fields: ['id', 'name'] } },
  body: [{ name: 'Ada', books: [{ _create: { data: [{ title: 'Notes', price: '9.50' }, { title: 'Letters' }] } }] }],
})
const key = created.data?.data[0]?.id ?? ''

const read = await shop.GET('/api/typed/items/authors/{key}', {
  params: {
    path: { key },
    query: {
      fields: ['name', 'books.title', 'books.price'],
      deep: { books: { _sort: [{ title: { direction: 'asc' } }], _limit: 1 } },
    },
  },
})
const titles: (string | undefined)[] | undefined = read.data?.data.books?.data?.map((book) => book.title)

const filter: components['schemas']['booksFilterInput'] = { author: { name: { _eq: 'Ada' } }, price: { _gt: '5' } }
const listed = await shop.GET('/api/typed/items/books', {
  params: {
    query: { fields: ['title'], filter, sort: [{ title: { direction: 'desc' } }], limit: 5, meta: 'totalCount' },
  },
})
const total: number | undefined = listed.data?.meta?.totalCount

const grouped = await shop.GET('/api/typed/aggregates/books', {
  params: {
    query: {
      aggregate: { books: { count: '*' }, worth: { sum: 'price' } },
      group: ['author.name', { price: { as: 'price' } }],
      having: { worth: { _gt: '5' } },
      sort: [{ books: { direction: 'desc' } }],
    },
  },
})
const groupNames: (string | number | boolean | null | undefined)[] | undefined = grouped.data?.data.map(
  ({ group }) => group['author.name'],
)

const updated = await shop.PATCH('/api/typed/items/authors/{key}', {
  params: { path: { key } },
  body: { name: 'Ada L.' },
})
const cleared = await shop.DELETE('/api/typed/items/books', { params: { query: { filter: { authorId: key } } } })
const deleted = await shop.DELETE('/api/typed/items/authors/{key}', { params: { path: { key } } })
const gone = await shop.GET('/api/typed/items/authors/{key}', { params: { path: { key } } })
const reason: string | undefined = gone.error?.source?.message

const roles = await system.GET('/api/{workspace}/roles', {
  params: { path: { workspace: 'typed' }, query: { fields: ['name'], sort: [{ name: { direction: 'asc' } }] } },
})

console.log(
  JSON.stringify({
    created: created.data?.data.map(({ name }) => name),
    read: { name: read.data?.data.name, titles },
    listed: { items: listed.data?.data, total },
    grouped: { names: groupNames, first: grouped.data?.data[0] },
    updated: updated.data?.data.name,
    deleted: [cleared.response.status, deleted.response.status],
    gone: [gone.response.status, reason],
    roles: roles.data?.data.map(({ name }) => name),
  }),
)

/** What the documents say of parameters: lists of fields with commas, everything else that is no plain value as JSON. */
function serialize(query: Record<string, unknown>): string {
  const texts = Object.entries(query).map(([name, value]) => [
    name,
    Array.isArray(value) && name === 'fields'
      ? value.join()
      : typeof value === 'object'
        ? JSON.stringify(value)
        : `${value}`,
  ])
  return new URLSearchParams(texts).toString()
}

/** What must not compile. */
export const refused = [
  // @ts-expect-error there is no such field
  () => shop.POST('/api/typed/items/authors', { body: [{ nickname: 'Ada' }] }),
  // @ts-expect-error a name is required
  () => shop.POST('/api/typed/items/authors', { body: [{}] }),
  // @ts-expect-error a write of many needs a filter
  () => shop.DELETE('/api/typed/items/books', {}),
  // @ts-expect-error there is no such collection
  () => shop.GET('/api/typed/items/nothing', {}),
]
