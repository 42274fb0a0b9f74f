/** docs/contract.md#licensing: the instance does not start, and each failure has a message of its own. */
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newKeyPair, signDocument } from '../../scripts/licensing/documents.ts'
import { type Failure, type LicensingLine, openLicensingLine } from '../support/servers/licensing.ts'
import { openTestEnvironment, type TestEnvironment, type Variables } from '../support/service/instance.ts'

let stage: TestEnvironment
let line: LicensingLine
let key: string
let token: string

beforeAll(async () => {
  stage = await openTestEnvironment('node')
  line = await openLicensingLine(stage.clock.now)
  key = (await line.issue()).key
  token = ((await line.sell('/tokens', {})) as { token: string }).token
})

afterAll(async () => {
  await stage?.close()
  await line?.close()
})

it.each<[string, () => Variables | Promise<Variables>, string | RegExp]>([
  [
    'both variables are set',
    () => ({ ...line.variables(key), SERVICE_LICENSE__TOKEN: token }),
    'SERVICE_LICENSE__KEY and SERVICE_LICENSE__TOKEN must not both be set: a license is online or offline',
  ],
  [
    'the key does not begin with M',
    () => line.variables(key.replace('M', 'N')),
    'SERVICE_LICENSE__KEY must begin with the letter M',
  ],
  [
    'the check symbol of the key is wrong',
    () => line.variables(key.slice(0, -1) + (key.endsWith('2') ? '3' : '2')),
    'SERVICE_LICENSE__KEY is mistyped: its check symbol is wrong',
  ],
  [
    'there is no public key to verify the license with',
    () => ({ ...line.variables(key), SERVICE_LICENSE__PUBLIC_KEY: '' }),
    'SERVICE_LICENSE__PUBLIC_KEY must be set with SERVICE_LICENSE__KEY',
  ],
  [
    'the public key is none',
    () => ({ ...line.variables(key), SERVICE_LICENSE__PUBLIC_KEY: '{"kty":"RSA"}' }),
    'SERVICE_LICENSE__PUBLIC_KEY must be an Ed25519 public JWK',
  ],
  [
    'the public key is the private one',
    () => ({
      ...line.variables(key),
      SERVICE_LICENSE__PUBLIC_KEY: JSON.stringify(line.server.registry.keys.privateJwk),
    }),
    'SERVICE_LICENSE__PUBLIC_KEY must be an Ed25519 public JWK',
  ],
  [
    'there is no address of the licensing service',
    () => ({ ...line.variables(key), SERVICE_LICENSE__URL: '' }),
    'SERVICE_LICENSE__URL must be set with SERVICE_LICENSE__KEY',
  ],
  [
    'the licensing service does not know the key',
    () => line.variables('M0000-00000-00000-00000-0000C'),
    'The licensing service rejects the request: This license key is unknown',
  ],
  [
    'the key expired before its first activation',
    async () => line.variables((await line.issue({ term: 0 })).key),
    'The licensing service rejects the request: The license has expired',
  ],
  [
    'the key is activated on its maximum number of instances',
    async () => {
      const { key: full } = await line.issue({ instances: 1 })
      const activation = { key: full, environmentId: 'another', baseUrl: null }
      await fetch(`${line.server.url}/activations`, { method: 'POST', body: JSON.stringify(activation) })
      return line.variables(full)
    },
    'The licensing service rejects the request: The license is activated on its maximum number of instances, 1',
  ],
  ['the token is malformed', () => offline('not.a.token'), 'SERVICE_LICENSE__TOKEN is malformed'],
  [
    'the token lacks a member',
    async () => offline(await signed({ plan: undefined })),
    'SERVICE_LICENSE__TOKEN is malformed at plan',
  ],
  [
    'the signature of the token is invalid',
    async () => offline(await signDocument(decodeJwt(token), await newKeyPair())),
    'SERVICE_LICENSE__TOKEN has an invalid signature',
  ],
  [
    'the token is issued for another product',
    async () => offline(await signed({ product: 'teapot' })),
    'SERVICE_LICENSE__TOKEN is issued for another product',
  ],
  [
    'the license of the token lacks offline use',
    async () => offline(await signed({ offline: false })),
    'SERVICE_LICENSE__TOKEN is a license that does not allow offline use',
  ],
])('does not start where %s', async (_, variables, message) => {
  const { reason } = await stage.refusal(await variables())

  expect(reason).toBe(message)
})

it.each<[string, () => Failure, string]>([
  ['cannot be reached', () => ({ kind: 'down' }), 'cannot be reached (SERVICE_LICENSE__URL): no connection'],
  [
    'answers 503',
    () => ({ kind: 'answer', status: 503, body: '' }),
    'cannot be reached (SERVICE_LICENSE__URL): it answered 503',
  ],
  [
    'answers with a page',
    () => ({ kind: 'answer', status: 200, body: '<h1>Hello</h1>' }),
    'cannot be reached (SERVICE_LICENSE__URL): the response is not that of a licensing service',
  ],
  [
    'sends a forged license',
    () => line.forged,
    'rejects the request: the license that it sends has an invalid signature',
  ],
])('does not start where the licensing service %s, and says no more than that', async (_, trouble, message) => {
  line.spoil(trouble())

  const { reason } = await stage.refusal(line.variables(key))

  line.spoil({ kind: 'none' })
  expect(reason).toBe(`The licensing service ${message}`)
})

it('does not start under a known activation either while the service is down, and does once it is back', async () => {
  const instance = await stage.open(line.variables(key))
  await instance.close()
  line.spoil({ kind: 'down' })

  const { reason } = await stage.refusal(line.variables(key))
  line.spoil({ kind: 'none' })
  const again = await stage.open(line.variables(key))

  expect(reason).toBe('The licensing service cannot be reached (SERVICE_LICENSE__URL): no connection')
  expect((await again.anonymous.get('/api/system/ready')).status).toBe(200)
  await again.close()
})

it('starts locked where the license expired after it was activated', async () => {
  const { key: short } = await line.issue({ term: 60, grace: 0 })
  const first = await stage.open(line.variables(short))
  await first.close()
  await stage.clock.advance(120_000)

  const instance = await stage.open(line.variables(short))
  const admin = await instance.administrator()

  const info = (await (await admin.get('/api/system/info')).json()) as { license: { status: string } }
  expect(info.license.status).toBe('locked')
  expect((await admin.get('/api/nowhere/items/things')).status).toBe(402)
  await instance.close()
})

it('never says or stores the key', async () => {
  const instance = await stage.open(line.variables(key))
  line.spoil({ kind: 'answer', status: 403, body: '{"message":"no"}' })
  const admin = await instance.administrator()

  const answer = await (await admin.post('/api/system/license/refresh', {})).text()
  line.spoil({ kind: 'none' })
  const told = [answer, await (await admin.get('/api/system/info')).text(), instance.log()].join('\n')
  const stored = await stage.run(`select json_agg(l)::text from service.license l`)

  expect(told).not.toContain(key)
  expect(stored).toContain('"key_digest"')
  expect(stored).not.toContain(key)
  await instance.close()
})

function offline(text: string): Variables {
  return { SERVICE_LICENSE__TOKEN: text, SERVICE_LICENSE__PUBLIC_KEY: line.server.publicKey }
}

function signed(change: object): Promise<string> {
  return signDocument({ ...decodeJwt(token), ...change }, line.server.registry.keys)
}
