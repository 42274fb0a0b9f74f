/**
 * docs/contract.md#sign-in-providers: signing in through a real OpenID provider (`oidc-provider`), who gets in and who
 * does not.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBrowser } from '../support/run/browser.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../support/servers/openid-provider.ts'
import { people } from '../support/service/people.ts'
import { RETURN_URL, signingIn } from '../support/service/signing-in.ts'
import { world } from '../support/service/world.ts'

const { administrator, anonymous } = world
const { enter, leave, callbackOf, whoami } = signingIn
const shop = await world.workspace('single_sign_on', { articles: { title: 'string' } })
const reading = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })

/** One that only known and invited people come in by, one that everybody joins by. */
const [closed, open] = [signingIn.name('closed'), signingIn.name('open')]
let openId: OpenIdProvider

beforeAll(async () => {
  openId = await startOpenIdProvider({ [closed]: callbackOf(closed), [open]: callbackOf(open) })
  const { issuer, clientSecret } = openId
  await signingIn.provider({ name: closed, issuer, clientId: closed, clientSecret })
  const autoJoin = { workspace: shop.name, roleId: reading }
  await signingIn.provider({ name: open, issuer, clientId: open, clientSecret, autoJoin })
})

afterAll(() => openId.close())

it('takes somebody through the whole sign-in and back to where they wanted to go', async () => {
  const { account, email } = person()
  const browser = openBrowser()

  const left = await browser.get(signingIn.login(open))
  const back = await leave(browser, open, account)
  const response = await browser.get(back)

  const asked = new URL(left.headers.get('Location') ?? '').searchParams
  expect(left.status).toBe(302)
  expect(Object.fromEntries(asked)).toEqual({
    response_type: 'code',
    client_id: open,
    redirect_uri: callbackOf(open),
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
  expect(response.status).toBe(302)
  expect(response.headers.get('Location')).toBe(RETURN_URL)
  expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
  expect(response.headers.getSetCookie().map((line) => line.replace(/=.*?;/, '=…;'))).toEqual([
    expect.stringMatching(/^service_session=…; Path=\/api; .*HttpOnly/),
    expect.stringMatching(/^service_refresh=…; Path=\/api\/auth; .*HttpOnly/),
    expect.stringMatching(/^service_sign_in=…; Path=\/; Max-Age=0; HttpOnly/),
  ])
  expect(await whoami(browser)).toMatchObject({ email, fullName: 'Ada Lovelace', isAdministrator: false })
})

it('answers by itself where nobody asked to go anywhere', async () => {
  const { account } = person()
  const browser = openBrowser()
  const login = `${world.url}/api/auth/providers/${open}/login`
  const other = openBrowser()

  const response = await browser.get(await browser.goUntil(login, callbackOf(open), { 'X-Account': account }))
  const refused = await other.get(await other.goUntil(login, callbackOf(open), { 'X-Account': 'refuses' }))

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ expires: 900 })
  expect(await whoami(browser)).toBeDefined()
  expect(refused.status).toBe(401)
  expect(await refused.json()).toEqual({ message: 'Invalid credentials' })
})

it('knows somebody again by their subject, whatever their address is by now', async () => {
  const { account, email } = person()
  const first = await whoami((await enter(open, account)).browser)
  openId.accounts.set(account, { email: `new-${email}`, email_verified: false })

  const again = await whoami((await enter(open, account)).browser)

  expect(again?.id).toBe(first?.id)
  expect(again?.email).toBe(email)
})

it('adds whoever joins by signing in to the workspace, with the role that is set', async () => {
  const { browser } = await enter(open, person().account)

  const items = await browser.get(`${world.url}/api/${shop.name}/items/articles`)
  const model = await browser.get(`${world.url}/api/${shop.name}/schema`)

  expect(items.status).toBe(200)
  expect(model.status).toBe(403)
})

it('does not bring back a member who was removed', async () => {
  const { account } = person()
  const id = (await whoami((await enter(open, account)).browser))?.id
  await shop.delete(`/members/${id}`)

  const { browser } = await enter(open, account)

  expect(await whoami(browser)).toMatchObject({ id })
  expect((await browser.get(`${world.url}/api/${shop.name}/items/articles`)).status).toBe(403)
})

