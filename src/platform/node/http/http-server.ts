/**
 * The life of an HTTP server. It listens before the service is ready, so that early requests get an answer. It shuts
 * down without losing an accepted request: responses announce that their connection closes, then no new connection is
 * accepted, and only connections that have been silent for a while are closed.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { discardUnreadBody } from './unread-body.ts'

export type HttpServerOptions = {
  readonly host: string
  readonly port: number
  /** Maximum bytes of the request line and all headers. */
  readonly maxHeaderSize: number
  /** Answers requests until `serve` is called. */
  readonly listener: RequestListener
  readonly onClientError: (error: NodeJS.ErrnoException, socket: Duplex) => void
  /** Milliseconds after which a connection is cut off whose client takes nothing of its answer, or sends no more of its body; 30 s where absent. */
  readonly patience?: number
  /** Milliseconds in which the head of a request has to arrive; 15 s where absent. */
  readonly headPatience?: number
}

export type HttpServer = {
  readonly url: string
  readonly port: number
  /** Replaces the listener. */
  serve(listener: RequestListener): void
  /**
   * Serves for `delay` more milliseconds, then shuts down; requests unanswered `limit` milliseconds later are cut off.
   */
  drain(times: { readonly delay: number; readonly limit: number }): Promise<void>
}

const PATIENCE = 30_000

const HEAD_PATIENCE = 15_000

/**
 * Milliseconds that a connection may be silent between two requests. Longer than proxies and load balancers keep theirs, which is a
 * minute as a rule: else they send a request where nobody listens anymore, and answer 502.
 */
const KEPT_ALIVE = 72_000

/** Requests of one connection that may wait for those before them, which arrived in one piece; a connection with more is cut. */
const MOST_BEHIND = 1_000

/** Milliseconds of silence before a connection is closed, since a request may be in transit. */
const SILENCE = 1_000

/** Milliseconds that the client of a refused connection has to take its answer. */
const FAREWELL = 2_000

/** Throws an Error that tells the operator why it cannot listen on the address. */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  let { listener } = options
  let isEnding = false
  const { patience = PATIENCE, headPatience = HEAD_PATIENCE } = options
  /** The last answer of each connection. */
  const latest = new WeakMap<Socket, ServerResponse>()
  /** Connections whose last request has arrived. */
  const closing = new WeakSet<Socket>()
  /** How many requests of a connection wait for those before them. */
  const behind = new WeakMap<Socket, number>()
  const server = createServer(
    // Whoever names no host is refused by the listener, in our words.
    {
      maxHeaderSize: options.maxHeaderSize,
      requireHostHeader: false,
      keepAliveTimeout: KEPT_ALIVE,
      headersTimeout: headPatience,
      connectionsCheckingInterval: Math.ceil(headPatience / 5),
    },
    (request: IncomingMessage, response: ServerResponse) => {
      // What else arrived with a request that would change the protocol was dropped by Node, so that what follows may be any part of it.
      const { socket } = request
      const isAfterLast = closing.has(socket)
      if (request.headers.upgrade !== undefined) closing.add(socket)
      if (isEnding || closing.has(socket)) response.shouldKeepAlive = false
      discardUnreadBody(request, response)
      // An answer that nobody takes stays in memory, and so does a body that does not go on. Who waits for an answer has neither.
      response.setTimeout(patience)
      response.on('timeout', () => {
        if (socket.writableLength > 0 || !request.complete) socket.destroy()
      })
      // Answers of one connection are sent in turn: those behind would hold what they send, and nobody could take it.
      const before = latest.get(socket)
      latest.set(socket, response)
      // Node ends the connection behind the last answer.
      const begin = () => !isAfterLast && listener(request, response)
      if (before === undefined || before.writableFinished) return void begin()
      const waiting = (behind.get(socket) ?? 0) + 1
      behind.set(socket, waiting)
      if (waiting > MOST_BEHIND) return void socket.destroy()
      // Nobody counts what it sends before it begins, so that stays where it is. Node reads on behind a whole request.
      process.nextTick(() => behind.get(socket) !== 0 && socket.pause())
      const beginInTurn = () => {
        const left = (behind.get(socket) ?? 1) - 1
        behind.set(socket, left)
        if (left === 0) socket.resume()
        if (!socket.destroyed) begin()
      }
      // By way of the event loop, so that other connections have their turn between two of them.
      before.once('close', () => setImmediate(beginInTurn))
    },
  )
  /** Nobody else has an eye on a connection that the server has given away: it may fail, or be held open by the client. */
  const refuse = (error: NodeJS.ErrnoException, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    setTimeout(() => socket.destroy(), FAREWELL).unref()
    options.onClientError(error, socket)
  }
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error, socket) => {
    const before = latest.get(socket as Socket)
    // What follows in the same piece is not HTTP either.
    if (refused.has(socket)) return
    if (before === undefined || before.writableFinished || !before.req.complete) return refuse(error, socket)
    // Behind the answers to whole requests that came before it.
    refused.add(socket)
    before.once('close', () => refuse(error, socket))
  })
  server.on('connect', (_request, socket) => refuse(new Error('CONNECT is for proxies'), socket))
  const listening = await listen(server, options)

  return {
    ...listening,
    serve(next) {
      listener = next
    },
    async drain({ delay, limit }) {
      isEnding = true
      if (delay > 0) await wait(delay)
      const closed = once(server, 'close')
      // Not the HTTP server's `close`, which would cut silent connections at once.
      NetServer.prototype.close.call(server)
      // Runs after arrived data was read: if the process was busy, a silent connection may no longer be silent.
      const silence = setInterval(() => setImmediate(() => server.closeIdleConnections()), SILENCE)
      const force = setTimeout(() => server.closeAllConnections(), limit)
      await closed
      clearInterval(silence)
      clearTimeout(force)
    },
  }
}

async function listen(
  server: Server,
  { host, port: wanted }: HttpServerOptions,
): Promise<Pick<HttpServer, 'url' | 'port'>> {
  server.listen(wanted, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Error(listenFault(cause, `${host}:${wanted}`), { cause })
  }
  const { port, family, address } = server.address() as AddressInfo
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`, port }
}

function listenFault(cause: unknown, endpoint: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') return `${endpoint} is in use by another program; set PORT to a free port`
  if (code === 'EACCES') return `${endpoint} requires a privilege this user lacks; set PORT above 1023`
  return `cannot listen on ${endpoint}: ${String(code)}`
}
