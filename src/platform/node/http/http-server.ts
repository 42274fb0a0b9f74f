/**
 * An HTTP server from its first connection to its last. It listens before there is anything to serve, so that whoever
 * asks is told; and it ends without losing a request that it has taken: answers first say that they are the last of their
 * connection, then no new connection is taken, and only connections that have been silent for a while are closed.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { discardUnreadBody } from './unread-body.ts'

export type HttpServerOptions = {
  readonly host: string
  readonly port: number
  /** Bytes of the request line and all headers. */
  readonly maxHeaderSize: number
  /** Answers until `serve` is called. */
  readonly listener: RequestListener
  readonly onClientError: (error: NodeJS.ErrnoException, socket: Duplex) => void
}

export type HttpServer = {
  readonly url: string
  /** From now on `listener` answers. */
  serve(listener: RequestListener): void
  /** Goes on serving for `delay` milliseconds, then ends; what is not answered `limit` milliseconds later is cut. */
  drain(times: { readonly delay: number; readonly limit: number }): Promise<void>
}

/** How long a connection may be silent before it is closed: a request may be on its way. */
const SILENCE = 1_000

/** Throws an Error that tells an operator why the address cannot be listened on. */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  let { listener } = options
  let isEnding = false
  const server = createServer(
    { maxHeaderSize: options.maxHeaderSize },
    (request: IncomingMessage, response: ServerResponse) => {
      if (isEnding) response.shouldKeepAlive = false
      discardUnreadBody(request, response)
      listener(request, response)
    },
  )
  server.on('clientError', options.onClientError)
  const url = await listen(server, options)

  return {
    url,
    serve(next) {
      listener = next
    },
    async drain({ delay, limit }) {
      isEnding = true
      if (delay > 0) await wait(delay)
      const closed = once(server, 'close')
      // Not the method of the HTTP server, which would cut silent connections at once.
      NetServer.prototype.close.call(server)
      // After what has arrived was read: where the process was busy for long, a silent connection may no longer be one.
      const silence = setInterval(() => setImmediate(() => server.closeIdleConnections()), SILENCE)
      const force = setTimeout(() => server.closeAllConnections(), limit)
      await closed
      clearInterval(silence)
      clearTimeout(force)
    },
  }
}

async function listen(server: Server, { host, port: wanted }: HttpServerOptions): Promise<string> {
  server.listen(wanted, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Error(listenFault(cause, `${host}:${wanted}`), { cause })
  }
  const { port, family, address } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function listenFault(cause: unknown, endpoint: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') return `${endpoint} is in use by another program; set PORT to a free port`
  if (code === 'EACCES') return `${endpoint} may not be used by this user; set PORT to one above 1023`
  return `cannot listen on ${endpoint}: ${String(code)}`
}
