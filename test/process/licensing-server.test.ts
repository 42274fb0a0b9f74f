/** docs/contract.md#licensing: the licensing service of `npm run licensing`, over HTTP. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { IssuedLicense, Order } from '../../scripts/licensing/registry.ts'
import { type LicensingServer, startLicensingServer } from '../../scripts/licensing/server.ts'
import { parseLicenseKey } from '../../src/core/license/key.ts'
import { documentReader } from '../../src/services/license/documents.ts'

const DAY = 86_400
let directory: string
let server: LicensingServer
let ahead = 0
const now = () => Date.now() + ahead * 1_000

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'licensing-'))
  server = await startLicensingServer({ directory, now })
})

afterAll(async () => {
  await server?.close()
  await rm(directory, { recursive: true, force: true })
})

it('issues keys of the normal form, and documents that its public key verifies', async () => {
  const { key } = await issue({ plan: 'team', entitlements: { seats: { limit: 7, kind: 'soft' } } })

  const { body } = await activate(key, 'here')

  const reading = await documentReader(server.publicKey)((body as { license: string }).license)
  expect(parseLicenseKey(key)).toEqual({ kind: 'key', key })
  expect(reading).toMatchObject({
    kind: 'license',
    license: { plan: 'team', isOffline: false, limits: { seats: { limit: 7, kind: 'soft' } } },
  })
})

it('activates once for a key and an environment, on as many as the license allows', async () => {
  const { key } = await issue({ instances: 2 })

  const [first, again, second] = [await activate(key, 'a'), await activate(key, 'a'), await activate(key, 'b')]
  const third = await activate(key, 'c')
  const released = await send('DELETE', `/activations/${idOf(first)}`)
  const afterRelease = await activate(key, 'c')

  expect([first.status, again.status, second.status]).toEqual([201, 201, 201])
  expect(idOf(again)).toBe(idOf(first))
  expect(third).toEqual({
    status: 409,
    body: { message: 'The license is activated on its maximum number of instances, 2' },
  })
  expect([released.status, afterRelease.status]).toEqual([204, 201])
  expect((await validate(first, key, 'a')).status).toBe(404)
})

it('refuses a key that it does not know, and one that expired before its first activation', async () => {
  const { key } = await issue({ term: 0, grace: DAY })

  const [unknown, expired] = [await activate('M0000-00000-00000-00000-0000C', 'a'), await activate(key, 'a')]

  expect(unknown).toEqual({ status: 403, body: { message: 'This license key is unknown' } })
  expect(expired).toEqual({ status: 403, body: { message: 'The license has expired' } })
})

it('calls a license valid within its grace, then expired, and valid again once it is renewed', async () => {
  const { key } = await issue({ term: DAY, grace: DAY })
  const activation = await activate(key, 'a')
  const word = async (elapsed: number) => {
    ahead = elapsed
    return ((await validate(activation, key, 'a')).body as { status: string }).status
  }

  const words = [await word(0), await word(DAY), await word(2 * DAY)]
  await sell(`/licenses/${key}/renew`, { term: 30 * DAY })
  const renewed = await word(3 * DAY)
  ahead = 0

  expect(words).toEqual(['valid', 'valid', 'expired'])
  expect(renewed).toBe('valid')
})

it('tells of a license that was suspended, resumed or canceled', async () => {
  const { key } = await issue({})
  const activation = await activate(key, 'a')
  const after = async (word: string) => {
    await sell(`/licenses/${key}/${word}`)
    return (await validate(activation, key, 'a')).body
  }

  expect(await after('suspend')).toEqual({ status: 'suspended' })
  expect(await after('resume')).toMatchObject({ status: 'valid', license: expect.any(String) })
  expect(await after('cancel')).toEqual({ status: 'canceled' })
})

it('issues offline tokens', async () => {
  const { body } = await sell('/tokens', { plan: 'island' })

  expect(decodeJwt((body as { token: string }).token)).toMatchObject({
    offline: true,
    plan: 'island',
    product: 'service',
  })
})

it('answers nobody without its token but instances', async () => {
  const list = await send('GET', '/licenses')
  const made = await send('POST', '/licenses', {})

  expect([list.status, made.status]).toEqual([401, 401])
})

it('names what is wrong with a body', async () => {
  const { status, body } = await sell('/licenses', { colour: 'red' })

  expect(status).toBe(422)
  expect(JSON.stringify(body)).toContain('colour')
})

it('keeps keys, licenses and activations over a restart, where only their owner reads them', async () => {
  const { key } = await issue({})
  const before = await activate(key, 'a')
  const publicKey = server.publicKey

  await server.close()
  server = await startLicensingServer({ directory, now })

  expect(server.publicKey).toBe(publicKey)
  expect(idOf(await activate(key, 'a'))).toBe(idOf(before))
  const modes = await Promise.all(
    ['signing-key.json', 'licenses.json', 'token'].map(
      async (file) => (await stat(join(directory, file))).mode & 0o777,
    ),
  )
  expect(modes).toEqual([0o600, 0o600, 0o600])
})

it('is asked by commands', async () => {
  const port = new URL(server.url).port
  const run = async (...args: string[]) => {
    const env = { ...process.env, LICENSING_DIR: directory, LICENSING_PORT: port }
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/licensing.ts', ...args], { env })
    return JSON.parse(stdout) as IssuedLicense
  }

  const issued = await run(
    'issue',
    '--plan',
    'club',
    '--days',
    '30',
    '--limit',
    'seats=unlimited',
    '--soft',
    'workspaces=2',
  )
  const suspended = await run('suspend', issued.key)

  expect(issued.terms).toMatchObject({
    plan: 'club',
    exp: issued.terms.iat + 30 * DAY,
    entitlements: { seats: { limit: null, kind: 'hard' }, workspaces: { limit: 2, kind: 'soft' } },
  })
  expect(suspended).toMatchObject({ key: issued.key, state: 'suspended' })
})

type Answer = { readonly status: number; readonly body: unknown }

async function issue(order: Order): Promise<IssuedLicense> {
  const { body } = await sell('/licenses', order)
  return body as IssuedLicense
}

function activate(key: string, environmentId: string): Promise<Answer> {
  return send('POST', '/activations', { key, environmentId, baseUrl: 'https://example.com' })
}

function validate(activation: Answer, key: string, environmentId: string): Promise<Answer> {
  return send('POST', `/activations/${idOf(activation)}/validate`, { key, environmentId })
}

function idOf({ body }: Answer): string {
  return (body as { activationId: string }).activationId
}

function sell(path: string, body: object = {}): Promise<Answer> {
  return send('POST', path, body, { Authorization: `Bearer ${server.token}` })
}

async function send(method: string, path: string, body?: object, headers = {}): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
