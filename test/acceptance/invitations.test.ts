/** Invitations: who joins by which token (docs/decisions/045); accounts from before are in proof.test.ts. */
import { describe, expect, it } from 'vitest'
import { tokenIn } from '../support/service/mailed-token.ts'
import { mails } from '../support/service/mails.ts'
import { refusedAnonymous } from '../support/service/messages.ts'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('invitations', { articles: { title: 'string' } })
const reading = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })
const accept = '/api/auth/invitations/accept'
const password = 'long enough to be one'

it('creates an invitation and shows its token once', async () => {
  const email = people.email()

  const response = await shop.post('/invitations', { email, workspace_roles: [reading], expiresIn: '2d' })
  const listed = await shop.get(`/invitations?filter[email][_eq]=${email}`)

  expect(response.status).toBe(201)
  const { data } = (await response.json()) as { data: Record<string, string> }
  expect(data).toEqual({
    id: expect.any(String),
    email,
    workspace_roles: [reading],
    invitedBy: expect.any(String),
    createdAt: expect.stringMatching(/Z$/),
    expiresAt: expect.stringMatching(/Z$/),
    token: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(Date.parse(data.expiresAt ?? '') - Date.parse(data.createdAt ?? '')).toBeCloseTo(2 * 86_400_000, -4)
  const { token, ...rest } = data
  expect(await listed.json()).toEqual({ data: [rest] })
})

it('mails another token to whom it is for, with where to send it', async () => {
  const email = people.email()

  const response = await shop.post('/invitations', { email })
  const { data } = (await response.json()) as { data: { token: string } }
  const text = await mails.arrived(email, new RegExp(`^Invitation to the workspace ${shop.name}$`))

  expect(tokenIn(text)).toMatch(/^[\w-]{43}$/)
  expect(text).not.toContain(data.token)
  expect(text).toContain(`${world.url}${accept}`)
  const address = encodeURIComponent(email)
  expect(text).toContain(`\n${world.url}/-/invitation#token=${tokenIn(text)}&email=${address}\n`)
})

it('says what a token is for, to whoever has it, and leaves it as it is', async () => {
  const lookUp = async (token: string) => {
    const response = await world.anonymous.post('/api/auth/invitations/lookup', { token })
    return [response.status, await response.json()]
  }
  const email = people.email()
  const made = await shop.post('/invitations', { email, workspace_roles: [reading] })
  const own = ((await made.json()) as { data: { token: string } }).data.token
  const mailed = tokenIn(await mails.arrived(email, new RegExp(`^Invitation to the workspace ${shop.name}$`)))
  const shown = { email, workspace: { apiName: shop.name }, invitedBy: expect.stringMatching(/./) }

  expect(await lookUp(own)).toEqual([200, { data: shown }])
  expect(await lookUp(mailed)).toEqual([200, { data: { ...shown, account: 'none' } }])
  expect((await world.anonymous.post(accept, { token: mailed, password })).status).toBe(200)
  expect([(await lookUp(mailed))[0], (await lookUp(own))[0], (await lookUp('x'))[0]]).toEqual([401, 401, 401])
  const other = await world.workspace('invitations', { articles: { title: 'string' } })
  expect(await lookUp(await people.invite(other, email, []))).toMatchObject([200, { data: { account: 'proven' } }])
})

it('makes one account of an address whose invitations to two workspaces are accepted at once', async () => {
  const other = await world.workspace('invitations', { articles: { title: 'string' } })
  const email = people.email()
  const tokens = [await people.invite(shop, email, [reading]), await people.invite(other, email, [])]

  const responses = await Promise.all(tokens.map((token) => world.anonymous.post(accept, { token, password })))
  const answers = (await Promise.all(responses.map((response) => response.json()))) as { data: { id: string } }[]

  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  expect(answers[0]?.data.id).toBe(answers[1]?.data.id)
  for (const workspace of [shop, other]) {
    expect(await workspace.data(`/members?filter[userId][_eq]=${answers[0]?.data.id}&fields=userId`)).toHaveLength(1)
  }
})

it('makes an account and a member of whoever accepts', async () => {
  const email = people.email()
  const token = await people.invite(shop, email, [reading])

  const response = await world.anonymous.post(accept, { token, password, fullName: 'Ada Lovelace' })
  const { data } = (await response.json()) as { data: { id: string } }
  const person = await people.login(shop, { userId: data.id, email, password })
  const [items, me] = [await person.get('/items/articles'), await person.system.get('/api/system/users/me')]

  expect(response.status).toBe(200)
  expect(data).toEqual({ id: expect.any(String), email, workspace: { id: expect.any(String), apiName: shop.name } })
  expect(items.status).toBe(200)
  expect(await me.json()).toMatchObject({ data: { email, fullName: 'Ada Lovelace', isAdministrator: false } })
  expect(await shop.data(`/invitations?filter[email][_eq]=${email}`)).toEqual([])
})

it('adds an account that exists to the workspace and leaves its name and password alone', async () => {
  const other = await world.workspace('invitations', {})
  const member = await people.memberWith(other, [])
  const token = await people.invite(shop, member.email.toUpperCase(), [reading])

  const accepted = await world.anonymous.post(accept, {
    token,
    password: 'somebody else chose it',
    fullName: 'Mallory',
  })
  const stolen = await world.anonymous.post('/api/auth/login', {
    credentials: { email: member.email, password: 'somebody else chose it' },
    mode: 'json',
  })
  const items = await member.system.get(`/api/${shop.name}/items/articles`)
  const me = await member.system.get('/api/system/users/me')

  expect(accepted.status).toBe(200)
  expect(await accepted.json()).toMatchObject({ data: { id: member.userId } })
  expect(stolen.status).toBe(401)
  expect(items.status).toBe(200)
  expect(await me.json()).toMatchObject({ data: { fullName: null } })
})

it('lets by the token of the answer nobody join but the invited account that is signed in', async () => {
  const other = await world.workspace('invitations', {})
  const [invited, stranger] = [await people.memberWith(other, []), await people.memberWith(other, [])]
  const made = await invited.system.post('/api/system/api-keys', { name: 'robot' })
  const { data: key } = (await made.json()) as { data: { key: string } }
  const answer = await shop.post('/invitations', { email: invited.email.toUpperCase(), workspace_roles: [reading] })
  const { token } = ((await answer.json()) as { data: { token: string } }).data

  const refused = [
    await world.anonymous.post(accept, { token, password }),
    await stranger.system.post(accept, { token }),
    await world.administrator.post(accept, { token }),
    await world.bearer(key.key).post(accept, { token }),
  ]
  const before = await invited.system.get(`/api/${shop.name}/items/articles`)
  const accepted = await invited.system.post(accept, { token })
  const after = await invited.system.get(`/api/${shop.name}/items/articles`)
  const log = await shop.data(
    `/audit-log?filter[action][_eq]=invitation.accept.v1&filter[targetId][_eq]=${invited.userId}`,
  )

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  expect([before.status, accepted.status, after.status]).toEqual([403, 200, 200])
  expect(log).toMatchObject([{ actorType: 'user', actorId: invited.userId, targetType: 'user' }])
})

it('makes no account by the token of the answer', async () => {
  const email = people.email()
  const answer = await shop.post('/invitations', { email })
  const { token } = ((await answer.json()) as { data: { token: string } }).data

  const response = await world.anonymous.post(accept, { token, password })
  const login = await world.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })

  expect([response.status, login.status]).toEqual([403, 401])
  expect(await world.administrator.get(`/api/system/users?filter[email][_eq]=${email}`).then((r) => r.json())).toEqual({
    data: [],
  })
})

