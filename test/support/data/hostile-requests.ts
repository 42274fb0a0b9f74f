/**
 * A grammar of requests that are as large and as deep as one may send: forms nested in each other and repeated, up to 64 KB of
 * address and 1 MB of body, for a workspace with `authors` (name, detail) and `posts` (title), `posts.author` ↔ `authors.posts`.
 */
export type HostileRequest = {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Below the address of the workspace, or of the instance where it begins with `/api/`. */
  readonly path: string
  readonly body?: string
}

type Dice = { readonly below: (end: number) => number; readonly pick: <T>(list: readonly T[]) => T }

const MAX_URL = 60_000
const MAX_BODY = 1_000_000

/** As often as it fits into `most` characters. */
const filled = (unit: string, most: number): string => unit.repeat(Math.max(0, Math.floor(most / unit.length)))
const filledBy = (unit: (index: number) => string, most: number): string => {
  const parts: string[] = []
  for (let length = 0, index = 0; length < most; index++) {
    const part = unit(index)
    parts.push(part)
    length += part.length + 1
  }
  return parts.slice(0, -1).join()
}
const repeated = (unit: string, length: number, most: number): string =>
  Array.from({ length: Math.min(most, Math.floor(length / (unit.length + 1))) }, () => unit).join()
const wrapped = (start: string, inner: string, end: string, most: number): string => {
  const levels = Math.max(0, Math.floor((most - inner.length) / (start.length + end.length)))
  return start.repeat(levels) + inner + end.repeat(levels)
}

const lists = [
  '/items/authors',
  '/items/posts/1',
  '/schema/structure/collections',
  '/audit-log',
  '/policies',
  '/members',
]
const ofInstance = ['/api/system/users', '/api/system/audit-log', '/api/system/workspaces', '/api/system/api-keys']

const searches: readonly ((length: number) => string)[] = [
  (length) => `fields=${filled('a.', length)}`,
  (length) => `fields=${filled('a,', length)}`,
  (length) => `fields=${filledBy((index) => `f${index}`, length)}`,
  (length) => `fields=${filledBy(() => 'posts.author.posts.author.posts.author.name', length)}`,
  (length) => filled('fields[]=a&', length),
  (length) => filled('%61ccess%5Ftoke=1&', length),
  (length) => filled('%25&', length),
  (length) => filled('&', length),
  (length) => filled('a%5B%5D=1&', length),
  (length) => `filter${filled('[_not]', length)}[name]=a`,
  (length) => `filter${filled('[posts][_some][author]', length)}[name]=a`,
  (length) => filled('filter[_or][0][_or][0][_or][0][_or][0][name]=a&', length),
  (length) =>
    filledBy(
      (index) => `filter[_or][${index}][posts][_none][author][posts][_every][title][_contains]=%25_`,
      length,
    ).replaceAll(',', '&'),
  (length) => filled('filter[name][_in][]=a&', length),
  (length) => `filter[name][_contains]=${filled('%25_', length)}`,
  (length) => `filter[name][_icontains]=${filled('aA', length)}`,
  (length) => `filter[detail][_eq]=${wrapped('[', '1', ']', length)}`,
  (length) => `filter[name]=${filled('%C3%A9', length)}`,
  (length) => filledBy((index) => `sort[${index}][name][direction]=asc`, length).replaceAll(',', '&'),
  (length) => `deep${filled('[posts][author]', length)}[_limit]=1`,
  (length) => `fields=posts.title&deep[${filled('posts.', 190)}posts]${filled('[posts]', length)}[_limit]=1`,
  (length) => `limit=${filled('9', length)}`,
  (length) => `meta=totalCount&offset=${filled('0', length)}`,
]

