/**
 * docs/contract.md#tokens: keys are published, and can be changed without logging anyone out. One instance is started
 * again and again with other values of SERVICE_AUTH__SIGNING_KEY.
 */
import { createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { read } from '../support/service/forge.ts'
import { newSigningKey } from '../support/service/served.ts'

const credentials = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
const secret = randomBytes(32).toString('base64url')
const [first, second] = [newSigningKey(), { ...newSigningKey(), kid: 'second' }]

type Tokens = { readonly accessToken: string; readonly refreshToken: string }

let postgres: Awaited<ReturnType<typeof startPostgres>>

beforeAll(async () => {
  postgres = await startPostgres()
  await run(undefined, async () => {}, {
    SERVICE_ADMIN__EMAIL: credentials.email,
    SERVICE_ADMIN__PASSWORD: credentials.password,
  })
})

afterAll(async () => {
  await postgres?.close()
})

it('publishes the keys, without what is private of them, and signs with the first', async () => {
  const [published, { accessToken }] = await run(undefined, async (url) => [await keysAt(url), await login(url)])

  const [key] = published
  const [head = '', body = '', signature = ''] = accessToken.split('.')
  const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  expect(published).toEqual([
    { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String), alg: 'EdDSA', use: 'sig' },
  ])
  expect(read(accessToken).header.kid).toBe(key?.kid)
  expect(verify(null, Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
})

it('lets everybody stay signed in when a key is given instead of the generated one, and when that is changed', async () => {
  const { d: _private, ...firstPublic } = first

  const generated = await run(undefined, login)
  const byFirst = await run(JSON.stringify(first), async (url) => {
    expect(await standings(url, generated)).toEqual([200, 200])
    return login(url)
  })
  const bySecond = await run(JSON.stringify([second, firstPublic]), async (url) => {
    expect(await standings(url, byFirst)).toEqual([200, 200])
    expect((await keysAt(url)).map(({ kid }) => kid)).toEqual([
      'second',
      read(byFirst.accessToken).header.kid,
      expect.any(String),
    ])
    return login(url)
  })

  expect(read(bySecond.accessToken).header.kid).toBe('second')
  expect(new Set([generated, byFirst, bySecond].map(({ accessToken }) => read(accessToken).header.kid)).size).toBe(3)
})

it('takes nothing signed by a key that is no longer given', async () => {
  const tokens = await run(JSON.stringify({ keys: [first] }), login)

  const statuses = await run(JSON.stringify(second), (url) => standings(url, tokens))

  expect(statuses).toEqual([401, 401])
})

it.each([
  ['no JSON', 'secret', 'must be JSON'],
  ['no key', '{}', 'must be an Ed25519 private JWK, or a list of such keys'],
  ['nothing', '[]', 'must be an Ed25519 private JWK, or a list of such keys'],
  ['null', 'null', 'must be an Ed25519 private JWK, or a list of such keys'],
  [
    'a key of another kind',
    JSON.stringify({ ...first, kty: 'RSA' }),
    'must be an Ed25519 private JWK, or a list of such keys',
  ],
  ['a public key alone', JSON.stringify({ ...first, d: undefined }), 'must begin with an Ed25519 private JWK'],
  ['a key twice', JSON.stringify([first, first]), 'has two keys of one kid'],
  ['half a key', JSON.stringify({ ...first, d: 'AAAA' }), 'contains an invalid key'],
])('does not start with %s, and says why without repeating it', async (_, value, reason) => {
  const started = run(value, async () => 'started')

  await expect(started).rejects.toThrow(new RegExp(`^SERVICE_AUTH__SIGNING_KEY ${reason}$`))
})

it('does not start with halves of two keys', async () => {
  const started = run(JSON.stringify({ ...first, x: second.x }), async () => 'started')

  await expect(started).rejects.toThrow(
    /^SERVICE_AUTH__SIGNING_KEY (has a private and a public half|contains an invalid key)/,
  )
})

/** What `work` finds at a server of the instance that is started with this value. */
async function run<T>(
  signingKey: string | undefined,
  work: (url: string) => Promise<T>,
  more: Readonly<Record<string, string>> = {},
): Promise<T> {
  const server: NodeServer = await startNode({
    environment: {
      SERVICE_DATABASE_URL: postgres.url,
      SERVICE_SECRET: secret,
      SERVICE_AUTH__SIGNING_KEY: signingKey,
      ...more,
      PORT: '0',
    },
    observe: () => {},
  })
  try {
    return await work(server.url)
  } finally {
    await server.close()
  }
}

async function login(url: string): Promise<Tokens> {
  const response = await post(`${url}/api/auth/login`, { credentials, mode: 'json' })
  return (await response.json()) as Tokens
}

/** Statuses of a read by access token, and of a refresh. */
async function standings(url: string, { accessToken, refreshToken }: Tokens): Promise<readonly number[]> {
  const headers = { Authorization: `Bearer ${accessToken}` }
  const me = await fetch(`${url}/api/system/users/me`, { headers })
  const refresh = await post(`${url}/api/auth/refresh`, { refreshToken })
  return [me.status, refresh.status]
}

async function keysAt(url: string): Promise<readonly { readonly kid: string }[]> {
  const response = await fetch(`${url}/api/auth/jwks`)
  return ((await response.json()) as { keys: { kid: string }[] }).keys
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
}