it('takes a token once, even when it is sent twice at the same time', async () => {
  const token = await people.invite(shop, people.email(), [])

  const answers = await Promise.all([
    world.anonymous.post(accept, { token, password }),
    world.anonymous.post(accept, { token, password }),
  ])
  const later = await world.anonymous.post(accept, { token, password })

  const statuses = answers.map(({ status }) => status)
  expect(statuses.sort((a, b) => a - b)).toEqual([200, 401])
  expect(later.status).toBe(401)
  expect(await later.json()).toEqual({ message: 'Invalid token' })
})

it('does not take a token that is unknown, out of date or withdrawn', async () => {
  const made = async (wish: object) => {
    const email = people.email()
    const response = await shop.post('/invitations', { email, ...wish })
    const { data } = (await response.json()) as { data: { id: string; token: string } }
    return { ...data, mailed: tokenIn(await mails.arrived(email, /^Invitation/)) }
  }
  const [late, withdrawn] = [await made({ expiresIn: '1ms' }), await made({})]
  const deleted = await shop.delete(`/invitations/${withdrawn.id}`)

  const answers = [
    await world.anonymous.post(accept, { token: 'nonsense', password }),
    await world.anonymous.post(accept, { token: late.token, password }),
    await world.anonymous.post(accept, { token: late.mailed, password }),
    await world.anonymous.post(accept, { token: withdrawn.token, password }),
    await world.anonymous.post(accept, { token: withdrawn.mailed, password }),
  ]

  expect(deleted.status).toBe(204)
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
})