const operation = (data: string) => `{"kind":"updateCollection","data":${data}}`
const ID = '00000000-0000-4000-8000-000000000001'
const uuid = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`

const modelFile = (collections: string) => `{"model":{"version":1,"collections":{${collections}}}}`
type Unit = { readonly unit: (index: number) => string; readonly operations: number }

/** Things of a model file, and the operations that make each. */
const collections: readonly Unit[] = [
  { unit: (index) => `"h${index}":{"fields":{"id":"int32"}}`, operations: 3 },
  { unit: (index) => `"h${index}":{"fields":{"id":"int32","up":{"to":"h${Math.max(0, index - 1)}"}}}`, operations: 6 },
  {
    unit: (index) => `"h${index}":{"fields":{"id":"int32","all":{"many":"h0","opposite":"o${index}"}}}`,
    operations: 11,
  },
]
const fields: readonly Unit[] = [
  { unit: (index) => `"f${index}":"int32"`, operations: 3 },
  { unit: (index) => `"f${index}":{"to":"h?","opposite":"o${index}"}`, operations: 3 },
  { unit: (index) => `"f${index}":{"many":"h","opposite":"o${index}"}`, operations: 8 },
]
const two = (more: string) => `"h":{"fields":{"id":"int32"}},"g":{"fields":{"id":"int32",${more}}}`
/** As many as one plan may make, and fit. */
const planned = ({ unit, operations }: Unit, length: number) =>
  Array.from({ length: Math.min(9_900 / operations, length / unit(10_000).length) }, (_, index) => unit(index)).join()
/** Of policies; a role has at most 200. */
const names = Array.from({ length: 200 }, (_, index) => `p${index}`)

type Body = readonly [path: string, method: 'POST' | 'PATCH', make: (length: number) => string]

const bodies: readonly Body[] = [
  ['/items/authors', 'POST', (length) => wrapped('[', '', ']', length)],
  ['/items/authors', 'POST', (length) => wrapped('{"a":', '1', '}', length)],
  ['/items/authors', 'POST', (length) => `[${filledBy(() => '{}', length)}]`],
  ['/items/authors', 'POST', (length) => `[{"name":"x","detail":[${filledBy(() => '0', length)}]}]`],
  [
    '/items/authors',
    'POST',
    (length) => `[{"name":"x","detail":${wrapped('[', '1', ']', 1_900)}}]${filled(' ', length - 2_000)}`,
  ],
  ['/items/authors', 'POST', (length) => `[{"name":"${filled('\\u0061', length)}"}]`],
  ['/items/authors', 'POST', (length) => `[{${filledBy((index) => `"m${index}":1`, length)}}]`],
  [
    '/items/authors',
    'POST',
    (length) => `[${Array.from({ length: 1_000 }, () => '{"name":"x"}').join()}]${filled(' ', length - 14_000)}`,
  ],
  [
    '/items/authors',
    'POST',
    (length) => `[{"name":"x","posts":[{"_create":{"data":[${filledBy(() => '{"title":"y"}', length)}]}}]}]`,
  ],
  [
    '/items/authors',
    'POST',
    (length) => `[{"name":"x","posts":[${filledBy(() => '{"_create":{"data":[{"title":"y"}]}}', length)}]}]`,
  ],
  [
    '/items/authors',
    'POST',
    // As many changes as one may ask for, a few less for the author and the answer.
    (length) => `[{"name":"x","posts":[{"_create":{"data":[${repeated('{"title":"y"}', length, 19_990)}]}}]}]`,
  ],
  [
    '/items/authors',
    'POST',
    (length) => `[{"name":"x","posts":[{"_connect":{"keys":[${filledBy(() => '{}', length)}]}}]}]`,
  ],
  [
    '/items/authors',
    'POST',
    (length) => `[{"name":"x","posts":[{"_connect":{"keys":[${filledBy(() => '{"id":1}', length)}]}}]}]`,
  ],
  [
    '/items/authors',
    'POST',
    (length) => `[{"name":"x","posts":[{"_connect":{"keys":[${repeated('{"id":1}', length, 9_985)}]}}]}]`,
  ],
  [
    '/items/authors',
    'POST',
    // As many as one list may have, all of them different.
    (length) =>
      `[{"name":"x","posts":[{"_connect":{"keys":[${filledBy((index) => `{"id":${index}}`, Math.min(length, 280_000))}]}}]}]`,
  ],
  [
    '/items/authors/1',
    'PATCH',
    (length) => `{"posts":[${filledBy(() => '{"_disconnect":{"filter":{"title":"nobody"}}}', length)}]}`,
  ],
  [
    '/items/authors/1',
    'PATCH',
    (length) => `{"posts":[{"_delete":{"filter":{"_and":[${filledBy(() => '{"title":{"_eq":"nobody"}}', length)}]}}}]}`,
  ],
  [
    '/items/authors/1',
    'PATCH',
    (length) => `{"posts":[{"_delete":{"filter":${wrapped('{"_not":', '{}', '}', length)}}}]}`,
  ],
  ...collections.flatMap((one): readonly Body[] => [
    ['/schema/plan', 'POST', (length) => modelFile(filledBy(one.unit, length))],
    ['/schema/plan', 'POST', (length) => modelFile(planned(one, length))],
  ]),
  ...fields.flatMap((one): readonly Body[] => [
    ['/schema/plan', 'POST', (length) => modelFile(two(filledBy(one.unit, length)))],
    ['/schema/plan', 'POST', (length) => modelFile(two(planned(one, length)))],
  ]),
  [
    '/schema/plan',
    'POST',
    (length) =>
      `{"model":{"version":1,"policies":{${filledBy((index) => `"p${index}":{"collections":{"authors":{"read":{"filter":{"name":{"_eq":"x"}}}}}}`, length)}}}}`,
  ],
  [
    '/schema/plan',
    'POST',
    (length) =>
      `{"model":{"version":1,"roles":{${filledBy((index) => `"r${index}":[${names.map((name) => `"${name}"`).join()}]`, length / 2)}},"policies":{${names.map((name) => `"${name}":{"collections":{"authors":{"read":"all","create":"all","update":"all","delete":"all"}}}`).join()}}}}`,
  ],
  ['/schema/migrate', 'POST', (length) => `{"operations":[${filledBy(() => '0', length)}]}`],
  ['/schema/migrate', 'POST', (length) => `{"operations":[${filledBy(() => '{}', length)}]}`],
  [
    '/schema/migrate',
    'POST',
    (length) => `{"operations":[${operation(`{"id":"${ID}","operations":[${filledBy(() => '{}', length)}]}`)}]}`,
  ],
  [
    '/schema/migrate',
    'POST',
    (length) => `{"operations":[${filledBy(() => operation(`{"id":"${ID}","operations":[]}`), length)}]}`,
  ],
  [
    '/schema/migrate?dryRun=true',
    'POST',
    (length) =>
      `{"operations":[${filledBy((index) => `{"kind":"createNamespace","data":{"id":"${uuid(index)}","sourceId":"SOURCE","dbName":"n${index}"}}`, length)}]}`,
  ],
  [
    '/schema/migrate?dryRun=true',
    'POST',
    (length) =>
      `{"operations":[${filledBy((index) => `{"kind":"createCollection","data":{"id":"${uuid(index)}","sourceId":"SOURCE","dbName":"h${index}","operations":[]}}`, length)}]}`,
  ],
  [
    '/schema/migrate?dryRun=true',
    'POST',
    (length) =>
      `{"operations":[{"kind":"createCollection","data":{"id":"${ID}","sourceId":"SOURCE","dbName":"wide","operations":[${filledBy((index) => `{"kind":"createPrimitiveField","data":{"id":"${uuid(index + 2)}","dbName":"f${index}","type":{"name":"int32"},"isNullable":true,"isList":false}}`, length)}]}}]}`,
  ],
  [
    '/policies',
    'POST',
    (length) => `{"name":"p","content":{"collections":{${filledBy((index) => `"c${index}":0`, length)}}}}`,
  ],
  ['/policies', 'POST', (length) => `{"name":"p","content":{"entitlements":[${filledBy(() => '0', length)}]}}`],
  [
    '/policies',
    'POST',
    (length) =>
      `{"name":"p","content":{"collections":{"authors":{"read":{"filter":${wrapped('{"_not":', '{}', '}', length)}}}}}}`,
  ],
  [
    '/policies',
    'POST',
    (length) =>
      `{"name":"p","content":{"collections":{"authors":{"read":{"filter":{"name":{"_in":[${filledBy(() => '"a"', length)}]}}}}}}}`,
  ],
  [
    '/policies',
    'POST',
    (length) =>
      `{"name":"p","content":{"collections":{"authors":{"read":{"filter":{"_or":[${filledBy(() => '{"posts":{"_none":{"author":{"posts":{}}}}}', 60_000)}]}}}}}}${filled(' ', length - 70_000)}`,
  ],
  [
    '/sources/data',
    'POST',
    (length) => `{"apiName":"x","provider":"postgres","config":{${filledBy((index) => `"m${index}":1`, length)}}}`,
  ],
  [
    '/sources/data',
    'POST',
    (length) => `{"apiName":"x","provider":"postgres","config":{},"permissions":[${filledBy(() => '0', length)}]}`,
  ],
  ['/roles', 'POST', (length) => `{"name":"x","policies":[${filledBy(() => '0', Math.min(length, 60_000))}]}`],
  ['/api/auth/login', 'POST', (length) => `{"credentials":${wrapped('[', '', ']', Math.min(length, 60_000))}}`],
]

const call = (name: string, args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
const listArguments: readonly ((length: number) => string)[] = [
  (length) => `"fields":"${filled('a.', length)}"`,
  (length) => `"fields":[${filledBy(() => '0', length)}]`,
  (length) => `"fields":"${wrapped('[', '', ']', length)}"`,
  (length) => `"filter":${wrapped('{"_not":', '{}', '}', length)}`,
  (length) => `"filter":{"_or":[${filledBy(() => '{}', length)}]}`,
  (length) => `"filter":{"_or":[${filledBy(() => `{"name":{"_in":["a","b","c"]}}`, length)}]}`,
  (length) => `"sort":[${filledBy(() => '{}', length)}]`,
  (length) => `"deep":${wrapped('{"posts":', '{}', '}', length)}`,
  (length) => `"deep":{${filledBy((index) => `"m${index}":{}`, length)}}`,
  (length) => filledBy((index) => `"m${index}":1`, length),
]
const calls: readonly ((length: number) => string)[] = [
  ...listArguments.map((make) => (length: number) => call('list_items', `{"collection":"authors",${make(length)}}`)),
  (length) => call('create_items', `{"collection":"authors","data":[${filledBy(() => '0', length)}]}`),
  (length) => call('create_items', `{"collection":"authors","data":[${filledBy(() => '{}', length)}]}`),
  (length) => call('mutate_schema', `{"operations":[${filledBy(() => '{}', length)}]}`),
  (length) => call('mutate_schema', `{"operations":${wrapped('[', '', ']', length)}}`),
  (length) => call('read_schema', `{"collection":"${filled('x', length)}"}`),
  (length) => `[${filledBy(() => call('read_schema', '{}'), length)}]`,
  (length) => `[${filledBy(() => '{"jsonrpc":"2.0","id":1,"method":"ping"}', length)}]`,
]

/** Every form once, as large as it may be. */
export function allHostile(): readonly HostileRequest[] {
  return [
    ...searches.map((make, index) => get(lists[index % 2] ?? '', make(MAX_URL), `search ${index}`)),
    ...[...lists, ...ofInstance].map((list) => get(list, searches[0]?.(MAX_URL) ?? '', `path in ${list}`)),
    ...bodies.map(([path, method, make], index) => ({
      name: `body ${index} of ${path}`,
      method,
      path,
      body: make(MAX_BODY),
    })),
    ...calls.map((make, index) => ({
      name: `call ${index}`,
      method: 'POST' as const,
      path: '/mcp',
      body: make(MAX_BODY),
    })),
  ]
}

/** One form of any size, anywhere. */
export function anyHostile({ below, pick }: Dice): HostileRequest {
  const length = 10 ** (2 + below(400) / 100)
  const kind = below(3)
  if (kind === 0) {
    const parts = Array.from({ length: 1 + below(3) }, () => pick(searches)(Math.min(length, MAX_URL) / 3))
    return get(pick([...lists, ...ofInstance]), parts.join('&'), 'any search')
  }
  if (kind === 1)
    return { name: 'any call', method: 'POST', path: '/mcp', body: pick(calls)(Math.min(length, MAX_BODY)) }
  const [path, method, make] = pick(bodies)
  return { name: `any body of ${path}`, method, path, body: make(Math.min(length, MAX_BODY)) }
}

function get(list: string, search: string, name: string): HostileRequest {
  return { name, method: 'GET', path: `${list}?${search}` }
}
