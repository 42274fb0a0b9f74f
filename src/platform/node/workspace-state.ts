/**
 * WorkspaceState of a Node process. Migrations of one workspace queue in this process, and then, if other replicas may
 * use the same Postgres, wait for an advisory lock. Versions are read at most once per STATE_MAX_AGE.
 */
import type { Client } from 'pg'
import { ServiceError } from '../../core/error.ts'
import { type Clock, startAge } from '../../ports/clock.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { STATE_MAX_AGE, type WorkspaceState } from '../../ports/workspace-state.ts'
import { createKeyedLocks } from '../keyed-locks.ts'
import { createVersions, nextFence } from '../versions.ts'
import { createAdvisoryLocks } from './advisory-locks.ts'

export type NodeWorkspaceStateOptions = {
  readonly database: SqlDriver
  /** Creates an unconnected client; undefined for an embedded database, which only one process uses. */
  readonly connect: (() => Client) | undefined
  readonly clock: Clock
  /** Maximum milliseconds that a migration waits for the lock. */
  readonly waitLimit?: number
}

export function createNodeWorkspaceState(
  options: NodeWorkspaceStateOptions,
): WorkspaceState & { close(): Promise<void> } {
  const { database, connect, clock, waitLimit = 30_000 } = options
  const turns = createKeyedLocks()
  const versions = createVersions({ database, clock })
  const locks = connect && createAdvisoryLocks({ connect, busy: stillRunning })
  const unfinished = new Set<Promise<void>>()
  let isClosed = false

  async function runLocked<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T> {
    const waited = startAge(clock)
    const leave = await turns.take(workspaceId, waitLimit)
    if (leave === undefined) throw stillRunning()
    try {
      const unlock = await locks?.take(workspaceId, waitLimit - waited())
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
    async snapshot(workspaceId, maxAge = STATE_MAX_AGE) {
      const { snapshot } = await versions.read(workspaceId, maxAge)
      return snapshot
    },
    remembered: (workspaceId) => versions.remembered(workspaceId, STATE_MAX_AGE),
    async changed() {
      versions.forget()
    },
    async close() {
      isClosed = true
      await Promise.all(unfinished)
      await locks?.close()
    },
  }
}

function stillRunning(): ServiceError {
  return new ServiceError('unavailable', 'Another migration of this workspace is still running')
}
