/**
 * docs/contract.md#shutdown: on SIGTERM not ready, no new connections, requests in flight are drained, and the rest is
 * cut.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeOptions, type NodeServer, startNode } from '../../handlers/node.ts'
import { effort } from '../support/run/effort.ts'
import { freePort } from '../support/servers/free-port.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let secret: string

beforeAll(async () => {
  postgres = await startPostgres()
  secret = randomBytes(32).toString('base64url')
})

afterAll(() => postgres?.close())

function start(variables: Record<string, string> = {}, options: Partial<NodeOptions> = {}): Promise<NodeServer> {
  const environment = { SERVICE_DATABASE_URL: postgres.url, SERVICE_SECRET: secret, PORT: '0', ...variables }
  return startNode({ environment, observe: () => {}, ...options })
}

type Answered = { readonly status: number; readonly isLast: boolean }

/** One request on a connection of `agent`; what ends before any answer is a fault with `code`. */
async function get(url: string, agent: Agent): Promise<Answered> {
  const asked = request(url, { agent })
  asked.end()
  const [response] = await once(asked, 'response')
  response.resume()
  await once(response, 'end')
  return { status: response.statusCode, isLast: response.headers.connection === 'close' }
}

/** Asks again and again over one connection until it is told that the connection ends; adds to `statuses` what it got. */
async function askUntilTold(url: string, statuses: number[]): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (;;) {
      const { status, isLast } = await get(url, agent)
      statuses.push(status)
      if (isLast) return statuses
    }
  } finally {
    agent.destroy()
  }
}

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status
}

describe('a server that is told to stop', () => {
  it.each([
    ['at once', '0s'],
    ['after a delay', '500ms'],
  ])('loses no request of 64 clients that ask all the time, when it stops %s', async (_, delay) => {
    const server = await start({ SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY: delay })
    const url = `${server.url}/api/system/info`
    const answers = Array.from({ length: 64 }, (): number[] => [])
    const clients = answers.map((statuses) => askUntilTold(url, statuses))
    // A connection that the system has taken and the server has not yet is nobody's, however long it takes.
    await expect.poll(() => answers.filter((statuses) => statuses.length === 0)).toEqual([])

    const closing = server.close()
    const statuses = (await Promise.all(clients)).flat()
    await closing

    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(statuses.length).toBeGreaterThan(64)
    await expect(fetch(url)).rejects.toThrow()
  })

  it('is not ready at once, and serves for as long as its delay says', async () => {
    // Far longer than four answers take.
    const server = await start({ SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY: '3s' })
    expect(await statusOf(`${server.url}/api/system/ready`)).toBe(200)

    const closing = server.close()

    const ready = await fetch(`${server.url}/api/system/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toEqual({
      status: 'unavailable',
      checks: { accepting_traffic: 'the process is shutting down', startup: 'ok', system_db: 'ok' },
    })
    expect(await statusOf(`${server.url}/api/system/live`)).toBe(200)
    expect(await statusOf(`${server.url}/api/system/info`)).toBe(200)
    await closing
  })

  it('cuts a request that never ends', async () => {
    const server = await start({}, { shutdownLimit: 500 })
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    // The answer to the first says that the connection has been taken.
    socket.write('GET /ping HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    socket.write(
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    )
    const cut = once(socket, 'close')

    await server.close()

    await cut
  })

  it('closes connections that are silent, and does not wait for them', async () => {
    const server = await start()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /ping HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    const closed = once(socket, 'close')

    await server.close()

    await closed
  })
})

it('says that it is starting while it cannot serve', async () => {
  const silent = createNetServer().listen(0, '127.0.0.1')
  const connected = once(silent, 'connection')
  await once(silent, 'listening')
  const { port: databasePort } = silent.address() as AddressInfo
  const port = await freePort()
  const starting = start({
    PORT: String(port),
    SERVICE_DATABASE_URL: `postgres://nobody@127.0.0.1:${databasePort}/nothing`,
  })
  const failed = expect(starting).rejects.toThrow()
  const [socket] = (await connected) as [Socket]

  const ready = await fetch(`http://127.0.0.1:${port}/api/system/ready`)
  const info = await fetch(`http://127.0.0.1:${port}/api/system/info`)
  const live = await fetch(`http://127.0.0.1:${port}/api/system/live`)

  expect([ready.status, info.status, live.status]).toEqual([503, 503, 200])
  expect(await ready.json()).toMatchObject({ checks: { startup: 'the instance is starting' } })
  silent.close()
  socket.destroy()
  await failed
})

/** Follows from what is told above of one server, and waits for the delays of four. */
if (effort() === 'full') describeReplicas()

function describeReplicas(): void {
  describe('two replicas behind a proxy', () => {
    /** Sends requests in turn to replicas that say that they are ready. */
    async function startProxy(replicas: { readonly url: string }[]) {
      const ready = new Set<string>()
      const watch = setInterval(() => {
        for (const { url } of replicas) {
          fetch(`${url}/api/system/ready`).then(
            ({ status }) => (status === 200 ? ready.add(url) : ready.delete(url)),
            () => ready.delete(url),
          )
        }
      }, 50)
      let turn = 0
      const server = createServer((asked, answer) => {
        const urls = [...ready]
        turn += 1
        const target = urls[turn % urls.length]
        const forwarded = request(`${target}${asked.url}`, { method: asked.method, headers: asked.headers })
        forwarded.on('response', (response) => {
          answer.writeHead(response.statusCode ?? 500)
          response.pipe(answer)
        })
        forwarded.on('error', () => answer.writeHead(502).end())
        asked.pipe(forwarded)
      })
      server.on('close', () => clearInterval(watch))
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      await expect.poll(() => ready.size).toBe(replicas.length)
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, ready }
    }

    it('are replaced one by one without a failed request', async () => {
      // Far longer than the proxy takes to see that one is not ready any more.
      const delay = { SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY: '6s' }
      const replicas = [await start(delay), await start(delay)]
      const proxy = await startProxy(replicas)
      let isOver = false
      const clients = Array.from({ length: 8 }, async () => {
        const statuses: number[] = []
        while (!isOver) {
          statuses.push(await statusOf(`${proxy.url}/api/system/info`))
          // All of them live in one process: without a pause there would be no time for anything else.
          await wait(5)
        }
        return statuses
      })

      for (const index of [0, 1]) {
        const next = await start(delay)
        const old = replicas[index]
        replicas[index] = next
        replicas.push(...(old === undefined ? [] : [old]))
        await expect.poll(() => proxy.ready.has(next.url)).toBe(true)
        await old?.close()
        replicas.pop()
      }
      isOver = true
      const statuses = (await Promise.all(clients)).flat()

      expect(statuses.length).toBeGreaterThan(50)
      expect(statuses.filter((status) => status !== 200)).toEqual([])
      proxy.server.close()
      await Promise.all(replicas.map((replica) => replica.close()))
    })
  })
}