it('leaves a member as they are who signs in through a provider for the first time', async () => {
  const member = await people.memberWith(shop, [])
  const { account } = person({ email: member.email })
  await shop.patch(`/members/${member.userId}`, { status: 'suspended' })

  const { browser } = await enter(open, account)

  expect(await whoami(browser)).toMatchObject({ id: member.userId })
  expect((await browser.get(`${world.url}/api/${shop.name}/items/articles`)).status).toBe(403)
})

it('lets nobody in whom nobody knows', async () => {
  const { account, email } = person()

  const { browser, location } = await enter(closed, account)

  expect(location).toBe(`${RETURN_URL}&error=not_allowed`)
  expect(await whoami(browser)).toBeUndefined()
  expect(await accountsOf(email)).toEqual([])
})

it('lets in whoever is invited, which accepts the invitation', async () => {
  const { account, email } = person()
  const elsewhere = await world.workspace('single_sign_on', {})
  await people.invite(shop, email.toUpperCase(), [reading])
  await people.invite(elsewhere, email, [])

  const { browser, location } = await enter(closed, account)

  const open = `/invitations?filter[email][_in][0]=${email}&filter[email][_in][1]=${email.toUpperCase()}`
  expect(location).toBe(RETURN_URL)
  expect((await browser.get(`${world.url}/api/${shop.name}/items/articles`)).status).toBe(200)
  expect([await shop.data(open), await elsewhere.data(open)]).toEqual([[], []])
  expect(await elsewhere.data(`/members?filter[email][_eq]=${email}&fields=status`)).toEqual([{ status: 'active' }])
})

it('does not take an invitation that is out of date', async () => {
  const { account, email } = person()
  await shop.post('/invitations', { email, workspace_roles: [reading], expiresIn: '1ms' })

  const { location } = await enter(closed, account)

  expect(location).toBe(`${RETURN_URL}&error=not_allowed`)
})

it('takes no invitation by whoever may give it no longer', async () => {
  const { account, email } = person()
  const inviter = await people.member(shop, { entitlements: ['workspaceMembers:edit'] })
  await people.invite({ ...shop, post: inviter.post }, email, [])
  await shop.delete(`/members/${inviter.userId}`)
  const refused = await enter(closed, account)
  const elsewhere = await world.workspace('single_sign_on', {})
  await people.invite(elsewhere, email, [])

  const { browser } = await enter(closed, account)

  expect(refused.location).toBe(`${RETURN_URL}&error=not_allowed`)
  expect((await whoami(browser))?.email).toBe(email)
  expect(await shop.data(`/members?filter[email][_eq]=${email}`)).toEqual([])
  expect(await elsewhere.data(`/members?filter[email][_eq]=${email}&fields=status`)).toEqual([{ status: 'active' }])
})

it('lets in whoever has an account of the address, and leaves it what was proven', async () => {
  const known = await people.memberWith(shop, [reading])
  const credentials = { email: known.email, password: known.password }
  const made = await known.system.post('/api/system/api-keys', { name: 'before' })
  const { data: key } = (await made.json()) as { data: { id: string; key: string } }
  const { account } = person({ email: known.email.toUpperCase() })

  const { browser, location } = await enter(closed, account)
  const byKey = await world.bearer(key.key).get('/api/system/users/me')
  const byPassword = await anonymous.post('/api/auth/login', { credentials, mode: 'json' })
  const byOldSession = await known.system.get('/api/system/users/me')

  expect(location).toBe(RETURN_URL)
  expect(await whoami(browser)).toMatchObject({ id: known.userId, email: known.email })
  expect([byKey.status, byPassword.status, byOldSession.status]).toEqual([200, 200, 200])
})

it('takes nothing away from whoever has signed in through a provider before', async () => {
  const { account } = person()
  const { browser } = await enter(open, account)
  const id = (await whoami(browser))?.id

  const again = await enter(closed, account)

  expect(await whoami(again.browser)).toMatchObject({ id })
  expect(await whoami(browser)).toMatchObject({ id })
})

it.each([
  ['is not verified', { email_verified: false }],
  ['is not said to be verified', { email_verified: undefined }],
  ['is missing', { email: undefined }],
])('lets nobody in whose address %s', async (_, change) => {
  const member = await people.memberWith(shop, [reading])
  const { account } = person({ email: member.email, ...change })

  const answers = [await enter(closed, account), await enter(open, account)]

  expect(answers.map(({ location }) => location)).toEqual(answers.map(() => `${RETURN_URL}&error=not_allowed`))
  expect((await member.system.get('/api/system/users/me')).status).toBe(200)
})

