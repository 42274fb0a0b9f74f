/**
 * Whether a model that refused a request was out of date: another replica may have changed it less than a second ago. However
 * many requests are refused, the versions of one workspace are read a bounded number of times (decision 041).
 */
import type { Instant, Ports, WorkspaceSnapshot } from '../../ports.ts'

/** Milliseconds between two looks of a process. */
const INTERVAL = 50

/** What stands now; undefined where the workspace is gone. */
export type SnapshotRecheck = (workspaceId: string) => Promise<WorkspaceSnapshot | undefined>

export function createSnapshotRecheck({ workspaces, clock, licensing: { pause } }: Ports): SnapshotRecheck {
  const looked = new Map<string, Instant>()
  return async (workspaceId) => {
    const asked = clock.now()
    const rest = (looked.get(workspaceId) ?? Number.NEGATIVE_INFINITY) + INTERVAL - asked
    if (rest > 0) await pause(rest)
    const now = clock.now()
    looked.set(workspaceId, now)
    // Those who have waited together share what the first of them reads.
    return workspaces.snapshot(workspaceId, now - asked)
  }
}
