/** The laws of the port ConnectorHost, held to both of its adapters; `connector-host.*.test.ts` run them. */
import { afterEach, describe, expect, it } from 'vitest'
import type { ConnectorHost, ConnectorLine, ConnectorReply, ConnectorSession } from '../../src/ports/connectors.ts'
import type { Upstream } from '../support/servers/upstream.ts'

export type HostUnderTest = {
  readonly host: ConnectorHost
  readonly upstream: Upstream
  /** What connectors of this host have printed so far. */
  readonly printed: readonly ConnectorLine[]
}

/** What the bundler leaves: no static import, one list of exports at the end. */
export function moduleOf(body: string): string {
  return `${body}\nexport { preflight, setup };\n`
}

/** `open` is called for each test, with short limits where they matter. */
export function describeConnectorHost(name: string, open: (limits: { readonly timeLimit?: number }) => HostUnderTest) {
  const sessions: ConnectorSession[] = []

  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()))
  })

  type Wish = { readonly grant?: readonly string[]; readonly config?: unknown; readonly timeLimit?: number }

  /** A connector whose `query` evaluates the named member of `handlers`. */
  function start(body: string, { grant, config = null, timeLimit }: Wish = {}) {
    const { host, upstream, printed } = open(timeLimit === undefined ? {} : { timeLimit })
    const program = { id: 'test', code: moduleOf(body), grant: grant ?? [`127.0.0.1:${upstream.granted}`], config }
    const session = host.open(program)
    sessions.push(session)
    return { session, upstream, host, program, printed }
  }

  const plain = `
    const preflight = (config) => ({ permissions: [{ permission: 'net:example.com', reason: config?.reason ?? '-' }] })
    const setup = () => ({ introspect: () => ({ schema: {} }), query: (request) => request })`

  describe(`connector host: ${name}`, () => {
    it('answers what preflight returns, and hands it the configuration', async () => {
      const { session } = start(plain, { config: { reason: 'reads orders' } })

      expect(await session.call('preflight')).toEqual(
        value({ permissions: [{ permission: 'net:example.com', reason: 'reads orders' }] }),
      )
    })

    it('says that preflight returned a promise, and survives that it fails', async () => {
      const { session } = start(`
        const preflight = async () => { throw new Error('late') }
        const setup = () => ({ introspect: () => 1, query: () => 2 })`)

      expect(await session.call('preflight')).toEqual({ kind: 'promise' })
      expect(await session.call('setup')).toEqual({ kind: 'handlers', names: ['introspect', 'query'] })
    })

    it('names the handlers that setup returned, whether it answers at once or later', async () => {
      const now = start(
        'const preflight = 1; const setup = () => ({ introspect() {}, query() {}, testConnection() {} })',
      )
      const later = start('const preflight = 1; const setup = async () => ({ query() {}, introspect: 7 })')

      expect(await now.session.call('setup')).toEqual({
        kind: 'handlers',
        names: ['introspect', 'query', 'testConnection'],
      })
      expect(await later.session.call('setup')).toEqual({ kind: 'handlers', names: ['query'] })
    })

    it('says that setup returned no object', async () => {
      const { session } = start('const preflight = 1; const setup = () => 7')

      expect(await session.call('setup')).toEqual({ kind: 'handlers', names: null })
      expect(await session.call('query', {})).toEqual({ kind: 'missing' })
    })

    it('says which function or handler is missing', async () => {
      const { session } = start('const preflight = null; const setup = () => ({ introspect: () => 1 })')

      expect(await session.call('preflight')).toEqual({ kind: 'missing' })
      expect(await session.call('testConnection')).toEqual({ kind: 'missing' })
    })

    it('hands a handler its request and answers what it returns, at once or later', async () => {
      const { session } = start(plain)
      const request = { operation: 'readMany', filter: { and: [{ value: null }, { value: '€\n\u2028' }] } }

      expect(await session.call('query', request)).toEqual(value(request))
    })

    it('answers nothing where a handler returned nothing', async () => {
      const { session } = start(`const preflight = 1
        const setup = () => ({ introspect: () => undefined, query: () => null, testConnection: () => () => {} })`)

      expect(await session.call('introspect')).toEqual(value(undefined))
      expect(await session.call('query', {})).toEqual(value(null))
      expect(await session.call('testConnection')).toEqual(value(undefined))
    })

    it('ends a connector whose reply is longer than 32 MiB, and starts it again', async () => {
      const { session } = start(`const preflight = 1
        const setup = () => ({ introspect: () => 'here', query: ({ mebibytes }) => 'x'.repeat(mebibytes * 2 ** 20) })`)

      expect(await session.call('query', { mebibytes: 33 })).toEqual({ kind: 'ended', reason: 'memory' })
      expect(await session.call('introspect')).toEqual(value('here'))
    })

    it('calls handlers on the object that setup returned', async () => {
      const { session } = start(`class Handlers { rows = 3; introspect() { return this.rows } query() {} }
        const preflight = 1; const setup = () => new Handlers()`)

      expect(await session.call('introspect')).toEqual(value(3))
    })

    it.each([
      ['new Error("plain")', { message: 'plain', code: null, denied: false }],
      [
        'Object.assign(new Error("coded"), { monospace: { code: 2002 } })',
        { message: 'coded', code: 2002, denied: false },
      ],
      ['Object.assign(new Error("m"), { monospace: { code: 1.5 } })', { message: 'm', code: null, denied: false }],
      ['Object.assign(new Error("m"), { monospace: { code: "100" } })', { message: 'm', code: null, denied: false }],
      ['Object.assign(new Error("m"), { monospace: 0 })', { message: 'm', code: null, denied: false }],
      ['Object.assign(new Error("no"), { name: "NotCapable" })', { message: 'no', code: null, denied: true }],
      [
        'Object.assign(new Error("a", { cause: new Error("b", { cause: Object.assign(new Error("c"), { name: "NotCapable" }) }) }), { monospace: { code: 100 } })',
        { message: 'a', code: 100, denied: true },
      ],
      ['"a text"', { message: 'a text', code: null, denied: false }],
      ['undefined', { message: 'undefined', code: null, denied: false }],
      ['Object.create(null)', { message: 'a value that cannot be read was thrown', code: null, denied: false }],
    ])('tells of a thrown %s', async (thrown, told) => {
      const { session } = start(`const preflight = () => { throw ${thrown} }
        const setup = () => ({ introspect() {}, query() { throw ${thrown} } })`)

      expect(await session.call('query', {})).toEqual({ kind: 'error', ...told })
      expect(await session.call('preflight')).toEqual({ kind: 'error', ...told })
    })

    it('calls a value that JSON cannot hold an error', async () => {
      const { session } = start(
        'const preflight = 1; const setup = () => ({ introspect() {}, query: () => ({ a: 1n }) })',
      )

      expect(await session.call('query', {})).toEqual({
        kind: 'error',
        message: 'query returned a value that JSON cannot hold',
        code: null,
        denied: false,
      })
    })

    it('says why a module cannot be loaded', async () => {
      const broken = start('const preflight = ; const setup = 1')
      const throwing = start('throw new Error("at load"); const preflight = 1; const setup = 1')

      expect(await broken.session.call('preflight')).toMatchObject({ kind: 'unloadable', denied: false })
      expect(await throwing.session.call('preflight')).toEqual({
        kind: 'unloadable',
        message: 'at load',
        denied: false,
      })
    })

    it('lets the module scope make a request to a granted host, and none to another', async () => {
      const body = (
        port: string,
      ) => `const text = await fetch('http://127.0.0.1:${port}/').then((answer) => answer.text())
        const preflight = () => text; const setup = 1`
      const { granted, forbidden } = open({}).upstream

      const allowed = await start(body(String(granted))).session.call('preflight')
      const denied = await start(body(String(forbidden))).session.call('preflight')

      expect(allowed).toEqual(value('hello'))
      expect(denied).toMatchObject({ kind: 'unloadable', denied: true })
    })

    it('runs setup before a handler where it has not run, once for calls that come together', async () => {
      const { session } = start(`let setups = 0; const preflight = 1
        const setup = async (config) => { setups += 1; return { introspect() {}, query: () => [setups, config] } }`)
      const calls = await Promise.all([session.call('query', {}), session.call('query', {}), session.call('query', {})])

      expect(calls).toEqual([value([1, null]), value([1, null]), value([1, null])])
    })

    it('tries setup again after it failed', async () => {
      const { session } = start(`let tries = 0; const preflight = 1
        const setup = () => { tries += 1; if (tries === 1) throw new Error('not yet'); return { introspect() {}, query: () => tries } }`)

      expect(await session.call('query', {})).toMatchObject({ kind: 'error', message: 'not yet' })
      expect(await session.call('query', {})).toEqual(value(2))
    })

    it('lets calls overlap', async () => {
      const { session } = start(`const waiting = []; const preflight = 1
        const setup = () => ({ introspect() {}, query: ({ last }) => new Promise((resolve) => {
          waiting.push(resolve)
          if (last) for (const [index, done] of waiting.entries()) done(index)
        }) })`)
      await session.call('setup')

      const answers = await Promise.all([
        session.call('query', { last: false }),
        session.call('query', { last: false }),
        session.call('query', { last: true }),
      ])

      expect(answers).toEqual([value(0), value(1), value(2)])
    })

    it('keeps the isolates of two sessions apart, also of the same code', async () => {
      const counting = `globalThis.count ??= 0; const preflight = () => { Object.prototype.stain = 1; return ++count }; const setup = 1`
      const { session, host, program } = start(counting)
      await session.call('preflight')
      const other = host.open(program)
      sessions.push(other)

      expect(await other.call('preflight')).toEqual(value(1))
      expect(await session.call('preflight')).toEqual(value(2))
    })

    it('starts afresh after it was closed', async () => {
      const { session } = start('globalThis.count ??= 0; const preflight = () => ++count; const setup = 1')
      await session.call('preflight')

      await session.close()

      expect(await session.call('preflight')).toEqual(value(1))
    })

    it('answers calls in flight when it is closed', async () => {
      const { session, upstream } = start(hanging)
      await session.call('setup')
      const waiting = session.call('query', { port: upstream.granted })

      await session.close()

      expect(await waiting).toMatchObject({ kind: 'ended' })
    })

    it('gives a call up after its time, and serves the next one', async () => {
      const { session, upstream } = start(hanging, { timeLimit: 5_000 })

      expect(await session.call('query', { port: upstream.granted })).toEqual({
        ...{ kind: 'ended', reason: 'time', isAlone: true },
      })
      expect(await session.call('introspect')).toEqual(value('here'))
    })

    it('reads no answer of more values than one may have, and serves the next one', async () => {
      const { session } = start(`
        const preflight = () => ({ permissions: [] })
        const lists = { zeros: 0, empty: [] }
        const setup = () => ({
          introspect: () => Array(10_000).fill(Array(200).fill(1)),
          query: ({ of, size }) => Array(size).fill(lists[of]),
        })`)

      expect(await session.call('query', { of: 'zeros', size: 2_500_001 })).toEqual({
        kind: 'oversized',
        excess: 'has more than 2500000 values',
      })
      expect(await session.call('query', { of: 'empty', size: 1_000_000 })).toEqual({
        kind: 'oversized',
        excess: 'has more than 1000000 arrays and objects',
      })
      expect(await session.call('introspect')).toEqual(value(Array(10_000).fill(Array(200).fill(1))))
    })

    it('reaches what is granted, with method and body', async () => {
      const { session, upstream } =
        start(`const preflight = 1; const setup = () => ({ introspect() {}, query: ({ port }) =>
        fetch(\`http://127.0.0.1:\${port}/echo\`, { method: 'PUT', body: 'text' }).then((answer) => answer.json()) })`)

      expect(await session.call('query', { port: upstream.granted })).toEqual(value({ method: 'PUT', body: 'text' }))
    })

    it('follows a redirect within the grant, and is stopped at the hop that leaves it', async () => {
      const { session, upstream } = start(fetching)
      const { granted, forbidden } = upstream
      const hop = (to: string) => `http://127.0.0.1:${granted}/redirect?to=${encodeURIComponent(to)}`

      const inside = await session.call('query', { url: hop(hop(`http://127.0.0.1:${granted}/`)) })
      const outside = await session.call('query', { url: hop(hop(`http://127.0.0.1:${forbidden}/`)) })

      expect(inside).toEqual(value('hello'))
      expect(outside).toMatchObject({ kind: 'error', denied: true })
      expect(await reached(session, upstream)).toBe('0')
    })

    it('takes a marker of its own from what an upstream answers', async () => {
      const { session, upstream } = start(fetching)

      const reply = await session.call('query', { url: `http://127.0.0.1:${upstream.granted}/marked` })

      expect(reply).toEqual(value('marked'))
    })

    it('opens a WebSocket to a granted host, and none to another', async () => {
      const { session, upstream } =
        start(`const preflight = 1; const setup = () => ({ introspect() {}, query: ({ port }) =>
        new Promise((resolve, reject) => {
          const socket = new WebSocket(\`ws://127.0.0.1:\${port}/\`)
          socket.onmessage = ({ data }) => { socket.close(); resolve(data) }
          socket.onerror = () => reject(new Error('refused'))
        }) })`)
      const reply = await session.call('query', { port: upstream.granted })
      const denied = await session.call('query', { port: upstream.forbidden })

      expect(reply).toEqual(value('hello'))
      expect(denied.kind).toBe('error')
    })

    it('opens a raw connection to a granted host, and none to another', async () => {
      const { session, upstream } = start(`const preflight = 1
        const setup = () => ({ introspect: () => fetch('http://127.0.0.1:${open({}).upstream.granted}/reached').then((answer) => answer.text()),
          query: async ({ port }) => {
            const { connect } = await import('node:net')
            return new Promise((resolve, reject) => {
              const socket = connect(port, '127.0.0.1')
              socket.on('error', reject)
              socket.on('close', () => reject(new Error('closed')))
              socket.on('data', (data) => { socket.destroy(); resolve(String(data).slice(0, 15)) })
              socket.write('GET / HTTP/1.1\\r\\nHost: upstream\\r\\n\\r\\n')
            })
          } })`)
      const reply = await session.call('query', { port: upstream.granted })
      const denied = await session.call('query', { port: upstream.forbidden })

      expect(reply).toEqual(value('HTTP/1.1 200 OK'))
      expect(denied.kind).toBe('error')
      expect(await session.call('introspect')).toEqual(value('0'))
    })

    it('hands on what a connector prints, with its level, cut where it is much', async () => {
      const { session, printed } = start(`
        const preflight = 1
        const setup = () => ({ introspect() {}, query({ lines }) {
          console.log('asked for', { lines }, undefined)
          console.error(new Error('a fault'))
          for (let index = 0; index < lines; index++) console.warn('x'.repeat(10_000))
          console.log({ get secret() { throw new Error('unreadable') } })
          return lines
        } })`)

      expect(await session.call('query', { lines: 1 })).toEqual(value(1))
      expect(printed).toEqual([
        { connector: 'test', level: 'info', message: 'asked for {"lines":1} undefined' },
        { connector: 'test', level: 'error', message: expect.stringMatching(/^Error: a fault\n +at /) },
        { connector: 'test', level: 'warn', message: 'x'.repeat(4_096) },
      ])
      expect(await session.call('query', { lines: 1_000 })).toEqual(value(1_000))
      expect(printed).toHaveLength(100)
    })

    it('has no way out at all without a grant', async () => {
      const { session, upstream } = start(fetching, { grant: [] })

      const reply = await session.call('query', { url: `http://127.0.0.1:${upstream.granted}/` })

      expect(reply).toMatchObject({ kind: 'error', denied: true })
    })
  })
}

function value(content: unknown): ConnectorReply {
  return { kind: 'value', value: content }
}

const fetching = `const preflight = 1; const setup = () => ({ introspect() {}, query: ({ url }) =>
  fetch(url).then((answer) => answer.text()) })`

const hanging = `const preflight = 1; const setup = () => ({ introspect: () => 'here', query: ({ port }) =>
  fetch(\`http://127.0.0.1:\${port}/hang\`).then((answer) => answer.text()) })`

/** How many connections the forbidden server has seen. */
async function reached(session: ConnectorSession, { granted }: Upstream): Promise<unknown> {
  const reply = await session.call('query', { url: `http://127.0.0.1:${granted}/reached` })
  return reply.kind === 'value' ? reply.value : reply
}
