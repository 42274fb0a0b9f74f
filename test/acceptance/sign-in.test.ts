/** docs/contract.md#sessions: signing in with e-mail and password in JSON mode. */
import { expect, it } from 'vitest'
import { messagesOf } from '../support/service/messages.ts'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const { email, password } = world.administrator
const shop = await world.workspace('sign_in', {})

it('answers the bare object with the access token, its lifetime in seconds and a refresh token', async () => {
  const response = await login({ credentials: { email, password }, mode: 'json' })

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    expires: 900,
    accessToken: expect.stringMatching(jwt),
    refreshToken: expect.stringMatching(jwt),
  })
})

it('signs access tokens with EdDSA and says in them whose they are and until when', async () => {
  const { accessToken } = await tokens()

  const [header, payload] = decoded(accessToken)

  expect(header).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: expect.any(String) })
  expect(payload).toEqual({
    sub: expect.any(String),
    sid: expect.any(String),
    jti: expect.any(String),
    iss: expect.any(String),
    aud: expect.any(String),
    iat: expect.any(Number),
    exp: expect.any(Number),
  })
  expect(Number(payload?.exp) - Number(payload?.iat)).toBe(900)
})

it('takes an access token as a Bearer token', async () => {
  const { accessToken } = await tokens()

  const response = await world.bearer(accessToken).get('/api/system/api-keys')

  expect(response.status).toBe(200)
})

it('does not take a refresh token as a Bearer token', async () => {
  const { refreshToken } = await tokens()

  const response = await world.bearer(refreshToken).get('/api/system/api-keys')

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({ message: 'Invalid token' })
})

it('knows an account in whatever case its address is written', async () => {
  const response = await login({ credentials: { email: email.toUpperCase(), password }, mode: 'json' })

  expect(response.status).toBe(200)
})

it('refuses every wrong sign-in in the same words, whoever exists', async () => {
  const [member, suspended] = [await people.memberWith(shop, []), await people.memberWith(shop, [])]
  await world.administrator.patch(`/api/system/users/${suspended.userId}`, { status: 'suspended' })
  const wrong = [
    { email: member.email, password: 'not the password' },
    { email: member.email, password: '' },
    { email: people.email(), password: member.password },
    { email: suspended.email, password: suspended.password },
    { email: member.userId, password: member.password },
    { email: '', password: '' },
  ]

  const answers = await Promise.all(wrong.map((credentials) => login({ credentials, mode: 'json' })))

  const told = await Promise.all(
    answers.map(async (response) => [response.status, [...response.headers.keys()].sort(), await response.text()]),
  )
  expect(told).toEqual(told.map(() => [401, told[0]?.[1], '{"message":"Invalid credentials"}']))
})

it.each([
  ['no credentials', { mode: 'json' }, ['credentials', 'must be given']],
  ['no password', { credentials: { email }, mode: 'json' }, ['credentials.password', 'must be given']],
  [
    'a password that is a number',
    { credentials: { email, password: 5 } },
    ['credentials.password', 'must be of type string'],
  ],
  ['a password that is no text', { credentials: { email, password: 1 }, mode: 'json' }, ['credentials.password']],
  [
    'an unknown member',
    { credentials: { email, password }, mode: 'json', remember: true },
    ['unknown field remember; allowed: credentials, mode'],
  ],
  ['an unknown mode', { credentials: { email, password }, mode: 'xml' }, ['mode']],
  ['a body that is no object', [], []],
])('answers 422 for %s, naming the place', async (_, body, messages) => {
  const response = await login(body)

  expect(response.status).toBe(422)
  expect(messagesOf(await response.json())).toEqual(
    expect.arrayContaining(['Failed to read the JSON body', ...messages]),
  )
})

it('has an alias for the login with flat members', async () => {
  const path = '/api/auth/providers/local/password/login'

  const right = await world.anonymous.post(path, { email, password, mode: 'json' })
  const wrong = await world.anonymous.post(path, { email, password: 'not the password', mode: 'json' })

  expect(right.status).toBe(200)
  expect(await right.json()).toMatchObject({ expires: 900, accessToken: expect.stringMatching(jwt) })
  expect(wrong.status).toBe(401)
})

const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/

function login(body: unknown): Promise<Response> {
  return world.anonymous.post('/api/auth/login', body)
}

async function tokens(): Promise<{ accessToken: string; refreshToken: string }> {
  const response = await login({ credentials: { email, password }, mode: 'json' })
  return (await response.json()) as { accessToken: string; refreshToken: string }
}

function decoded(token: string): readonly Record<string, unknown>[] {
  const [header = '', payload = ''] = token.split('.')
  return [header, payload].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
}
