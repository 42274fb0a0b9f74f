/**
 * Runs a connector as the service does, for its author's tests: bundled from its folder, in the sandbox of Node, with
 * its grant, every answer validated. Errors are those that callers of the service get, with the same causes.
 */
import { handlerFault } from '../core/connector/fault.ts'
import { requireGrant } from '../core/connector/handshake.ts'
import { type Permission, permissionsSchema } from '../core/connector/permission.ts'
import {
  type ConnectorFilter,
  parseConnectionTest,
  parseQueryAnswer,
  type QueryRequest as Request,
  typed,
} from '../core/connector/protocol.ts'
import { type ConnectorSchema, parseIntrospection, qualifiedName } from '../core/connector/schema.ts'
import type { PrimitiveField } from '../core/model/model.ts'
import { wireValue } from '../core/model/wire.ts'
import { loadExtensions } from '../platform/node/connectors/extensions.ts'
import { createNodeConnectorHost } from '../platform/node/connectors/host.ts'
import type { InstalledConnector } from '../ports/connectors.ts'
import { answerOf } from '../sources/connector/runtime.ts'
import { openSession, requiredBy, startConnector } from '../sources/connector/start.ts'
import type { Item, QueryRequest, Sort } from './connector.ts'

export type RunningConnector = {
  /** The permissions that a grant must equal: the manifest's and preflight's. */
  readonly required: readonly Permission[]
  /** Returns the importable schema; throws `Invalid extension response` for an answer outside the protocol. */
  introspect(): Promise<ConnectorSchema>
  /** Returns records as callers get them, at most one for a request by key. `count` is set if it was requested. */
  query(request: QueryRequest): Promise<{ readonly records: readonly Item[]; readonly count: number | undefined }>
  /**
   * The whole list as callers walk it, `limit` records at a time, each page behind the last record of the one before:
   * what `after` promises. `sort` ends with the key.
   */
  walk(list: PagedList): Promise<readonly Item[]>
  /** Throws if the test fails. */
  testConnection(): Promise<void>
  close(): Promise<void>
}

export type PagedList = Omit<
  Extract<QueryRequest, { readonly sort?: unknown }>,
  'operation' | 'offset' | 'after' | 'count'
> & {
  readonly sort: readonly Sort[]
}

export type ConnectorRun = {
  /** Folder of the extension, with its package.json. */
  readonly folder: string
  readonly config: unknown
  /** The granted permissions; by default the required ones. */
  readonly permissions?: readonly Permission[]
}

const LIMITS = {
  timeLimit: 10_000,
  busyLimit: 5_000,
  idleLimit: 60_000,
  memoryLimit: 256 * 1024 ** 2,
  allowPrivate: true,
}

/**
 * Runs the permission handshake and starts the connector. Throws the error that creating a data source would return.
 */
export async function runConnector({ folder, config, permissions }: ConnectorRun): Promise<RunningConnector> {
  const installed = await load(folder)
  const host = createNodeConnectorHost({ ...LIMITS, onPrint: ({ level, message }) => console[level](message) })
  const open = (grant: readonly Permission[]) =>
    openSession({
      host,
      installed,
      setting: { config, permissions: grant },
      place: { workspaceId: 'test', id: 'test' },
    })
  try {
    const asking = open(permissions ?? [])
    const required = await requiredBy(asking, installed.permissions)
    await asking.close()
    if ('kind' in required) throw required.error
    const grant = permissions === undefined ? required : permissionsSchema().parse(permissions)
    requireGrant(grant, required)
    const started = await startConnector(open(grant), installed, { config, permissions: grant })
    if (started.kind === 'failed') throw started.error
    const { session, handlers } = started
    let schema: ConnectorSchema | undefined
    const introspect = async () => {
      schema ??= parseIntrospection(answerOf(await session.call('introspect'), 'introspect'))
      return schema
    }
    /** Answers are checked as those to callers are. */
    const query: RunningConnector['query'] = async (request) => {
      const declared = fieldsOf(await introspect(), request)
      const fields = request.fields.flatMap((name) => declared.get(name) ?? [])
      // Both types describe the same protocol; the service's own is less strict.
      const sent = withTypes(request as Request, declared)
      const value = answerOf(await session.call('query', sent), 'query')
      const { records, count } = parseQueryAnswer(sent, fields, value)
      const shaped = records.map((record) =>
        Object.fromEntries(fields.map((field) => [field.dbName, wireValue(field, record.get(field.dbName) ?? null)])),
      )
      return { records: shaped, count }
    }
    return {
      required,
      introspect,
      query,
      walk: (list) => readPages(query, list),
      async testConnection() {
        if (!handlers.has('testConnection')) throw handlerFault({ message: 'no test', code: null, denied: false })
        const fault = parseConnectionTest(answerOf(await session.call('testConnection'), 'testConnection'))
        if (fault !== undefined) throw fault
      },
      close: () => host.close(),
    }
  } catch (error) {
    await host.close()
    throw error
  }
}

