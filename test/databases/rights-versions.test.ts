/**
 * docs/contract.md#credentials: a change of rights is decided on the rights that there are when it is written, and no stream of other
 * changes keeps it from ending.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, client as clientOf, migrate, signIn } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'
import { tokenIn } from '../support/service/mailed-token.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
/** Runs before each transaction that changes rights, with how many of them came before. */
let meanwhile: ((attempt: number) => Promise<unknown>) | undefined
let attempts = 0
/** Milliseconds that each read of goods takes, by the clock of the service, and those that reads have taken. */
let slowness = 0
let passed = 0

type Sender = { readonly account: string; readonly key: string }

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const interrupted: SqlDriver = {
    ...database,
    query(statement, context) {
      if (statement.text.includes('"goods"')) passed += slowness
      return database.query(statement, context)
    },
    async batch(statements, context) {
      const work = meanwhile
      if (work !== undefined && statements.some(({ text }) => text.includes('rights_version'))) {
        meanwhile = undefined
        await work(attempts)
        attempts += 1
        meanwhile = work
      }
      return database.batch(statements, context)
    },
  }
  const clock = { now: () => Date.now() + passed, elapsed: () => performance.now() + passed }
  service = await openInProcess({ database: interrupted, databaseUrl: server.url, clock })
  client = await signIn(service.administrator, 'http://localhost', service.request)
  await client.workspace('shop')
  await client.workspace('other')
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

async function made(path: string, body: object): Promise<string> {
  const answer = await client.send('POST', path, body)
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 })
  return (answer.body as { data: { id: string } }).data.id
}

async function during<T>(work: typeof meanwhile, change: () => Promise<T>): Promise<T> {
  attempts = 0
  meanwhile = work
  try {
    return await change()
  } finally {
    meanwhile = undefined
  }
}

it.each([
  [
    'a key of one’s own',
    async () => {
      const key = await made('/api/system/api-keys', { name: 'own' })
      return () => client.send('PATCH', `/api/system/api-keys/${key}`, { description: 'changed' })
    },
  ],
  [
    'a service account of one’s own',
    async () => {
      const account = await made('/api/system/service-accounts', { name: 'own' })
      return () => client.send('PATCH', `/api/system/service-accounts/${account}`, { description: 'changed' })
    },
  ],
  [
    'the role of a service account in another workspace',
    async () => {
      const roles = await Promise.all(
        ['shop', 'other', 'other'].map(async (workspace, index) => {
          return { workspace, roleId: await made(`/api/${workspace}/roles`, { name: `robots ${index}`, policies: [] }) }
        }),
      )
      const account = await made('/api/system/service-accounts', { name: 'of two', roles: roles.slice(0, 2) })
      return (attempt: number) =>
        client.send('PATCH', `/api/system/service-accounts/${account}`, {
          roles: [roles[0], roles[1 + ((attempt + 1) % 2)]],
        })
    },
  ],
  [
    'the name of another workspace',
    async () => {
      const { id } = await client.workspace('named')
      return () => client.send('PATCH', `/api/system/workspaces/${id}`, { displayName: 'changed' })
    },
  ],
  [
    'the rights of another workspace',
    async () => {
      const role = await made('/api/other/roles', { name: 'own', policies: [] })
      return () => client.send('PATCH', `/api/other/roles/${role}`, { description: 'changed' })
    },
  ],
])('a change of rights ends, however often %s is changed', async (name, prepare) => {
  const change = await prepare()

  const answer = await during(change, () => client.send('POST', '/api/shop/roles', { name, policies: [] }))

  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 })
  expect(attempts).toBeLessThan(6)
})

it('a key that there is not is changed without holding up others', async () => {
  const version = async () =>
    (await database.query({ text: 'select access_version from service.instance', params: [] }))[0]
  const before = await version()

  const answer = await client.send('PATCH', '/api/system/api-keys/00000000-0000-7000-8000-000000000000', {
    name: 'new',
  })

  expect(answer).toMatchObject({ status: 404 })
  expect(await version()).toEqual(before)
})

