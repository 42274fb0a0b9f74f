/**
 * The Durable Object of one workspace: the line in which migrations wait, and the versions that every isolate asks for.
 * It keeps nothing: fence numbers and versions live in the system database, so that a lost object costs only the order
 * of those who wait. Never `blockConcurrencyWhile`: it resets the object after 30 seconds.
 */
import { DurableObject } from 'cloudflare:workers'
import { createKeyedLocks } from '../keyed-locks.ts'
import { createVersions, type DatedSnapshot, nextFence } from '../versions.ts'
import { openNeonLazily } from './lazy-drivers.ts'

export type WorkspaceObjectEnv = { readonly SERVICE_DATABASE_URL: string }

/** Milliseconds: how long to wait for the lock, and how long to hold it. */
export type LockLimits = { readonly wait: number; readonly lease: number }

export class WorkspaceObject extends DurableObject<WorkspaceObjectEnv> {
  readonly #database = openNeonLazily(this.env.SERVICE_DATABASE_URL)
  readonly #versions = createVersions(this.#database, { now: () => Date.now() })
  readonly #turns = createKeyedLocks()

  /** Calls `work` back in its own isolate once it is its turn; returns without a call after waiting too long. */
  async withLock(limits: LockLimits, work: (fence: number) => Promise<void>): Promise<void> {
    const leave = await this.#turns.take(this.ctx.id.toString(), limits.wait)
    if (leave === undefined) return
    try {
      await runLeased(limits.lease, work, await nextFence(this.#database))
    } finally {
      leave()
    }
  }

  /** The versions, read from the database when the last reading is `maxAge` milliseconds old. */
  async snapshot(workspaceId: string, maxAge: number): Promise<DatedSnapshot> {
    return await this.#versions.read(workspaceId, maxAge)
  }

  async changed(): Promise<void> {
    this.#versions.forget()
  }
}

/** A lapsed lease does not stop the holder, who is in another isolate: its fence number is what the database checks. */
async function runLeased(lease: number, work: (fence: number) => Promise<void>, fence: number): Promise<void> {
  const { promise: lapsed, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, lease)
  try {
    // The caller keeps the errors of its work to itself, so a rejection says that its isolate or request is gone.
    await Promise.race([work(fence).catch(() => {}), lapsed])
  } finally {
    clearTimeout(timer)
  }
}
