/** WorkspaceState on Node: two replicas on one Postgres, one process on an embedded database, and holders that die. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PGlite } from '@electric-sql/pglite'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { createNodeWorkspaceState } from '../../src/platform/node/workspace-state.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { createSystemTables, describeWorkspaceState, hold, insertWorkspace, pause } from './workspace-state.ts'

const clock = { now: () => Date.now() }
const embedded = await openEmbedded()
let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  await createSystemTables(database)
})

afterAll(async () => {
  await database.close()
  await postgres.close()
  await embedded.close()
})

describeWorkspaceState('two Node processes on Postgres', async (waitLimit) => ({
  database,
  state: replica(waitLimit),
  replica: replica(waitLimit),
}))

describeWorkspaceState('one Node process on an embedded Postgres', async (waitLimit) => {
  const state = createNodeWorkspaceState({ database: embedded, connect: undefined, clock, waitLimit })
  return { database: embedded, state, replica: state }
})

describe('workspace state: Node processes that come and go', () => {
  it('frees the lock of a process that is killed', async () => {
    const workspace = await insertWorkspace(database)
    const program = new URL('./workspace-state.holder.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [program, postgres.url, workspace], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(child.stdout, 'data')

    const waiting = replica(60_000).withMigrationLock(workspace, async (fence) => fence)
    const early = await Promise.race([waiting, pause(300).then(() => 'still held')])
    child.kill('SIGKILL')

    expect(early).toBe('still held')
    expect(await waiting).toBeGreaterThan(Number(line))
  })

  it('lets the next one in with a higher fence number when a holder has lost its connection', async () => {
    const workspace = await insertWorkspace(database)
    const holder = await hold(replica(60_000), workspace)

    await database.query({
      text: `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`,
      params: [],
    })
    const next = await replica(60_000).withMigrationLock(workspace, async (fence) => fence)

    expect(next).toBeGreaterThan(holder.fence)
    await holder.release()
  })

  it('says that the database cannot be reached when it is not there', async () => {
    const connect = () => new Client('postgres://127.0.0.1:1/none')
    const state = createNodeWorkspaceState({ database, connect, clock })

    const locked = state.withMigrationLock(crypto.randomUUID(), async () => 'never')

    await expect(locked).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The system database cannot be reached',
    })
  })

  it('asks the database once for all requests of a second', async () => {
    const workspace = await insertWorkspace(database)
    let queries = 0
    const counted: SqlDriver = {
      ...database,
      query: (statement) => {
        queries += 1
        return database.query(statement)
      },
    }
    const still = { now: () => 1_000, elapsed: () => 0 }
    const state = createNodeWorkspaceState({ database: counted, connect: undefined, clock: still })

    await Promise.all(Array.from({ length: 100 }, () => state.snapshot(workspace)))

    expect(queries).toBe(1)
  })

  it('keeps versions no longer than a second where the clock is set back', async () => {
    const workspace = await insertWorkspace(database)
    let [now, elapsed] = [1_000_000, 0]
    const setClock = { now: () => now, elapsed: () => elapsed }
    const state = createNodeWorkspaceState({ database, connect: undefined, clock: setClock })
    const first = await state.snapshot(workspace)
    now -= 60_000
    const kept = state.remembered(workspace)
    elapsed += 1_000
    const forgotten = state.remembered(workspace)

    const second = await state.snapshot(workspace)

    expect([kept, forgotten]).toEqual([first, undefined])
    expect(second).not.toBe(first)
    expect(second?.age()).toBe(0)
  })

  it('waits at its end for the work that has begun, and takes no more', async () => {
    const workspace = await insertWorkspace(database)
    const state = replica(60_000)
    const holder = await hold(state, workspace)

    const closing = state.close().then(() => 'closed')
    const refused = state.withMigrationLock(workspace, async () => 'never').catch((error: unknown) => error)
    const first = await Promise.race([closing, pause(100).then(() => 'still open')])
    await holder.release()

    expect(await refused).toMatchObject({ kind: 'unavailable', message: 'The service is shutting down' })
    expect(first).toBe('still open')
    expect(await closing).toBe('closed')
  })
})

function replica(waitLimit: number) {
  return createNodeWorkspaceState({ database, connect: () => new Client(postgres.url), clock, waitLimit })
}

/**
 * The whole of a one-session database that this port needs. It keeps this process busy while it starts, so that on a busy
 * machine a connection that is made meanwhile would be given up.
 */
async function openEmbedded(): Promise<SqlDriver> {
  const lite = await PGlite.create()
  const texts = { rowMode: 'array', parsers: new Proxy({}, { get: () => (value: string) => value }) } as const
  const query: SqlDriver['query'] = async ({ text, params }) => {
    const { rows } = await lite.query<(string | null)[]>(text, [...params], texts)
    return rows
  }
  return {
    query,
    batch: async (statements) => {
      const results = []
      for (const statement of statements) results.push(await query(statement))
      return results
    },
    close: () => lite.close(),
  }
}
