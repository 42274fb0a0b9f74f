/** What all processes and isolates share of a workspace: its migration lock and its versions. */

/** The versions that every request needs, read from memory and at most `STATE_MAX_AGE` old. */
export type WorkspaceSnapshot = {
  /** Incremented by each migration; a cached model of an older version is stale. */
  readonly modelVersion: number
  /** Incremented by each change of members, roles, policies, keys or accounts in the whole instance. */
  readonly accessVersion: number
  /** Incremented by each answer of the licensing service. */
  readonly licenseVersion: number
}

/** Versions, and milliseconds since the read of them began, by a clock that nobody sets. */
export type AgingSnapshot = WorkspaceSnapshot & { readonly age: () => number }

/**
 * How old a snapshot may be, in milliseconds: a model may be 2 s old (docs/contract.md#when-a-new-model-is-seen),
 * rights 5 s (docs/contract.md#when-changes-of-rights-take-effect).
 */
export const STATE_MAX_AGE = 1_000

/** Migration locks and versions of workspaces, shared by all processes and isolates through the system database. */
export interface WorkspaceState {
  /**
   * Runs `work` while holding the workspace's migration lock; waiters of one process are served in order of arrival.
   * `work` gets a fence number higher than that of every earlier holder. The lock is released when `work` settles or
   * its process dies. Throws ServiceError `unavailable` when the wait times out (docs/contract.md#migration-lock).
   */
  withMigrationLock<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T>
  /** Returns versions at most `maxAge` milliseconds old (STATE_MAX_AGE); undefined for an unknown workspace. */
  snapshot(workspaceId: string, maxAge?: number): Promise<AgingSnapshot | undefined>
  /** Returns the cached snapshot; undefined if none is recent enough. An unchanged snapshot is the same object. */
  remembered(workspaceId: string): AgingSnapshot | undefined
  /** Invalidates the cached versions: this process sees the new ones on its next request, others soon. */
  changed(workspaceId: string): Promise<void>
}
