/** A request in the languages that it is copied in. A token is named and never shown. */
import { addressOf, agentAddress, bodyOf, type CodeRequest, type ItemsRequest } from './request.ts'

export type Kind = 'curl' | 'fetch' | 'client' | 'python' | 'mcp' | 'agent'

/** Agents have tools for items, and a server in each workspace. */
export function kindsOf(request: CodeRequest): readonly Kind[] {
  const ofItems = 'collection' in request ? (['mcp'] as const) : []
  return ['curl', 'fetch', 'client', 'python', ...ofItems, ...(request.workspace ? (['agent'] as const) : [])]
}

export function codeOf(kind: Kind, request: CodeRequest): string {
  return makers[kind](request)
}

const makers: Readonly<Record<Kind, (request: CodeRequest) => string>> = {
  curl,
  fetch: fetchCode,
  client: clientCode,
  python,
  mcp,
  agent,
}

const partsOf = (request: CodeRequest): Pick<ItemsRequest, 'method' | 'etag'> =>
  'collection' in request ? request : { method: 'GET' }

function curl(request: CodeRequest): string {
  const { method, etag } = partsOf(request)
  const body = bodyOf(request)
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}-H "Authorization: Bearer $TOKEN"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`]),
    ...(etag === undefined ? [] : [`-H 'If-Match: "${etag}"'`]),
    ...(body === undefined ? [] : [`-d '${body}'`]),
    `'${addressOf(request)}'`,
  ]
  return parts.join(' \\\n  ')
}

/** A call as text; the console itself calls nothing here. */
const call = (name: string, ...given: readonly string[]) => `${name}(${given.join(', ')})`

const indented = (text: string) => text.replaceAll('\n', '\n  ')

function fetchCode(request: CodeRequest): string {
  const { method, etag } = partsOf(request)
  const body = bodyOf(request)
  const headers = [
    `Authorization: \`Bearer \${process.env.TOKEN}\``,
    ...(body === undefined ? [] : [`'Content-Type': 'application/json'`]),
    ...(etag === undefined ? [] : [`'If-Match': '"${etag}"'`]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    `headers: { ${headers.join(', ')} }`,
    ...(body === undefined ? [] : [`body: ${call('JSON.stringify', indented(body))}`]),
  ]
  const fetchText = call('fetch', `'${addressOf(request)}'`, `{\n  ${options.join(',\n  ')},\n}`)
  return `const response = await ${fetchText}\nconst { data } = await response.json()`
}

function clientCode(request: CodeRequest): string {
  if (!('collection' in request)) return systemCode(request)
  const { workspace, collection } = request
  const of = /^[A-Za-z_]\w*$/.test(collection) ? `.${collection}` : `[${JSON.stringify(collection)}]`
  return `import { apiKey, createClient } from 'governed-data-client'
import type { Schema } from './schema.ts'

const db = createClient<Schema>('${location.origin}', {
  workspace: '${workspace}',
  auth: apiKey(process.env.TOKEN),
})
const data = await db${of}.${clientCall(request)}.orThrow()`
}

/** Of what is no item; without a workspace of the whole instance. */
function systemCode({ workspace = 'system', query, call: [of, name] }: Exclude<CodeRequest, ItemsRequest>): string {
  const options = Object.keys(query).length > 0 ? [JSON.stringify(clientQuery(query), null, 2)] : []
  return `import { apiKey, createClient } from 'governed-data-client'
import { ${of} } from 'governed-data-client/system'

const db = createClient('${location.origin}', {
  workspace: '${workspace}',
  auth: apiKey(process.env.TOKEN),
})
const data = await ${of}(db).${call(name, ...options)}.orThrow()`
}

function clientCall({ method, isAggregate, key, query, data, etag }: ItemsRequest): string {
  const text = (value: unknown) => JSON.stringify(value, null, 2)
  const callOptions = { ...clientQuery(query), ...(etag !== undefined && { ifMatch: etag }) }
  const options = Object.keys(callOptions).length > 0 ? [text(callOptions)] : []
  if (method === 'POST') return call('create', text(data), ...options)
  if (key === undefined) return call(isAggregate ? 'aggregate' : 'list', ...options)
  const values = Object.values(key)
  const which = JSON.stringify(values.length === 1 ? values[0] : values)
  return method === 'GET' ? call('get', which, ...options) : call('update', which, text(data), ...options)
}

