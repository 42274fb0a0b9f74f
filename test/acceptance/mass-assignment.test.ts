/** No body can set more than its route knows, whatever the columns behind it are called. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { casesOr } from '../support/run/cases.ts'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shop = await world.workspace('assignment', { articles: { title: 'string' } })
const role = await people.role(shop, [])
const policy = await people.policy(shop, {})
const member = await people.memberWith(shop, [])
const { administrator } = world
const accounts = '/api/system/service-accounts'
const account = await made(await administrator.post(accounts, { name: 'worker' }))
const key = await made(await administrator.post('/api/system/api-keys', { name: 'robot', userId: account }))

/** Names and values that would matter if they got through to a table. */
const columns = fc.oneof(
  fc.constantFrom<[string, unknown]>(
    ['id', crypto.randomUUID()],
    ['isService', true],
    ['is_service', true],
    ['isAdministrator', true],
    ['is_administrator', true],
    ['serviceAccountOwnerId', member.userId],
    ['owner', member.userId],
    ['userId', member.userId],
    ['user_id', member.userId],
    ['workspaceId', crypto.randomUUID()],
    ['workspace_id', crypto.randomUUID()],
    ['kind', 'administrator'],
    ['isPublic', true],
    ['passwordHash', 'x'],
    ['password_hash', 'x'],
    ['token_hash', 'x'],
    ['invitedBy', member.userId],
    ['createdAt', '2000-01-01T00:00:00Z'],
    ['roleIds', [role]],
    ['role_id', role],
    ['members', [member.userId]],
    ['__proto__', { isAdministrator: true }],
    ['constructor', {}],
  ),
  fc.tuple(fc.string({ minLength: 1, maxLength: 20 }), fc.jsonValue()),
)

const routes: readonly [string, Client, string, string, object][] = [
  ['a role', shop, 'POST', '/roles', { name: 'Extra' }],
  ['a change of a role', shop, 'PATCH', `/roles/${role}`, { description: 'Extra' }],
  ['a policy', shop, 'POST', '/policies', { name: 'Extra', content: {} }],
  ['a change of a policy', shop, 'PATCH', `/policies/${policy}`, { description: 'Extra' }],
  ['a change of a member', shop, 'PATCH', `/members/${member.userId}`, { status: 'suspended' }],
  ['an invitation', shop, 'POST', '/invitations', { email: 'extra@example.com' }],
  ['an acceptance', world.anonymous, 'POST', '/api/auth/invitations/accept', { token: 'x' }],
  ['a change of an account', administrator, 'PATCH', `/api/system/users/${member.userId}`, { fullName: 'Extra' }],
  ['a workspace', administrator, 'POST', '/api/system/workspaces', { apiName: 'extra' }],
  ['an API key', administrator, 'POST', '/api/system/api-keys', { name: 'Extra' }],
  ['a change of an API key', administrator, 'PATCH', `/api/system/api-keys/${key}`, { description: 'Extra' }],
  ['a service account', administrator, 'POST', accounts, { name: 'Extra' }],
  ['a change of a service account', administrator, 'PATCH', `${accounts}/${account}`, { description: 'Extra' }],
  ['a sign-in', world.anonymous, 'POST', '/api/auth/login', { credentials: { email: 'x', password: 'x' } }],
  ['a refresh', world.anonymous, 'POST', '/api/auth/refresh', { refreshToken: 'x' }],
  ['a sign-out', world.anonymous, 'POST', '/api/auth/logout', { refreshToken: 'x' }],
]
const known = new Set(
  ['name', 'description', 'policies', 'content', 'roles', 'status', 'email', 'workspace_roles', 'expiresIn'].concat([
    'token',
    'password',
    'fullName',
    'isAdministrator',
    'apiName',
    'displayName',
    'userId',
    'owner',
    'active',
    'credentials',
    'mode',
    'refreshToken',
  ]),
)

it.each(routes)('refuses what %s does not know, and changes nothing', async (_, client, method, path, body) => {
  const before = await everything()

  await fc.assert(
    fc.asyncProperty(
      columns.filter(([name]) => !known.has(name)),
      async ([name, value]) => {
        const text = `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`
        const response = await client.send(method, path, { body: text })

        expect(response.status).toBe(422)
      },
    ),
    { numRuns: casesOr(40) },
  )

  expect(await everything()).toEqual(before)
})

it('takes nothing into the content of a policy that a policy does not know', async () => {
  await fc.assert(
    fc.asyncProperty(columns, async ([name, value]) => {
      const content = `{${JSON.stringify(name)}:${JSON.stringify(value)}}`
      const response = await shop.post('/policies', `{"name":${JSON.stringify(world.name('p'))},"content":${content}}`)

      expect(response.status).toBe(422)
    }),
    { numRuns: casesOr(40) },
  )
})

async function everything(): Promise<unknown> {
  const person = await (await administrator.get(`/api/system/users/${member.userId}`)).json()
  const ofInstance = [`${accounts}?limit=0&filter[id][_eq]=${account}`, `/api/system/api-keys?filter[id][_eq]=${key}`]
  const others = await Promise.all(ofInstance.map(async (path) => (await administrator.get(path)).json()))
  const lists = ['/roles', '/policies', '/members', '/invitations'].map((path) => shop.data(`${path}?limit=0`))
  return [person, others, ...(await Promise.all(lists))]
}

async function made(response: Response): Promise<string> {
  return ((await response.json()) as { data: { id: string } }).data.id
}
