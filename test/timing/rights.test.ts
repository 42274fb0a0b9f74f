/**
 * docs/contract.md#when-changes-of-rights-take-effect: a change of rights, or the end of a token, acts on the next
 * request of the process that made it, and within 5 seconds on every other replica and isolate. Two Node processes and
 * two Workers, each with a Durable Object of its own, serve one instance.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorkerd, type Workerd } from '../../scripts/workerd.ts'
import { type NeonGateway, startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { type Client, client, migrate, signIn } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from '../migration/support/instance.ts'
import { type MailServer, startMailEndpoint } from '../support/servers/mail-servers.ts'
import { tokenIn } from '../support/service/mailed-token.ts'

const BOUND = 5_000
const ROUNDS = 6

let instance: Instance
let replicas: readonly Replica[]
let gateway: NeonGateway
let workers: readonly Workerd[]
let administrator: Client
let reader: Client
let policy: string
let readerId: string
let mails: MailServer
const mailed = Promise.withResolvers<string>()

const account = { email: 'reader@example.com', password: 'a password of some length' }

beforeAll(async () => {
  instance = await openInstance()
  mails = await startMailEndpoint(({ text }) => mailed.resolve(text))
  const own = { SERVICE_MAIL__URL: mails.url }
  replicas = [await startReplica(instance, own), await startReplica(instance, own)]
  gateway = await startNeonGateway(instance.databaseUrl)
  const variables = { ...instance.variables, SERVICE_DATABASE_URL: gateway.url }
  const startOne = () => startWorkerd({ variables, host: '127.0.0.1', port: 0, onLog: () => {} })
  workers = [await startOne(), await startOne()]
  administrator = await signIn(instance.administrator, replicas[0]?.url ?? '')
  const workspace = await administrator.workspace('rights')
  await migrate(administrator, workspace, plainCollection(workspace, 'articles'))
  policy = await made('/api/rights/policies', { name: 'reading', content: allowed })
  const role = await made('/api/rights/roles', { name: 'readers', policies: [policy] })
  await administrator.send('POST', '/api/rights/invitations', { email: account.email, workspace_roles: [role] })
  const token = tokenIn(await mailed.promise)
  const accepted = await administrator.send('POST', '/api/auth/invitations/accept', {
    token,
    password: account.password,
  })
  readerId = (accepted.body as { data: { id: string } }).data.id
  reader = await signIn(account, replicas[0]?.url ?? '')
})

afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.close()))
  await gateway?.close()
  await mails?.close()
  await Promise.all((replicas ?? []).map((replica) => replica.kill()))
  await instance?.close()
})

it('acts on the next request of the process that was told, and within 5 seconds on all others', async () => {
  const [first, ...others] = [...replicas, ...workers].map(({ url }) => reader.at(url))
  const delays: number[] = []
  const firsts: number[] = []

  for (let round = 0; round < ROUNDS; round += 1) {
    const isAllowed = round % 2 === 1
    const expected = isAllowed ? 200 : 403
    // Whatever each process knows is fresh now, which is the worst moment for a change.
    await Promise.all(others.map((client) => statusAt(client)))
    await administrator.send('PATCH', `/api/rights/policies/${policy}`, { content: isAllowed ? allowed : nothing })
    const changedAt = performance.now()
    firsts.push((await statusAt(first)) === expected ? 0 : 1)
    delays.push(...(await Promise.all(others.map((client) => delayUntil(client, expected, changedAt)))))
  }

  console.log(`rights: worst case over ${delays.length} observations ${Math.max(...delays).toFixed(0)} ms`)
  expect(firsts).toEqual(firsts.map(() => 0))
  expect(Math.max(...delays)).toBeLessThan(BOUND)
})

it.each<[string, () => Promise<Ending>]>([
  [
    'session that is logged out',
    async () => {
      const { accessToken, refreshToken } = await tokens()
      return { token: accessToken, end: () => post('/api/auth/logout', { refreshToken }) }
    },
  ],
  [
    'session whose refresh token is used twice',
    async () => {
      const { accessToken, refreshToken } = await tokens()
      await post('/api/auth/refresh', { refreshToken })
      return { token: accessToken, end: () => post('/api/auth/refresh', { refreshToken }) }
    },
  ],
  [
    'session whose password is changed in another',
    async () => {
      const [{ accessToken }, other] = [await tokens(), await tokens()]
      const wish = { currentPassword: account.password, newPassword: account.password }
      const changing = client(replicas[0]?.url ?? '', other.accessToken)
      return { token: accessToken, end: () => changing.send('POST', '/api/auth/password-change', wish) }
    },
  ],
  [
    'key that is switched off',
    async () => {
      const { id, key } = await newKey()
      return { token: key, end: () => administrator.send('PATCH', `/api/system/api-keys/${id}`, { active: false }) }
    },
  ],
  [
    'key that is deleted',
    async () => {
      const { id, key } = await newKey()
      return { token: key, end: () => administrator.send('DELETE', `/api/system/api-keys/${id}`) }
    },
  ],
  [
    'key of a suspended account',
    async () => {
      const { key } = await newKey()
      const suspend = { status: 'suspended' }
      return { token: key, end: () => administrator.send('PATCH', `/api/system/users/${readerId}`, suspend) }
    },
  ],
])('refuses a %s at once where it ended, and within 5 seconds everywhere', async (what, begin) => {
  await administrator.send('PATCH', `/api/system/users/${readerId}`, { status: 'active' })
  await administrator.send('PATCH', `/api/rights/policies/${policy}`, { content: allowed })
  const { token, end } = await begin()
  const [first, ...others] = [...replicas, ...workers].map(({ url }) => client(url, token))
  await Promise.all([first, ...others].map((one) => (one === undefined ? 0 : delayUntil(one, 200, performance.now()))))

  await end()
  const endedAt = performance.now()
  const atOnce = await statusAt(first)
  const delays = await Promise.all(others.map((one) => delayUntil(one, 401, endedAt)))

  console.log(`${what}: refused elsewhere after at most ${Math.max(...delays).toFixed(0)} ms`)
  expect(atOnce).toBe(401)
  expect(Math.max(...delays)).toBeLessThan(BOUND)
})

it('lets one of fifty uses of a refresh token win that reach all processes at once', async () => {
  await administrator.send('PATCH', `/api/system/users/${readerId}`, { status: 'active' })
  const { refreshToken } = await tokens()
  const urls = [...replicas, ...workers].map(({ url }) => url)

  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => post('/api/auth/refresh', { refreshToken }, urls[index % urls.length])),
  )
  const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status)
  const won = (await winner?.json()) as { refreshToken: string }
  const after = await post('/api/auth/refresh', { refreshToken: won.refreshToken })

  expect(winner?.status).toBe(200)
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 401))
  expect(after.status).toBe(401)
})

/** A token that counts, and what ends it, done at the first replica. */
type Ending = { readonly token: string; readonly end: () => Promise<unknown> }

