/**
 * Collections from a paged JSON API over HTTP: lists with the filters and orders that its parameters support, single
 * items by URL, writes by POST, PATCH and DELETE.
 *
 * Configuration: {
 *   baseUrl: 'https://api.example.com/v1/', token?,
 *   resources: [{
 *     name: 'orders', path: 'orders', key: 'id',
 *     fields: { id: 'int32', status: 'string', total: 'decimal' },
 *     filter?: { status: { eq: 'status' }, total: { gte: 'min_total' } },   operator → parameter
 *     sort?: { parameter: 'sort', fields: ['total'] },                      `total`, or `-total` for descending
 *     paging?: { limit: 'limit', offset: 'offset', size: 100 },             parameters, and the API's largest page
 *     items?: 'data', total?: 'total',                                      members of a list's answer; none: an array
 *     writable?: true
 *   }]
 * }
 */
import {
  CollectionNotFound,
  ConnectionFailed,
  defineConnector,
  type Item,
  type Operator,
  QueryRejected,
  type QueryRequest,
  request,
} from 'governed-data-service/connector-kit'
import { type Config, type Resource, readConfig } from './config.ts'
import { toParameters } from './parameters.ts'

type RequestOf<Operation> = Extract<QueryRequest, { readonly operation: Operation }>

export const { preflight, setup } = defineConnector<Config>({
  config: readConfig,

  preflight: ({ baseUrl }) => ({
    permissions: [{ permission: `net:${new URL(baseUrl).host}`, reason: 'The API is there' }],
  }),

  setup(config) {
    const api = createApi(config)
    return {
      introspect: () => ({ schema: { collections: config.resources.map(declare) } }),

      async query(received) {
        const resource = config.resources.find(({ name }) => name === received.collection)
        if (resource === undefined) throw new Error(`${received.collection} was never declared`)
        const answerOne = (item: Item | null) => ({ record: item && only(item, received.fields) })
        switch (received.operation) {
          case 'readMany':
            return readMany(api, resource, received)
          case 'readOne':
            return answerOne(await api.read(resource, received.key))
          case 'createMany':
            return { records: await createMany(api, resource, received) }
          case 'updateOne':
            return answerOne(await api.write(resource, { method: 'PATCH', key: received.key, data: received.data }))
          case 'deleteOne':
            return answerOne(await deleteOne(api, resource, received.key))
          default:
            throw new Error(`${received.operation} was never declared`)
        }
      },

      async testConnection() {
        const [first] = config.resources
        if (first !== undefined) await api.page(first, new URLSearchParams())
        return { ok: true }
      },
    }
  },
})

function declare(resource: Resource) {
  const { name, key, fields, filter, sort, paging, total, writable } = resource
  const declared = Object.entries(filter).map(([field, parameters]) => [field, Object.keys(parameters) as Operator[]])
  return {
    name,
    fields: Object.entries(fields).map(([field, type]) => ({
      ...{ name: field, type: { name: type }, isNullable: field !== key, isList: false },
      ...((!writable || field === key) && { isReadOnly: true }),
    })),
    key: [key],
    operations: writable
      ? (['readMany', 'readOne', 'createMany', 'updateOne', 'deleteOne'] as const)
      : (['readMany', 'readOne'] as const),
    filter: Object.fromEntries(declared),
    sort: sort?.fields ?? [],
    count: total !== undefined,
    offset: paging !== undefined,
  }
}

