/**
 * docs/contract.md#sign-in-providers: sign-ins through a provider that somebody has tampered with, on whatever side.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openBrowser } from '../support/run/browser.ts'
import { type CraftedProvider, startCraftedProvider } from '../support/servers/crafted-provider.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../support/servers/openid-provider.ts'
import { people } from '../support/service/people.ts'
import { RETURN_URL, signingIn } from '../support/service/signing-in.ts'
import { world } from '../support/service/world.ts'

const { administrator, anonymous } = world
const { callbackOf, enter, leave, login, whoami } = signingIn
const shop = await world.workspace('sign_in_attacks', { articles: { title: 'string' } })
const autoJoin = { workspace: shop.name, roleId: await people.roleWith(shop, {}) }
const FAILED = `${RETURN_URL}&error=sign_in_failed`

/** Two clients of a real provider; one of a provider that answers what it is told; one of the same without OpenID. */
const [real, second] = [signingIn.name('real'), signingIn.name('second')]
const [crafted, plain] = [signingIn.name('crafted'), signingIn.name('plain')]
let openId: OpenIdProvider
let craft: CraftedProvider
/** Somebody whom the real provider knows. */
const account = randomBytes(8).toString('hex')

beforeAll(async () => {
  openId = await startOpenIdProvider({ [real]: callbackOf(real), [second]: callbackOf(second) })
  craft = await startCraftedProvider()
  openId.accounts.set(account, { email: people.email(), email_verified: true })
  const { issuer, clientSecret } = openId
  for (const name of [real, second]) {
    await signingIn.provider({ name, issuer, clientId: name, clientSecret, autoJoin })
  }
  const ours = { clientId: 'ours', clientSecret: craft.clientSecret, autoJoin }
  await signingIn.provider({ ...ours, name: crafted, issuer: craft.url })
  await signingIn.provider({ ...ours, name: plain, ...endpoints(), claims: { subject: 'id' } })
})

beforeEach(() => craft.reset())

afterAll(async () => {
  await openId.close()
  await craft.close()
})

it.each([
  ['without a state', (back: URL) => back.searchParams.delete('state')],
  ['with another state', (back: URL) => back.searchParams.set('state', randomBytes(32).toString('base64url'))],
  ['with two states', (back: URL) => back.searchParams.append('state', 'another')],
  ['without a code', (back: URL) => back.searchParams.delete('code')],
  ['with another code', (back: URL) => back.searchParams.set('code', 'another')],
  ['with two codes', (back: URL) => back.searchParams.append('code', 'another')],
  ['without the issuer', (back: URL) => back.searchParams.delete('iss')],
  ['with another issuer', (back: URL) => back.searchParams.set('iss', 'https://attacker.example.com')],
  ['with a token in the address', (back: URL) => back.searchParams.set('id_token', 'a.b.c')],
])('refuses who comes back %s', async (_, tamper) => {
  const browser = openBrowser()
  const back = new URL(await leave(browser, real, account))
  tamper(back)

  const response = await browser.get(back.href)

  expect(response.headers.get('Location')).toBe(FAILED)
  expect(await whoami(browser)).toBeUndefined()
})

it.each([
  ['nonce', randomBytes(32).toString('base64url')],
  ['code_challenge', randomBytes(32).toString('base64url')],
])('refuses who was sent to the provider with another %s', async (name, value) => {
  const browser = openBrowser()
  const left = await browser.get(login(real))
  const address = new URL(left.headers.get('Location') ?? '')
  address.searchParams.set(name, value)
  const back = await browser.goUntil(address.href, callbackOf(real), { 'X-Account': account })

  const response = await browser.get(back)

  expect(response.headers.get('Location')).toBe(FAILED)
})

it('takes a callback once, also from a browser that kept its cookie', async () => {
  const browser = openBrowser()
  const back = await leave(browser, crafted)
  const cookie = `service_sign_in=${browser.cookie('service_sign_in')}`
  craft.answers.claims = somebody()

  const first = await browser.get(back)
  const asked = craft.requests.length
  const again = await browser.get(back)
  const kept = await openBrowser().get(back, { Cookie: cookie })

  expect(first.headers.get('Location')).toBe(RETURN_URL)
  expect(again.status).toBe(401)
  expect(kept.headers.get('Location')).toBe(FAILED)
  expect(craft.requests.slice(asked)).toEqual([])
})

