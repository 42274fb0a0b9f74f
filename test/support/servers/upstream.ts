/**
 * What connectors under test talk to: a server that they are granted and one that they are not, both real and on loopback.
 * The second counts whoever reaches it, so that "denied" means that not even a connection came.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type Duplex, pipeline, Readable, type Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'

/** Ports on 127.0.0.1. */
export type Upstream = { readonly granted: number; readonly forbidden: number }

export type RunningUpstream = Upstream & { readonly close: () => Promise<void> }

export async function startUpstream(): Promise<RunningUpstream> {
  let reached = 0
  const forbidden = createServer((_, response) => response.end('secret'))
  forbidden.on('connection', () => {
    reached += 1
  })
  forbidden.on('upgrade', greet)
  const granted = createServer((request, response) => serve(request, response, () => reached))
  granted.on('upgrade', greet)
  const ports = { granted: await listen(granted), forbidden: await listen(forbidden) }
  return {
    ...ports,
    async close() {
      for (const server of [granted, forbidden]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

async function listen(server: Server): Promise<number> {
  // Also by IPv6, where the machine has it: every spelling of loopback has to be denied, not merely unreachable.
  server.listen(0)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function serve(request: IncomingMessage, response: ServerResponse, reached: () => number): void {
  const url = new URL(request.url ?? '/', 'http://upstream')
  if (url.pathname === '/knock') void knock(Number(url.searchParams.get('port')), response)
  else if (url.pathname === '/reached') response.end(String(reached()))
  else if (url.pathname === '/redirect') {
    response.writeHead(Number(url.searchParams.get('status') ?? 302), { Location: url.searchParams.get('to') ?? '/' })
    response.end()
  } else if (url.pathname === '/marked') {
    response.writeHead(200, { 'X-Connector-Gate-Denied': 'example.com:443' })
    response.end('marked')
  } else if (url.pathname === '/echo') {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    void readAll(request).then((body) => response.end(JSON.stringify({ method: request.method, body })))
  } else if (url.pathname === '/zeros') void sendZeros(url.searchParams, response)
  else if (url.pathname !== '/hang') response.end('hello')
}

/** So many MiB of zeros; encoded ones are made once, so that they come as fast as they are taken. */
async function sendZeros(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [encoding, size] = [query.get('encoding') ?? 'identity', Number(query.get('size'))]
  const encoder = encoders[encoding]
  const name = `${encoding} ${size}`
  const made = encoder && (encodedZeros.get(name) ?? buffer(zerosOf(size).pipe(encoder())))
  if (made !== undefined) encodedZeros.set(name, made)
  const body = await made
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': encoding })
  if (body === undefined) pipeline(zerosOf(size), response, () => {})
  else response.end(body)
}

const encodedZeros = new Map<string, Promise<Buffer>>()

const encoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGzip({ level: 1 }),
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
}

function zerosOf(size: number): Readable {
  const piece = Buffer.alloc(1024 ** 2)
  return Readable.from(
    (function* () {
      for (let count = 0; count < size; count += 1) yield piece
    })(),
  )
}

/** Whether somebody listens on the port, seen from outside of every sandbox. */
async function knock(port: number, response: ServerResponse): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const state = await once(socket, 'connect').then(
    () => 'open',
    () => 'closed',
  )
  socket.destroy()
  response.end(state)
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** Accepts a WebSocket and says one word. */
function greet(request: IncomingMessage, socket: Duplex): void {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
  socket.on('error', () => {})
  socket.write(`${head.join('\r\n')}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
  socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from('hello')]))
}
