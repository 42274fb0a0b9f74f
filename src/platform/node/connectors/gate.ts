/**
 * The only network access of connectors' Deno processes: a loopback server that each process uses with its own pass.
 * Every request, WebSocket and raw connection is checked against the grant of the pass, each redirect again.
 * Connections go through network.ts, which resolves the name once, checks the addresses and connects to exactly those.
 * `/<pass>/<address>` is a request or a WebSocket to that address. `CONNECT host:port` with the pass in a header is a
 * raw connection: only upstream bytes follow, or it closes.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { isGranted } from '../../../core/connector/target.ts'
import { isPrivateHostError } from '../../private-hosts.ts'
import { createNetwork, type Network, type NetworkOptions } from '../network/network.ts'
import { createGateConnections } from './gate-connections.ts'

export type ConnectorGate = {
  readonly admit: (grant: readonly string[]) => GatePass
  readonly close: () => Promise<void>
}

export type GatePass = {
  readonly port: number
  readonly pass: string
  /** Invalidates the pass. */
  readonly revoke: () => void
}

/** Connections are kept for one pass alone: what a connector sends on its own never becomes part of another's exchange. */
type Admission = { readonly grant: readonly string[]; readonly network: Network; readonly connections: Set<Duplex> }

/** Response header: why a request was refused. Removed from upstream responses. */
const DENIED = 'x-connector-gate-denied'
/** Response header: why an allowed request failed. */
const FAILED = 'x-connector-gate-failed'
const PASS = 'x-connector-gate-pass'

export async function openConnectorGate(options: NetworkOptions): Promise<ConnectorGate> {
  const admitted = new Map<string, Admission>()
  const connections = createGateConnections()

  /** What a pass admits; undefined of one that is none, or has too many connections, and then this one is ended. */
  function admissionOf(socket: Duplex, pass: string): Admission | undefined {
    const admission = admitted.get(pass)
    if (admission !== undefined && connections.claim(socket, admission.connections)) return admission
    socket.destroy()
    return undefined
  }

  function forward(
    request: IncomingMessage,
    { grant, network }: Admission,
    onFailure: (headers: Record<string, string>) => void,
  ) {
    try {
      const target = readTarget(request, grant)
      if ('denied' in target) return onFailure({ [DENIED]: target.denied })
      const { url } = target
      const fail = (error: NodeJS.ErrnoException) => onFailure(failureAt(url, error))
      try {
        return network.request(url, { method: request.method, headers: passedOn(request, url) }).on('error', fail)
      } catch (error) {
        return fail(error as NodeJS.ErrnoException)
      }
    } catch {
      return onFailure({ [DENIED]: 'Requires an http address' })
    }
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const admission = admissionOf(request.socket, passOf(request))
    if (admission === undefined) return
    const upstream = forward(request, admission, (headers) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502, headers).end()
    })
    if (upstream === undefined) return
    upstream.on('response', (incoming) => {
      try {
        response.writeHead(statusOf(incoming), returned(incoming))
      } catch {
        incoming.destroy()
        response.writeHead(502, INVALID).end()
        return
      }
      pipeline(incoming, response, () => {})
    })
    response.on('close', () => upstream.destroy())
    pipeline(request, upstream, () => {})
  }

  function upgrade(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    socket.on('error', () => {})
    const admission = admissionOf(socket, passOf(request))
    if (admission === undefined) return
    const upstream = forward(request, admission, (headers) =>
      socket.end(head('502 Bad Gateway', Object.entries(headers).flat())),
    )
    if (upstream === undefined) return
    upstream.on('upgrade', (incoming, other, first) => {
      other.on('error', () => {})
      socket.write(head('101 Switching Protocols', incoming.rawHeaders))
      join(socket, other, { early, first })
    })
    upstream.on('response', (incoming) => {
      incoming.resume()
      // Whatever it says, it is no WebSocket, which is all that is read of it.
      socket.end(head('502 Bad Gateway', ['Content-Length', '0']))
    })
    socket.on('close', () => upstream.destroy())
    upstream.end()
  }

  function tunnel(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    socket.on('error', () => {})
    const target = URL.parse(`tcp://${request.url}`)
    const [host, port] = [target?.hostname ?? '', Number(target?.port)]
    const pass = request.headers[PASS]
    const admission = admissionOf(socket, typeof pass === 'string' ? pass : '')
    if (admission === undefined || !isGranted(admission.grant, host, port)) {
      socket.destroy()
      return
    }
    const other = admission.network.socket()
    other.on('error', () => socket.destroy())
    other.on('connect', () => join(socket, other, { early, first: Buffer.alloc(0) }))
    socket.on('close', () => other.destroy())
    other.connect(port, host.replace(/^\[|\]$/g, ''))
  }

  const server = createServer({ requestTimeout: 0, maxHeaderSize: LONGEST_HEAD }, serve)
  server.on('connection', connections.begin).on('upgrade', upgrade).on('connect', tunnel)
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    admit(grant) {
      const pass = randomBytes(16).toString('hex')
      const network = createNetwork(options)
      admitted.set(pass, { grant, network, connections: new Set() })
      const revoke = () => {
        admitted.delete(pass)
        network.close()
      }
      return { port, pass, revoke }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      for (const { network } of admitted.values()) network.close()
      admitted.clear()
    },
  }
}

