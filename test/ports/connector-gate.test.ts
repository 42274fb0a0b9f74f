/** docs/decisions/111: the gate of connectors' processes, and upstreams that answer what no server should. */
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
})
