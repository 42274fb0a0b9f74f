/** The hostile connector (test/extensions/hostile) in the sandbox of a platform: no attempt works, none harms another source. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConnectorHost, ConnectorSession } from '../../src/ports/connectors.ts'
import type { Upstream } from '../support/servers/upstream.ts'

export type HostileWorld = {
  readonly host: ConnectorHost
  readonly upstream: Upstream
  /** The bundled connector, and the names of its attempts. */
  readonly code: string
  readonly attempts: readonly string[]
}

const innocent = `const preflight = () => [typeof leftByHostile, {}.grant === undefined, [].some(() => false)]
  const setup = () => ({ introspect: () => fetch(REACHED).then((answer) => answer.text()), query: () => 'served' })
  export { preflight, setup };`

/** `open` is called once; `attempts` have to be known before. */
export function describeHostileConnector(platform: string, attempts: readonly string[], open: () => HostileWorld) {
  describe(`a hostile connector on ${platform}`, () => {
    let world: HostileWorld
    let hostile: ConnectorSession
    let other: ConnectorSession

    beforeAll(() => {
      world = open()
      const { host, upstream, code } = world
      const grant = [`127.0.0.1:${upstream.granted}`]
      const reached = JSON.stringify(`http://127.0.0.1:${upstream.granted}/reached`)
      hostile = host.open({ id: 'hostile', code, grant, config: {} })
      other = host.open({ id: 'innocent', code: innocent.replace('REACHED', reached), grant, config: {} })
    })

    afterAll(async () => {
      await Promise.all([hostile.close(), other.close()])
    })

    it('has more than thirty ways to try', () => {
      expect(attempts.length).toBeGreaterThan(30)
    })

    it('would be found out if it did', async () => {
      const { host, upstream, code } = world
      const session = host.open({ id: 'granted', code, grant: ['127.0.0.1'], config: {} })
      // A server of the same kind, so that the count of the forbidden one stays at none.
      const ports = { granted: upstream.granted, forbidden: upstream.granted }

      const replies = [
        await session.call('query', { name: 'literal', ports }),
        await session.call('query', { name: 'redirect 302', ports }),
        await session.call('query', { name: 'WebSocket', ports }),
        await session.call('query', { name: 'raw connection', ports }),
      ]
      await session.close()

      expect(replies).toMatchObject(
        [/^hello$/, /^hello$/, /^open$/, /^HTTP\/1.1 200/].map((got) => ({
          value: { escaped: expect.stringMatching(got) },
        })),
      )
    })

    it.each(attempts)('does not get out: %s', async (name) => {
      const reply = await hostile.call('query', { name, ports: world.upstream })

      // Its own isolate may have been ended; nobody else's.
      if (reply.kind !== 'ended') expect(reply).toEqual({ kind: 'value', value: { attempt: name, escaped: null } })
      expect(await other.call('query', {})).toEqual({ kind: 'value', value: 'served' })
    })

    it('has reached nothing, and left nothing', async () => {
      const reached = await other.call('introspect')
      const left = await other.call('preflight')

      expect(reached).toEqual({ kind: 'value', value: '0' })
      expect(left).toEqual({ kind: 'value', value: ['undefined', true, false] })
    })
  })
}