/** Reads as many pages as needed. */
async function readMany(api: Api, resource: Resource, received: RequestOf<'readMany'>) {
  const { limit, offset = 0, fields, count } = received
  const plan = toParameters(resource, received)
  if (plan.kind === 'keys') {
    const found = await Promise.all(plan.keys.map((key) => api.read(resource, { [resource.key]: key })))
    const items = found.filter((item) => item !== null).slice(offset, offset + limit)
    return { records: items.map((item) => only(item, fields)), ...(count === true && { count: found.length }) }
  }
  const { paging } = resource
  const items: Item[] = []
  let total: number | undefined
  while (items.length < limit) {
    const parameters = new URLSearchParams(plan.parameters)
    const size = Math.min(paging?.size ?? limit, limit - items.length)
    if (paging !== undefined) {
      parameters.set(paging.limit, String(size))
      parameters.set(paging.offset, String(offset + items.length))
    }
    const page = await api.page(resource, parameters)
    items.push(...page.items)
    total = page.total
    if (paging === undefined || page.items.length < size) break
  }
  if (count === true && total === undefined) throw new ConnectionFailed('the API did not say how many there are')
  return { records: items.slice(0, limit).map((item) => only(item, fields)), ...(count === true && { count: total }) }
}

async function createMany(api: Api, resource: Resource, { data, fields }: RequestOf<'createMany'>) {
  const records: Item[] = []
  // Sequentially, so that items are created in the order sent.
  for (const item of data) {
    const created = await api.write(resource, { method: 'POST', data: item })
    if (created === null) throw new CollectionNotFound('the address for new items is not there')
    records.push(only(created, fields))
  }
  return records
}

/** Read first, since the response to a DELETE has no body. */
async function deleteOne(api: Api, resource: Resource, key: Item): Promise<Item | null> {
  const item = await api.read(resource, key)
  if (item !== null) await api.write(resource, { method: 'DELETE', key })
  return item
}

type Writing = { readonly method: 'POST' | 'PATCH' | 'DELETE'; readonly key?: Item; readonly data?: Item }
type Page = { readonly items: readonly Item[]; readonly total?: number }

type Api = {
  page(resource: Resource, parameters: URLSearchParams): Promise<Page>
  /** Null if the item does not exist. */
  read(resource: Resource, key: Item): Promise<Item | null>
  /** Null if the item does not exist or the response has no content. */
  write(resource: Resource, writing: Writing): Promise<Item | null>
}

function createApi({ baseUrl, token }: Config): Api {
  const headers = {
    Accept: 'application/json',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  }
  const addressOf = ({ path, key: name }: Resource, key?: Item) =>
    new URL(key === undefined ? path : `${path}/${segmentOf(String(key[name]))}`, baseUrl)

  return {
    async page(resource, parameters) {
      const url = addressOf(resource)
      url.search = parameters.toString()
      const response = await request(url, { headers })
      if (response.status === 404) throw new CollectionNotFound(`the list of ${resource.name} is not there`)
      return pageOf(resource, await json(response))
    },

    async read(resource, key) {
      if (isElsewhere(String(key[resource.key]))) return null
      const response = await request(addressOf(resource, key), { headers })
      return response.status === 404 ? null : itemOf(await json(response))
    },

    async write(resource, { method, key, data }) {
      const response = await request(addressOf(resource, key), {
        method,
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(data !== undefined && { body: JSON.stringify(data) }),
      })
      return response.status === 404 || response.status === 204 ? null : itemOf(await json(response))
    },
  }
}

/** A path cannot name these, in whatever spelling: they lead elsewhere. */
function isElsewhere(key: string): boolean {
  return key === '' || key === '.' || key === '..'
}

function segmentOf(key: string): string {
  if (isElsewhere(key)) throw new QueryRejected('the API has no address for this key')
  return encodeURIComponent(key)
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new ConnectionFailed('the API answered something that is not JSON')
  }
}

function pageOf({ items, total, name }: Resource, body: unknown): Page {
  const list = items === undefined ? body : itemOf(body)[items]
  if (!Array.isArray(list)) throw new ConnectionFailed(`the API answered no list of ${name}`)
  const count = total === undefined ? undefined : itemOf(body)[total]
  return { items: list.map(itemOf), ...(typeof count === 'number' && { total: count }) }
}

function itemOf(value: unknown): Item {
  if (typeof value === 'object' && value !== null) return value as Item
  throw new ConnectionFailed('the API answered no object')
}

function only(item: Item, fields: readonly string[]): Item {
  return Object.fromEntries(fields.map((name) => [name, Object.hasOwn(item, name) ? item[name] : null]))
}