it('lets nobody in who is suspended, known to the provider or not', async () => {
  const { account } = person()
  const id = (await whoami((await enter(open, account)).browser))?.id
  const member = await people.memberWith(shop, [reading])
  const suspended = person({ email: member.email })
  await administrator.patch(`/api/system/users/${id}`, { status: 'suspended' })
  await administrator.patch(`/api/system/users/${member.userId}`, { status: 'suspended' })

  const answers = [await enter(open, account), await enter(open, suspended.account)]

  expect(answers.map(({ location }) => location)).toEqual(answers.map(() => `${RETURN_URL}&error=not_allowed`))
})

it('gives nobody the account of an administrator of the instance by its address', async () => {
  const member = await people.memberWith(shop, [])
  await administrator.patch(`/api/system/users/${member.userId}`, { isAdministrator: true })
  const { account } = person({ email: member.email })

  const { location } = await enter(open, account)

  expect(location).toBe(`${RETURN_URL}&error=not_allowed`)
  expect((await member.system.get('/api/system/providers')).status).toBe(200)
})

it('lets in an administrator who was known before becoming one', async () => {
  const { account } = person()
  const id = (await whoami((await enter(open, account)).browser))?.id
  await administrator.patch(`/api/system/users/${id}`, { isAdministrator: true })

  const { browser } = await enter(open, account)

  expect(await whoami(browser)).toMatchObject({ id, isAdministrator: true })
})

it('gives nobody the account of somebody who had their address before', async () => {
  const { account, email } = person()
  await enter(open, account)
  const successor = person({ email })

  const { location } = await enter(open, successor.account)

  expect(location).toBe(`${RETURN_URL}&error=not_allowed`)
})

it('tells in one word that somebody said no to the provider', async () => {
  const { location } = await enter(open, 'refuses')

  expect(location).toBe(`${RETURN_URL}&error=access_denied`)
})

it('forgets whom a deleted account was of', async () => {
  const { account } = person()
  const id = (await whoami((await enter(open, account)).browser))?.id
  await administrator.delete(`/api/system/users/${id}`)

  const { browser } = await enter(open, account)

  expect((await whoami(browser))?.id).not.toBe(id)
})

it('refuses at once through a provider that is switched off or deleted', async () => {
  const { account } = person()
  const name = signingIn.name('short')
  const theirs = await startOpenIdProvider({ ours: callbackOf(name) })
  theirs.accounts.set(account, openId.accounts.get(account) ?? {})
  const { issuer, clientSecret } = theirs
  await signingIn.provider({ name, issuer, clientId: 'ours', clientSecret, autoJoin: autoJoin() })
  const browser = openBrowser()
  const back = await leave(browser, name, account)

  await administrator.patch(`/api/system/providers/${name}`, { enabled: false })
  const started = await browser.get(back)
  const off = await anonymous.get(`/api/auth/providers/${name}/login`)
  await administrator.delete(`/api/system/providers/${name}`)
  const deleted = await anonymous.get(`/api/auth/providers/${name}/login`)
  await theirs.close()

  expect(started.headers.get('Location')).toBe(`${RETURN_URL}&error=sign_in_failed`)
  expect([off.status, deleted.status]).toEqual([404, 404])
  expect(await off.json()).toEqual({ message: 'Provider does not exist' })
})

it('ends what was signed in through a provider that is switched off, until it is on again, or deleted', async () => {
  const { account } = person()
  const name = signingIn.name('ending')
  const theirs = await startOpenIdProvider({ ours: callbackOf(name) })
  theirs.accounts.set(account, openId.accounts.get(account) ?? {})
  const { issuer, clientSecret } = theirs
  await signingIn.provider({ name, issuer, clientId: 'ours', clientSecret, autoJoin: autoJoin() })
  const { browser } = await enter(name, account)
  await theirs.close()
  let refreshToken = browser.cookie('service_refresh')
  const refresh = async () => {
    const response = await anonymous.post('/api/auth/refresh', { refreshToken })
    if (response.ok) refreshToken = ((await response.json()) as { refreshToken: string }).refreshToken
    return response.status
  }

  const before = await refresh()
  await administrator.patch(`/api/system/providers/${name}`, { enabled: false })
  const off = await refresh()
  await administrator.patch(`/api/system/providers/${name}`, { enabled: true })
  const on = await refresh()
  await administrator.delete(`/api/system/providers/${name}`)
  const deleted = await refresh()

  expect([before, off, on, deleted]).toEqual([200, 401, 200, 401])
})

