/** Issue of operations: a Node server connects to its database, to what it is configured with, and to nothing else. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPostgres } from '../support/servers/postgres.ts'

const root = join(import.meta.dirname, '../..')
let directory: string
let postgres: Awaited<ReturnType<typeof startPostgres>>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'egress-'))
  postgres = await startPostgres()
})

afterAll(async () => {
  await postgres?.close()
  await rm(directory, { recursive: true, force: true })
})

it('connects to its database and to nothing else, from its start to its end', async () => {
  const record = join(directory, 'connections')
  const password = 'a password of some length'
  const server = spawn(
    process.execPath,
    ['--import', join(root, 'test/support/run/record-connections.ts'), join(root, 'scripts/start-node.ts')],
    {
      cwd: directory,
      env: {
        PATH: process.env.PATH,
        RECORDED_CONNECTIONS: record,
        SERVICE_DATA_DIR: join(directory, 'data'),
        SERVICE_DATABASE_URL: postgres.url,
        SERVICE_SECRET: randomBytes(32).toString('base64url'),
        SERVICE_ADMIN__EMAIL: 'admin@example.com',
        SERVICE_ADMIN__PASSWORD: password,
        PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = once(server, 'exit')
  const url = await addressIn(server.stdout)
  const send = (method: string, path: string, body?: object, token?: string) =>
    fetch(url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    })

  const login = await send('POST', '/api/auth/login', {
    credentials: { email: 'admin@example.com', password },
    mode: 'json',
  })
  const { accessToken } = (await login.json()) as { accessToken: string }
  const answers = [
    await send('POST', '/api/system/workspaces', { apiName: 'shop' }, accessToken),
    await send('GET', '/api/shop/items/ServiceDataSource', undefined, accessToken),
    await send('GET', '/api/shop/openapi', undefined, accessToken),
    await send('POST', '/api/auth/password-reset/request', { email: 'admin@example.com' }),
  ]
  server.kill('SIGTERM')
  await ended

  const { hostname, port } = new URL(postgres.url)
  const connections = new Set((await readFile(record, 'utf8')).trim().split('\n'))
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 204])
  expect(connections).toContain('begun')
  expect(connections).toContain(`${hostname}:${port}`)
  expect([...connections].filter((line) => !allowed(line, `${hostname}:${port}`, hostname))).toEqual([])
})

function allowed(line: string, database: string, host: string): boolean {
  // The second look-up is of the address that it listens at.
  return ['begun', database, `lookup ${host}`, 'lookup 127.0.0.1'].includes(line)
}

/** The rest of the output is read and dropped: a pipe that is closed would fail the program. */
function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    output.on('data', (chunk: Buffer) => {
      text += chunk
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    output.on('end', () => reject(new Error(`it has ended: ${text}`)))
  })
}