it('asks for a password where there is no account yet', async () => {
  const token = await people.invite(shop, people.email(), [])

  const without = await world.anonymous.post(accept, { token })
  const short = await world.anonymous.post(accept, { token, password: 'short' })
  const right = await world.anonymous.post(accept, { token, password })

  expect([without.status, short.status, right.status]).toEqual([422, 422, 200])
  expect(await without.json()).toMatchObject({ source: { message: 'password' } })
})

it('answers 409 for an address that is invited or a member already', async () => {
  const email = people.email()
  const member = await people.memberWith(shop, [])
  await people.invite(shop, email, [])

  const twice = await shop.post('/invitations', { email: email.toUpperCase() })
  const known = await shop.post('/invitations', { email: member.email })

  expect([twice.status, known.status]).toEqual([409, 409])
})

it('makes room for an address whose invitation is out of date', async () => {
  const email = people.email()
  await shop.post('/invitations', { email, expiresIn: '1ms' })

  const again = await shop.post('/invitations', { email })

  expect(again.status).toBe(201)
})

it('mails an address ten times an hour at most, however often it is invited anew', async () => {
  const [address, role] = [people.email(), await people.roleWith(shop, {})]
  const invite = () => shop.post('/invitations', { email: address, workspace_roles: [role] })
  for (let count = 0; count < 10; count += 1) {
    const { data } = (await (await invite()).json()) as { data: { id: string } }
    await shop.delete(`/invitations/${data.id}`)
  }

  const refused = await invite()

  expect([refused.status, await refused.json()]).toMatchObject([429, { message: 'Too many mails to this address' }])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  // They are none of those by which a password is reset.
  expect((await world.anonymous.post('/api/auth/password-reset/request', { email: address })).status).toBe(204)
})

it('counts no mail for invitations that are refused', async () => {
  const editor = await people.member(shop, { entitlements: ['workspaceMembers:edit'] })
  const email = people.email()
  const refused = await Promise.all(
    Array.from({ length: 10 }, () => editor.post('/invitations', { email, workspace_roles: [reading] })),
  )

  const invited = await shop.post('/invitations', { email, workspace_roles: [reading] })

  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]))
  expect(invited.status).toBe(201)
})

it('lets nobody invite to more than they hold', async () => {
  const editor = await people.member(shop, { entitlements: ['workspaceMembers:edit'] })
  const invite = (roles: readonly string[]) =>
    editor.post('/invitations', { email: people.email(), workspace_roles: roles })

  const plain = await invite([])
  const beyond = await invite([reading])
  const administrator = await invite([await people.administratorRole(shop)])

  expect([plain.status, beyond.status, administrator.status]).toEqual([201, 403, 403])
})

