/**
 * Checks whether the model that refused a request was outdated: another replica may have changed it less than a second ago. The
 * versions of a workspace are read at a limited rate, however many requests are refused (decision 041).
 */
import { type Age, startAge } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import type { AgingSnapshot } from '../../ports/workspace-state.ts'

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
  const looked = new Map<string, Age>()
  return async (workspaceId) => {
    const waited = startAge(clock)
    const rest = INTERVAL - (looked.get(workspaceId)?.() ?? INTERVAL)
    if (rest > 0) await pause(rest)
    looked.set(workspaceId, startAge(clock))
    // Requests that waited together share one read.
    return workspaces.snapshot(workspaceId, waited())
  }
}
