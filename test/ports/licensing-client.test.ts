/**
 * LicensingClient: retries (docs/contract.md#licensing), and what it does not follow. Real servers, pauses written
 * down, not waited for.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createLicensingClient } from '../../src/platform/licensing-client.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

it('answers status and body of the service', async () => {
  const { url } = await serve((_, response) => response.writeHead(403).end('{"message":"no"}'))

  expect(await post(url)).toEqual({ kind: 'answer', status: 403, body: '{"message":"no"}', pauses: [] })
})

it('posts JSON', async () => {
  const { url } = await serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    response.end(`${request.method} ${request.headers['content-type']} ${body}`)
  })

  expect(await post(url)).toMatchObject({ body: 'POST application/json {"key":"M"}' })
})

it.each([200, 204, 302, 400, 404, 499])('asks once where the answer is %i', async (status) => {
  const { url, count } = await serve((_, response) => response.writeHead(status, { Location: '/elsewhere' }).end())

  expect(await post(url)).toMatchObject({ kind: 'answer', status, pauses: [] })
  expect(count()).toBe(1)
})

it('tries three times more from 250 ms on where the service fails, and answers the last', async () => {
  const { url, count } = await serve((_, response) => response.writeHead(502).end('bad gateway'))

  expect(await post(url)).toEqual({ kind: 'answer', status: 502, body: 'bad gateway', pauses: [250, 500, 1000] })
  expect(count()).toBe(4)
})

it('stops trying as soon as there is an answer', async () => {
  let left = 2
  const { url } = await serve((_, response) => {
    left -= 1
    if (left >= 0) response.destroy()
    else response.end('{}')
  })

  expect(await post(url)).toEqual({ kind: 'answer', status: 200, body: '{}', pauses: [250, 500] })
})

it('says that nobody answers', async () => {
  const { url, close } = await serve(() => {})
  close()

  expect(await post(url)).toEqual({ kind: 'unreachable', reason: 'no connection', pauses: [250, 500, 1000] })
})

it('does not wait for ever, neither for an answer nor for its end', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/half') response.write('{"status":')
  })

  const late = { kind: 'unreachable', reason: 'it did not answer in time', pauses: [250, 500, 1000] }
  expect(await post(url, 50)).toEqual(late)
  expect(await post(`${url}/half`, 50)).toEqual(late)
})

it('reads no more of an answer than any of the service has', async () => {
  const { url } = await serve((_, response) => {
    const more = () => {
      while (response.write('x'.repeat(16_384)));
    }
    response.on('drain', more)
    more()
  })

  const delivery = await post(url)

  expect(delivery).toMatchObject({ kind: 'answer' })
  expect('body' in delivery ? delivery.body.length : 0).toBeLessThan(1024 * 1024)
})

it('takes an address that is none for an unreachable service', async () => {
  expect(await post('http://[::bad')).toMatchObject({ kind: 'unreachable' })
})

async function post(url: string, timeLimit?: number) {
  const pauses: number[] = []
  const client = createLicensingClient({
    pause: async (milliseconds) => {
      pauses.push(milliseconds)
    },
    ...(timeLimit !== undefined && { timeLimit }),
  })
  return { ...(await client.post(url, { key: 'M' })), pauses }
}

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
