/**
 * The way from a Node process to databases. Where private hosts are not allowed, every address that a name resolves to
 * is checked, and the connection goes to exactly the addresses that were: a name cannot resolve to others in between.
 */
import { lookup as resolve } from 'node:dns'
import { type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http'
import { Agent, request as requestSecure } from 'node:https'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Fetch } from '../fetch.ts'
import { isPrivateAddress, isPrivateHost, PrivateHostError } from '../private-hosts.ts'

export type Network = {
  /** A socket that is to be connected by `connect(port, host)`. */
  readonly socket: () => Socket
  /** Follows no redirect. */
  readonly fetch: Fetch
}

export function createNetwork({ allowPrivate }: { readonly allowPrivate: boolean }): Network {
  return allowPrivate
    ? { socket: () => new Socket(), fetch: (url, init) => fetch(url, { ...init, redirect: 'manual' }) }
    : { socket: () => new CheckedSocket(), fetch: checkedFetch }
}

/** Refuses private addresses, one by one and as a whole: a name that has any is not trusted with the others. */
const checkedLookup: LookupFunction = (host, options, callback) => {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) callback(error, [])
    else if (isPrivateHost(host) || addresses.some(({ address }) => isPrivateAddress(address))) {
      callback(new PrivateHostError(), [])
    } else if (options.all === true) callback(null, addresses)
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
  })
}

class CheckedSocket extends Socket {
  // Drivers connect by port and host; that is the only one of the many forms that leads out of here.
  override connect(...args: unknown[]): this {
    const [port, host] = args
    if (typeof port !== 'number' || typeof host !== 'string') throw new TypeError('connect needs a port and a host')
    // An address is not looked up.
    if (isIP(host) !== 0 && isPrivateHost(host)) return this.destroy(new PrivateHostError())
    return super.connect({ port, host, lookup: checkedLookup })
  }
}

const settings = { keepAlive: true, keepAliveMsecs: 10_000, lookup: checkedLookup }
const agents = { secure: new Agent(settings), plain: new PlainAgent(settings) }

const checkedFetch: Fetch = async (url, init) => {
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
  const incoming = await promise
  const status = incoming.statusCode ?? 502
  const empty = status === 204 || status === 304
  return new Response(empty ? null : (Readable.toWeb(incoming) as BodyInit), {
    status,
    headers: Object.entries(incoming.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ) as [string, string][],
  })
}
