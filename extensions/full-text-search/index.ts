/**
 * A read-only collection from one index of a search engine with the Meilisearch API. `contains` on a `search` field is
 * a full-text search; the engine filters, sorts and pages.
 *
 * Configuration: {
 *   url: 'https://search.example.com', apiKey?, index: 'articles', key: 'id',
 *   fields: { id: 'int32', title: 'string', year: 'int32' },
 *   search: ['title'], filter: ['year'], sort: ['year']
 * }
 * The engine returns only the first 1,000 results of a search; a page beyond them is refused.
 */
import {
  CollectionNotFound,
  defineConnector,
  type Item,
  QueryRejected,
  type QueryRequest,
  request,
} from 'governed-data-service/connector-kit'
import { type Config, readConfig } from './config.ts'
import { type SearchRequest, toSearchRequest } from './search-request.ts'

const WINDOW = 1_000

export const { preflight, setup } = defineConnector<Config>({
  config: readConfig,

  preflight: ({ url }) => ({
    permissions: [{ permission: `net:${new URL(url).host}`, reason: 'The search engine is there' }],
  }),

  setup(config) {
    return {
      introspect: () => ({ schema: { collections: [declare(config)] } }),

      async query(request) {
        if (request.collection !== config.index) throw new Error(`${request.collection} was never declared`)
        if (request.operation === 'readOne') return { record: await find(config, request) }
        if (request.operation === 'readMany') return search(config, request)
        throw new Error(`${request.operation} was never declared`)
      },

      async testConnection() {
        const response = await ask(config, `/indexes/${config.index}`)
        return response.ok ? { ok: true } : { ok: false, message: 'there is no such index' }
      },
    }
  },
})

function declare({ index, key, fields, search: searched, filter, sort }: Config) {
  const filters = Object.entries(fields).map(([name, type]) => {
    const isFiltered = name === key || filter.includes(name)
    const searches = searched.includes(name) ? (['contains'] as const) : []
    const tests = isFiltered ? (['eq', 'neq', 'null'] as const) : []
    const compares = isFiltered && type !== 'boolean' ? (['in', 'nin'] as const) : []
    const orders = isFiltered && (type === 'int32' || type === 'float64') ? (['lt', 'lte', 'gt', 'gte'] as const) : []
    return [name, [...searches, ...tests, ...compares, ...orders]] as const
  })
  return {
    name: index,
    fields: Object.entries(fields).map(([name, type]) => ({
      name,
      type: { name: type },
      isNullable: name !== key,
      isList: false,
      isReadOnly: true,
    })),
    key: [key],
    operations: ['readMany', 'readOne'] as const,
    filter: Object.fromEntries(filters.filter(([, operators]) => operators.length > 0)),
    sort,
    count: true,
    offset: true,
  }
}

async function find(config: Config, { key, fields }: Extract<QueryRequest, { operation: 'readOne' }>) {
  const id = String(key[config.key])
  // A path cannot name these, in whatever spelling: they lead elsewhere.
  if (id === '' || id === '.' || id === '..') return null
  const response = await ask(config, `/indexes/${config.index}/documents/${encodeURIComponent(id)}`)
  if (response.status === 404) return null
  return recordOf((await response.json()) as Item, fields)
}

async function search(config: Config, request: Extract<QueryRequest, { operation: 'readMany' }>) {
  const { limit, offset = 0, fields, count } = request
  if (offset >= WINDOW) throw exceedsWindow()
  const question: SearchRequest = toSearchRequest(config, request)
  const body = { ...question, offset, limit: Math.min(limit, WINDOW - offset), attributesToRetrieve: fields }
  const response = await ask(config, `/indexes/${config.index}/search`, body)
  if (response.status === 404) throw new CollectionNotFound('there is no such index any more')
  const { hits, estimatedTotalHits: total } = (await response.json()) as Found
  // The engine counts no further than its window, so a full window may hide more results.
  if (offset + limit > WINDOW && total >= WINDOW) throw exceedsWindow()
  if (count === true && total >= WINDOW) throw new QueryRejected(`more than ${WINDOW} results cannot be counted`)
  return { records: hits.map((hit) => recordOf(hit, fields)), ...(count === true && { count: total }) }
}

type Found = { readonly hits: readonly Item[]; readonly estimatedTotalHits: number }

function exceedsWindow(): QueryRejected {
  return new QueryRejected(`only the first ${WINDOW} results of a search can be read; narrow it down`)
}

function ask({ url, apiKey }: Config, path: string, body?: object): Promise<Response> {
  return request(new URL(path, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

function recordOf(document: Item, fields: readonly string[]): Item {
  return Object.fromEntries(fields.map((name) => [name, Object.hasOwn(document, name) ? document[name] : null]))
}
