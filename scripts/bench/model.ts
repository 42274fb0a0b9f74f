/** The collections and items of the benchmarks, created through the service's own API. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

export type Api = (method: string, path: string, body?: unknown) => Promise<unknown>

const text = { name: 'string', params: { length: 'unlimited' } }

const articleFields = {
  id: 'id',
  title: text,
  slug: text,
  status: text,
  summary: text,
  views: { name: 'int32' },
  featured: { name: 'boolean' },
  score: { name: 'float64' },
  publishedOn: { name: 'date' },
  authorId: { name: 'int64' },
} as const

type Fields = Readonly<Record<string, 'id' | object>>

/** Creates `authors` with five `articles` each, 10,000 in all, and two empty collections for inserts, of which `recorded` has a history. */
export async function makeMainWorkspace(api: Api): Promise<void> {
  const { sourceId } = await makeWorkspace(api, 'bench')
  const { summary: _summary, authorId: _authorId, ...entryFields } = articleFields
  const authors = collection(sourceId, 'authors', { id: 'id', name: text, email: text })
  const articles = collection(sourceId, 'articles', articleFields, ['authorId'])
  const entries = collection(sourceId, 'entries', entryFields)
  const recorded = collection(sourceId, 'recorded', entryFields, [], { hasHistory: true })
  const operations = [
    ...[authors, articles, entries].map(({ operation }) => operation),
    recorded.operation,
    written(articles, authors),
  ]
  await api('POST', '/api/bench/schema/migrate', { operations })
  await addItems(api, '/api/bench/items/authors', 2_000, (n) => ({
    name: `Author ${n}`,
    email: `author${n}@example.com`,
  }))
  await addItems(api, '/api/bench/items/articles', 10_000, (n) => article(n, 1 + (n % 2_000)))
}

/** Adds 10,000 items of 1 KB. */
export async function addDocuments(api: Api): Promise<void> {
  const sourceId = await findSource(api, 'bench')
  const operations = [collection(sourceId, 'documents', { id: 'id', body: text }).operation]
  await api('POST', '/api/bench/schema/migrate', { operations })
  await addItems(api, '/api/bench/items/documents', 10_000, (n) => ({ body: `${n} `.padEnd(1_000, 'lorem ipsum ') }))
}

/** Creates a workspace with `count` collections; the first is `articles` and has items. */
export async function makeWorkspaceOf(api: Api, name: string, count: number): Promise<void> {
  const { sourceId } = await makeWorkspace(api, name)
  const others = Array.from({ length: count - 1 }, (_, index) =>
    collection(sourceId, `other${index}`, { id: 'id', title: text, views: { name: 'int32' } }),
  )
  const operations = [collection(sourceId, 'articles', articleFields), ...others].map(({ operation }) => operation)
  for (let start = 0; start < operations.length; start += 250) {
    await api('POST', `/api/${name}/schema/migrate`, { operations: operations.slice(start, start + 250) })
  }
  await addItems(api, `/api/${name}/items/articles`, 1_000, (n) => article(n, n))
}

export async function makeWorkspace(api: Api, apiName: string) {
  const { data } = (await api('POST', '/api/system/workspaces', { apiName })) as { data: { id: string } }
  return { id: data.id, apiName, sourceId: await findSource(api, apiName) }
}

async function findSource(api: Api, workspace: string): Promise<string> {
  const { data } = (await api('GET', `/api/${workspace}/items/ServiceDataSource?fields=id`)) as {
    data: { id: string }[]
  }
  return data[0]?.id ?? ''
}

async function addItems(api: Api, path: string, count: number, item: (n: number) => object): Promise<void> {
  for (let start = 1; start <= count; start += 1_000) {
    const items = Array.from({ length: Math.min(1_000, count - start + 1) }, (_, index) => item(start + index))
    await api('POST', `${path}?fields=id`, items)
    // Lets timers run, since the measured server shares the machine with this process.
    await wait(0)
  }
}

function article(n: number, authorId: number): object {
  return {
    title: `The article of number ${n}`,
    slug: `the-article-of-number-${n}`,
    status: n % 3 === 0 ? 'draft' : 'published',
    summary: `What is worth knowing of number ${n}, in "one" sentence`,
    views: n % 977,
    featured: n % 10 === 0,
    score: (n % 100) / 8,
    publishedOn: `2026-${String(1 + (n % 12)).padStart(2, '0')}-${String(1 + (n % 28)).padStart(2, '0')}`,
    authorId: String(authorId),
  }
}

type Made = { readonly id: string; readonly fieldIds: Readonly<Record<string, string>>; readonly operation: object }

function collection(
  sourceId: string,
  apiName: string,
  fields: Fields,
  indexed: readonly string[] = [],
  more: { readonly hasHistory?: boolean } = {},
): Made {
  const id = randomUUID()
  const fieldIds = Object.fromEntries(Object.keys(fields).map((name) => [name, randomUUID()]))
  const operations = [
    ...Object.entries(fields).map(([name, type]) => ({
      kind: 'createPrimitiveField',
      data: { id: fieldIds[name], dbName: name, apiName: name, isNullable: false, isList: false, ...definition(type) },
    })),
    index('primary', `${apiName}_pkey`, fieldIds.id),
    ...indexed.map((name) => index('normal', `${apiName}_${name}`, fieldIds[name])),
  ]
  const data = { id, sourceId, namespaceId: null, dbName: apiName, apiName, ...more, operations }
  return { id, fieldIds, operation: { kind: 'createCollection', data } }
}

function definition(type: 'id' | object): object {
  if (type !== 'id') return { type }
  return { type: { name: 'int64' }, defaultValue: { source: 'connectorManaged', isAutoincrement: true } }
}

function index(kind: 'primary' | 'normal', dbName: string, fieldId: string | undefined): object {
  return { kind: 'createIndex', data: { id: randomUUID(), kind, dbName, fieldIds: [fieldId] } }
}

function written(articles: Made, authors: Made): object {
  const firstField = {
    id: randomUUID(),
    apiName: 'author',
    collectionId: articles.id,
    fieldIds: [articles.fieldIds.authorId],
    isList: false,
    isConstrained: true,
  }
  const secondField = {
    id: randomUUID(),
    apiName: 'articles',
    collectionId: authors.id,
    fieldIds: [authors.fieldIds.id],
    isList: true,
    isConstrained: false,
  }
  const data = { relationName: 'article_author', onDelete: 'restrict', onUpdate: 'cascade', firstField, secondField }
  return { kind: 'createRelationFieldPair', data: { kind: 'single', data } }
}