it('takes a callback once, also when it comes many times at once', async () => {
  const browser = openBrowser()
  const back = await leave(browser, crafted)
  const cookie = { Cookie: `service_sign_in=${browser.cookie('service_sign_in')}` }
  craft.answers.claims = somebody()

  const answers = await Promise.all(Array.from({ length: 5 }, () => openBrowser().get(back, cookie)))

  const locations = answers.map(({ headers }) => headers.get('Location'))
  expect(locations.toSorted()).toEqual([RETURN_URL, FAILED, FAILED, FAILED, FAILED])
})

it('refuses a browser that is not the one that left', async () => {
  const back = await leave(openBrowser(), real, account)
  const other = openBrowser()

  const response = await other.get(back)

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({ message: 'Invalid credentials' })
  expect(await whoami(other)).toBeUndefined()
})

it.each([
  ['no text of ours', 'nonsense'],
  ['empty', ''],
])('refuses a cookie that is %s', async (_, value) => {
  const back = await leave(openBrowser(), real, account)

  const response = await openBrowser().get(back, { Cookie: `service_sign_in=${value}` })

  expect(response.status).toBe(401)
})

it('refuses a cookie beside one that somebody has planted', async () => {
  const browser = openBrowser()
  const back = await leave(browser, real, account)
  const attacker = openBrowser()
  await leave(attacker, real, account)
  const cookies = [browser, attacker].map((one) => `service_sign_in=${one.cookie('service_sign_in')}`)

  const response = await openBrowser().get(back, { Cookie: cookies.join('; ') })

  expect(response.status).toBe(401)
})

it('refuses a code that was given for the sign-in of somebody else', async () => {
  const [victim, attacker] = [openBrowser(), openBrowser()]
  const back = new URL(await leave(victim, real, account))
  const theirs = new URL(await leave(attacker, real, account))
  theirs.searchParams.set('code', back.searchParams.get('code') ?? '')

  const response = await attacker.get(theirs.href)

  expect(response.headers.get('Location')).toBe(FAILED)
  expect(await whoami(attacker)).toBeUndefined()
})

it('refuses the code of one provider at the callback of another', async () => {
  const browser = openBrowser()
  const back = new URL(await leave(browser, crafted))
  const asked = craft.requests.length

  const response = await browser.get(`${callbackOf(real)}${back.search}`)

  expect(response.headers.get('Location')).toBe(FAILED)
  expect(craft.requests.slice(asked)).toEqual([])
})

it('refuses to be sent to one provider and to come back with a code of another', async () => {
  const browser = openBrowser()
  const back = new URL(await leave(browser, second, account))
  const stolen = new URL(await leave(openBrowser(), real, account))
  back.searchParams.set('code', stolen.searchParams.get('code') ?? '')

  const response = await browser.get(back.href)

  expect(response.headers.get('Location')).toBe(FAILED)
})

it('keeps the accounts of providers apart that give the same subject', async () => {
  const subject = randomBytes(8).toString('hex')
  craft.answers.claims = { ...somebody(), sub: subject }
  const first = await whoami((await enter(crafted)).browser)
  craft.answers.userinfo = { ...somebody(), id: subject }
  const other = await whoami((await enter(plain)).browser)

  expect(first?.id).toBeDefined()
  expect(other?.id).toBeDefined()
  expect(other?.id).not.toBe(first?.id)
})

it('takes an identity token that says everything', async () => {
  craft.answers.claims = somebody()

  const { location, browser } = await enter(crafted)

  expect(location).toBe(RETURN_URL)
  expect(await whoami(browser)).toMatchObject({ email: craft.answers.claims.email })
})

