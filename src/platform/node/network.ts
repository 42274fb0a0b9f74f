/**
 * The way from a Node process to databases. Where private hosts are not allowed, every address that a name resolves to
 * is checked, and the connection goes to exactly the addresses that were: a name cannot resolve to others in between.
 */
import { lookup } from 'node:dns'
import { type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http'
import { Agent, request as requestSecure } from 'node:https'
import { type LookupFunction, Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Fetch } from '../fetch.ts'
import { isPrivateAddress, isPrivateHost, PrivateHostError } from '../private-hosts.ts'

export type Network = {
  /** A socket that is to be connected by `connect(port, host)`. */
  readonly socket: () => Socket
  /** Follows no redirect. */
  readonly fetch: Fetch
}

export type NetworkOptions = {
  readonly allowPrivate: boolean
  /** Resolves names; the platform's own where it is not said. */
  readonly resolve?: typeof lookup
}

export function createNetwork({ allowPrivate, resolve = lookup }: NetworkOptions): Network {
  if (allowPrivate) {
    return { socket: () => new Socket(), fetch: (url, init) => fetch(url, { ...init, redirect: 'manual' }) }
  }
  const checked = checkedLookup(resolve)
  return { socket: () => new CheckedSocket(checked), fetch: checkedFetch(checked) }
}

/** Refuses private addresses, one by one and as a whole: a name that has any is not trusted with the others. */
function checkedLookup(resolve: typeof lookup): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) callback(error, [])
      else if (isPrivateHost(host) || addresses.some(({ address }) => isPrivateAddress(address))) {
        callback(new PrivateHostError(), [])
      } else if (options.all === true) callback(null, addresses)
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
    })
  }
}

class CheckedSocket extends Socket {
  readonly #lookup: LookupFunction

  constructor(lookup: LookupFunction) {
    super()
    this.#lookup = lookup
  }

  // Drivers connect by port and host; that is the only one of the many forms that leads out of here.
  override connect(...args: unknown[]): this {
    const [port, host] = args
    if (typeof port !== 'number' || typeof host !== 'string') throw new TypeError('connect needs a port and a host')
    // An address is not looked up, and what is not an address in the usual spelling may be taken for one.
    if (isPrivateHost(host)) return this.destroy(new PrivateHostError())
    return super.connect({ port, host, lookup: this.#lookup })
  }
}

function checkedFetch(lookup: LookupFunction): Fetch {
  const settings = { keepAlive: true, keepAliveMsecs: 10_000, lookup }
  const agents = { secure: new Agent(settings), plain: new PlainAgent(settings) }
  return async (url, init) => {
    const { method, headers, signal, body } = new Request(url, init)
    const { protocol, hostname } = new URL(url)
    if (isPrivateHost(hostname)) throw new PrivateHostError()
    const payload = body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer())
    const { promise, resolve: answer, reject } = Promise.withResolvers<IncomingMessage>()
    const options = { method, headers: Object.fromEntries(headers), signal }
    const request =
      protocol === 'https:'
        ? requestSecure(url, { ...options, agent: agents.secure }, answer)
        : requestPlain(url, { ...options, agent: agents.plain }, answer)
    request.on('error', reject).end(payload)
    return responseOf(await promise)
  }
}

function responseOf(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === 'string') headers.set(name, value)
  }
  const isEmpty = status === 204 || status === 304
  return new Response(isEmpty ? null : (Readable.toWeb(incoming) as BodyInit), { status, headers })
}
