/** docs/contract.md#passwords: changing a password, and choosing a new one with a token that arrives by mail. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { expect, it } from 'vitest'
import { mails } from '../support/service/mails.ts'
import { type Person, people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('passwords', { articles: { title: 'string' } })
const reading = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })
const change = '/api/auth/password-change'
const reset = '/api/auth/password-reset'
const subject = /^Choose a new password$/

it('changes the password: the session that asks lives on, all others end at once', async () => {
  const person = await people.memberWith(shop, [reading])
  const other = await people.login(shop, person)
  const before = await other.get('/items/articles')

  const changed = await person.system.post(change, {
    currentPassword: person.password,
    newPassword: 'another long password',
  })
  const [own, others, otherSystem] = [
    await person.get('/items/articles'),
    await other.get('/items/articles'),
    await other.system.get('/api/system/users/me'),
  ]
  const [withOld, withNew] = [
    await login(person.email, person.password),
    await login(person.email, 'another long password'),
  ]

  expect([before.status, changed.status, await changed.text()]).toEqual([200, 204, ''])
  expect([own.status, others.status, otherSystem.status]).toEqual([200, 401, 401])
  expect([withOld.status, withNew.status]).toEqual([401, 200])
})

it('changes nothing where the current password is wrong, and counts it like a sign-in that failed', async () => {
  const person = await people.memberWith(shop, [])
  const wish = { currentPassword: 'not the password', newPassword: 'another long password' }

  const answers = await Promise.all(Array.from({ length: 5 }, () => person.system.post(change, wish)))
  answers.push(await person.system.post(change, wish))
  const later = await login(person.email, person.password)

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
  expect(await answers[0]?.json()).toEqual({ message: 'Invalid credentials' })
  expect(later.status).toBe(429)
  expect(await entriesOf(person.userId, 'auth.password_change.v1')).toMatchObject(
    Array.from({ length: 5 }, () => ({ outcome: 'failure', actorType: 'user', ip: expect.any(String), payload: {} })),
  )
})

it('changes no password of an anonymous caller', async () => {
  const response = await world.anonymous.post(change, {
    currentPassword: 'not the password',
    newPassword: 'another long password',
  })

  expect(response.status).toBe(403)
})

it.each([
  ['a short password', { currentPassword: 'x', newPassword: 'short' }, 'newPassword'],
  ['one of 257 bytes', { currentPassword: 'x', newPassword: `${'é'.repeat(128)}x` }, 'newPassword'],
  ['no current password', { newPassword: 'another long password' }, 'currentPassword'],
  [
    'an unknown member',
    { currentPassword: 'x', newPassword: 'long enough!', force: true },
    'unknown field force; allowed: currentPassword, newPassword',
  ],
])('answers 422 to a change with %s', async (_, body, place) => {
  const response = await world.administrator.post(change, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it('resets a password by a mailed link that counts once, and ends all sessions at once', async () => {
  const person = await people.memberWith(shop, [reading])
  await person.get('/items/articles')

  const requested = await world.anonymous.post(`${reset}/request`, { email: person.email.toUpperCase() })
  const text = await mails.arrived(person.email, subject)
  const link = linkIn(text)
  const verified = [await fetch(link), await fetch(link)]
  const confirmed = await confirm(tokenOf(link), 'a password after reset')
  const after = [await fetch(link), await confirm(tokenOf(link), 'yet another password')]
  const sessions = [await person.get('/items/articles'), await person.system.get('/api/system/users/me')]
  const logins = [await login(person.email, person.password), await login(person.email, 'a password after reset')]

  expect([requested.status, await requested.text()]).toEqual([204, ''])
  expect(link.startsWith(`${world.url}${reset}/verify?token=`)).toBe(true)
  expect(text).toContain(`\n${tokenOf(link)}\n`)
  expect(text).toContain(`\n${world.url}/-/reset#token=${tokenOf(link)}\n`)
  expect(verified.map(({ status }) => status)).toEqual([204, 204])
  expect(confirmed.status).toBe(204)
  expect(after.map(({ status }) => status)).toEqual([401, 401])
  expect(await after[1]?.json()).toEqual({ message: 'Invalid token' })
  expect(sessions.map(({ status }) => status)).toEqual([401, 401])
  expect(logins.map(({ status }) => status)).toEqual([401, 200])
})

it('answers a request alike whoever it is for, and sends a mail only to an account that may sign in', async () => {
  const [known, suspended, unknown] = [
    await people.memberWith(shop, []),
    await people.memberWith(shop, []),
    people.email(),
  ]
  await world.administrator.patch(`/api/system/users/${suspended.userId}`, { status: 'suspended' })

  const answers = []
  for (const email of [unknown, suspended.email, 'no address at all', known.email]) {
    answers.push(await world.anonymous.post(`${reset}/request`, { email }))
  }
  await mails.arrived(known.email, subject)

  const told = answers.map(({ status, headers }) => [status, [...headers.keys()].sort()])
  expect(told).toEqual(told.map(() => [204, told[0]?.[1]]))
  expect(await mails.to(unknown)).toEqual([])
  expect((await mails.to(suspended.email)).filter((mail) => subject.test(mail.subject))).toEqual([])
})

it('takes all tokens of an account back when one of them is used', async () => {
  const person = await people.memberWith(shop, [])
  const [first, second] = [await requestToken(person, 1), await requestToken(person, 2)]

  const used = await confirm(second, 'a password after reset')
  const left = await world.anonymous.get(`${reset}/verify?token=${first}`)

  expect([used.status, left.status]).toEqual([204, 401])
})

it('takes tokens back when the password is changed', async () => {
  const person = await people.memberWith(shop, [])
  const token = await requestToken(person, 1)

  await person.system.post(change, { currentPassword: person.password, newPassword: 'another long password' })
  const left = await confirm(token, 'a password after reset')

  expect(left.status).toBe(401)
})

it('lets one of many win who use a token at the same time', async () => {
  const person = await people.memberWith(shop, [])
  const token = await requestToken(person, 1)
  const passwords = Array.from({ length: 5 }, () => `password ${randomUUID()}`)

  const answers = await Promise.all(passwords.map((password) => confirm(token, password)))
  const winner = answers.findIndex(({ status }) => status === 204)
  const winning = await login(person.email, passwords[winner] ?? '')

  expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([204, 401, 401, 401, 401])
  expect(winning.status).toBe(200)
})

it('leaves the API keys of an account alone whose address is proven', async () => {
  const person = await people.memberWith(shop, [])
  const made = await person.system.post('/api/system/api-keys', { name: 'robot' })
  const { data } = (await made.json()) as { data: { id: string; key: string } }

  const reset = await confirm(await requestToken(person, 1), 'a password after reset')
  const byKey = await world.bearer(data.key).get('/api/system/users/me')

  expect([reset.status, byKey.status]).toEqual([204, 200])
})

it('does not reset the password of an account that was suspended meanwhile', async () => {
  const person = await people.memberWith(shop, [])
  const token = await requestToken(person, 1)
  await world.administrator.patch(`/api/system/users/${person.userId}`, { status: 'suspended' })

  const answers = [
    await world.anonymous.get(`${reset}/verify?token=${token}`),
    await confirm(token, 'another long one'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([401, 401])
})

it('does not reset it either once the account is active again: the mail is from before', async () => {
  const person = await people.memberWith(shop, [])
  const token = await requestToken(person, 1)
  for (const status of ['suspended', 'active']) {
    await world.administrator.patch(`/api/system/users/${person.userId}`, { status })
  }

  expect((await confirm(token, 'another long one')).status).toBe(401)
  expect((await login(person.email, person.password)).status).toBe(200)
})

it.each([
  ['none', ''],
  ['an empty one', '?token='],
  ['one that nobody has sent', '?token=nonsense'],
])('answers 401 for %s as token to verify', async (_, search) => {
  const response = await world.anonymous.get(`${reset}/verify${search}`)

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({ message: 'Invalid token' })
})

it.each([
  ['request', {}, 'email'],
  ['request', { email: 'a@example.com', redirect: 'https://evil.example' }, 'unknown field redirect; allowed: email'],
  ['confirm', { password: 'long enough!' }, 'token'],
  ['confirm', { token: 'x', password: 'short' }, 'password'],
  [
    'confirm',
    { token: 'x', password: 'long enough!', email: 'a@example.com' },
    'unknown field email; allowed: token, password',
  ],
])('answers 422 to a %s of %j', async (path, body, place) => {
  const response = await world.anonymous.post(`${reset}/${path}`, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it('records requests, confirmations and changes, failures without telling whose they were', async () => {
  const person = await people.memberWith(shop, [])
  const unknown = people.email()
  const token = await requestToken(person, 1)
  await world.anonymous.post(`${reset}/request`, { email: unknown })
  await confirm('nonsense', 'a password after reset')
  await confirm(token, 'a password after reset')
  const again = await people.login(shop, { ...person, password: 'a password after reset' })
  await again.system.post(change, { currentPassword: 'a password after reset', newPassword: 'another long password' })

  const bySelf = {
    outcome: 'success',
    actorType: 'user',
    actorEmail: person.email,
    ip: expect.any(String),
    payload: {},
  }
  expect(await entriesOf(person.userId, 'auth.password_reset_confirm.v1')).toMatchObject([bySelf])
  expect(await entriesOf(person.userId, 'auth.password_change.v1')).toMatchObject([bySelf])
  const requests = await entries('auth.password_reset_request.v1')
  const asked = [person.email, unknown].map((email) => requests.find(({ payload }) => payload.email === email))
  expect(asked).toMatchObject([
    { outcome: 'success', actorType: 'anonymous', actorId: null, actorEmail: null, targetId: null },
    { outcome: 'success', actorType: 'anonymous', actorId: null, actorEmail: null, targetId: null },
  ])
  const failed = (await entries('auth.password_reset_confirm.v1')).filter(({ outcome }) => outcome === 'failure')
  expect(failed[0]).toMatchObject({ actorType: 'anonymous', actorId: null, targetId: null, payload: {} })
})

it('puts no link into a mail that leads where the caller says', async () => {
  const person = await people.memberWith(shop, [])

  const status = await requestVia('evil.example', person.email)
  const text = await mails.arrived(person.email, subject)

  expect(status).toBe(204)
  expect(text).not.toContain('evil.example')
})

it('tells the operator of a mail that could not be sent, and not the caller', async () => {
  const before = await faultsOfMails()

  const response = await shop.post('/invitations', { email: `refused-${randomUUID()}@example.com` })

  expect(response.status).toBe(201)
  await expect.poll(faultsOfMails).toBeGreaterThan(before)
})

function login(email: string, password: string): Promise<Response> {
  return world.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })
}

function confirm(token: string, password: string): Promise<Response> {
  return world.anonymous.post(`${reset}/confirm`, { token, password })
}

/** The token of the mail that makes it `count` such mails for this person. */
async function requestToken({ email }: Person, count: number): Promise<string> {
  await world.anonymous.post(`${reset}/request`, { email })
  return tokenOf(linkIn(await mails.arrived(email, subject, count)))
}