it('fails alone where a provider is down, and says so', async () => {
  const name = signingIn.name('down')
  const theirs = await startOpenIdProvider({ ours: callbackOf(name) })
  await signingIn.provider({ name, issuer: theirs.issuer, clientId: 'ours', clientSecret: theirs.clientSecret })
  const browser = openBrowser()
  const back = await leave(browser, name, person().account)
  const never = signingIn.name('never')
  await theirs.close()
  await signingIn.provider({
    name: never,
    issuer: theirs.issuer.replace('127.0.0.1', 'localhost'),
    clientId: 'ours',
    clientSecret: 'x',
  })

  const returned = await browser.get(back)
  const bounced = await browser.get(signingIn.login(never))
  const plain = await browser.get(`${world.url}/api/auth/providers/${never}/login`)
  const others = await enter(open, person().account)

  expect(returned.headers.get('Location')).toBe(`${RETURN_URL}&error=provider_unavailable`)
  expect(bounced.headers.get('Location')).toBe(`${RETURN_URL}&error=provider_unavailable`)
  expect(plain.status).toBe(503)
  expect(await plain.json()).toEqual({ message: 'The sign-in provider does not answer' })
  expect(others.location).toBe(RETURN_URL)
})

it('makes one account of somebody who comes back in two tabs at once', async () => {
  const { account, email } = person()
  const browsers = [openBrowser(), openBrowser()]
  const backs = await Promise.all(browsers.map((browser) => leave(browser, open, account)))

  const answers = await Promise.all(browsers.map((browser, index) => browser.get(backs[index] ?? '')))

  expect(answers.map(({ headers }) => headers.get('Location'))).toEqual([RETURN_URL, RETURN_URL])
  expect(await accountsOf(email)).toHaveLength(1)
})

it('records who came in and who did not, and logs no code', async () => {
  const browser = openBrowser()
  const back = await leave(browser, open, person().account)
  const answer = await browser.get(back)
  const id = (await whoami(browser))?.id
  await enter(closed, person().account)

  const entered = await entriesOf(`filter[actorId][_eq]=${id}`)
  const failed = await entriesOf('filter[outcome][_eq]=failure&filter[action][_eq]=auth.login.v1')
  await expect.poll(() => readFile(world.logFile, 'utf8')).toContain(answer.headers.get('X-Request-Id') ?? '')
  const log = await readFile(world.logFile, 'utf8')

  const { code, state } = Object.fromEntries(new URL(back).searchParams)
  expect(entered.map(({ action }) => action).toSorted()).toEqual([
    'auth.login.v1',
    'role.assign.v1',
    'user.create.v1',
    'user.join_workspace.v1',
  ])
  expect(entered.find(({ action }) => action === 'auth.login.v1')?.payload).toEqual({ method: `provider:${open}` })
  expect(failed).toContainEqual(
    expect.objectContaining({ actorType: 'anonymous', payload: { method: `provider:${closed}` } }),
  )
  expect(log).toContain(`/api/auth/providers/${open}/callback"`)
  expect([code, state].map((secret) => log.includes(secret ?? ''))).toEqual([false, false])
})

type AuditEntry = { readonly action: string; readonly payload: object }

/** The newest of them. */
async function entriesOf(filter: string): Promise<readonly AuditEntry[]> {
  const response = await administrator.get(`/api/system/audit-log?${filter}&sort[0][time][direction]=desc&limit=1000`)
  return ((await response.json()) as { data: AuditEntry[] }).data
}

/** Somebody whom the provider knows. */
function person(change: object = {}): { readonly account: string; readonly email: string } {
  const account = randomBytes(8).toString('hex')
  const claims = { email: people.email(), email_verified: true, name: 'Ada Lovelace', ...change }
  openId.accounts.set(account, claims)
  return { account, email: claims.email }
}

function autoJoin(): object {
  return { workspace: shop.name, roleId: reading }
}

async function accountsOf(email: string): Promise<readonly object[]> {
  const response = await administrator.get(`/api/system/users?filter[email][_eq]=${email}`)
  return ((await response.json()) as { data: object[] }).data
}
