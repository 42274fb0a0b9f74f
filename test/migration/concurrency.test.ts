/**
 * docs/contract.md#migration-lock: one migration at a time per workspace, whoever was sent it, and workspaces beside each other.
 * Two Node processes and a Worker serve one instance here.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, introspect, migrate, storedModel, type Workspace } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { type Crowd, openCrowd } from './support/crowd.ts'
import { openDistance } from './support/distance.ts'
import { type Instance, startReplica } from './support/instance.ts'

let crowd: Crowd
let instance: Instance
let node: Client

beforeAll(async () => {
  crowd = await openCrowd()
  instance = crowd.instance
  node = crowd.node
})

afterAll(() => crowd?.close())

it('runs 50 migrations sent at once to two Node processes and a Worker, each in its order of arrival', async () => {
  const workspace = await node.workspace('crowded')
  const senders = crowd.urls.map((url) => node.at(url))
  for (const [index, sender] of senders.entries())
    await migrate(sender, workspace, plainCollection(workspace, `warm_${index}`))
  const before = await storedModel(instance.database, workspace)

  const release = await hold(workspace)
  const queued = await Promise.all(
    senders.map((sender, own) => {
      const names = Array.from({ length: 50 }, (_, index) => index).filter((index) => index % 3 === own)
      return queue(sender, workspace, names.map(nameOf))
    }),
  )
  await release()
  const answers = (await Promise.all(queued.map((sent) => Promise.all(sent.map(({ answer }) => answer))))).flat()

  expect(answers).toHaveLength(50)
  expect(answers).toEqual(answers.map(() => ({ status: 200, body: undefined })))
  const after = await storedModel(instance.database, workspace)
  expect(after.version).toBe(before.version + 50)
  const made = after.records.collections.map(({ apiName }) => apiName)
  expect([0, 1, 2].map((sender) => made.filter((name) => name.startsWith(`of${sender}_`)))).toEqual(
    [0, 1, 2].map((sender) =>
      Array.from({ length: 50 }, (_, index) => index)
        .filter((index) => index % 3 === sender)
        .map(nameOf),
    ),
  )
  expect(await introspect(node, workspace)).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
})

/** Keeps every migration of the workspace from ending until it is released. */
async function hold(workspace: Workspace): Promise<() => Promise<void>> {
  const holder = new pg.Client(instance.databaseUrl)
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from service.workspace where id = $1 for update', [workspace.id])
  return () => holder.end()
}

function nameOf(index: number): string {
  return `of${index % 3}_${index}`
}

/** In a box: what a promise brings is awaited wherever it is handed on. */
type Sent = { readonly answer: ReturnType<typeof migrate> }

/**
 * Sends one migration after the other, none of which ends yet. A dry run goes the same way to the model and then further, to
 * the database: when it is answered, the migration that was sent before it stands in line.
 */
async function queue(sender: Client, workspace: Workspace, names: readonly string[]): Promise<readonly Sent[]> {
  const sent: Sent[] = []
  for (const name of names) {
    const collection = plainCollection(workspace, name)
    sent.push({ answer: migrate(sender, workspace, collection) })
    const path = `/api/${workspace.apiName}/schema/migrate?dryRun=true`
    expect(await sender.send('POST', path, { operations: [collection] })).toMatchObject({ status: 200 })
  }
  return sent
}

it('migrates ten workspaces at once in less than three times the time of one', async () => {
  // Without a distance a migration never waits but keeps a core busy, and what is measured are the cores. On a slow machine
  // they are busy for longer, so the distance is one at which most of a migration is waiting there, too.
  const distance = await openDistance(instance.databaseUrl, 10)
  const replica = await startReplica(instance, { SERVICE_DATABASE_URL: distance.url })
  const client = node.at(replica.url)
  const workspaces: Workspace[] = []
  for (let index = 0; index < 11; index += 1) workspaces.push(await client.workspace(`beside${index}`))
  const [alone, ...together] = workspaces as [Workspace, ...Workspace[]]
  await Promise.all(together.map((workspace) => migrate(client, workspace, plainCollection(workspace, 'first'))))

  // The fastest of several rounds each, as other work of the machine only ever adds to them.
  let one = Number.POSITIVE_INFINITY
  let ten = Number.POSITIVE_INFINITY
  for (let round = 0; round < 2 || (round < 6 && ten / one >= 3); round += 1) {
    one = Math.min(one, await timeOf(() => build(client, alone, round)))
    ten = Math.min(ten, await timeOf(() => Promise.all(together.map((workspace) => build(client, workspace, round)))))
  }
  await replica.kill()
  await distance.close()

  console.log(`one workspace: ${one.toFixed(0)} ms, ten at once: ${ten.toFixed(0)} ms, ${(ten / one).toFixed(2)} times`)
  expect(ten / one).toBeLessThan(3)
})

/** One migration after the other, as a client does that makes a model step by step. */
async function build(client: Client, workspace: Workspace, round: number): Promise<void> {
  for (let step = 0; step < 5; step += 1) {
    const answer = await migrate(client, workspace, plainCollection(workspace, `step${round}_${step}`, 10))
    if (answer.status !== 200) throw new Error(JSON.stringify(answer))
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
