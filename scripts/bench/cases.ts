/** The requests compared with the bare handler. `{key}` is replaced by a different number in each request. */
export type Case = {
  readonly name: 'point-read' | 'list' | 'to-one' | 'to-many' | 'insert'
  /** Path below the workspace. */
  readonly path: string
  /** Keys are 1 to this number. */
  readonly keys: number
  /** Sent by POST. All member values differ, so that parameters can be told apart. */
  readonly item?: Readonly<Record<string, unknown>>
}

const columns = 'id,title,slug,status,summary,views,featured,score,publishedOn,authorId'
const author = 'author.id,author.name,author.email'
const articles = 'articles.id,articles.title,articles.status,articles.views,articles.publishedOn'

export const cases: readonly Case[] = [
  { name: 'point-read', path: '/items/articles/{key}', keys: 10_000 },
  { name: 'list', path: `/items/articles?fields=${columns}&filter[id][_gt]={key}&limit=25`, keys: 9_900 },
  { name: 'to-one', path: `/items/articles?fields=${columns},${author}&filter[id][_gt]={key}&limit=25`, keys: 9_900 },
  {
    name: 'to-many',
    path: `/items/authors?fields=id,name,${articles}&deep[articles][_limit]=5&filter[id][_gt]={key}&limit=100`,
    keys: 1_900,
  },
  {
    name: 'insert',
    path: '/items/entries',
    keys: 1,
    item: {
      title: 'An entry that is added',
      slug: 'an-entry-that-is-added',
      status: 'draft',
      views: 17,
      featured: true,
      score: 2.5,
      publishedOn: '2026-11-21',
    },
  },
]

export function findCase(name: Case['name']): Case {
  const found = cases.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`there is no case ${name}`)
  return found
}

/** Returns one HTTP request per key of `path`, at most 2,000, in scattered order. */
export function requestsOf(
  { keys, item }: Pick<Case, 'keys' | 'item'>,
  path: string,
  token?: string,
): readonly string[] {
  const body = item === undefined ? '' : JSON.stringify([item])
  const head = [
    'Host: 127.0.0.1',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(item === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ].join('\r\n')
  const method = item === undefined ? 'GET' : 'POST'
  return Array.from({ length: Math.min(keys, 2_000) }, (_, index) => {
    const key = String(1 + ((index * 7_919) % keys))
    return `${method} ${path.replace('{key}', key)} HTTP/1.1\r\n${head}\r\n\r\n${body}`
  })
}
