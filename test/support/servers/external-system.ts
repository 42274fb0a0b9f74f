/**
 * What the connector `scripted` talks to: a server on loopback with a few collections, which tells the connector what to do
 * instead of its work where a test says so, and keeps the requests that reached it.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import {
  answerRead,
  type CollectionDeclaration,
  type Item,
  matches,
  type QueryRequest,
} from 'governed-data-service/connector-kit'

export type ExternalSystem = {
  readonly url: string
  /** `net:` and the address, as a grant names it. */
  readonly permission: string
  readonly declarations: CollectionDeclaration[]
  readonly records: Map<string, Item[]>
  /** What a handler does instead of its work, until `tell` says otherwise. */
  instruct(handler: string, instruction: object | null): void
  /** Keeps the next start of a handler waiting: `reached` when it is, until `release`. */
  hold(handler: string): { readonly reached: Promise<void>; readonly release: () => void }
  /** Queries that came in since this was last asked. */
  queries(): readonly QueryRequest[]
  close(): Promise<void>
}

type Gate = { readonly reached: PromiseWithResolvers<void>; readonly released: PromiseWithResolvers<void> }

export async function startExternalSystem(
  declarations: CollectionDeclaration[],
  records: Readonly<Record<string, readonly Item[]>>,
): Promise<ExternalSystem> {
  const store = new Map(Object.entries(records).map(([name, items]) => [name, [...items]]))
  const instructions = new Map<string, object>()
  const held = new Map<string, Gate>()
  const queries: QueryRequest[] = []
  /** What writes under a key were answered. */
  const done = new Map<string, unknown>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const body = await readAll(request)
    const gate = held.get(path)
    held.delete(path)
    gate?.reached.resolve()
    await gate?.released.promise
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(answer(path, body)))
  })

  function answer(path: string, body: string): unknown {
    if (path.startsWith('/instructions/')) return instructions.get(path.slice('/instructions/'.length)) ?? null
    if (path === '/schema') return { schema: { collections: declarations } }
    const request = JSON.parse(body) as QueryRequest
    queries.push(request)
    const key = 'idempotencyKey' in request ? request.idempotencyKey : undefined
    const before = key === undefined ? undefined : done.get(key)
    if (before !== undefined) return before
    if ('unchanged' in request && isChanged(store, request)) return 'changed'
    const served = serve(store, request)
    if (key !== undefined) done.set(key, served)
    return served
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    permission: `net:127.0.0.1:${port}`,
    declarations,
    records: store,
    instruct(handler, instruction) {
      if (instruction === null) instructions.delete(handler)
      else instructions.set(handler, instruction)
    },
    hold(handler) {
      const gate: Gate = { reached: Promise.withResolvers(), released: Promise.withResolvers() }
      held.set(`/instructions/${handler}`, gate)
      return { reached: gate.reached.promise, release: () => gate.released.resolve() }
    },
    queries: () => queries.splice(0),
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Whether the item of the key has other values than the request relies on. */
function isChanged(
  store: Map<string, Item[]>,
  { collection, key, unchanged = {} }: Extract<QueryRequest, { readonly unchanged?: Item }>,
): boolean {
  const found = store
    .get(collection)
    ?.find((item) => Object.entries(key).every(([name, value]) => item[name] === value))
  return (
    found !== undefined &&
    Object.entries(unchanged).some(([name, value]) => !isDeepStrictEqual(found[name] ?? null, value))
  )
}

function serve(store: Map<string, Item[]>, request: QueryRequest): unknown {
  const items = store.get(request.collection) ?? []
  const isKeyed = (key: Item) => (item: Item) => Object.entries(key).every(([name, value]) => item[name] === value)
  const only = (item: Item) => Object.fromEntries(request.fields.map((name) => [name, item[name] ?? null]))
  switch (request.operation) {
    case 'readMany':
    case 'readOne':
      return answerRead(request, items)
    case 'createMany': {
      const highest = Math.max(0, ...items.map(({ id }) => Number(id)))
      const created = request.data.map((item, index) => ({ id: highest + index + 1, ...item }))
      store.set(request.collection, [...items, ...created])
      return { records: created.map(only) }
    }
    case 'updateOne': {
      const found = items.find(isKeyed(request.key))
      if (found === undefined) return { record: null }
      const changed = { ...found, ...request.data }
      store.set(
        request.collection,
        items.map((item) => (item === found ? changed : item)),
      )
      return { record: only(changed) }
    }
    case 'deleteOne': {
      const found = items.find(isKeyed(request.key))
      store.set(
        request.collection,
        items.filter((item) => item !== found),
      )
      return { record: found === undefined ? null : only(found) }
    }
    case 'updateMany':
    case 'deleteMany': {
      const { filter } = request
      const isMatch = (item: Item) => filter === undefined || matches(filter, item) === true
      const matching = items.filter(isMatch)
      if (request.operation === 'deleteMany') {
        store.set(
          request.collection,
          items.filter((item) => !isMatch(item)),
        )
        return { records: matching.map(only) }
      }
      const { data } = request
      store.set(
        request.collection,
        items.map((item) => (isMatch(item) ? { ...item, ...data } : item)),
      )
      return { records: matching.map((item) => only({ ...item, ...data })) }
    }
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