async function tokens(): Promise<{ readonly accessToken: string; readonly refreshToken: string }> {
  const answer = await post('/api/auth/login', { credentials: account, mode: 'json' })
  return (await answer.json()) as { accessToken: string; refreshToken: string }
}

async function newKey(): Promise<{ readonly id: string; readonly key: string }> {
  const answer = await administrator.send('POST', '/api/system/api-keys', { name: 'robot', userId: readerId })
  return (answer.body as { data: { id: string; key: string } }).data
}

function post(path: string, body: object, url = replicas[0]?.url ?? ''): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' }
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

const allowed = { collections: { articles: { read: 'all' } } }
const nothing = { collections: {} }

async function made(path: string, body: object): Promise<string> {
  const answer = await administrator.send('POST', path, body)
  return (answer.body as { data: { id: string } }).data.id
}

async function statusAt(client: Client | undefined): Promise<number> {
  const answer = await client?.send('GET', '/api/rights/items/articles')
  return answer?.status ?? 0
}

/** Milliseconds from the change to the first request that is answered by it; how long a busy machine takes is another matter. */
async function delayUntil(client: Client, expected: number, changedAt: number): Promise<number> {
  for (;;) {
    const delay = performance.now() - changedAt
    if ((await statusAt(client)) === expected || delay > 2 * BOUND) return delay
    await wait(20)
  }
}
