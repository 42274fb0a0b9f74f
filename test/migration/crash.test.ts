/**
 * docs/contract.md#all-or-nothing: nothing partial is possible. The service is killed, or loses its database, at a
 * random moment of a random migration; afterwards model and database agree, the lock is free, and the next migration
 * works. SERVICE_TEST_ROUNDS is how often; SERVICE_TEST_SEED repeats a run's migrations, though not its moments.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { anyThrows, applyThrows, shapeOf } from '../support/data/random-operations.ts'
import { roundsOr } from '../support/run/cases.ts'
import { type Answer, type Client, introspect, migrate, signIn, storedModel, type Workspace } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import {
  compileReplica,
  type Instance,
  OBSERVER,
  openInstance,
  type Replica,
  startReplica,
} from './support/instance.ts'
import { randomOptions } from './support/random.ts'

const ROUNDS = roundsOr(15)
/** A cut costs no restart, and its moments are the same ones. */
const CUTS = Math.min(ROUNDS, 40)
const seed = Number(process.env.SERVICE_TEST_SEED)

let instance: Instance
let replica: Replica
let client: Client

beforeAll(async () => {
  console.log(`crashes: SERVICE_TEST_SEED=${seed}`)
  await compileReplica()
  instance = await openInstance()
})

beforeEach(async () => {
  replica = await startReplica(instance)
  client = await signIn(instance.administrator, replica.url)
  return () => replica.kill()
})

afterAll(() => instance?.close())

it('is all or nothing when the service is killed, and the next process goes on', async () => {
  const workspace = await client.workspace('killed')

  const outcomes = await disturb(workspace, ROUNDS, async () => {
    await replica.kill()
    replica = await startReplica(instance)
    client = client.at(replica.url)
  })

  expect(outcomes).toHaveLength(ROUNDS)
  console.log('killed:', tally(outcomes))
})

it('is all or nothing when the database ends every connection, and the service goes on', async () => {
  const workspace = await client.workspace('cut')

  const outcomes = await disturb(workspace, CUTS, async () => {
    const ended = await instance.database.query(endConnections)
    await expect.poll(() => stillThere(ended.map(([pid]) => pid ?? '')), { interval: 2 }).toBe(0)
  })

  expect(outcomes).toHaveLength(CUTS)
  console.log('cut:', tally(outcomes))
})

type Outcome = `${'answered' | 'refused' | 'unanswered'}, ${'done' | 'undone'}`

/** Rounds of: a random migration, the disturbance while it runs, and what has to hold then. */
async function disturb(workspace: Workspace, rounds: number, disturbance: () => Promise<void>) {
  const throws = fc.sample(anyThrows({ minLength: 20, maxLength: 60 }), { numRuns: rounds, seed })
  const outcomes: Outcome[] = []
  for (const [round, thrown] of throws.entries()) {
    const before = await storedModel(instance.database, workspace)
    const { operations, records } = applyThrows(before.records, thrown, randomOptions(workspace, before.records))

    const sending = settled(migrate(client, workspace, ...operations))
    await randomMoment(sending, round)
    await disturbance()
    const answer = await sending

    await expect.poll(heldLocks, { interval: 2 }).toBe(0)
    const found = await introspect(client, workspace)
    const after = await storedModel(instance.database, workspace)
    const isDone = after.version > before.version
    const about = `round ${round} of SERVICE_TEST_SEED=${seed}: ${JSON.stringify(answer)}`
    expect(found, about).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
    expect(after.version - before.version, about).toBeOneOf(answer?.status === 200 ? [1] : [0, 1])
    const expected = isDone ? records : before.records
    expect(shapeOf(after.records, workspace.sourceId), about).toEqual(shapeOf(expected, workspace.sourceId))
    await makeAndDelete(workspace, `probe${round}`)
    outcomes.push(`${toldBy(answer)}, ${isDone ? 'done' : 'undone'}`)
  }
  return outcomes
}

/** In every third round counted from the sending, in the others from when the migration has its turn. */
async function randomMoment(sending: Promise<unknown>, round: number): Promise<void> {
  let isAnswered = false
  void sending.then(() => {
    isAnswered = true
  })
  if (round % 3 === 0) return wait(randomInt(TYPICAL))
  while (!isAnswered && (await heldLocks()) === 0);
  await wait(randomInt(TYPICAL / 3))
}

/** Milliseconds that a migration takes, by the machine's mood; so that some disturbances come too late. */
const TYPICAL = 60

/** Undefined where the connection ended before the answer. */
function settled(answer: Promise<Answer>): Promise<Answer | undefined> {
  return answer.catch(() => undefined)
}

async function makeAndDelete(workspace: Workspace, name: string): Promise<void> {
  const probe = plainCollection(workspace, name)
  const made = await migrate(client, workspace, probe)
  const deleted = await migrate(client, workspace, { kind: 'deleteCollection', data: { id: probe.data.id } })
  expect([made, deleted]).toMatchObject([{ status: 200 }, { status: 200 }])
}

function toldBy(answer: Answer | undefined) {
  if (answer === undefined) return 'unanswered'
  return answer.status === 200 ? 'answered' : 'refused'
}

function tally(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

const others = `datname = current_database() and pid <> pg_backend_pid() and application_name <> '${OBSERVER}'`
const endConnections = {
  text: `select pid, pg_terminate_backend(pid) from pg_stat_activity where ${others}`,
  params: [],
}

async function stillThere(pids: readonly string[]): Promise<number> {
  const text = "select count(*) from pg_stat_activity where pid::text = any(string_to_array($1, ','))"
  return count(text, [pids.join()])
}

function heldLocks(): Promise<number> {
  return count(`select count(*) from pg_locks where locktype = 'advisory' and granted`)
}

async function count(text: string, params: readonly string[] = []): Promise<number> {
  const [row] = await instance.database.query({ text, params })
  return Number(row?.[0])
}
