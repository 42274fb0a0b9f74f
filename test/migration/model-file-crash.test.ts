/**
 * docs/contract.md#the-model-as-a-file: the service is killed while it applies a file. On PostgreSQL, behind each message
 * that it sends to the database, all of the file is there or nothing, and the plan says which. MariaDB ends a transaction
 * with each change of a table: behind each of these a part is done, and the plan names the source; one introspection
 * later it says what is left, and an apply brings it to the end. SERVICE_TEST_ROUNDS is how often.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { roundsOr } from '../support/run/cases.ts'
import { type CuttingProxy, startCuttingProxy } from '../support/servers/cutting-proxy.ts'
import { type Client, introspect, signIn } from './support/client.ts'
import { compileReplica, type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'
import { marked, seen } from './support/marks.ts'
import { apply, exported, type File, places, planIn, planned, reaching } from './support/model-files.ts'

const ROUNDS = roundsOr(6)

let instance: Instance
let proxy: CuttingProxy
let steady: Replica
let client: Client

beforeAll(async () => {
  await compileReplica()
  instance = await openInstance()
  proxy = await startCuttingProxy(instance.databaseUrl)
  steady = await startReplica(instance, reaching)
  client = await signIn(instance.administrator, steady.url)
})

afterAll(async () => {
  await steady?.kill()
  await proxy?.close()
  await instance?.close()
})

/** Two models that share nothing but names, with rights. */
const files = (source?: string): readonly [File, File] => {
  const own = source === undefined ? {} : { source }
  const sources = source === undefined ? {} : { sources: { [source]: 'mariadb' } }
  const letters = ['a', 'b', 'c', 'd']
  const model = (type: string, role: string): File => ({
    version: 1,
    ...sources,
    collections: Object.fromEntries([
      ['hubs', { fields: { id: 'int64 auto', name: type }, ...own }],
      ...letters.map((letter) => [
        `${role}_${letter}`,
        { fields: { id: 'int64 auto', hub: { to: 'hubs' }, [`value_${role}`]: type }, ...own },
      ]),
    ]),
    roles: { [role]: ['reading'] },
    policies: { reading: { collections: { hubs: { read: { fields: ['name'] } } } } },
  })
  return [model('string(40)', 'first'), model('string(80)', 'second')]
}

it('is there as a whole or not at all, behind whichever message to PostgreSQL it was killed', async () => {
  const workspace = await client.workspace('apply_killed')
  const [one, other] = files()
  await applied(one)
  let [now, next] = [one, other]
  const outcomes = { kills: 0, whole: 0, none: 0 }
  for (let messages = 0, isCut = true; isCut; messages += step()) {
    const victim = await startReplica(instance, { ...reaching, SERVICE_DATABASE_URL: proxy.url })
    const there = client.at(victim.url)
    const before = planIn(await planned(there, workspace, next))
    const reached = proxy.cutAfter(messages)
    const sending = apply(there, workspace, next, before.plan).catch(() => undefined)
    isCut = await Promise.race([reached.then(() => true), sending.then(() => false)])
    await victim.kill()
    await sending
    proxy.calm()

    const about = `killed behind message ${messages}`
    await expect.poll(heldLocks, { interval: 5 }).toBe(0)
    const after = planIn(await planned(client, workspace, next))
    const file = await exported(client, workspace)
    const isWhole = after.operations.length === 0
    expect(file.collections, about).toEqual((isWhole ? next : now).collections)
    expect(after, about).toMatchObject(isWhole ? { changes: [] } : { plan: before.plan, changes: before.changes })
    expect(await introspect(client, workspace), about).toMatchObject({
      status: 200,
      body: { data: { operations: [] } },
    })
    outcomes.kills += isCut ? 1 : 0
    outcomes[isWhole ? 'whole' : 'none'] += 1
    if (isWhole) [now, next] = [next, now]
  }
  console.log('PostgreSQL:', outcomes)
  expect(outcomes.kills).toBeGreaterThanOrEqual(Math.min(ROUNDS, 8))
  expect(outcomes.none).toBeGreaterThan(0)

  async function applied(file: File): Promise<void> {
    const { plan } = planIn(await planned(client, workspace, file))
    expect(await apply(client, workspace, file, plan)).toMatchObject({ status: 200 })
  }
})

/** About so many kills as there are rounds, of a hundred messages. */
function step(): number {
  return Math.max(1, Math.round(100 / ROUNDS))
}