/** Maximum bytes of the request line with its headers. */
const LONGEST_HEAD = 64 * 1024

/** Parses the target of a request, or returns why it is refused: the grant does not allow its name and port. */
function readTarget(
  request: IncomingMessage,
  grant: readonly string[],
): { readonly url: URL } | { readonly denied: string } {
  const [, , address = ''] = (request.url ?? '').split('/')
  const text = decodeURIComponent(address)
  if (!/^https?:/.test(text) || !URL.canParse(text)) return { denied: 'Requires an http address' }
  const url = new URL(text)
  const { hostname } = url
  const port = portOf(url)
  return isGranted(grant, hostname, port) ? { url } : { denied: `Requires net access to "${hostname}:${port}"` }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

function passOf({ url = '' }: IncomingMessage): string {
  return url.split('/', 2)[1] ?? ''
}

function portOf({ protocol, port }: URL): number {
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)
}

function failureAt(url: URL, error: NodeJS.ErrnoException): Record<string, string> {
  if (!isPrivateHostError(error)) return { [FAILED]: error.code ?? 'failed' }
  const place = `${url.hostname}:${portOf(url)}`
  return { [DENIED]: `Requires net access to "${place}", which is a loopback, private or link-local address` }
}

/** Hop-by-hop headers. `host` is replaced by the host of the address; a body is framed again as it came. */
const OF_ONE_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'])

function passedOn({ headers, rawHeaders }: IncomingMessage, { host }: URL): readonly string[] {
  const isUpgrade = headers.upgrade !== undefined
  // What asks for a WebSocket has no body, so it may announce none.
  const replaced = new Set([...OF_ONE_HOP, 'host', ...(isUpgrade ? ['content-length'] : [])])
  const kept = pairs(rawHeaders).filter(([name]) => !replaced.has(name.toLowerCase()))
  // Of GET, HEAD, DELETE and OPTIONS Node sends a body bare where no header frames it.
  const isChunked = !isUpgrade && headers['transfer-encoding'] !== undefined
  const framing = [
    ...(isUpgrade ? ['Connection', 'Upgrade'] : []),
    ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
  ]
  return [...kept.flat(), 'Host', host, ...framing]
}

/** The upstream's status, or a header, is none that can be passed on. */
const INVALID = { [FAILED]: 'ERR_INVALID_RESPONSE' }

/** Throws a RangeError for what is no status that ends an exchange: servers outside send others, too. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  if (statusCode < 200 || statusCode > 599) throw new RangeError('no status of an answer')
  return statusCode
}

function returned({ rawHeaders }: IncomingMessage): string[] {
  const isOurs = (name: string) => OF_ONE_HOP.has(name) || name === 'upgrade' || name === DENIED || name === FAILED
  return pairs(rawHeaders)
    .filter(([name]) => !isOurs(name.toLowerCase()))
    .flat()
}

function pairs(rawHeaders: readonly string[]): readonly [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index] ?? '',
    rawHeaders[2 * index + 1] ?? '',
  ])
}

function head(status: string, rawHeaders: readonly string[]): string {
  const lines = pairs(rawHeaders).map(([name, value]) => `${name}: ${value}`)
  return `${[`HTTP/1.1 ${status}`, ...lines].join('\r\n')}\r\n\r\n`
}

/** Pipes two connections into each other; `early` and `first` are bytes that have already arrived. */
function join(
  socket: Duplex,
  other: Duplex,
  { early, first }: { readonly early: Buffer; readonly first: Buffer },
): void {
  try {
    other.write(early)
    socket.write(first)
    pipeline(socket, other, () => other.destroy())
    pipeline(other, socket, () => socket.destroy())
  } catch {
    // A write finds that its connection was reset, and what is destroyed takes no other.
    socket.destroy()
    other.destroy()
  }
}
