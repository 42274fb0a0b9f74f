/**
 * Outbound connections of a Node process to hosts from outside: databases, connectors' upstreams, sign-in providers. If
 * private hosts are not allowed, every address that a name resolves to is checked, and the connection uses exactly the
 * checked addresses, so a second resolution cannot change them.
 */
import { lookup } from 'node:dns'
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  type RequestOptions,
  request as requestPlain,
} from 'node:http'
import { Agent, request as requestSecure } from 'node:https'
import { type LookupFunction, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { lazily } from '../../../core/lazily.ts'
import type { Fetch } from '../../fetch.ts'
import { isPrivateAddress, isPrivateHost, PrivateHostError } from '../../private-hosts.ts'
import { createMemberLookup } from './member-names.ts'

export type Network = {
  /** An unconnected socket, to be connected by `connect(port, host)`. */
  readonly socket: () => Socket
  /** Does not follow redirects, and decodes nothing. */
  readonly fetch: Fetch
  /**
   * Creates an HTTP request that waits for its body. Throws PrivateHostError, or emits it if the name resolves to a
   * private address.
   */
  readonly request: (url: URL, options: Pick<RequestOptions, 'method' | 'headers' | 'signal'>) => ClientRequest
  /** Closes idle connections. */
  readonly close: () => void
}

export type NetworkOptions = {
  readonly allowPrivate: boolean
  /** Resolves names; by default as names that members choose. */
  readonly resolve?: LookupFunction
  /** Milliseconds of silence after which `fetch` gives up, also a request without a signal; by default five minutes. */
  readonly patience?: number
}

const PATIENCE = 300_000

const memberLookup = createMemberLookup({ lookup })

export function createNetwork({ allowPrivate, resolve = memberLookup, patience = PATIENCE }: NetworkOptions): Network {
  const checked = allowPrivate ? resolve : checkedLookup(resolve)
  // Without a `timeout` an agent ignores the `Keep-Alive: timeout=…` of a server, and a request can meet its closing.
  const settings = { keepAlive: true, keepAliveMsecs: 10_000, timeout: patience, lookup: checked }
  const agents = { secure: new Agent(settings), plain: new PlainAgent(settings) }
  const request: Network['request'] = (url, options) => {
    // An IP address is not looked up, so it is checked here.
    if (!allowPrivate && isPrivateHost(url.hostname)) throw new PrivateHostError()
    return url.protocol === 'https:'
      ? requestSecure(url.href, { ...options, agent: agents.secure })
      : requestPlain(url.href, { ...options, agent: agents.plain })
  }
  return {
    request,
    socket: () => new ResolvingSocket(checked, allowPrivate),
    fetch: fetchBy(request, patience),
    close() {
      agents.secure.destroy()
      agents.plain.destroy()
    },
  }
}

/** To addresses that the operator has set, which may be private ones. */
export const operatorFetch: Fetch = (url, init) => operatorNetwork().fetch(url, init)

const operatorNetwork = lazily(() => createNetwork({ allowPrivate: true, resolve: lookup }))

/** Refuses a name if any of its addresses is private. */
function checkedLookup(resolve: LookupFunction): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      const addresses = typeof found === 'string' ? [] : found
      if (error) callback(error, [])
      else if (isPrivateHost(host) || addresses.some(({ address }) => isPrivateAddress(address))) {
        callback(new PrivateHostError(), [])
      } else if (options.all === true) callback(null, addresses)
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
    })
  }
}

class ResolvingSocket extends Socket {
  readonly #lookup: LookupFunction
  readonly #allowPrivate: boolean

  constructor(lookup: LookupFunction, allowPrivate: boolean) {
    super()
    this.#lookup = lookup
    this.#allowPrivate = allowPrivate
  }

  // Drivers connect by port and host; no other form of arguments is allowed.
  override connect(...args: unknown[]): this {
    const [port, host] = args
    if (typeof port !== 'number' || typeof host !== 'string') throw new TypeError('connect needs a port and a host')
    // An IP address is not looked up, and a resolver may accept unusual spellings of one.
    if (!this.#allowPrivate && isPrivateHost(host)) return this.destroy(new PrivateHostError())
    return super.connect({ port, host, lookup: this.#lookup })
  }
}

/**
 * By `node:http`, never by the platform's `fetch`: where an answer has six content codings and is cut, the latter ends the process
 * (docs/decisions/111-answers-from-outside.md).
 */
function fetchBy(request: Network['request'], patience: number): Fetch {
  return async (url, init) => {
    // The signal of a `Request` follows another one only until the garbage collector takes it.
    const { signal, ...sent } = init ?? {}
    const { method, headers, body } = new Request(url, sent)
    const payload = body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer())
    const { promise, resolve: answer, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing = request(new URL(url), {
      method,
      headers: Object.fromEntries(headers),
      ...(signal && { signal }),
    })
    outgoing.setTimeout(patience, () => outgoing.destroy(new Error(`no answer in ${patience} ms`)))
    outgoing.on('response', answer).on('error', reject).end(payload)
    return responseOf(await promise)
  }
}

/** Throws for what is no answer of HTTP, such as a status of 999. */
function responseOf(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502
  const headers = new Headers()
  const isEmpty = status === 204 || status === 304
  try {
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (typeof value === 'string') headers.set(name, value)
    }
    // Its connection is free behind its end.
    if (isEmpty) incoming.resume()
    return new Response(isEmpty ? null : (Readable.toWeb(incoming) as BodyInit), { status, headers })
  } catch (error) {
    incoming.destroy()
    throw error
  }
}
