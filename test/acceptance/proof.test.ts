/**
 * Accounts of which nobody has proven the address (docs/decisions/045): they are from before that was asked for, and a stranger
 * may have set them up. What others give them waits for the proof, and the proof ends every way in from before.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendSlowly } from '../support/run/slow-request.ts'
import { type Client, client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

const accept = '/api/auth/invitations/accept'
const [old, fresh] = ['the password of a stranger', 'the password of the owner']
let stage: TestEnvironment
let instance: Instance
let admin: Client
let roleId: string

beforeAll(async () => {
  stage = await openTestEnvironment()
  instance = await stage.open()
  admin = await instance.administrator()
  for (const apiName of ['one', 'two']) await made(admin.post('/api/system/workspaces', { apiName }))
  roleId = (await made(admin.post('/api/two/roles', { name: 'role', policies: [] }))).id
})

afterAll(() => stage?.close())

it('ends every way in from before by a mailed invitation, and takes the password that comes with it', async () => {
  const person = await unproven()
  const token = await invited(person.email, 'two')

  const response = await instance.anonymous.post(accept, { token, password: fresh })

  expect(response.status).toBe(200)
  expect(await waysIn(person)).toEqual({ session: 401, refresh: 401, password: 401, key: 401, robot: 401 })
  expect((await login(person.email, fresh)).status).toBe(200)
  expect(await provenAt(person.id)).not.toBeNull()
})

it('says to whoever is signed in where the mail does not go out', async () => {
  const silent = await stage.open({ SERVICE_BASE_URL: 'https://data.example.com' })
  const told = await Promise.all(
    [instance, silent].map(async (one) => (await (await one.administrator()).get('/api/system/info')).json()),
  )

  expect(told).toMatchObject([{ mail: 'log' }, { mail: 'none' }])
  expect(await (await silent.anonymous.get('/api/system/info')).json()).toEqual({ name: 'service' })
})

it('leaves no password where none comes with the proof', async () => {
  const person = await unproven()

  const response = await instance.anonymous.post(accept, { token: await invited(person.email, 'two') })

  expect(response.status).toBe(200)
  expect((await login(person.email, old)).status).toBe(401)
})

it('ends every way in from before by a reset', async () => {
  const person = await unproven()
  await instance.anonymous.post('/api/auth/password-reset/request', { email: person.email })
  const token = await instance.mailedToken(person.email, /^Choose/)

  const response = await instance.anonymous.post('/api/auth/password-reset/confirm', { token, password: fresh })

  expect(response.status).toBe(204)
  expect(await waysIn(person)).toEqual({ session: 401, refresh: 401, password: 401, key: 401, robot: 401 })
  expect((await login(person.email, fresh)).status).toBe(200)
})

it('ends nothing the second time', async () => {
  const person = await unproven()
  await instance.anonymous.post(accept, { token: await invited(person.email, 'two'), password: fresh })
  const [session] = [await signedIn(person.email, fresh)]
  await made(admin.post('/api/system/workspaces', { apiName: `w${person.email.slice(0, 8)}` }))

  const again = await instance.anonymous.post(accept, {
    token: await invited(person.email, `w${person.email.slice(0, 8)}`),
    password: old,
  })

  expect(again.status).toBe(200)
  expect((await session.get('/api/system/users/me')).status).toBe(200)
  expect((await login(person.email, old)).status).toBe(401)
})

it('makes and switches on no key by a session that ends while the body is still on its way', async () => {
  const person = await unproven()
  const asked = await person.session.get('/api/system/api-keys?filter[name][_eq]=own')
  const { data } = (await asked.json()) as { data: { id: string }[] }
  const path = `/api/system/api-keys/${data[0]?.id}`
  await person.session.patch(path, { active: false })
  const { accessToken: token } = person

  const slow = [
    sendSlowly({ method: 'POST', url: `${instance.url}/api/system/api-keys`, token, body: { name: 'late' } }),
    sendSlowly({ method: 'PATCH', url: instance.url + path, token, body: { active: true } }),
  ]
  // Long enough for who asks to be known; where it is not, they are refused all the more.
  await wait(1_000)
  await instance.anonymous.post(accept, { token: await invited(person.email, 'two'), password: fresh })
  const answers = await Promise.all(slow.map((send) => send()))

  const keys = await stage.run(
    `select count(*)::int from service.api_key where user_id = '${person.id}' and (active or name = 'late')`,
  )
  expect(answers.every((status) => status >= 400)).toBe(true)
  expect(keys).toBe(0)
})

it('lets an unproven account join by no token of an answer, signed in or not', async () => {
  const person = await unproven()
  const { token } = await made(admin.post('/api/two/invitations', { email: person.email, workspace_roles: [roleId] }))

  const answers = [await person.session.post(accept, { token }), await instance.anonymous.post(accept, { token })]

  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(await waysIn(person)).toMatchObject({ session: 200, key: 200 })
})

it('gives an unproven account nothing by any other hand: no role, no return, no administration, no service account', async () => {
  const person = await unproven()
  const member = `/api/one/members/${person.id}`
  const [role] = [await made(admin.post('/api/one/roles', { name: person.email, policies: [] }))]
  const robot = await made(admin.post('/api/system/service-accounts', { name: 'of the administrator' }))

  const refused = [
    await admin.patch(member, { roles: [role.id] }),
    await admin.patch(`/api/system/users/${person.id}`, { isAdministrator: true }),
    await admin.post('/api/system/service-accounts', { name: 'given', owner: person.id }),
    await admin.patch(`/api/system/service-accounts/${robot.id}`, { owner: person.id }),
    await admin.patch(`/api/system/service-accounts/${person.robotId}`, {
      roles: [{ workspace: 'one', roleId: role.id }],
    }),
  ]
  const suspended = await admin.patch(member, { status: 'suspended' })
  const back = await admin.patch(member, { status: 'active' })
  await instance.anonymous.post(accept, { token: await invited(person.email, 'two'), password: fresh })
  const proven = [
    await admin.patch(member, { status: 'active', roles: [role.id] }),
    await admin.patch(`/api/system/users/${person.id}`, { isAdministrator: true }),
  ]

  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409])
  expect([suspended.status, back.status]).toEqual([200, 409])
  expect(proven.map(({ status }) => status)).toEqual([200, 200])
})

it('counts the first administrator and whoever came by a mailed invitation as proven', async () => {
  const token = await invited('new@example.com', 'two')
  const { id } = await made(instance.anonymous.post(accept, { token, password: fresh }))
  const { id: own } = await made(admin.get('/api/system/users/me'))

  expect(await provenAt(id)).not.toBeNull()
  expect(await provenAt(own)).not.toBeNull()
})

type Person = {
  readonly id: string
  readonly email: string
  readonly session: Client
  readonly accessToken: string
  readonly refreshToken: string
  readonly key: Client
  readonly robotId: string
  readonly robot: Client
}

/** A member of the workspace `one` as accounts were before: by somebody's password, with keys and a service account. */
async function unproven(): Promise<Person> {
  const email = `${crypto.randomUUID()}@example.com`
  const token = await invited(email, 'one')
  const { id } = await made(instance.anonymous.post(accept, { token, password: old }))
  const { accessToken, refreshToken } = (await (await login(email, old)).json()) as Record<string, string>
  const session = bearer(accessToken)
  const { id: robotId } = await made(session.post('/api/system/service-accounts', { name: 'robot' }))
  const own = await made(session.post('/api/system/api-keys', { name: 'own' }))
  const robot = await made(session.post('/api/system/api-keys', { name: 'robot', userId: robotId }))
  await stage.run(`update service."user" set email_proven_at = null where id = '${id}'`)
  return {
    id,
    email,
    session,
    accessToken: accessToken ?? '',
    refreshToken: refreshToken ?? '',
    key: bearer(own.key),
    robotId,
    robot: bearer(robot.key),
  }
}

