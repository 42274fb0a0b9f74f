/**
 * Workspaces with a data source behind the connector `scripted`: created by the handshake, imported, and the few declared
 * collections that the tests of connectors share.
 */
import type { CollectionDeclaration, Item } from 'governed-data-service/connector-kit'
import { type ExternalSystem, startExternalSystem } from '../servers/external-system.ts'
import { type Client, createRelation, type Workspace } from './world.ts'

const text = { name: 'string' } as const
export const field = (name: string, type: { name: 'string' | 'int32' | 'decimal' | 'json' }, isNullable = true) => ({
  name,
  type,
  isNullable,
  isList: false,
})

export const authors: CollectionDeclaration = {
  name: 'authors',
  fields: [
    { ...field('id', { name: 'int32' }, false), isReadOnly: true },
    field('name', text, false),
    field('country', text),
    field('born', { name: 'int32' }),
    { ...field('tags', text), isList: true },
  ],
  key: ['id'],
  operations: ['readMany', 'readOne', 'createMany', 'updateOne', 'updateMany', 'deleteOne', 'deleteMany'],
  filter: {
    id: ['eq', 'in', 'gt'],
    name: ['eq', 'neq', 'contains', 'starts_with'],
    country: ['eq', 'neq', 'in', 'null'],
    born: ['eq', 'lt', 'gt', 'between', 'null'],
  },
  sort: ['name', 'born', 'id'],
  count: true,
  offset: true,
  after: true,
  conditional: true,
}

/** Can be read, and asked for its key and its author, and nothing else. */
export const books: CollectionDeclaration = {
  name: 'books',
  fields: [
    field('id', { name: 'int32' }, false),
    field('title', text, false),
    field('authorId', { name: 'int32' }),
    field('price', { name: 'decimal' }),
    field('extra', { name: 'json' }),
  ],
  key: ['id'],
  operations: ['readMany'],
  filter: { authorId: ['in', 'null'] },
}

export const people: readonly Item[] = [
  { id: 1, name: 'Ada', country: 'GB', born: 1815, tags: ['math', 'poetry'] },
  { id: 2, name: 'Grace', country: 'US', born: 1906, tags: [] },
  { id: 3, name: 'Edsger', country: 'NL', born: 1930, tags: null },
  { id: 4, name: 'Anon', country: null, born: null, tags: null },
]

export const titles: readonly Item[] = [
  { id: 10, title: 'Notes', authorId: 1, price: '12.50', extra: { pages: 66 } },
  { id: 11, title: 'Compilers', authorId: 2, price: 9, extra: null },
  { id: 12, title: 'Discipline', authorId: 3, price: null, extra: [1] },
  { id: 13, title: 'Harmful', authorId: 3, price: '1.25', extra: null },
  { id: 14, title: 'Orphan', authorId: null, price: null, extra: null },
]

/** The manifest's own item, and that of the external system. */
export function grantFor({ permission }: ExternalSystem) {
  return [
    { permission: 'net:docs.example.com', reason: 'the manifest says so' },
    { permission, reason: 'the system' },
  ]
}

export async function startSystem(): Promise<ExternalSystem> {
  return startExternalSystem([authors, books], { authors: people, books: titles })
}

export function sourceInputFor(system: ExternalSystem, config: object = {}) {
  return { provider: 'scripted', config: { system: system.url, ...config }, permissions: grantFor(system) }
}

/** Creates a source and imports its schema; the source's id. */
export async function connect(shop: Client, system: ExternalSystem, apiName = 'library'): Promise<string> {
  const made = await shop.post('/sources/data', { apiName, ...sourceInputFor(system) })
  const body = (await made.json()) as { data: { id: string } }
  if (made.status !== 200) throw new Error(`creating the source answered ${JSON.stringify(body)}`)
  const imported = await shop.post(`/schema/introspect/${body.data.id}`, undefined)
  if (imported.status !== 200) throw new Error(`importing it answered ${await imported.text()}`)
  return body.data.id
}

/** Ids by `collection.field`, for policies and relations. */
async function idsOf(shop: { data(path: string): Promise<unknown> }): Promise<Map<string, string>> {
  const rows = (await shop.data(
    '/items/ServicePrimitiveField?fields=id,apiName,collection.id,collection.apiName&limit=-1',
  )) as { id: string; apiName: string; collection: { id: string; apiName: string } }[]
  return new Map(
    rows.flatMap(({ id, apiName, collection }) => [
      [`${collection.apiName}.${apiName}`, id] as const,
      [collection.apiName, collection.id] as const,
    ]),
  )
}

/** Relates imported collections, each as `child.field(column) -> parent.field`, to the parent's `id`. */
export async function relateImported(shop: Workspace, ...relations: readonly string[]): Promise<void> {
  const ids = await idsOf(shop)
  const migrated = await shop.migrate(...relations.map((text) => createRelation(ids, text)))
  if (migrated.status !== 200) throw new Error(await migrated.text())
}

/** Reviews of the workspace's database to authors and books of the connector, and these to each other. */
export function relateReviews(shop: Workspace): Promise<void> {
  return relateImported(
    shop,
    'reviews.author(authorId) -> authors.reviews',
    'reviews.book(bookId) -> books.reviews',
    'books.author(authorId) -> authors.books',
  )
}

/** Status and body of an answer. */
export async function readAnswer(response: Response): Promise<{ readonly status: number; readonly body: unknown }> {
  const body = await response.text()
  return { status: response.status, body: body === '' ? undefined : JSON.parse(body) }
}

export type ExampleSource = { readonly provider: string; readonly config: object }

/** One data source behind an example connector: created by the handshake, which tells the grant, and imported. */
export async function connectExample(shop: Pick<Client, 'post'>, input: ExampleSource): Promise<void> {
  const answer = await readAnswer(await shop.post('/sources/data', { apiName: 'external', ...input }))
  const { permissions } = (answer.body as { meta: { permissions: readonly object[] } }).meta
  const made = await readAnswer(await shop.post('/sources/data', { apiName: 'external', ...input, permissions }))
  if (made.status !== 200) throw new Error(`creating the source answered ${JSON.stringify(made)}`)
  const { id } = (made.body as { data: { id: string } }).data
  const imported = await readAnswer(await shop.post(`/schema/introspect/${id}`, undefined))
  if (imported.status !== 200) throw new Error(`importing it answered ${JSON.stringify(imported)}`)
}
