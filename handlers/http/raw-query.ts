/** The query of an item request as text without the token, and the answer to a planned request. */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import { bodyBounds } from '../../src/core/json-limits.ts'
import { queryFault } from '../../src/core/query/parse.ts'
import { MAX_BODY_VALUES, readQueryBody } from '../../src/core/query/parse-json.ts'
import type { ItemQuery, Planned } from '../../src/services/data/items.ts'
import type { Answer } from './answer.ts'
import { readPlainJson } from './body.ts'
import { searchWithoutToken } from './credentials.ts'
import { type AppContext, callerOf, headerOf, isDisconnected } from './request.ts'

export function rawQuery(c: AppContext): ItemQuery {
  return withReadOptions(c, searchWithoutToken(c.req.url))
}

const bounds = { ...bodyBounds, values: MAX_BODY_VALUES }

/** The query of a request by QUERY: its body; the address may contain nothing but a token. */
export async function bodyQuery(c: AppContext, limit: number) {
  if (searchWithoutToken(c.req.url) !== '') throw queryFault('query string', 'must be empty: the body is the query')
  return withReadOptions(c, readQueryBody(await readPlainJson(c, limit, bounds)))
}

/** Returns the address of the page after a cursor, without the token; undefined if it is too long for a header. */
export function pageAfter(c: AppContext): (cursor: string) => string | undefined {
  return (cursor) => {
    const { pathname } = new URL(c.req.url)
    const kept = searchWithoutToken(c.req.url)
      .replace(/^\?/, '')
      .split('&')
      .filter((parameter) => parameter !== '' && !PLACES.has(nameOf(parameter)))
    const address = `${pathname}?${[...kept, `after=${cursor}`].join('&')}`
    return address.length > MAX_LINK ? undefined : address
  }
}

/** Parameters that set the start of a page. */
const PLACES: ReadonlySet<string> = new Set(['after', 'before', 'offset'])

/** Servers and proxies refuse answers whose headers are longer than 8 to 16 KiB. */
const MAX_LINK = 4_096

function nameOf(parameter: string): string {
  const [name = ''] = parameter.split('=')
  return decodeURIComponent(name)
}

function withReadOptions<Sent>(c: AppContext, sent: Sent): Omit<ItemQuery, 'sent'> & { readonly sent: Sent } {
  return { sent, ...readOptions(c) }
}

/** The caller and the freshness of the answer. */
export function readOptions(c: AppContext): Omit<ItemQuery, 'sent'> {
  return {
    // No getter: an object with one gets its own hidden class, which lives until the next full garbage collection.
    freshness: headerOf(c, 'cache-control')?.includes('no-cache') === true ? 'fresh' : 'kept',
    isDisconnected: () => isDisconnected(c),
    account: callerOf(c),
  }
}

/** Answers with the result of a planned request, and records when it was planned. */
export function answered<T>(
  c: AppContext,
  planning: Eventual<Planned<T>>,
  toAnswer: (value: T) => Eventual<Answer>,
): Eventual<Answer> {
  return andThen(planning, ({ plannedAt, answer }) => {
    c.get('timing').planned = plannedAt
    return answer.then(toAnswer)
  })
}