it('on MariaDB is brought to its end after an introspection, behind whichever change it was killed', async () => {
  const made = await client.workspace('apply_killed_there')
  const { workspace, server, close } = await places.MariaDB.open(client, made)
  const target = openMysql(server)
  let [now, next] = files('target')
  for (const file of [next, now]) await reach(file)
  const most = await switched()
  const outcomes = { whole: 0, none: 0, part: 0 }
  const killed: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = await startReplica(instance, reaching)
    const there = client.at(victim.url)
    const before = planIn(await planned(there, workspace, next))
    const was = await tableChanges(target)
    const sending = apply(there, workspace, next, before.plan).catch(() => undefined)
    const changes = Math.round((round * most) / Math.max(ROUNDS - 1, 1))
    await marked(instance.database, workspace.sourceId, sending)
    await seen(async () => (await tableChanges(target)) - was >= changes, sending)
    await victim.kill()
    const answer = await sending

    const about = `killed at change ${changes} of ${most}, answered ${JSON.stringify(answer)}`
    await expect.poll(heldLocks, { interval: 5 }).toBe(0)
    await expect.poll(() => isAtWork(target), { interval: 5 }).toBe(false)
    const tables = await tablesOf(target)
    const isMarked = await introspectedIfMarked(before, about)
    const after = await planned(client, workspace, next)
    expect(after.status, `${about} ${JSON.stringify(after.body)}`).toBe(200)
    const { plan, operations, changes: left } = planIn(after)
    const isThere = operations.length === 0
    if (isMarked) {
      const missing = Object.keys(next.collections).filter((name) => !tables.includes(name))
      const created = collectionsIn(left, 'create')
      expect(created, about).toEqual(expect.arrayContaining(missing))
      const gone = tables.filter((name) => name in now.collections && !(name in next.collections))
      expect(collectionsIn(left, 'delete'), about).toEqual(expect.arrayContaining(gone))
    } else if (!isThere) {
      expect(plan, about).toBe(before.plan)
    }
    outcomes[isMarked ? 'part' : isThere ? 'whole' : 'none'] += 1
    killed.push(`${changes} ${isMarked ? 'marked' : ''}: ${tables.filter((name) => name in next.collections).length}`)
    expect(await apply(client, workspace, next, plan), about).toMatchObject({ status: 200 })
    expect((await exported(client, workspace)).collections, about).toEqual(next.collections)
    expect(planIn(await planned(client, workspace, next)), about).toMatchObject({ changes: [], operations: [] })
    expect(await tablesOf(target), about).toEqual(Object.keys(next.collections).sort())
    ;[now, next] = [next, now]
  }
  await target.close()
  await close()
  console.log(`MariaDB, of ${most} changes:`, outcomes, `tables there when killed: ${killed.join(', ')}`)
  expect(outcomes.part).toBeGreaterThanOrEqual(Math.floor(ROUNDS / 2))

  async function reach(file: File): Promise<void> {
    const { plan } = planIn(await planned(client, workspace, file))
    expect(await apply(client, workspace, file, plan)).toMatchObject({ status: 200 })
  }

  /** Goes to the other file without a kill; answers how many changes of tables that took. */
  async function switched(): Promise<number> {
    const was = await tableChanges(target)
    await reach(next)
    ;[now, next] = [next, now]
    return (await tableChanges(target)) - was
  }

  /** Nothing is planned or applied before the source that may be half changed has been looked at. */
  async function introspectedIfMarked({ plan }: { readonly plan: string }, about: string): Promise<boolean> {
    const { status, body } = await planned(client, workspace, next)
    if (status !== 409) return false
    const marks = { code: '4095', meta: { sources: ['target'] } }
    expect(body, about).toMatchObject(marks)
    expect(await apply(client, workspace, next, plan), about).toMatchObject({ status: 409, body: marks })
    expect(await introspect(client, workspace), about).toMatchObject({ status: 200 })
    return true
  }
})

/** How many changes of tables the server has begun since its start. */
async function tableChanges(target: SqlDriver): Promise<number> {
  const text = `select sum(variable_value) from information_schema.global_status
    where variable_name in ('com_create_table', 'com_alter_table', 'com_drop_table')`
  const [[count] = []] = await target.query({ text, params: [] })
  return Number(count)
}

/** Whether the server still works on what somebody else has asked. */
async function isAtWork(target: SqlDriver): Promise<boolean> {
  const text = `select count(*) from information_schema.processlist
    where user = 'tester' and id <> connection_id() and command = 'Query'`
  const [[count] = []] = await target.query({ text, params: [] })
  return Number(count) > 0
}

async function tablesOf(target: SqlDriver): Promise<readonly string[]> {
  const text = 'select table_name from information_schema.tables where table_schema = database()'
  return (await target.query({ text, params: [] })).map(([name]) => name ?? '').sort()
}

/** The collections that are to be created or deleted. */
function collectionsIn(changes: readonly object[], wanted: 'create' | 'delete'): readonly string[] {
  const found = changes as readonly { readonly action: string; readonly path: string }[]
  return found.flatMap(({ action, path }) => (action === wanted && /^\w+$/.test(path) ? [path] : [])).sort()
}

async function heldLocks(): Promise<number> {
  const text = `select count(*) from pg_locks where locktype = 'advisory' and granted`
  const [[count] = []] = await instance.database.query({ text, params: [] })
  return Number(count)
}