function linkIn(text: string): string {
  return /https?:\/\/\S+\/verify\?token=\S+/.exec(text)?.[0] ?? ''
}

function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token') ?? ''
}

type Entry = Readonly<Record<string, unknown>> & { readonly payload: Readonly<Record<string, unknown>> }

/** The newest entries of an action. */
async function entries(action: string, more = ''): Promise<readonly Entry[]> {
  const query = `filter[action][_eq]=${action}&sort[0][time][direction]=desc&limit=1000${more}`
  const response = await world.administrator.get(`/api/system/audit-log?${query}`)
  return ((await response.json()) as { data: Entry[] }).data
}

function entriesOf(userId: string, action: string): Promise<readonly Entry[]> {
  return entries(action, `&filter[targetId][_eq]=${userId}`)
}

/** A request for a reset that claims to have been sent to `host`. */
async function requestVia(host: string, email: string): Promise<number | undefined> {
  const sending = request(`${world.url}${reset}/request`, {
    method: 'POST',
    headers: { Host: host, 'Content-Type': 'application/json' },
  })
  sending.end(JSON.stringify({ email }))
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

async function faultsOfMails(): Promise<number> {
  const lines = (await readFile(world.logFile, 'utf8')).split('\n')
  return lines.filter((line) => line.includes('"fault"') && /No such mailbox|mail endpoint answered 422/.test(line))
    .length
}
