/** TelemetryPort, one implementation for both platforms: one attempt, and no word of the address, which may have a token. */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createTelemetryClient } from '../../src/platform/telemetry-client.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

describe.each(['node', 'workers'] as const)('telemetry of %s', (platform) => {
  const telemetry = createTelemetryClient({ platform })

  it('says which platform it is', () => {
    expect(telemetry.platform).toBe(platform)
  })

  it('posts the text as it is, as JSON', async () => {
    const asked: unknown[] = []
    const { url } = await serve(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      asked.push([request.method, request.url, request.headers['content-type'], body])
      response.end()
    })

    await telemetry.post(`${url}/report`, '{"counts": {"é": 1.50}}')

    expect(asked).toEqual([['POST', '/report', 'application/json', '{"counts": {"é": 1.50}}']])
  })

  it.each([200, 201, 202, 204])('is done where the answer is %i', async (status) => {
    const { url } = await serve((_, response) => response.writeHead(status).end())

    await expect(telemetry.post(url, '{}')).resolves.toBeUndefined()
  })

  it.each([302, 307, 400, 404, 429, 500, 503])('asks once where the answer is %i, and says so', async (status) => {
    const { url, count } = await serve((_, response) => response.writeHead(status, { Location: '/elsewhere' }).end())

    await expect(telemetry.post(url, '{}')).rejects.toThrow(new RegExp(`^it was answered ${status}$`))
    expect(count()).toBe(1)
  })

  it('says that nobody answers, not where', async () => {
    const { url, close } = await serve(() => {})
    close()

    const failure = await telemetry.post(`${url}/?token=hidden`, '{}').catch((error: unknown) => error)

    expect(failure).toEqual(new Error('no answer'))
    expect((failure as Error).cause).toBeUndefined()
  })

  it('takes an address that is none for one that nobody answers at', async () => {
    await expect(telemetry.post('http://[::bad', '{}')).rejects.toThrow(/^no answer$/)
  })
})

async function serve(listener: RequestListener) {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    listener(request, response)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => requests, close }
}
