/**
 * docs/contract.md#tokens: of all tokens only those count that the service wrote itself. What is wrong with one is
 * never said.
 */
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { expect, it } from 'vitest'
import { forgedSignatures } from '../support/data/ed25519-vectors.ts'
import { type Forgery, forge, read, signerOf } from '../support/service/forge.ts'
import { people } from '../support/service/people.ts'
import { newSigningKey } from '../support/service/served.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('forged', {})
const person = await people.memberWith(shop, [])
const victim = read(world.administrator.token)
const { header, claims } = read(person.token)
const ours = signerOf(world.signingKey)
const key = newSigningKey()
const theirs = signerOf(key)
const { d: _private, ...publicJwk } = key
const { d: _ours, ...ourPublicJwk } = world.signingKey
const ourPublicPem = createPublicKey({ key: ourPublicJwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
const now = Math.floor(Date.now() / 1_000)

it('takes a token that is forged with our own key and nothing else wrong with it, so that the others mean something', async () => {
  const response = await present(token({}))

  expect(response.status).toBe(200)
})

it.each<[string, Partial<Forgery>]>([
  ['no algorithm', { header: { ...header, alg: 'none' }, signer: () => new Uint8Array() }],
  ['no algorithm, and a signature', { header: { ...header, alg: 'none' } }],
  ['no algorithm, spelled otherwise', { header: { ...header, alg: 'NonE' }, signer: () => new Uint8Array() }],
  ['HMAC with our public key', { header: { ...header, alg: 'HS256' }, signer: hmac(ourPublicPem.toString()) }],
  ['HMAC with the coordinate of our key', { header: { ...header, alg: 'HS256' }, signer: hmac(ourPublicJwk.x ?? '') }],
  ['HMAC with nothing', { header: { ...header, alg: 'HS256' }, signer: hmac('') }],
  ['RSA', { header: { ...header, alg: 'RS256' }, signer: rsa() }],
  ['another curve', { header: { ...header, alg: 'ES256' }, signer: ecdsa() }],
  ['another name for our algorithm', { header: { ...header, alg: 'Ed25519' } }],
  ['the name of our algorithm in small letters', { header: { ...header, alg: 'eddsa' } }],
  ['an algorithm that is a list', { header: { ...header, alg: ['EdDSA'] } }],
  ['no algorithm named', { header: without(header, 'alg') }],
])('refuses a token with %s', async (_, forgery) => {
  await expectRefused(token(forgery))
})

it.each<[string, Partial<Forgery>]>([
  ['another key under our kid', { signer: theirs }],
  ['its own key embedded', { header: { ...header, jwk: publicJwk }, signer: theirs }],
  ['its own key embedded, and no kid', { header: { ...without(header, 'kid'), jwk: publicJwk }, signer: theirs }],
  ['an address to fetch its key from', { header: { ...header, jku: `${world.url}/keys` }, signer: theirs }],
  ['a certificate', { header: { ...header, x5c: ['MIIB'] }, signer: theirs }],
  ['an address of a certificate', { header: { ...header, x5u: `${world.url}/cert` }, signer: theirs }],
  ['our key embedded and signed with it', { header: { ...header, jwk: ourPublicJwk } }],
  ['our signature, and an address to fetch keys from', { header: { ...header, jku: `${world.url}/api/auth/jwks` } }],
  ['an unknown kid', { header: { ...header, kid: 'other' } }],
  ['a kid that is a path', { header: { ...header, kid: '../../../../dev/null' }, signer: hmac('') }],
  ['a kid that is a device', { header: { ...header, alg: 'HS256', kid: '/dev/null' }, signer: hmac('') }],
  ['a kid that is SQL', { header: { ...header, kid: "x' union select 'key" } }],
  ['a kid that every object has', { header: { ...header, kid: 'constructor' } }],
  ['a kid that is a prototype', { header: { ...header, kid: '__proto__' } }],
  ['a kid that is a list', { header: { ...header, kid: [header.kid] } }],
  ['an empty kid', { header: { ...header, kid: '' } }],
  ['no kid', { header: without(header, 'kid') }],
])('refuses a token with %s', async (_, forgery) => {
  await expectRefused(token(forgery))
})

it.each<[string, Partial<Forgery>]>([
  ['no type', { header: without(header, 'typ') }],
  ['the usual type', { header: { ...header, typ: 'JWT' } }],
  ['the type in capitals', { header: { ...header, typ: 'AT+JWT' } }],
  ['the type of a refresh token', { header: { ...header, typ: 'rt+jwt' } }],
  ['the type of an API key that does not exist', { header: { ...header, typ: 'key+jwt' } }],
  ['an extension that must be understood', { header: { ...header, crit: ['exp'], exp: now } }],
  ['an extension that the library knows', { header: { ...header, crit: ['b64'], b64: true } }],
  ['an empty list of extensions', { header: { ...header, crit: [] } }],
  ['another header', { header: { ...header, cty: 'JWT' } }],
  ['another audience', { claims: { ...claims, aud: 'urn:service:other' } }],
  ['an audience that is none', { claims: without(claims, 'aud') }],
  ['a list of other audiences', { claims: { ...claims, aud: ['urn:service:other'] } }],
  ['another issuer', { claims: { ...claims, iss: 'urn:service:other' } }],
  ['no issuer', { claims: without(claims, 'iss') }],
  ['no end', { claims: without(claims, 'exp') }],
  ['an end that is text', { claims: { ...claims, exp: String(now + 900) } }],
  ['an end that is null', { claims: { ...claims, exp: null } }],
  ['an end that is a list', { claims: { ...claims, exp: [now + 900] } }],
  ['an end that is infinite', { claims: JSON.stringify({ ...claims, exp: 0 }).replace('"exp":0', '"exp":1e999') }],
  ['an end that is no whole second', { claims: { ...claims, exp: now + 900.5 } }],
  ['an end that is over', { claims: { ...claims, exp: now - 10 } }],
  ['an end before all time', { claims: { ...claims, exp: -1 } }],
  ['a beginning that is not yet', { claims: { ...claims, nbf: now + 3_600 } }],
  ['no subject', { claims: without(claims, 'sub') }],
  ['another subject', { claims: { ...claims, sub: victim.claims.sub } }],
  ['a subject that is no id', { claims: { ...claims, sub: "' or 1=1 --" } }],
  ['no session', { claims: without(claims, 'sid') }],
  ['the session of somebody else', { claims: { ...claims, sid: victim.claims.sid } }],
  ['a session that does not exist', { claims: { ...claims, sid: crypto.randomUUID() } }],
  ['a session that is no id', { claims: { ...claims, sid: 'x' } }],
  ['no id', { claims: without(claims, 'jti') }],
  ['claims that are a list', { claims: '[]' }],
  ['claims that are null', { claims: 'null' }],
  ['claims that are no JSON', { claims: 'nonsense' }],
])('refuses a token with %s, although our key has signed it', async (_, forgery) => {
  await expectRefused(token(forgery))
})

it('refuses a refresh token where an access token belongs, and the other way round', async () => {
  const { email, password } = person
  const login = await world.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })
  const { accessToken, refreshToken } = (await login.json()) as { accessToken: string; refreshToken: string }

  await expectRefused(refreshToken)
  const refresh = await world.anonymous.post('/api/auth/refresh', { refreshToken: accessToken })

  expect(refresh.status).toBe(401)
  expect(await refresh.json()).toEqual({ message: 'Invalid token' })
})

