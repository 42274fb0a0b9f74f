/**
 * The Durable Object of one workspace: the queue for its migration lock, and a cache of versions for all isolates. It
 * stores nothing: fence numbers and versions are in the system database, so that a lost object costs only the order of
 * the queue. Never use `blockConcurrencyWhile`: it resets the object after 30 seconds.
 */
import { DurableObject } from 'cloudflare:workers'
import { SqlFault } from '../../core/sql/fault.ts'
import type { WorkspaceSnapshot } from '../../ports/workspace-state.ts'
import { runsAgain } from '../drivers/run-again.ts'
import { createKeyedLocks } from '../keyed-locks.ts'
import { createVersions, nextFence } from '../versions.ts'
import { openNeonLazily } from './lazy-drivers.ts'

export type WorkspaceObjectEnv = { readonly SERVICE_DATABASE_URL: string }

/** Versions, and milliseconds between the start of their read and the call. */
type ObjectSnapshot = { readonly snapshot: WorkspaceSnapshot | undefined; readonly age: number }
/** A SqlFault: an error that crosses to another isolate is of no class there. */
type ObjectFault = { readonly fault: { readonly message: string; readonly state: string } }

/** Milliseconds: the longest wait for the lock, and the longest time to hold it. */
export type LockLimits = { readonly wait: number; readonly lease: number }

export class WorkspaceObject extends DurableObject<WorkspaceObjectEnv> {
  readonly #database = runsAgain(openNeonLazily({ connectionString: this.env.SERVICE_DATABASE_URL }))
  readonly #versions = createVersions({ database: this.#database, clock: { now: () => Date.now() } })
  readonly #turns = createKeyedLocks()

  /** Calls `work` in the caller's isolate when the lock is acquired; returns without a call when the wait times out. */
  async withLock(limits: LockLimits, work: (fence: number) => Promise<void>): Promise<void> {
    const leave = await this.#turns.take(this.ctx.id.toString(), limits.wait)
    if (leave === undefined) return
    try {
      await runLeased(limits.lease, work, await nextFence(this.#database))
    } finally {
      leave()
    }
  }

  /** Returns the versions, read from the database if the last read is `maxAge` milliseconds old. */
  async snapshot(workspaceId: string, maxAge: number): Promise<ObjectSnapshot | ObjectFault> {
    try {
      const { snapshot, age } = await this.#versions.read(workspaceId, maxAge)
      if (snapshot === undefined) return { snapshot, age }
      // What crosses to the caller's isolate is plain.
      const { age: _, ...versions } = snapshot
      return { snapshot: versions, age }
    } catch (error) {
      if (!(error instanceof SqlFault)) throw error
      return { fault: { message: error.message, state: error.state } }
    }
  }

  async changed(): Promise<void> {
    this.#versions.forget()
  }
}

/** An expired lease does not stop its holder, which runs in another isolate; the database checks the fence number. */
async function runLeased(lease: number, work: (fence: number) => Promise<void>, fence: number): Promise<void> {
  const { promise: lapsed, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, lease)
  try {
    // The caller handles the errors of its work; a rejection here means that its isolate or request is gone.
    await Promise.race([work(fence).catch(() => {}), lapsed])
  } finally {
    clearTimeout(timer)
  }
}