async function waysIn({ email, session, refreshToken, key, robot }: Person) {
  const me = async (by: Client) => (await by.get('/api/system/users/me')).status
  return {
    session: await me(session),
    refresh: (await instance.anonymous.post('/api/auth/refresh', { refreshToken })).status,
    password: (await login(email, old)).status,
    key: await me(key),
    robot: await me(robot),
  }
}

async function invited(email: string, workspace: string): Promise<string> {
  await made(admin.post(`/api/${workspace}/invitations`, { email }))
  return instance.mailedToken(email, new RegExp(`workspace ${workspace}$`))
}

async function provenAt(id: string): Promise<unknown> {
  const { emailProvenAt } = await made(admin.get(`/api/system/users/${id}?fields=emailProvenAt`))
  return emailProvenAt
}

function login(email: string, password: string): Promise<Response> {
  return instance.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })
}

async function signedIn(email: string, password: string): Promise<Client> {
  const { accessToken } = (await (await login(email, password)).json()) as Record<string, string>
  return bearer(accessToken)
}

function bearer(token = ''): Client {
  return client(instance.url, { Authorization: `Bearer ${token}` })
}

type Made = { readonly id: string; readonly token: string; readonly key: string; readonly emailProvenAt: string | null }

async function made(asked: Promise<Response>): Promise<Made> {
  const response = await asked
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return (JSON.parse(text) as { data: Made }).data
}
