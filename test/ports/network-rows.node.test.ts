/** The matcher table against the pure function, and against the gate that is the only way out of the sandbox on Node. */
import type { lookup } from 'node:dns'
import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { isGranted, parseTarget } from '../../src/core/connector/target.ts'
import { type ConnectorGate, openConnectorGate } from '../../src/platform/node/connectors/gate.ts'
import { createNodeConnectorHost } from '../../src/platform/node/connectors/host.ts'
import { isPrivateHost } from '../../src/platform/private-hosts.ts'
import { hostInUrl, type NetworkRow, networkRows } from './network-rows.ts'

const asked: string[] = []
/** No name leads anywhere; which ones were looked up is kept. */
const resolve = ((host: string, _: object, callback: (error: Error) => void) => {
  asked.push(host)
  callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
}) as unknown as typeof lookup

const limits = { timeLimit: 30_000, busyLimit: 10_000, idleLimit: 60_000, memoryLimit: 64 }
const host = createNodeConnectorHost({ ...limits, allowPrivate: true, resolve })
const gate = await openConnectorGate({ allowPrivate: true, resolve })
/** Raw connections are made by addresses that it has looked up itself. */
const publicGate = await openConnectorGate({ allowPrivate: false, resolve })

afterAll(async () => {
  await host.close()
  await gate.close()
  await publicGate.close()
})

describe('the matcher table', () => {
  it('has more than a hundred rows, and its targets are in normal form', () => {
    const targets = new Set(networkRows.map(({ target }) => target))

    expect(networkRows.length).toBeGreaterThan(100)
    for (const target of targets) expect(parseTarget(`net:${target}`)).toEqual({ target })
  })

  it('is what the pure function says', () => {
    const otherwise = networkRows.filter((row) => isGranted([row.target], hostInUrl(row), row.port) !== row.permitted)

    expect(otherwise).toEqual([])
  })

  it('is what the gate says', async () => {
    for (const target of new Set(networkRows.map((row) => row.target))) {
      const rows = networkRows.filter((row) => row.target === target)
      // An address that is permitted would be connected to.
      const tried = rows.filter((row) => !row.permitted || isIP(hostInUrl(row).replace(/^\[|\]$/g, '')) === 0)
      asked.length = 0

      const answers = await Promise.all(tried.map((row) => ask(gate, row)))

      expect
        .soft(
          tried.map((row, index) => [row.host, row.port, answers[index]]),
          target,
        )
        .toEqual(
          tried.map((row) => [
            row.host,
            row.port,
            row.permitted ? 'ENOTFOUND' : `Requires net access to "${hostInUrl(row)}:${row.port}"`,
          ]),
        )
      expect.soft(asked, target).toHaveLength(tried.filter(({ permitted }) => permitted).length)
    }
  })

  it('is what the gate says of raw connections, which look up no name that is not permitted', async () => {
    for (const row of networkRows.filter((one) => !isPrivateHost(hostInUrl(one)) && isIP(hostInUrl(one)) === 0)) {
      asked.length = 0

      await connected(publicGate, row)

      expect.soft(asked.length, `${row.target} ${row.host} ${row.port}`).toBe(row.permitted ? 1 : 0)
    }
  })

  it('leaves nothing to the rules of Deno: its process may connect to none of the places', async () => {
    const code = `const preflight = 1; const setup = () => ({ introspect: 1, query: (hosts) =>
      hosts.map((host) => Deno.permissions.querySync({ name: 'net', host }).state) }); export { preflight, setup };`
    const grant = [...new Set(networkRows.map(({ target }) => target))]
    const session = host.open({ id: 'all', code, grant, config: null })

    const reply = await session.call(
      'query',
      networkRows.map((row) => `${hostInUrl(row)}:${row.port}`),
    )

    expect(reply).toEqual({ kind: 'value', value: networkRows.map(() => 'prompt') })
  })
})

/** Why the gate let the request to this place end. */
async function ask({ admit }: ConnectorGate, row: NetworkRow): Promise<string | null> {
  const { port, pass } = admit([row.target])
  const address = encodeURIComponent(`http://${hostInUrl(row)}:${row.port}/`)
  const { headers } = await fetch(`http://127.0.0.1:${port}/${pass}/${address}`)
  return headers.get('x-connector-gate-denied') ?? headers.get('x-connector-gate-failed')
}

/** Resolves when the gate has ended the connection to this place. */
async function connected({ admit }: ConnectorGate, row: NetworkRow): Promise<void> {
  const { port, pass } = admit([row.target])
  const socket = connect(port, '127.0.0.1').resume()
  socket.write(`CONNECT ${hostInUrl(row)}:${row.port} HTTP/1.1\r\nHost: gate\r\nx-connector-gate-pass: ${pass}\r\n\r\n`)
  await once(socket, 'close')
}
