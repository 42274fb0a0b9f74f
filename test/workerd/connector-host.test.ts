/** ConnectorHost on Workers: the shared laws against isolates of the Worker Loader behind the real gate. */
import { describe, expect, inject, it } from 'vitest'
import type { ConnectorLine } from '../../src/ports/connectors.ts'
import { describeConnectorHost, moduleOf } from '../ports/connector-host.ts'
import { openWorkerdHost } from './isolates.ts'

const upstream = inject('upstream')

describeConnectorHost('isolates of the Worker Loader', (wished) => {
  const printed: ConnectorLine[] = []
  return { host: openWorkerdHost(wished, (line) => printed.push(line)), upstream, printed }
})

describe('what an upstream answers', () => {
  const taking = `const preflight = 1
    const setup = () => ({
      introspect: () => 'here',
      query: async ({ url, method }) => {
        const answer = await fetch(url, { method })
        const { length: size } = await answer.text()
        return { status: answer.status, encoding: answer.headers.get('content-encoding'), size }
      },
      testConnection: async ({ port, path }) => {
        const { connect } = await import('node:net')
        return new Promise((resolve, reject) => {
          const socket = connect(port, '127.0.0.1')
          let size = 0
          socket.on('error', reject)
          socket.on('close', () => resolve({ size }))
          socket.on('data', (piece) => { size += piece.byteLength })
          socket.write(\`GET \${path} HTTP/1.1\\r\\nHost: upstream\\r\\n\\r\\n\`)
        })
      },
    })`
  const at = (path: string) => `http://127.0.0.1:${upstream.granted}${path}`
  const opened = () =>
    openWorkerdHost().open({
      id: 'taking',
      code: moduleOf(taking),
      grant: [`127.0.0.1:${upstream.granted}`],
      config: null,
    })

  it.each(['gzip', 'br', 'identity'])('has an end, and holds up no other connector: %s', async (encoding) => {
    const [session, other] = [opened(), opened()]
    await Promise.all([session.call('setup'), other.call('setup')])
    const url = at(`/zeros?size=300&encoding=${encoding}`)
    // It is ready then.
    await session.call('query', { url, method: 'HEAD' })
    let isOver = false

    const taken = session.call('query', { url }).finally(() => {
      isOver = true
    })
    for (let count = 0; count < 5; count += 1)
      expect(await other.call('query', { url: at('/') })).toMatchObject({ kind: 'value', value: { size: 5 } })

    expect(isOver).toBe(false)
    expect(await taken).toMatchObject({ kind: 'error', message: 'The answer has more than 256 MiB', denied: false })
    expect(await session.call('introspect')).toEqual({ kind: 'value', value: 'here' })
    await Promise.all([session.close(), other.close()])
  })

  it('has an end on a raw connection', async () => {
    const session = opened()

    const reply = await session.call('testConnection', { port: upstream.granted, path: '/zeros?size=300' })

    expect(reply).not.toMatchObject({ kind: 'ended' })
    expect(Number((reply as { value?: { size: number } }).value?.size ?? 0)).toBeLessThanOrEqual(256 * 1024 ** 2)
    await session.close()
  })

  it.each([
    ['gzip', null],
    ['br', null],
    ['identity', 'identity'],
    ['unknown', 'unknown'],
  ])('arrives whole and decoded: %s', async (encoding, left) => {
    const session = opened()
    const size = 3 * 1024 ** 2

    const reply = await session.call('query', { url: at(`/zeros?size=3&encoding=${encoding}`) })

    expect(reply).toEqual({ kind: 'value', value: { status: 200, encoding: left, size } })
    await session.close()
  })

  it('is passed on without a body where there is none', async () => {
    const session = opened()

    const head = await session.call('query', { url: at('/zeros?size=3'), method: 'HEAD' })
    const statuses = [204, 205, 304].map((status) => session.call('query', { url: at(`/redirect?status=${status}`) }))

    expect(head).toMatchObject({ kind: 'value', value: { status: 200, size: 0 } })
    expect(await Promise.all(statuses)).toMatchObject(
      [204, 205, 304].map((status) => ({ kind: 'value', value: { status, size: 0 } })),
    )
    await session.close()
  })
})
