/**
 * The only network access of a connector's isolate on Workers. Every request, WebSocket (a request with an upgrade) and
 * raw connection passes here, each redirect again, and is checked against the grant by core/connector/permission.ts.
 * A refused request is answered with a marker header, which the isolate turns into an error
 * (connectors/worker.isolate.js). The marker is removed from upstream responses, so that no upstream can forge it. A
 * refused connection is closed. What is answered has an end (bounded-answer.ts); a message of a WebSocket is bounded by the
 * runtime, and each is an event of its own.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { isGranted } from '../../core/connector/target.ts'
import { isPrivateHost } from '../private-hosts.ts'
import { bounded, boundedAnswer } from './bounded-answer.ts'

export type GateProps = {
  /** Permission targets in normal form, without `net:`. */
  readonly grant: readonly string[]
  /** Whether granted loopback, private and link-local hosts may be reached. */
  readonly allowPrivate: boolean
}

export const MARKER = 'x-connector-gate-denied'

export class ConnectorGate extends WorkerEntrypoint<unknown, GateProps> {
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port)
    if (!this.#isOpenTo(url.hostname, port)) return denial(`${url.hostname}:${port}`)
    return boundedAnswer(request.method, withoutMarker(await fetch(plain(request))))
  }

  override async connect(socket: Socket): Promise<void> {
    // On this side of the connection, the requested address is the local address.
    const { localAddress = '' } = await socket.opened
    const end = localAddress.lastIndexOf(':')
    const hostname = localAddress.slice(0, Math.max(end, 0))
    const port = Number(localAddress.slice(end + 1))
    if (!this.#isOpenTo(hostname, port)) return socket.close()
    const { connect } = await import('cloudflare:sockets')
    const upstream = connect({ hostname, port })
    await Promise.all([socket.readable.pipeTo(upstream.writable), bounded(upstream.readable).pipeTo(socket.writable)])
  }

  /** Checks a private host by its name or address; a Worker cannot see what a name resolves to. */
  #isOpenTo(host: string, port: number): boolean {
    const { grant, allowPrivate } = this.ctx.props
    return isGranted(grant, host, port) && (allowPrivate || !isPrivateHost(host))
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

function denial(place: string): Response {
  return new Response(null, { status: 403, headers: { [MARKER]: place } })
}

/** Drops the `cf` options, which could choose another host or an entry of a shared cache. */
function plain(request: Request): Request {
  const { url, method, headers, body } = request
  return new Request(url, { method, headers, body, redirect: 'manual' })
}

function withoutMarker(response: Response): Response {
  if (!response.headers.has(MARKER)) return response
  const clean = new Response(response.body, response)
  clean.headers.delete(MARKER)
  return clean
}
