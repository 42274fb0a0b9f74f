/**
 * WorkspaceState of an isolate, backed by the workspace's Durable Object. Work runs in this isolate; the object gets a
 * closure to call, so that results and errors never cross the wire.
 * Age of a snapshot: the object returns the time between its read and our request (sent at `sentAt`), so the read was no
 * earlier than `sentAt - age`, whatever the two clocks say. An entry is used until `sentAt - age + STATE_MAX_AGE`, so
 * isolate and object together stay below STATE_MAX_AGE = 1 s. A model may be 2 s old
 * (docs/contract.md#when-a-new-model-is-seen) and rights 5 s (docs/contract.md#when-changes-of-rights-take-effect); the
 * rest is margin for the read and for the request that uses it.
 */
import { ServiceError } from '../../core/error.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { type Clock, elapsedOf } from '../../ports/clock.ts'
import { type AgingSnapshot, STATE_MAX_AGE, type WorkspaceState } from '../../ports/workspace-state.ts'
import { aging } from '../versions.ts'
import type { WorkspaceObject } from './workspace-object.ts'

export type CloudflareWorkspaceStateOptions = {
  readonly namespace: DurableObjectNamespace<WorkspaceObject>
  readonly clock: Clock
  /** Maximum milliseconds that a migration waits for the lock. */
  readonly waitLimit?: number
  /** Milliseconds after which the lock passes on although its holder has not finished. */
  readonly lease?: number
}

export function createCloudflareWorkspaceState(options: CloudflareWorkspaceStateOptions): WorkspaceState {
  const { namespace, clock, waitLimit = 30_000, lease = 600_000 } = options
  const now = elapsedOf(clock)
  // Values, not promises: on Workers no request may await another request's promise.
  const readings = new Map<string, { readonly at: number; readonly snapshot: AgingSnapshot }>()
  let changedAt = Number.NEGATIVE_INFINITY

  function remembered(workspaceId: string, maxAge = STATE_MAX_AGE): AgingSnapshot | undefined {
    const known = readings.get(workspaceId)
    if (known === undefined || known.at <= changedAt) return undefined
    return known.snapshot.age() < maxAge ? known.snapshot : undefined
  }

  const objectOf = (workspaceId: string) => namespace.get(namespace.idFromName(workspaceId))

  return {
    async withMigrationLock<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T> {
      const turn: { result?: Promise<T> } = {}
      try {
        await objectOf(workspaceId).withLock({ wait: waitLimit, lease }, async (fence) => {
          turn.result = Promise.resolve(fence).then(work)
          await turn.result.catch(() => {})
        })
      } catch (cause) {
        // Work that has begun continues without the object, and its result is the only one that counts.
        if (turn.result === undefined) {
          throw new ServiceError('unavailable', 'The lock of this workspace cannot be reached', { cause })
        }
      }
      if (turn.result === undefined) {
        throw new ServiceError('unavailable', 'Another migration of this workspace is still running')
      }
      return await turn.result
    },

    async snapshot(workspaceId, wanted = STATE_MAX_AGE) {
      const known = remembered(workspaceId, wanted)
      if (known !== undefined) return known

      const sentAt = now()
      const maxAge = Math.min(wanted, sentAt - changedAt)
      const aged = aging(clock)
      const read = await objectOf(workspaceId).snapshot(workspaceId, maxAge)
      if ('fault' in read) throw new SqlFault(read.fault.message, read.fault)
      const { snapshot: versions, age } = read
      const snapshot = aged(versions, age)
      if (snapshot === undefined) readings.delete(workspaceId)
      else readings.set(workspaceId, { at: sentAt - age, snapshot })
      return snapshot
    },

    remembered: (workspaceId) => remembered(workspaceId),

    async changed(workspaceId) {
      // Rights are versioned for the whole instance, so snapshots of other workspaces are outdated too.
      changedAt = now()
      // Only makes other isolates see the change sooner; the age limits hold even if this call fails.
      await objectOf(workspaceId)
        .changed()
        .catch(() => {})
    },
  }
}
