/**
 * What the example connectors talk to, on loopback: a paged JSON API, a search engine (SQLite's full-text index behind the
 * Meilisearch API, with its window of 1,000 results) and a file server. They keep the requests that reached them.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from './free-port.ts'

export type ExampleServer = {
  readonly url: string
  /** Requests that came in since this was last asked, as `METHOD path?query`. */
  requests(): readonly string[]
  /** Answers the next request so. */
  next(status: number, headers?: Readonly<Record<string, string>>): void
  /** Cuts every connection and is not there any more, until it is back at the same address. */
  crash(): Promise<void>
  restart(): Promise<void>
  close(): void
}

type Answer = { readonly status?: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
type ExampleRequest = {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

const TOKEN = 'only-for-tests'

async function serve(answer: (request: ExampleRequest) => Answer): Promise<ExampleServer> {
  const seen: string[] = []
  const planned: Answer[] = []
  const server = createServer(async (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const text = await readAll(request)
    const url = new URL(request.url ?? '/', 'http://example')
    const received = { method: request.method ?? '', url, headers: request.headers, body: text && JSON.parse(text) }
    send(response, planned.shift() ?? answer(received))
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${port}/`,
    async crash() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
    async restart() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    requests: () => seen.splice(0),
    next: (status, headers = {}) => planned.push({ status, headers }),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function send(response: ServerResponse, { status = 200, body, headers = {} }: Answer): void {
  response.writeHead(status, headers)
  response.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body))
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** The configuration of `json-api` for the orders of a server. */
/** With the same orders under other names, as `others` say. */
export function ordersConfig({ url }: ExampleServer, ...others: readonly object[]): object {
  const orders = {
    name: 'orders',
    path: 'orders',
    key: 'id',
    fields: { id: 'int32', status: 'string', total: 'decimal', note: 'string' },
    filter: { status: { eq: 'status' }, total: { gte: 'min_total' } },
    sort: { parameter: 'sort', fields: ['total'] },
    paging: { limit: 'limit', offset: 'offset', size: 10 },
    items: 'data',
    total: 'total',
    writable: true,
  }
  return { baseUrl: url, token: TOKEN, resources: [orders, ...others.map((other) => ({ ...orders, ...other }))] }
}

type Order = { id: number; status: string; total: string; note: string | null }

/** At most ten orders a page, whatever is asked for. */
export function startOrders(): Promise<ExampleServer> {
  const orders: Order[] = Array.from({ length: 25 }, (_, index) => ({
    id: index + 1,
    status: index % 2 === 0 ? 'open' : 'paid',
    total: `${(index + 1) * 10}.50`,
    note: index === 0 ? 'first' : null,
  }))

  return serve(({ method, url, headers, body }) => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401 }
    const [, list, id] = url.pathname.split('/')
    if (list !== 'orders') return { status: 404 }
    if (id === undefined) return method === 'POST' ? create(body as Partial<Order>) : { body: page(url.searchParams) }
    const index = orders.findIndex((order) => order.id === Number(id))
    const order = orders[index]
    if (order === undefined) return { status: 404 }
    if (method === 'PATCH') return { body: Object.assign(order, body) }
    if (method !== 'DELETE') return { body: order }
    orders.splice(index, 1)
    return { status: 204 }
  })

  function create(input: Partial<Order>): Answer {
    const order = { status: 'open', total: '0', note: null, ...input, id: Math.max(...orders.map(({ id }) => id)) + 1 }
    orders.push(order)
    return { status: 201, body: order }
  }

  function page(parameters: URLSearchParams) {
    const status = parameters.get('status')
    const least = Number(parameters.get('min_total') ?? 0)
    const sort = parameters.get('sort')
    const matching = orders.filter(
      (order) => (status === null || order.status === status) && Number(order.total) >= least,
    )
    if (sort?.startsWith('-total')) matching.sort((one, other) => Number(other.total) - Number(one.total))
    const offset = Number(parameters.get('offset') ?? 0)
    const limit = Math.min(Number(parameters.get('limit') ?? 10), 10)
    return { data: matching.slice(offset, offset + limit), total: matching.length }
  }
}

const dataFolder = join(import.meta.dirname, '../../../node_modules/vega-datasets/data')

type Movie = {
  readonly id: number
  readonly title: string
  readonly genre: string | null
  readonly year: number | null
}

export function movies(): readonly Movie[] {
  const all = JSON.parse(readFileSync(join(dataFolder, 'movies.json'), 'utf8')) as Record<string, string | null>[]
  return all.map((movie, index) => ({
    id: index + 1,
    title: String(movie.Title ?? ''),
    genre: movie['Major Genre'] ?? null,
    year: Number(/\d{4}/.exec(movie['Release Date'] ?? '')?.[0] ?? Number.NaN) || null,
  }))
}

export function startSearchEngine(): Promise<ExampleServer> {
  const database = new DatabaseSync(':memory:')
  database.exec('create table movies (id integer primary key, title text, genre text, year integer)')
  database.exec('create virtual table words using fts5(title, content=movies, content_rowid=id)')
  database.exec('begin')
  const insert = database.prepare('insert into movies values (?, ?, ?, ?)')
  for (const { id, title, genre, year } of movies()) insert.run(id, title, genre, year)
  database.exec(`insert into words (words) values ('rebuild'); commit`)

  return serve(({ url, body }) => {
    const [, , index, what, id] = url.pathname.split('/')
    if (index !== 'movies') return { status: 404 }
    if (what === undefined) return { body: { uid: 'movies', primaryKey: 'id' } }
    if (what === 'search') return { body: search(body as SearchBody) }
    const found = database.prepare('select * from movies where id = ?').get(Number(id))
    return found === undefined ? { status: 404 } : { body: found }
  })

  function search({ q, filter, sort = [], limit, offset }: SearchBody) {
    const conditions = [
      ...(q === ''
        ? []
        : [`id in (select rowid from words where words match ${quoted(`"${q.replaceAll('"', '')}"*`)})`]),
      ...(filter === undefined ? [] : [asSql(filter)]),
    ]
    const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
    const order = sort.map((part) => part.replace(':', ' ')).join(', ') || 'id'
    const all = database.prepare(`select * from movies ${where} order by ${order} limit 1000`).all()
    return { hits: all.slice(offset, offset + limit), offset, limit, estimatedTotalHits: all.length }
  }
}

type SearchBody = {
  readonly q: string
  readonly filter?: string
  readonly sort?: readonly string[]
  readonly limit: number
  readonly offset: number
}

/** The filter language of the engine is SQL's but for brackets and quotes. */
function asSql(filter: string): string {
  return filter.replaceAll(
    /"(?:[^"\\]|\\.)*"|[[\]]/g,
    (token) => ({ '[': '(', ']': ')' })[token] ?? quoted(JSON.parse(token)),
  )
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** airports.csv of vega-datasets, and one written by hand with everything that CSV allows. */
export function startFiles(): Promise<ExampleServer> {
  const files: Readonly<Record<string, string>> = {
    '/airports.csv': readFileSync(join(dataFolder, 'airports.csv'), 'utf8'),
    '/odd.csv': '\uFEFFid;text;flag\r\n1;"a ""quoted"" word; and\r\nanother line";true\r\n2;;false\r\n',
  }
  return serve(({ url, headers }) => {
    const body = files[url.pathname]
    if (body === undefined) return { status: 404 }
    const tag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`
    return headers['if-none-match'] === tag ? { status: 304 } : { body, headers: { ETag: tag } }
  })
}