it('takes one of an issuer that offers bad algorithms besides good ones', async () => {
  craft.answers.claims = somebody()
  craft.answers.discovery = { id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'] }

  const { location } = await enter(await freshProvider())

  expect(location).toBe(RETURN_URL)
})

it('asks a provider once what it publishes of itself', async () => {
  const name = await freshProvider()
  const asked = craft.requests.length

  craft.answers.claims = somebody()
  await enter(name)
  craft.answers.claims = somebody()
  const { location } = await enter(name)

  const paths = craft.requests.slice(asked).map((path) => path.replace(/^\/issuers\/\d+/, ''))
  expect(location).toBe(RETURN_URL)
  expect(paths.toSorted()).toEqual([
    '/.well-known/openid-configuration',
    '/authorize',
    '/authorize',
    '/jwks',
    '/token',
    '/token',
  ])
})

it('forgets with a provider who has signed in through it', async () => {
  const [name, issuer] = [signingIn.name('again'), craft.newIssuer()]
  const settings = { name, issuer, clientId: 'ours', clientSecret: craft.clientSecret, autoJoin }
  const person = somebody()
  await signingIn.provider(settings)
  craft.answers.claims = person
  const first = await whoami((await enter(name)).browser)
  await administrator.delete(`/api/system/providers/${name}`)
  await signingIn.provider(settings)

  craft.answers.claims = { ...person, email_verified: false }
  const unverified = await enter(name)
  craft.answers.claims = person
  const again = await enter(name)

  expect(unverified.location).toBe(`${RETURN_URL}&error=not_allowed`)
  expect((await whoami(again.browser))?.id).toBe(first?.id)
})

it('reads the claims that the provider was set up with, and no others', async () => {
  const name = signingIn.name('claims')
  const claims = { email: 'mail', emailVerified: 'xms_edov' }
  const settings = { issuer: craft.url, claims, clientId: 'ours', clientSecret: craft.clientSecret, autoJoin }
  await signingIn.provider({ name, ...settings })
  const { sub, email } = somebody()

  craft.answers.claims = { sub, mail: email, xms_edov: true }
  const entered = await enter(name)
  craft.answers.claims = { ...somebody(), mail: people.email(), xms_edov: false }
  const unverified = await enter(name)

  expect(await whoami(entered.browser)).toMatchObject({ email })
  expect(unverified.location).toBe(`${RETURN_URL}&error=not_allowed`)
})

const now = Math.floor(Date.now() / 1_000)

it.each<[string, JWTPayload]>([
  ['is of another issuer', { iss: 'https://attacker.example.com' }],
  ['is for somebody else', { aud: 'another' }],
  ['is for several, by order of another', { aud: ['ours', 'another'], azp: 'another' }],
  ['has another nonce', { nonce: 'another' }],
  ['has no nonce', { nonce: undefined }],
  ['is over', { iat: now - 7_200, exp: now - 3_600 }],
  ['has no end', { exp: undefined }],
  ['has an end that is a text', { exp: String(now + 3_600) as unknown as number }],
  ['does not count yet', { nbf: now + 3_600 }],
  ['is of nobody', { sub: undefined }],
  ['has a subject that is no text', { sub: { id: 1 } as unknown as string }],
])('refuses an identity token that %s', async (_, claims) => {
  craft.answers.claims = { ...somebody(), ...claims }

  const { location, browser } = await enter(crafted)

  expect(location).toBe(FAILED)
  expect(await whoami(browser)).toBeUndefined()
})

it.each<[string, (claims: JWTPayload) => Promise<string>]>([
  ['nothing', async (claims) => `${part({ alg: 'none' })}.${part(claims)}.`],
  ['the client secret', (claims) => signed(claims, 'HS256', new TextEncoder().encode(craft.clientSecret))],
  ['a key of somebody else', async (claims) => signed(claims, 'ES256', (await newKey()).privateKey)],
  [
    'a key that it brings along',
    async (claims) => {
      const { publicKey, privateKey } = await newKey()
      return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', jwk: await exportJWK(publicKey) }).sign(privateKey)
    },
  ],
  ['a key that nobody has published', (claims) => craft.sign(claims, { kid: 'another' })],
  ['the right key over other claims', async (claims) => forged(await craft.sign(claims), claims)],
  ['no token at all', async () => 'nonsense'],
])('refuses an identity token that is signed by %s', async (_, sign) => {
  craft.answers.claims = somebody()
  craft.answers.discovery = { id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'] }
  craft.answers.sign = sign

  const { location, browser } = await enter(await freshProvider())

  expect(location).toBe(FAILED)
  expect(await whoami(browser)).toBeUndefined()
})

it.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['of another issuer', { issuer: 'https://attacker.example.com' }, 'sign_in_failed'],
  ['without endpoints', { authorization_endpoint: undefined }, 'sign_in_failed'],
  ['that sends people somewhere without TLS', { authorization_endpoint: 'http://id.example.com/' }, 'sign_in_failed'],
  ['that sends people to a script', { authorization_endpoint: 'javascript:alert(1)' }, 'sign_in_failed'],
])('sends nobody to a provider with a discovery document %s', async (_, discovery, error) => {
  craft.answers.discovery = discovery

  const response = await openBrowser().get(login(await freshProvider()))

  expect(response.headers.get('Location')).toBe(`${RETURN_URL}&error=${error}`)
})