it.each([
  [
    'the caller’s role is taken away',
    (member: string) => client.send('PATCH', `/api/shop/members/${member}`, { roles: [] }),
  ],
  [
    'the caller’s account is suspended',
    (member: string) => client.send('PATCH', `/api/system/users/${member}`, { status: 'suspended' }),
  ],
])('a change of rights is refused where %s meanwhile, after however many attempts', async (name, withdraw) => {
  const email = `${name.includes('role') ? 'role' : 'account'}@example.com`
  const policy = await made('/api/shop/policies', {
    name,
    content: { entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'], collections: {} },
  })
  const role = await made('/api/shop/roles', { name, policies: [policy] })
  await made('/api/shop/invitations', { email, workspace_roles: [role] })
  const token = tokenIn(service.mails.find(({ to }) => to === email)?.text ?? '')
  const password = 'a password of some length'
  const joined = await client.send('POST', '/api/auth/invitations/accept', { token, password, fullName: 'Member' })
  const member = (joined.body as { data: { id: string } }).data.id
  const account = await signIn({ email, password }, 'http://localhost', service.request)
  const key = await made('/api/system/api-keys', { name })

  const answer = await during(
    (attempt) =>
      attempt === 3
        ? withdraw(member)
        : client.send('PATCH', `/api/system/api-keys/${key}`, { description: String(attempt) }),
    () => account.send('POST', '/api/shop/roles', { name: `by ${name}`, policies: [] }),
  )

  expect(attempts).toBeGreaterThan(3)
  expect(answer.status).toBeOneOf([401, 403])
})

it.each([
  [
    'the roles of the service account are taken away',
    ({ account }: Sender) => client.send('PATCH', `/api/system/service-accounts/${account}`, { roles: [] }),
  ],
  [
    'the service account is deleted',
    ({ account }: Sender) => client.send('DELETE', `/api/system/service-accounts/${account}`),
  ],
  [
    'the key is switched off',
    ({ key }: Sender) => client.send('PATCH', `/api/system/api-keys/${key}`, { active: false }),
  ],
  ['the key is deleted', ({ key }: Sender) => client.send('DELETE', `/api/system/api-keys/${key}`)],
])(
  'a change of rights that a key sent is refused where %s meanwhile, after however many attempts',
  async (name, withdraw) => {
    const policy = await made('/api/shop/policies', {
      name,
      content: { entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'], collections: {} },
    })
    const roleId = await made('/api/shop/roles', { name, policies: [policy] })
    const account = await made('/api/system/service-accounts', { name, roles: [{ workspace: 'shop', roleId }] })
    const { id, key } = (
      (await client.send('POST', '/api/system/api-keys', { name, userId: account })).body as {
        data: { id: string; key: string }
      }
    ).data
    const other = await made('/api/system/api-keys', { name: `beside ${name}` })

    const answer = await during(
      (attempt) =>
        attempt === 3
          ? withdraw({ account, key: id })
          : client.send('PATCH', `/api/system/api-keys/${other}`, { description: String(attempt) }),
      () =>
        clientOf('http://localhost', key, service.request).send('POST', '/api/shop/roles', {
          name: `by ${name}`,
          policies: [],
        }),
    )

    expect(attempts).toBeGreaterThan(3)
    expect(answer.status).toBeOneOf([401, 403])
  },
)

it('no change of rights waits for access tests that take long: it is refused, and made where they may fail', async () => {
  const shop = await client.workspace('slow')
  expect((await migrate(client, shop, plainCollection(shop, 'goods'))).status).toBe(200)
  const content = { entitlements: [], collections: { goods: { read: 'all' } } }
  const policy = await made('/api/slow/policies', { name: 'reads', content })
  const role = await made('/api/slow/roles', { name: 'reader', policies: [policy] })
  for (let test = 0; test < 9; test += 1) {
    const expected = { collection: 'goods', action: 'read', expect: { allowed: true, count: 0 } }
    await made('/api/slow/access/tests', { name: `test ${test}`, as: `role:${role}`, ...expected })
  }
  const narrow = (query: string) =>
    client.send('PATCH', `/api/slow/policies/${policy}${query}`, { name: 'less', content })
  slowness = 3_000

  const refused = await narrow('')
  const narrowed = await narrow('?allow=failingTests')
  slowness = 0

  expect(refused).toMatchObject({ status: 409, body: { code: '4097', meta: { tests: [] } } })
  expect(narrowed).toMatchObject({ status: 200 })
})

it('a service account that is handed on stays so, whatever its former owner changes meanwhile', async () => {
  const account = await made('/api/system/service-accounts', { name: 'handed on' })
  const path = `/api/system/service-accounts/${account}`
  const other = await made('/api/system/api-keys', { name: 'beside what is handed on' })
  await made('/api/shop/invitations', { email: 'next@example.com', workspace_roles: [] })
  const token = tokenIn(service.mails.find(({ to }) => to === 'next@example.com')?.text ?? '')
  const joining = { token, password: 'a password of some length', fullName: 'Next' }
  const joined = await client.send('POST', '/api/auth/invitations/accept', joining)
  const owner = (joined.body as { data: { id: string } }).data.id

  const answer = await during(
    (attempt) =>
      attempt === 3
        ? client.send('PATCH', path, { owner })
        : client.send('PATCH', `/api/system/api-keys/${other}`, { description: String(attempt) }),
    () => client.send('PATCH', path, { description: 'changed' }),
  )

  expect(answer).toMatchObject({ status: 200, body: { data: { description: 'changed', owner } } })
})