describe('whoever invited', () => {
  const over = {
    status: 409,
    message: 'Whoever invited you may no longer give what the invitation gives; ask to be invited again',
  }
  const accepted = async (token: string) => {
    const response = await world.anonymous.post(accept, { token, password })
    const { message } = (await response.json()) as { message?: string }
    return { status: response.status, message }
  }
  async function invited() {
    const policy = await people.policy(shop, content)
    const role = await people.role(shop, [policy])
    const inviter = await people.memberWith(shop, [role])
    const email = people.email()
    const token = await people.invite({ ...shop, post: inviter.post }, email, [reading])
    return { policy, inviter, email, token }
  }
  const content = {
    entitlements: ['workspaceMembers:edit', 'workspaceMembers:read'],
    collections: { articles: { read: 'all' } },
  }
  type Invited = Awaited<ReturnType<typeof invited>>
  const change = ({ policy }: Invited, changed: object) => shop.patch(`/policies/${policy}`, { content: changed })
  const ofAccount = ({ inviter }: Invited) => `/api/system/users/${inviter.userId}`

  it.each<[string, (of: Invited) => Promise<Response>, ((of: Invited) => Promise<Response>)?]>([
    [
      'is switched off',
      (of) => world.administrator.patch(ofAccount(of), { status: 'suspended' }),
      (of) => world.administrator.patch(ofAccount(of), { status: 'active' }),
    ],
    ['is deleted', (of) => world.administrator.delete(ofAccount(of))],
    ['is no member any more', ({ inviter }) => shop.delete(`/members/${inviter.userId}`)],
    [
      'is suspended in the workspace',
      ({ inviter }) => shop.patch(`/members/${inviter.userId}`, { status: 'suspended' }),
      ({ inviter }) => shop.patch(`/members/${inviter.userId}`, { status: 'active' }),
    ],
    ['may invite nobody', (of) => change(of, { ...content, entitlements: [] }), (of) => change(of, content)],
    ['lacks a right', (of) => change(of, { ...content, collections: {} }), (of) => change(of, content)],
  ])('gives nothing once he %s', async (_, end, begin) => {
    const of = await invited()

    expect((await end(of)).ok).toBe(true)

    expect(await accepted(of.token)).toEqual(over)
    expect(await shop.data(`/members?filter[email][_eq]=${of.email}`)).toEqual([])
    if (begin === undefined) return
    expect((await begin(of)).ok).toBe(true)
    expect(await accepted(of.token)).toEqual({ status: 200 })
  })

  it('gives what he still holds, whatever became of the rest', async () => {
    const of = await invited()

    expect((await change(of, { ...content, entitlements: ['workspaceMembers:edit'] })).ok).toBe(true)

    expect(await accepted(of.token)).toEqual({ status: 200 })
  })
})

it.each([
  ['no address', {}, 'email'],
  ['an address that is none', { email: 'nobody' }, 'email'],
  [
    'a role that does not exist',
    { email: 'a@example.com', workspace_roles: [crypto.randomUUID()] },
    'workspace_roles[0]',
  ],
  ['a time that no calendar has', { email: 'a@example.com', expiresIn: '999999999d' }, 'expiresIn'],
  [
    'an unknown member',
    { email: 'a@example.com', isAdministrator: true },
    'unknown field isAdministrator; allowed: email, workspace_roles, expiresIn',
  ],
])('answers 422 for %s, naming the place', async (_, body, place) => {
  const response = await shop.post('/invitations', body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it('does not invite to Public', async () => {
  const response = await shop.post('/invitations', {
    email: people.email(),
    workspace_roles: [await people.publicRole(shop)],
  })

  expect(response.status).toBe(422)
})

it.each([
  ['GET', '/invitations', 'workspaceMembers:read'],
  ['POST', '/invitations', 'workspaceMembers:edit'],
  ['DELETE', `/invitations/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
])('answers 403 naming the entitlement that %s %s needs', async (method, path, entitlement) => {
  const response = await shop.anonymous.send(method, path, method === 'GET' ? {} : { body: {} })

  expect(response.status).toBe(403)
  expect(await response.json()).toEqual(refusedAnonymous(`Requires the entitlement ${entitlement}`))
})
