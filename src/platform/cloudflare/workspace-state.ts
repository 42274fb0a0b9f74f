/**
 * WorkspaceState of an isolate: the workspace's Durable Object gives turns and versions. Work stays in this isolate;
 * the object gets a closure to call, so that results and errors never cross the wire.
 *
 * How old a snapshot may be. The object says how long before our question (at `asked`) it read, so that reading
 * happened no earlier than `asked - age`, whatever the clocks of the two say. An entry is used until
 * `asked - age + STATE_MAX_AGE`: isolate and object together are below STATE_MAX_AGE = 1 s. A model may be 2 s old
 * (docs/contract.md#when-a-new-model-is-seen) and rights 5 s (docs/contract.md#when-changes-of-rights-take-effect);
 * what is left over is for the reading itself and for the request that uses the answer.
 */
import { ServiceError } from '../../core/error.ts'
import { type Clock, type Instant, STATE_MAX_AGE, type WorkspaceSnapshot, type WorkspaceState } from '../../ports.ts'
import type { WorkspaceObject } from './workspace-object.ts'

export type CloudflareWorkspaceStateOptions = {
  readonly namespace: DurableObjectNamespace<WorkspaceObject>
  readonly clock: Clock
  /** Milliseconds that a migration waits for those before it. */
  readonly waitLimit?: number
  /** Milliseconds after which others may go on although a holder has not ended. */
  readonly lease?: number
}

export function createCloudflareWorkspaceState(options: CloudflareWorkspaceStateOptions): WorkspaceState {
  const { namespace, clock, waitLimit = 30_000, lease = 600_000 } = options
  // Values, not promises: no request may await what another one has started.
  const readings = new Map<string, { readonly at: Instant; readonly snapshot: WorkspaceSnapshot }>()
  let changedAt: Instant = Number.NEGATIVE_INFINITY

  function remembered(workspaceId: string, maxAge = STATE_MAX_AGE): WorkspaceSnapshot | undefined {
    const known = readings.get(workspaceId)
    const isYoung = known !== undefined && known.at > changedAt && clock.now() - known.at < maxAge
    return isYoung ? known.snapshot : undefined
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
        // Work that has begun goes on without the object, and its end is the only one that counts.
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

      const asked = clock.now()
      const maxAge = Math.min(wanted, asked - changedAt)
      const { snapshot, age } = await objectOf(workspaceId).snapshot(workspaceId, maxAge)
      if (snapshot === undefined) readings.delete(workspaceId)
      else readings.set(workspaceId, { at: asked - age, snapshot })
      return snapshot
    },

    remembered: (workspaceId) => remembered(workspaceId),

    async changed(workspaceId) {
      // Rights are counted for the whole instance, so what was read of other workspaces is out of date as well.
      changedAt = clock.now()
      // Only lets others see it sooner; that they see it in time follows from the ages above, also if this call fails.
      await objectOf(workspaceId)
        .changed()
        .catch(() => {})
    },
  }
}
