/**
 * docs/contract.md#migration-lock: one migration at a time per workspace, whoever was sent it, and workspaces beside each other.
 * Two Node processes and a Worker serve one instance here.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, introspect, migrate, storedModel, type Workspace } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { type Crowd, openCrowd } from './support/crowd.ts'
import type { Instance } from './support/instance.ts'

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

/** Keeps every migration of these workspaces from ending until they are released. */
async function hold(...workspaces: readonly Workspace[]): Promise<() => Promise<void>> {
  const holder = new pg.Client(instance.databaseUrl)
  await holder.connect()
  await holder.query('begin')
  const ids = workspaces.map(({ id }) => id)
  await holder.query('select from service.workspace where id = any($1) for update', [ids])
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

it('migrates ten workspaces at once, none of which waits for another', async () => {
  const workspaces: Workspace[] = []
  for (let index = 0; index < 10; index += 1) workspaces.push(await node.workspace(`beside${index}`))

  const release = await hold(...workspaces)
  const answers = workspaces.map((workspace) => migrate(node, workspace, plainCollection(workspace, 'first')))
  await expect.poll(heldUp).toBe(10)
  await release()

  expect(await Promise.all(answers)).toEqual(answers.map(() => ({ status: 200, body: undefined })))
})

/** How many wait for what is held. */
async function heldUp(): Promise<number> {
  const waiting = `select count(*)::text from pg_stat_activity where wait_event_type = 'Lock'`
  const [[count] = []] = await instance.database.query({ text: waiting, params: [] })
  return Number(count)
}