it.each([
  ['an address without TLS', 'http://id.example.com/token'],
  ['no address', 'file:///etc/passwd'],
])('sends no code to a token endpoint that is %s', async (_, endpoint) => {
  craft.answers.discovery = { token_endpoint: endpoint }

  const { location } = await enter(await freshProvider())

  expect(location).toMatch(/error=(sign_in_failed|provider_unavailable)$/)
})

it('follows a provider nowhere that it redirects to', async () => {
  const trap = await startCraftedProvider()
  craft.answers.claims = somebody()
  const browser = openBrowser()
  const back = await leave(browser, crafted)
  craft.redirectTo(`${trap.url}/token`)

  const returned = await browser.get(back)
  const started = await openBrowser().get(login(await freshProvider()))
  await trap.close()

  expect([returned, started].map(({ headers }) => headers.get('Location'))).toEqual([FAILED, FAILED])
  expect(trap.requests).toEqual([])
})

it.each<[string, { status: number; body: unknown }, string]>([
  ['an error', { status: 400, body: { error: 'invalid_grant' } }, 'sign_in_failed'],
  ['a fault of its own', { status: 502, body: {} }, 'provider_unavailable'],
  ['no token', { status: 200, body: { token_type: 'bearer' } }, 'sign_in_failed'],
  ['no identity token', { status: 200, body: { access_token: 'x', token_type: 'bearer' } }, 'sign_in_failed'],
  ['something else', { status: 200, body: [1, 2] }, 'sign_in_failed'],
  ['far too much', { status: 200, body: { access_token: 'x'.repeat(300_000) } }, 'provider_unavailable'],
])('tells in one word that the token endpoint answers %s', async (_, token, error) => {
  craft.answers.token = token

  const { location } = await enter(crafted)

  expect(location).toBe(`${RETURN_URL}&error=${error}`)
})

it('signs in through a plain OAuth 2.0 provider by its userinfo', async () => {
  const person = somebody()
  craft.answers.userinfo = { id: 583_231, name: 'Ada Lovelace', ...person }

  const { browser, location } = await enter(plain)
  craft.answers.userinfo = { id: 583_231 }
  const again = await enter(plain)

  expect(location).toBe(RETURN_URL)
  expect(await whoami(browser)).toMatchObject({ email: person.email, fullName: 'Ada Lovelace' })
  expect((await whoami(again.browser))?.id).toBe((await whoami(browser))?.id)
})

it('asks a plain provider for addresses that its userinfo does not tell, with credentials in the body', async () => {
  const name = signingIn.name('emails')
  const { email } = somebody()
  const settings = { emailsEndpoint: `${craft.url}/emails`, claims: { subject: 'id' }, clientAuthentication: 'post' }
  const ours = { clientId: 'ours', clientSecret: craft.clientSecret, scopes: ['user:email'], autoJoin }
  await signingIn.provider({ ...endpoints(), ...settings, ...ours, name })
  craft.answers.userinfo = { id: 'first', email: 'public@example.com' }
  craft.answers.emails = [
    { email: 'other@example.com', verified: true, primary: false },
    { email, verified: true, primary: true },
  ]

  const { browser } = await enter(name)
  craft.answers.userinfo = { id: 'second' }
  craft.answers.emails = [{ email: people.email(), verified: false, primary: true }]
  const unverified = await enter(name)

  expect(await whoami(browser)).toMatchObject({ email })
  expect(unverified.location).toBe(`${RETURN_URL}&error=not_allowed`)
})

it.each([
  ['nobody', {}],
  ['no object', []],
  ['a subject that is an object', { id: { $gt: '' } }],
])('refuses a plain provider whose userinfo is %s', async (_, userinfo) => {
  craft.answers.userinfo = Array.isArray(userinfo) ? userinfo : { ...somebody(), ...userinfo }

  const { location } = await enter(plain)

  expect(location).toBe(FAILED)
})

