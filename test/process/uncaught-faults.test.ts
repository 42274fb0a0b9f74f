/** docs/contract.md#shutdown: a fault that nobody catches is logged, and ends the process as a signal does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'

const root = join(import.meta.dirname, '../..')

const secret = randomBytes(32).toString('base64url')
let postgres: TestPostgres
let running: ChildProcess | undefined

beforeAll(async () => {
  postgres = await startPostgres()
})

afterEach(() => running?.kill('SIGKILL'))

afterAll(() => postgres?.close())

/** The program, and its address when it listens. */
async function start() {
  const later = join(root, 'test/support/run/throw-later.js')
  const child = spawn(process.execPath, ['--import', later, join(root, 'scripts/start-node.ts')], {
    env: {
      ...process.env,
      SERVICE_DATABASE_URL: postgres.url,
      SERVICE_SECRET: secret,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running = child
  const exited = once(child, 'exit')
  const errors = text(child.stderr)
  for await (const line of createInterface(child.stdout)) {
    const url = /Listening on (\S+)/.exec(line)?.[1]
    if (url !== undefined) return { child, exited, errors, url }
  }
  throw new Error(await errors)
}

it.each([
  { what: 'thrown in a timer', signal: 'SIGUSR2' },
  { what: 'rejected in a timer', signal: 'SIGWINCH' },
] as const)('logs what was $what, answers what is under way, and ends with 1', async ({ what, signal }) => {
  const { child, exited, errors, url } = await start()
  const body = '{}'
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length, Expect: '100-continue' }
  const asked = request(`${url}/api/auth/login`, { method: 'POST', headers })
  asked.flushHeaders()
  // Now the request is under way there.
  await once(asked, 'continue')

  child.kill(signal)
  await expect
    .poll(() =>
      fetch(`${url}/api/system/ping`).then(
        () => 'taken',
        () => 'refused',
      ),
    )
    .toBe('refused')
  asked.end(body)
  const [response] = await once(asked, 'response')
  response.resume()
  const [code] = await exited

  expect(response.statusCode).toBe(422)
  expect(code).toBe(1)
  expect(await errors).toContain(`"kind":"fault","error":{"name":"Error","message":"${what}"`)
})

it('is none of a connector’s process for which no file descriptor is left', async () => {
  const program = join(root, 'test/support/run/without-descriptors.ts')
  const child = spawn('sh', ['-c', 'ulimit -n 100; exec "$0" "$1"', process.execPath, program])
  running = child

  expect([await text(child.stdout), await text(child.stderr)]).toEqual(['Connectors cannot be run, 1 revoked\n', ''])
})
