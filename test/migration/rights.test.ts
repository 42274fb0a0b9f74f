/**
 * Contract 5: a change of rights acts on the next request of the process that made it, and within 5 seconds on every
 * other replica and isolate. Two Node processes and two Workers, each with a Durable Object of its own, serve one instance.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorkerd, type Workerd } from '../../scripts/workerd.ts'
import { type NeonGateway, startNeonGateway } from '../../src/platform/node/neon-gateway.ts'
import { type Client, migrate, signIn } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'

const BOUND = 5_000
const ROUNDS = 6

let instance: Instance
let replicas: readonly Replica[]
let gateway: NeonGateway
let workers: readonly Workerd[]
let administrator: Client
let reader: Client
let policy: string

beforeAll(async () => {
  instance = await openInstance()
  replicas = [await startReplica(instance), await startReplica(instance)]
  gateway = await startNeonGateway(instance.databaseUrl)
  const variables = { ...instance.variables, SERVICE_DATABASE_URL: gateway.url }
  const startOne = () => startWorkerd({ variables, host: '127.0.0.1', port: 0, onLog: () => {} })
  workers = [await startOne(), await startOne()]
  administrator = await signIn(instance.administrator, replicas[0]?.url ?? '')
  const workspace = await administrator.workspace('rights')
  await migrate(administrator, workspace, plainCollection(workspace, 'articles'))
  policy = await made('/api/rights/policies', { name: 'reading', content: allowed })
  const role = await made('/api/rights/roles', { name: 'readers', policies: [policy] })
  const account = { email: 'reader@example.com', password: 'a password of some length' }
  const invited = await administrator.send('POST', '/api/rights/invitations', {
    email: account.email,
    workspace_roles: [role],
  })
  const { token } = (invited.body as { data: { token: string } }).data
  await administrator.send('POST', '/api/auth/invitations/accept', { token, password: account.password })
  reader = await signIn(account, replicas[0]?.url ?? '')
})

afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.close()))
  await gateway?.close()
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

/** Milliseconds from the change to the first answer that shows it. */
async function delayUntil(client: Client, expected: number, changedAt: number): Promise<number> {
  while ((await statusAt(client)) !== expected) {
    if (performance.now() - changedAt > 2 * BOUND) break
    await wait(20)
  }
  return performance.now() - changedAt
}