it.each([
  ['another origin', 'https://attacker.example.com/'],
  ['an origin that begins like an allowed one', 'https://app.example.com.attacker.example.com/'],
  ['an allowed one as a user name', 'https://app.example.com@attacker.example.com/'],
  ['an allowed one with a user name', 'https://attacker@app.example.com/'],
  ['an allowed one without TLS', 'http://app.example.com/'],
  ['an allowed one at another port', 'https://app.example.com:8443/'],
  ['another origin without a scheme', '//attacker.example.com/'],
  ['another origin in backslashes', '/\\attacker.example.com/'],
  ['another origin behind a tab', '/\t/attacker.example.com/'],
  ['a script', 'javascript:alert(1)'],
  ['data', 'data:text/html,<script>alert(1)</script>'],
  ['a blob of an allowed one', 'blob:https://app.example.com/x'],
  ['no address', 'https://'],
  ['too long', `/${'x'.repeat(2_000)}`],
])('sends nobody in the end to %s', async (_, redirect) => {
  const response = await openBrowser().get(login(real, redirect))

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to read the query: '),
    source: { message: 'redirect' },
  })
  expect(response.headers.get('Location')).toBeNull()
})

it('says where to go once', async () => {
  const response = await openBrowser().get(`${login(real)}&redirect=/elsewhere`)

  expect(response.status).toBe(422)
})

it.each([
  ['/welcome', '/welcome?error=access_denied'],
  ['/welcome?error=old#top', '/welcome?error=access_denied#top'],
])('goes in the end to %s of our own origin', async (redirect, refusedTo) => {
  const end = async (who: string) => {
    const browser = openBrowser()
    const back = await browser.goUntil(login(real, redirect), callbackOf(real), { 'X-Account': who })
    return (await browser.get(back)).headers.get('Location')
  }

  const [entered, refused] = [await end(account), await end('refuses')]

  expect(entered).toBe(world.url + redirect)
  expect(refused).toBe(world.url + refusedTo)
})

it('knows no provider that does not exist', async () => {
  const answers = [
    await anonymous.get('/api/auth/providers/nobody/login'),
    await anonymous.get('/api/auth/providers/nobody/callback?code=x&state=y'),
    await anonymous.get('/api/auth/providers/..%2f..%2fsystem/login'),
    await anonymous.post('/api/auth/providers/nobody/login', {}),
  ]

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 405])
})

it('tells neither log nor audit log what passed between us and the provider', async () => {
  craft.answers.claims = { ...somebody(), nonce: 'canary-of-a-nonce' }
  const browser = openBrowser()
  const back = await leave(browser, crafted)
  const sealed = browser.cookie('service_sign_in') ?? ''
  const failed = await browser.get(back)

  const code = new URL(back).searchParams.get('code') ?? ''
  const audit = await (await administrator.get('/api/system/audit-log?sort[0][time][direction]=desc&limit=1000')).text()
  const id = failed.headers.get('X-Request-Id') ?? ''
  await expect.poll(() => readFile(world.logFile, 'utf8')).toContain(id)
  const log = await readFile(world.logFile, 'utf8')
  const canaries = [code, sealed, craft.clientSecret, 'canary-of-an-access-token', 'canary-of-a-nonce']
  expect(audit).toContain(`provider:${crafted}`)
  expect(canaries.filter((canary) => log.includes(canary) || audit.includes(canary))).toEqual([])
  expect(log).toContain(`A sign-in through the provider ${crafted} failed: unexpected`)
})

/** Claims of somebody who is new. */
function somebody(): { readonly sub: string; readonly email: string; readonly email_verified: boolean } {
  return { sub: randomBytes(8).toString('hex'), email: people.email(), email_verified: true }
}

function endpoints(): object {
  return {
    authorizationEndpoint: `${craft.url}/authorize`,
    tokenEndpoint: `${craft.url}/token`,
    userinfoEndpoint: `${craft.url}/user`,
  }
}

/** The crafted provider under an address of which nothing is remembered yet. */
async function freshProvider(): Promise<string> {
  const name = signingIn.name('fresh')
  const ours = { clientId: 'ours', clientSecret: craft.clientSecret, autoJoin }
  await signingIn.provider({ ...ours, name, issuer: craft.newIssuer() })
  return name
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function signed(claims: JWTPayload, alg: string, key: CryptoKey | Uint8Array): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid: 'one' }).sign(key)
}

function newKey(): Promise<{ readonly publicKey: CryptoKey; readonly privateKey: CryptoKey }> {
  return generateKeyPair('ES256', { extractable: true })
}

function forged(token: string, claims: JWTPayload): string {
  const [header, , signature] = token.split('.')
  return `${header}.${part({ ...claims, sub: 'victim' })}.${signature}`
}
