/**
 * Checks whether a model that refused a request was stale: another replica may have changed it less than a second ago.
 * However many requests are refused, the versions of a workspace are read at a limited rate (decision 041).
 */
import type { AgingSnapshot, Instant, Ports } from '../../ports.ts'

/** Minimum milliseconds between two reads of a process. */
const INTERVAL = 50

/** Returns the current versions; undefined for a deleted workspace. */
export type SnapshotRecheck = (workspaceId: string) => Promise<AgingSnapshot | undefined>

export type SnapshotRecheckDeps = Pick<Ports, 'workspaces' | 'clock' | 'licensing'>

export function createSnapshotRecheck(deps: SnapshotRecheckDeps): SnapshotRecheck {
  const {
    workspaces,
    clock,
    licensing: { pause },
  } = deps
  const looked = new Map<string, Instant>()
  return async (workspaceId) => {
    const startedAt = clock.now()
    const rest = (looked.get(workspaceId) ?? Number.NEGATIVE_INFINITY) + INTERVAL - startedAt
    if (rest > 0) await pause(rest)
    const now = clock.now()
    looked.set(workspaceId, now)
    // Requests that waited together share one read.
    return workspaces.snapshot(workspaceId, now - startedAt)
  }
}