it('refuses a genuine token whose signature is spelled or built otherwise', async () => {
  const [head = '', body = '', signature = ''] = person.token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const twin = letters[letters.indexOf(signature.at(-1) ?? '') ^ 1]
  const others = [
    ...forgedSignatures(bytes).map((forged) => Buffer.from(forged).toString('base64url')),
    signature.slice(0, -1) + twin,
    `${signature}==`,
    `${signature}.${signature}`,
    bytes.toString('base64'),
  ].filter((text) => text !== signature)

  const answers = await Promise.all(others.map((text) => present(`${head}.${body}.${text}`)))

  expect(answers.map(({ status }) => status)).toEqual(others.map(() => 401))
})

it('refuses what is no token at all, wherever it is presented', async () => {
  const texts = ['.', '..', '...', `${person.token}.`, `${person.token}.x.y`, 'x'.repeat(20_000), `${person.token}x`]

  const answers = await Promise.all(
    texts.flatMap((text) => [
      present(text),
      world.anonymous.get(`/api/system/users/me?access_token=${text}`),
      world.anonymous.send('GET', '/api/system/users/me', { headers: { Cookie: `service_session=${text}` } }),
    ]),
  )

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401))
})

function token(forgery: Partial<Forgery>): string {
  return forge({ header, claims, signer: ours, ...forgery })
}

function present(text: string): Promise<Response> {
  return world.bearer(text).get('/api/system/users/me')
}

/** Of the instance and in a workspace, where what was found before is remembered. */
async function expectRefused(text: string): Promise<void> {
  const answers = [await present(text), await world.bearer(text).get(`/api/${shop.name}/items/articles`)]

  expect(answers.map(({ status }) => status)).toEqual([401, 401])
  expect(await answers[0]?.json()).toEqual({ message: 'Invalid token' })
  expect(await answers[1]?.json()).toEqual({ message: 'Invalid token' })
}

function without(record: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  const { [name]: _left, ...rest } = record
  return rest
}

function hmac(secret: string): Forgery['signer'] {
  return (text) => createHmac('sha256', secret).update(text).digest()
}

function rsa(): Forgery['signer'] {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return (text) => sign('sha256', Buffer.from(text), privateKey)
}

function ecdsa(): Forgery['signer'] {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return (text) => sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
}