async function readPages(query: RunningConnector['query'], list: PagedList): Promise<readonly Item[]> {
  const items: Item[] = []
  const places = new Set<string>()
  const read = {
    ...list,
    operation: 'readMany',
    fields: [...new Set([...list.fields, ...list.sort.map(fieldOf)])],
  } as const
  for (let after: Item | undefined; ; ) {
    const { records } = await query(after === undefined ? read : { ...read, after })
    const last = records.at(-1)
    if (last === undefined) return items
    items.push(...records)
    after = Object.fromEntries(list.sort.map(({ field }) => [field, last[field]]))
    const place = JSON.stringify(after)
    if (places.has(place)) throw new Error(`the page behind ${place} ends there again`)
    places.add(place)
  }
}

const fieldOf = ({ field }: Sort) => field

/** Loads the only connector of a folder, whose name must not begin with a dot. */
async function load(folder: string): Promise<InstalledConnector> {
  const path = folder.replace(/\/+$/, '')
  const name = path.slice(path.lastIndexOf('/') + 1)
  const { installed, broken } = await loadExtensions(path.slice(0, path.lastIndexOf('/')) || '.')
  const fault = broken.find(({ location }) => location.includes(`/${name}/`))
  if (fault !== undefined) throw new Error(`${fault.location} ${fault.reason}`)
  const [found] = installed.filter((one) => one.id === name)
  if (found === undefined) throw new Error(`${folder} has no connector with the id ${name}`)
  return { ...found, permissions: permissionsSchema().parse(found.permissions) }
}

type Fields = ReadonlyMap<string, PrimitiveField>

/** The fields of the collection of a request, by name. */
function fieldsOf({ collections }: ConnectorSchema, request: QueryRequest): Fields {
  const place = qualifiedName(request.namespace, request.collection)
  const declared = collections.find(({ namespace, name }) => qualifiedName(namespace, name) === place)
  const fields = (declared?.fields ?? []).map(({ name, type, isNullable, isList, isReadOnly }): PrimitiveField => {
    const names = { id: name, dbName: name, apiName: name, collectionId: request.collection }
    const shape = { type, isNullable, isList, isReadOnly }
    return { kind: 'primitive', ...names, ...shape, defaultValue: null, isLoose: false, native: null }
  })
  return new Map(fields.map((field) => [field.dbName, field]))
}

/** The request with the types that the service adds to what is compared and sorted by. */
function withTypes(request: Request, declared: Fields): Request {
  const { filter, sort } = request
  const typeOf = (name: string) => {
    const field = declared.get(name)
    return field && typed(field)
  }
  const filled = (part: ConnectorFilter): ConnectorFilter => {
    if ('and' in part) return { and: part.and.map(filled) }
    if ('or' in part) return { or: part.or.map(filled) }
    if ('not' in part) return { not: filled(part.not) }
    return part.operator === 'null' || part.operator === 'empty' ? part : { ...typeOf(part.field), ...part }
  }
  return {
    ...request,
    ...(filter && { filter: filled(filter) }),
    ...(sort && { sort: sort.map((term) => ({ ...typeOf(term.field), ...term })) }),
  }
}
