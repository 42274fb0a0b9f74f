/** Connections as clients use and misuse them. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { openHttpServer } from '../../src/platform/node/http/http-server.ts'

it('what is sent behind a request that is not answered stays with the client', async () => {
  let arrive: (slow: readonly [IncomingMessage, ServerResponse]) => void
  const arrived = new Promise<readonly [IncomingMessage, ServerResponse]>((resolve) => {
    arrive = resolve
  })
  const server = await openHttpServer({
    ...{ host: '127.0.0.1', port: 0, maxHeaderSize: 16_384 },
    listener: (request, response) => {
      if (request.url === '/slow') arrive([request, response])
      else request.resume().on('end', () => response.end(request.url))
    },
    onClientError: (error) => expect.unreachable(error.message),
  })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const bodies = 2_000
  const entity = `Content-Length: 10000\r\n\r\n${' '.repeat(10_000)}`
  socket.write('GET /slow HTTP/1.1\r\n\r\n')
  const [request, response] = await arrived
  for (let at = 0; at < bodies; at += 1) socket.write(`POST /behind HTTP/1.1\r\n${entity}`)
  socket.write('GET /last HTTP/1.1\r\nConnection: close\r\n\r\n')
  // Each of these is read, so that the others had their turn.
  for (let turn = 0; turn < 200; turn += 1) expect(await (await fetch(`${server.url}/other`)).text()).toBe('/other')

  expect(request.socket.bytesRead).toBeLessThan(200_000)
  response.end('/slow')
  const answers = await text(socket)
  expect(answers.match(/^\/\w+$/gm)?.length ?? 0).toBe(answers.match(/^HTTP/gm)?.length)
  expect(answers.split('/behind').length - 1).toBe(bodies)
  expect(answers.endsWith('/last')).toBe(true)
  await server.drain({ delay: 0, limit: 0 })
})

it('keeps a silent connection for longer than a proxy in front of it does', async () => {
  const server = await openHttpServer({
    ...{ host: '127.0.0.1', port: 0, maxHeaderSize: 16_384 },
    listener: (_, response) => response.end(),
    onClientError: (error) => expect.unreachable(error.message),
  })

  expect((await fetch(server.url)).headers.get('keep-alive')).toBe('timeout=72')
  await server.drain({ delay: 0, limit: 0 })
})

it('runs nothing that is sent behind a request that would change the protocol', async () => {
  const served: (string | undefined)[] = []
  const server = await openHttpServer({
    ...{ host: '127.0.0.1', port: 0, maxHeaderSize: 16_384 },
    listener: (request, response) => {
      served.push(request.url)
      request.resume().on('end', () => setTimeout(() => response.end(request.url), 20))
    },
    onClientError: (_, socket) => socket.destroy(),
  })
  const { hostname, port } = new URL(server.url)
  const upgrade = 'GET /first HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'
  const body = 'DELETE /hidden HTTP/1.1\r\nHost: a\r\n\r\n'
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`${upgrade}POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.once('connect', () => setImmediate(() => socket.write(body.repeat(100))))
  const answers = await text(socket)

  expect(served).toEqual(['/first'])
  expect(answers).toMatch(/^HTTP\/1.1 200 OK\r\n.*Connection: close\r\n.*\/first/is)
  await server.drain({ delay: 0, limit: 0 })
})

it('refuses a head that does not come to its end, and waits for whoever is silent', async () => {
  const server = await openHttpServer({
    ...{ host: '127.0.0.1', port: 0, maxHeaderSize: 16_384, headPatience: 100 },
    listener: (_, response) => response.end('served'),
    onClientError: (error, socket) => socket.end(error.code),
  })
  const { hostname, port } = new URL(server.url)
  const [slow, kept] = [connect(Number(port), hostname), connect(Number(port), hostname)]
  kept.write('GET / HTTP/1.1\r\n\r\n')
  await once(kept, 'data')
  slow.write('GET / HTTP/1.1\r\nX-Long: ')

  expect(await text(slow)).toBe('ERR_HTTP_REQUEST_TIMEOUT')
  kept.write('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')
  expect(await text(kept)).toContain('served')
  await server.drain({ delay: 0, limit: 0 })
})

it('outlives clients that reset what it refuses, and closes what they hold open', async () => {
  const server = await openHttpServer({
    ...{ host: '127.0.0.1', port: 0, maxHeaderSize: 16_384 },
    listener: (_, response) => response.end('served'),
    onClientError: (_, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
  })
  const { hostname, port } = new URL(server.url)
  const refused = ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 'what is no HTTP\r\n\r\n']
  const reset = async (line: string) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(line, () => socket.resetAndDestroy())
    await once(socket, 'close')
  }
  for (const line of refused) await Promise.all(Array.from({ length: 50 }, () => reset(line)))
  const held = refused.map((line) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.write(line)
    return once(socket.resume(), 'end')
  })
  await Promise.all(held)

  expect(await (await fetch(server.url)).text()).toBe('served')
  // Ends although the clients never close their half.
  await server.drain({ delay: 0, limit: 0 })
})
