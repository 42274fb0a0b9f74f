/**
 * The served instance as its clients see it: HTTP and nothing else. Every workspace has a name of its own, so that
 * test files share one server.
 *
 *   const shop = await world.workspace('shop', { articles: { title: 'string', price: 'decimal(10,2)?' } })
 *   await shop.insert('articles', [{ title: 'Lamp' }])
 *   const response = await shop.get('/items/articles?fields=title')
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { build } from '../data/build.ts'
import { effort } from '../run/effort.ts'
import { fetchThrough } from '../through/through.ts'
import { type Client, client as plainClient } from './client.ts'
import { type Check, createCheck } from './documented.ts'

export type { Client } from './client.ts'

export type Item = Readonly<Record<string, unknown>>

/**
 * Fields by collection: `string`, `string(80)?`, `decimal(10,2)`, `int32[]`: type, `[]` for a list, `?` where null is
 * allowed. A collection without a field `id` gets one that the database counts.
 */
export type FieldTypes = Readonly<Record<string, Readonly<Record<string, string>>>>

/** `child.field(column) -> parent.field`, to the parent's `id`. */
export type RelationText = string

/** A workspace as its administrator; paths are relative to it. */
export type Workspace = Client & {
  readonly name: string
  readonly sourceId: string
  /** By `collection` and `collection.field`, relations included. */
  readonly ids: ReadonlyMap<string, string>
  /** The same paths without a credential. */
  readonly anonymous: Client
  /** Creates items and answers them with all their fields. */
  insert(collection: string, items: readonly object[]): Promise<readonly Item[]>
  /** What lies under `data` in an answer that must be a success. */
  data(path: string): Promise<unknown>
  migrate(...operations: readonly Operation[]): Promise<Response>
}

export type Operation = { readonly kind: string; readonly data: object }

const served = inject('served')
const bearer = { Authorization: `Bearer ${served.administrator.token}` }

const send = fetchThrough(served.url, served.page)

/** Holds every answer to the OpenAPI documents of the instance; on Workers, which give the same documents, in full only. */
const check: Check =
  served.platform === 'node' || effort() === 'full' ? createCheck(served.url, bearer) : async () => {}

const CONSONANTS = 'bcdfghjklmnpqrstvwxz'

export const world = {
  ...served,
  administrator: { ...served.administrator, ...client(served.url, bearer) },
  anonymous: client(served.url, {}),
  /** Whoever presents this access token or API key. */
  bearer: (token: string) => client(served.url, { Authorization: `Bearer ${token}` }),
  workspace,
  /** A workspace name that nobody else uses, and in which no other text can be found: it has consonants alone. */
  name: (stem: string) =>
    `${stem}_${Array.from(randomBytes(9), (byte) => CONSONANTS[byte % CONSONANTS.length]).join('')}`,
}

async function workspace(stem: string, shape: FieldTypes, relations: readonly RelationText[] = []): Promise<Workspace> {
  const name = world.name(stem)
  await succeeded(await world.administrator.post('/api/system/workspaces', { apiName: name }))
  const base = `${served.url}/api/${name}`
  const administrator = client(base, bearer)
  const data = async (path: string) => {
    const body = (await succeeded(await administrator.get(path))) as { data: unknown }
    return body.data
  }
  const [source] = (await data('/items/ServiceDataSource?fields=id')) as { id: string }[]
  const sourceId = source?.id ?? ''
  const ids = new Map<string, string>()
  const operations = [
    ...Object.entries(shape).map(([collection, fields]) => createCollection(ids, sourceId, collection, fields)),
    ...relations.map((text) => createRelation(ids, text)),
  ]
  const migrate: Workspace['migrate'] = (...sent) => administrator.post('/schema/migrate', { operations: sent })
  await succeeded(await migrate(...operations))
  return {
    ...administrator,
    name,
    sourceId,
    ids,
    anonymous: client(base, {}),
    data,
    migrate,
    async insert(collection, items) {
      const body = (await succeeded(await administrator.post(`/items/${collection}`, items))) as { data: Item[] }
      return body.data
    },
  }
}

/** The operation that makes a collection; the ids it chooses are added to `ids`. */
export function createCollection(
  ids: Map<string, string>,
  sourceId: string,
  collection: string,
  fields: Readonly<Record<string, string>>,
): Operation {
  const entries = Object.entries({ ...(fields.id === undefined && { id: 'int64' }), ...fields })
  const operations = entries.map(([name, text]) => ({
    kind: 'createPrimitiveField',
    data: {
      id: newId(ids, `${collection}.${name}`),
      dbName: name,
      apiName: name,
      type: build.type(text.replace(/[?[\]]+$/, '')),
      isNullable: text.endsWith('?'),
      isList: text.includes('[]'),
      defaultValue: name in fields ? null : { source: 'connectorManaged', isAutoincrement: true },
    },
  }))
  const primary = {
    kind: 'createIndex',
    data: {
      id: randomUUID(),
      dbName: `${collection}_pkey`,
      kind: 'primary',
      fieldIds: [ids.get(`${collection}.id`)],
    },
  }
  return {
    kind: 'createCollection',
    data: {
      id: newId(ids, collection),
      sourceId,
      namespaceId: null,
      dbName: collection,
      apiName: collection,
      operations: [...operations, primary],
    },
  }
}

/** The operation that makes a relation, such as `articles.author(authorId) -> authors.articles`. */
export function createRelation(ids: Map<string, string>, text: RelationText): Operation {
  const [, child = '', name = '', column = '', parent = '', opposite = ''] =
    text.match(/^(\w+)\.(\w+)\((\w+)\) -> (\w+)\.(\w+)$/) ?? []
  const side = (collection: string, apiName: string, field: string) => ({
    id: newId(ids, `${collection}.${apiName}`),
    apiName,
    collectionId: ids.get(collection),
    fieldIds: [ids.get(`${collection}.${field}`)],
  })
  return {
    kind: 'createRelationFieldPair',
    data: {
      kind: 'single',
      data: {
        relationName: `${child}_${name}`,
        firstField: { ...side(child, name, column), isList: false, isConstrained: true },
        secondField: { ...side(parent, opposite, 'id'), isList: true, isConstrained: false },
      },
    },
  }
}

function newId(ids: Map<string, string>, name: string): string {
  const id = randomUUID()
  ids.set(name, id)
  return id
}

function client(base: string, own: Record<string, string>): Client {
  const look = (method: string, url: string, response: Response) =>
    check({ method, url, seesAll: own === bearer }, response)
  return plainClient(base, own, look, send)
}

/** What an arrangement needs to have worked before its test means anything. */
async function succeeded(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
