/** The matcher table against the gate itself, with all that it lets through answered in place of the network. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { GateProps } from '../../src/platform/cloudflare/gate.ts'
import { networkRows } from '../ports/network-rows.ts'
import { gate } from './isolates.ts'

const network = globalThis.fetch

beforeAll(() => {
  globalThis.fetch = async () => new Response('through')
})

afterAll(() => {
  globalThis.fetch = network
})

describe('the matcher table at the gate', () => {
  it('is what the gate does', async () => {
    for (const { target, host, port, permitted } of networkRows) {
      const response = await gate({ props: { grant: [target], allowPrivate: true } }).fetch(`http://${host}:${port}/`)

      expect
        .soft([response.status, await response.text()], `${target} ${host} ${port}`)
        .toEqual(permitted ? [200, 'through'] : [403, ''])
    }
  })

  it.each([
    'localhost',
    '127.0.0.1',
    '2130706433',
    '10.1.2.3',
    '[::1]',
    '[::ffff:10.0.0.1]',
    'db.internal',
    '169.254.169.254',
  ])('lets nobody to a private host that is granted but not allowed: %s', async (host) => {
    const { hostname } = new URL(`http://${host}/`)
    const grant = [hostname]

    const allowed = await gate({ props: { grant, allowPrivate: true } }).fetch(`http://${host}/`)
    const refused = await gate({ props: { grant, allowPrivate: false } }).fetch(`http://${host}/`)

    expect([allowed.status, refused.status]).toEqual([200, 403])
  })

  it('is asked of raw connections, too', async () => {
    const { granted, forbidden } = inject('upstream')
    const own = [`127.0.0.1:${granted}`]

    const answers = await Promise.all([
      saidBy(granted, { grant: own, allowPrivate: true }),
      saidBy(forbidden, { grant: own, allowPrivate: true }),
      saidBy(granted, { grant: own, allowPrivate: false }),
    ])

    expect(answers).toEqual(['HTTP/1.1 200 OK', '', ''])
  })
})

/** How what a raw connection to a port on loopback answers begins; nothing where the gate closes it. */
async function saidBy(port: number, props: GateProps): Promise<string> {
  const socket = gate({ props }).connect(`127.0.0.1:${port}`)
  const writer = socket.writable.getWriter()
  const request = new TextEncoder().encode('GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n')
  const said = Promise.all([new Response(socket.readable).text(), writer.write(request)])
  return said.then(([text]) => text.slice(0, 15)).catch(() => '')
}