/** `author.name` of the API is `{author: ['name']}` for the client, and `{title: {direction: 'asc'}}` is `{title: 'asc'}`. */
function clientQuery({ fields, group, sort, ...others }: ItemsRequest['query']): Readonly<Record<string, unknown>> {
  const names = typeof fields === 'string' ? fields.split(',').map((field) => nested(field)) : undefined
  const groups = Array.isArray(group) ? group.map(nestedGroup) : undefined
  return {
    ...(names && { fields: names }),
    ...others,
    ...(groups && { group: groups }),
    ...(Array.isArray(sort) && { sort: sort.map(direction) }),
  }
}

function nested(field: string, leaf: (name: string) => unknown = (name) => name): unknown {
  const [first = '', ...others] = field.split('.')
  return others.length === 0 ? leaf(first) : { [first]: [nested(others.join('.'), leaf)] }
}

/** A field, or one of an object with the time that it is cut down to. */
function nestedGroup(group: unknown): unknown {
  if (typeof group === 'string') return nested(group)
  const [[field, cut] = ['', undefined]] = Object.entries(group as object)
  return nested(field, (name) => ({ [name]: cut }))
}

function direction(by: unknown): unknown {
  if (typeof by !== 'object' || by === null) return by
  if ('direction' in by) return 'nulls' in by ? `${by.direction} nulls ${by.nulls}` : by.direction
  return Object.fromEntries(Object.entries(by).map(([name, below]) => [name, direction(below)]))
}

function python(request: CodeRequest): string {
  const { method, etag } = partsOf(request)
  const body = bodyOf(request)
  const headers = [
    `"Authorization": "Bearer " + os.environ["TOKEN"]`,
    ...(body === undefined ? [] : [`"Content-Type": "application/json"`]),
    ...(etag === undefined ? [] : [`"If-Match": '"${etag}"'`]),
  ]
  const sent = body === undefined ? '' : `    data=r'''${body}'''.encode(),\n`
  return `import json, os, urllib.request

request = urllib.request.Request(
    '${addressOf(request)}',
    method="${method}",
    headers={${headers.join(', ')}},
${sent})
with urllib.request.urlopen(request) as response:
    data = json.load(response)["data"]`
}

/** The call of a tool, as an agent sends it to the server of the workspace. */
function mcp(request: CodeRequest): string {
  if (!('collection' in request)) return ''
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: toolCall(request) }, null, 2)
}

function toolCall({ collection, method, isAggregate, key = {}, query, data, etag }: ItemsRequest): object {
  if (isAggregate) return { name: 'aggregate_items', arguments: { collection, ...query } }
  if (method === 'POST') return { name: 'create_items', arguments: { collection, data: [data] } }
  const values = Object.values(key)
  if (method === 'PATCH') {
    const of = { collection, key: values.length === 1 ? values[0] : key }
    return { name: 'update_item', arguments: { ...of, data, ...(etag !== undefined && { ifMatch: etag }) } }
  }
  const { fields, ...others } = query
  const toolOptions = { ...(typeof fields === 'string' && { fields: fields.split(',') }), ...others }
  const one = values.length > 0 && {
    filter: allOf(Object.entries(key).map(([name, value]) => ({ [name]: { _eq: value } }))),
  }
  return { name: 'list_items', arguments: { collection, ...toolOptions, ...one } }
}

function allOf(conditions: readonly object[]): object {
  return conditions.length === 1 ? (conditions[0] as object) : { _and: conditions }
}

/** What most agents take as the settings of a server. */
function agent({ workspace = '' }: CodeRequest): string {
  const server = { type: 'http', url: agentAddress(workspace), headers: { Authorization: 'Bearer TOKEN' } }
  return JSON.stringify({ mcpServers: { [workspace]: server } }, null, 2)
}
