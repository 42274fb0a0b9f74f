/**
 * WorkspaceState of a Node process. Migrations of one workspace queue in this process first and then, where other
 * replicas may run on the same Postgres, at a session-level advisory lock of a connection of their own: when the
 * process dies the connection dies, and with it the lock. Versions are read at most once per STATE_MAX_AGE.
 */
import type { Client } from 'pg'
import { ServiceError } from '../../core/error.ts'
import { type Clock, type SqlDriver, STATE_MAX_AGE, type WorkspaceState } from '../../ports.ts'
import { createTurns } from '../turns.ts'
import { createVersions, nextFence } from '../versions.ts'

export type NodeWorkspaceStateOptions = {
  readonly database: SqlDriver
  /** Makes an unconnected client; undefined for an embedded database, which belongs to one process only. */
  readonly connect: (() => Client) | undefined
  readonly clock: Clock
  /** Milliseconds that a migration waits for those before it. */
  readonly waitLimit?: number
}

export function createNodeWorkspaceState(
  options: NodeWorkspaceStateOptions,
): WorkspaceState & { close(): Promise<void> } {
  const { database, connect, clock, waitLimit = 30_000 } = options
  const turns = createTurns()
  const versions = createVersions(database, clock)
  const unfinished = new Set<Promise<void>>()
  let isClosed = false

  async function runLocked<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T> {
    const deadline = clock.now() + waitLimit
    const leave = await turns.take(workspaceId, waitLimit)
    if (leave === undefined) throw stillRunning()
    try {
      const unlock = connect && (await advisoryLock(connect(), workspaceId, deadline - clock.now()))
      try {
        return await work(await nextFence(database))
      } finally {
        await unlock?.()
      }
    } finally {
      leave()
    }
  }

  return {
    async withMigrationLock(workspaceId, work) {
      if (isClosed) throw new ServiceError('unavailable', 'The service is shutting down')
      const { promise, resolve } = Promise.withResolvers<void>()
      unfinished.add(promise)
      try {
        return await runLocked(workspaceId, work)
      } finally {
        unfinished.delete(promise)
        resolve()
      }
    },
    async snapshot(workspaceId) {
      const { snapshot } = await versions.read(workspaceId, STATE_MAX_AGE)
      return snapshot
    },
    remembered: (workspaceId) => versions.remembered(workspaceId, STATE_MAX_AGE),
    async changed() {
      versions.forget()
    },
    async close() {
      isClosed = true
      await Promise.all(unfinished)
    },
  }
}

/** The first key of our advisory locks, so that they never meet those of another application; the second is a hash. */
const LOCK_CLASS = 0x5e55
/** What the network may add to a wait that the server itself ends. */
const NETWORK_GRACE = 1_000
const GOODBYE_LIMIT = 2_000

async function advisoryLock(client: Client, workspaceId: string, patience: number): Promise<() => Promise<void>> {
  // A connection lost while work runs is no news to act on: work cannot be stopped, its fence number is checked.
  client.on('error', () => {})
  const waitLimit = Math.max(1, patience)
  try {
    await within(waitLimit + NETWORK_GRACE, takeLock(client, workspaceId, waitLimit))
  } catch (cause) {
    await hangUp(client)
    if (isLockTimeout(cause)) throw stillRunning()
    throw new ServiceError('unavailable', 'The system database cannot be reached', { cause })
  }
  return async () => {
    // One that cannot be asked any more is dead, and the server frees its lock.
    await within(GOODBYE_LIMIT, client.query('select pg_advisory_unlock_all()')).catch(() => {})
    await hangUp(client)
  }
}

async function takeLock(client: Client, workspaceId: string, waitLimit: number): Promise<void> {
  await client.connect()
  // Limits that an operator sets for ordinary sessions must not end this one, and the server has to notice within
  // half a minute when our machine is gone without a word.
  await client.query(
    `select set_config(wanted.name, wanted.value, false)
      from (values ('lock_timeout', $1), ('statement_timeout', '0'), ('idle_session_timeout', '0'),
        ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')
      ) as wanted (name, value) join pg_settings using (name)`,
    [String(Math.ceil(waitLimit))],
  )
  await client.query('select pg_advisory_lock($1::int, hashtext($2))', [LOCK_CLASS, workspaceId])
}

async function hangUp(client: Client): Promise<void> {
  await within(GOODBYE_LIMIT, client.end()).catch(() => {})
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function isLockTimeout(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === '55P03'
}

function stillRunning(): ServiceError {
  return new ServiceError('unavailable', 'Another migration of this workspace is still running')
}
