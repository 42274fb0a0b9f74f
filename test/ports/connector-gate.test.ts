/** docs/decisions/111: the gate of connectors' processes, and upstreams that answer what no server should. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ConnectorGate, openConnectorGate } from '../../src/platform/node/connectors/gate.ts'
import { startHostile } from '../support/servers/hostile-server.ts'

describe('the gate of connectors', () => {
  let gate: ConnectorGate
  const closing: (() => Promise<void>)[] = []

  beforeEach(async () => {
    gate = await openConnectorGate({ allowPrivate: true })
    closing.push(gate.close)
  })

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function through(answer: string): Promise<{ status: number; statusText: string }> {
    const { port, close } = await startHostile((socket) => socket.once('data', () => socket.end(answer)))
    closing.push(close)
    const { port: gatePort, pass } = gate.admit([`127.0.0.1:${port}`])
    const address = encodeURIComponent(`http://127.0.0.1:${port}/`)
    return fetch(`http://127.0.0.1:${gatePort}/${pass}/${address}`)
  }

  const body = '\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'

  it.each([
    '099 OK',
    '000 OK',
    '199 OK',
    '600 OK',
    '999 OK',
    '101 Switching Protocols',
    '200 OK\r\nX-Note: a\u0001b',
    '2000 OK',
    '20 OK',
    'OK',
  ])('answers %j with 502', async (line) => {
    const { status, statusText } = await through(`HTTP/1.1 ${line}${body}`)

    expect({ status, statusText }).toEqual({ status: 502, statusText: 'Bad Gateway' })
  })

  it.each(['200 O\u0001K', '200 \u0000', '200 \u00e9', '200'])(
    'passes %j on, with a reason of its own',
    async (line) => {
      const { status, statusText } = await through(`HTTP/1.1 ${line}${body}`)

      expect([
        { status: 200, statusText: 'OK' },
        { status: 502, statusText: 'Bad Gateway' },
      ]).toContainEqual({ status, statusText })
    },
  )

  /** An upstream that keeps its connections, and notes what reached it. */
  /** Answers requests to anything but `/held`. */
  async function openUpstream() {
    const seen: { readonly line: string; readonly secret: string | undefined; readonly body: string }[] = []
    const server = createServer(async (request, response) => {
      const { method, url, headers } = request
      seen.push({ line: `${method} ${url}`, secret: headers.authorization, body: await text(request) })
      if (url !== '/held') response.end(url)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(async () => {
      server.closeAllConnections()
      server.close()
    })
    return { seen, port: (server.address() as AddressInfo).port }
  }

  /** What a connector of its own sends, byte by byte, and what another connector is answered afterwards. */
  async function besides(lines: readonly string[], body: string) {
    const { seen, port } = await openUpstream()
    const [evil, other] = [gate.admit([`127.0.0.1:${port}`]), gate.admit([`127.0.0.1:${port}`])]
    const address = (path: string) => encodeURIComponent(`http://127.0.0.1:${port}/${path}`)
    const [first = '', ...headers] = lines
    const socket = connect(evil.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      [`${first} /${evil.pass}/${address('decoy')} HTTP/1.1`, 'Host: gate', ...headers, '', body].join('\r\n'),
    )
    await once(socket, 'data')
    socket.destroy()
    const answer = await fetch(`http://127.0.0.1:${other.port}/${other.pass}/${address('orders')}`, {
      headers: { Authorization: 'Bearer of-the-other' },
    })
    return { seen, answer: await answer.text() }
  }

  const hidden = 'POST /notes HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer evil\r\nContent-Length: 200\r\n\r\n'
  const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT'])(
    'passes the body of %s on as a body, not as another request',
    async (method) => {
      const { seen, answer } = await besides([method, 'Transfer-Encoding: chunked'], chunked)

      expect(answer).toBe('/orders')
      expect(seen).toEqual([
        { line: `${method} /decoy`, secret: undefined, body: hidden },
        { line: 'GET /orders', secret: 'Bearer of-the-other', body: '' },
      ])
    },
  )

  it('opens a tunnel to what is granted, and to nothing else', async () => {
    const granted = await openUpstream()
    const other = await openUpstream()
    const { port, pass } = gate.admit([`127.0.0.1:${granted.port}`])
    const tunnelTo = async (target: number, by = pass) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nX-Connector-Gate-Pass: ${by}\r\nHost: gate\r\n\r\n`)
      // What is said behind the request is passed on once the tunnel stands.
      socket.write('GET /reached HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n')
      return text(socket).catch(() => '')
    }

    expect(await tunnelTo(granted.port)).toContain('/reached')
    expect(await tunnelTo(other.port)).toBe('')
    expect(await tunnelTo(granted.port, 'of nobody')).toBe('')
    expect(other.seen).toEqual([])
  })

  it('lets no connection of one connector be used by another, whatever length a WebSocket announces', async () => {
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 200']
    const { seen, answer } = await besides(['GET', ...handshake], '')

    expect(answer).toBe('/orders')
    expect(seen).toEqual([
      { line: 'GET /decoy', secret: undefined, body: '' },
      { line: 'GET /orders', secret: 'Bearer of-the-other', body: '' },
    ])
  })

  it.each([
    [
      'CONNECT',
      (port: number, pass: string) => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nX-Connector-Gate-Pass: ${pass}\r\n`,
    ],
    [
      'Upgrade',
      (port: number, pass: string) =>
        `GET /${pass}/${encodeURIComponent(`http://127.0.0.1:${port}/`)} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`,
    ],
  ])('outlives connectors that reset what they opened by %s as it opens', async (way, opening) => {
    const opened: Socket[] = []
    const reset = () => {
      for (const socket of opened.splice(0)) socket.resetAndDestroy()
    }
    const { port, close } = await startHostile((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
        reset()
      })
      // Those that have only begun are reset, too: the gate learns of a connection and of its end together.
      if (way === 'CONNECT') reset()
    })
    closing.push(close)
    const { port: gatePort, pass } = gate.admit([`127.0.0.1:${port}`])
    const open = async () => {
      const socket = connect(gatePort, '127.0.0.1')
      opened.push(socket)
      socket.write(`${opening(port, pass)}Host: gate\r\n\r\n`)
      await once(socket, 'close')
    }
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 50 }, open))

    expect(opened).toEqual([])
  })

  /** Opens connections on which this is sent; closed at the end. */
  async function opened(port: number, count: number, sent: string): Promise<readonly Socket[]> {
    const sockets: Socket[] = []
    closing.push(async () => {
      for (const socket of sockets) socket.destroy()
    })
    while (sockets.length < count) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
      socket.write(sent)
    }
    return sockets
  }

  it('takes no head of more than 64 KiB', async () => {
    const { port, pass } = gate.admit([])
    const [socket] = await opened(port, 1, `GET /${pass}/ HTTP/1.1\r\nHost: gate\r\nX-Long: ${'a'.repeat(65_536)}`)

    expect(await text(socket as Socket)).toMatch(/^HTTP\/1.1 431 /)
  })

  it('ends those who were longest about their head where very many are, and serves whoever sends one', async () => {
    const { port, seen } = await openUpstream()
    const { port: gatePort, pass } = gate.admit([`127.0.0.1:${port}`])
    const url = `http://127.0.0.1:${gatePort}/${pass}/${encodeURIComponent(`http://127.0.0.1:${port}/here`)}`
    const [first, ...others] = await opened(gatePort, 1_025, 'GET / HTTP/1.1\r\nX-Slow: ')

    expect(await text(first as Socket)).toBe('')
    expect(await (await fetch(url)).text()).toBe('/here')
    expect(seen).toHaveLength(1)
    expect(others.filter(({ closed }) => closed).length).toBeLessThanOrEqual(1)
  })

  it('lets a connector have so many connections, and another one its own', async () => {
    const { port, seen } = await openUpstream()
    const [many, other] = [gate.admit([`127.0.0.1:${port}`]), gate.admit([`127.0.0.1:${port}`])]
    const address = (path: string) => encodeURIComponent(`http://127.0.0.1:${port}/${path}`)
    const sent = (path: string) => `GET /${many.pass}/${address(path)} HTTP/1.1\r\nHost: gate\r\n\r\n`
    // A connection that waits for its answer is closed for no idleness, however long the others take.
    const [left] = await opened(many.port, 1_024, sent('held'))
    await expect.poll(() => seen.length).toBe(1_024)
    const [beyond] = await opened(many.port, 1, sent('here'))

    expect(await text(beyond as Socket)).toBe('')
    expect(await (await fetch(`http://127.0.0.1:${other.port}/${other.pass}/${address('here')}`)).text()).toBe('/here')
    left?.destroy()
    await once(left as Socket, 'close')
    const [next] = await opened(many.port, 1, sent('here'))
    expect(String((await once(next as Socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
  })
})
