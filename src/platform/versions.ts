/**
 * What the system database knows about a workspace's state: its versions, remembered for a moment, and the fence
 * numbers of the migration lock. Used by whoever may share a promise between callers: a Node process, a Durable Object.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { Clock, Instant, SqlDriver, WorkspaceSnapshot } from '../ports.ts'

export type DatedSnapshot = {
  readonly snapshot: WorkspaceSnapshot | undefined
  /** Milliseconds between the start of the reading and the question. */
  readonly age: number
}

export type Versions = {
  /** Answers what was read less than `maxAge` milliseconds before the call, or reads now. */
  readonly read: (workspaceId: string, maxAge: number) => Promise<DatedSnapshot>
  /** What `read` would answer without asking the database. */
  readonly remembered: (workspaceId: string, maxAge: number) => WorkspaceSnapshot | undefined
  readonly forget: () => void
}

export function createVersions(database: SqlDriver, clock: Clock): Versions {
  const readings = new Map<string, Reading>()

  return {
    async read(workspaceId, maxAge) {
      const now = clock.now()
      const known = readings.get(workspaceId)
      if (known !== undefined && now - known.at < maxAge) return { snapshot: await known.snapshot, age: now - known.at }

      const reading: Reading = { at: now, snapshot: loadSnapshot(database, workspaceId), settled: undefined }
      readings.set(workspaceId, reading)
      let snapshot: WorkspaceSnapshot | undefined
      try {
        snapshot = await reading.snapshot
        reading.settled = snapshot
      } finally {
        // Neither faults nor unknown workspaces are remembered, so that asking for many of them takes no memory.
        if (snapshot === undefined && readings.get(workspaceId) === reading) readings.delete(workspaceId)
      }
      return { snapshot, age: 0 }
    },
    remembered(workspaceId, maxAge) {
      const known = readings.get(workspaceId)
      return known !== undefined && clock.now() - known.at < maxAge ? known.settled : undefined
    },
    // A reading that is still under way is dropped too: it may have seen the state before the change.
    forget: () => readings.clear(),
  }
}

type Reading = {
  readonly at: Instant
  readonly snapshot: Promise<WorkspaceSnapshot | undefined>
  /** What the promise brought, once it has. */
  settled: WorkspaceSnapshot | undefined
}

/** A number above every earlier one, whichever process or isolate took that. */
export async function nextFence(database: SqlDriver): Promise<number> {
  const [row] = await database.query({ text: `select nextval('service.fence')::text`, params: [] })
  return Number(row?.[0])
}

async function loadSnapshot(database: SqlDriver, workspaceId: string): Promise<WorkspaceSnapshot | undefined> {
  const [row] = await database.query(versionsOf(workspaceId))
  if (row === undefined) return undefined
  const [modelVersion, accessVersion, licenseVersion] = row
  return {
    modelVersion: Number(modelVersion),
    accessVersion: Number(accessVersion),
    licenseVersion: Number(licenseVersion),
  }
}

function versionsOf(workspaceId: string): Statement {
  return {
    text: `select w.model_version::text, i.access_version::text, i.license_version::text
      from service.workspace w, service.instance i where w.id = $1::uuid`,
    params: [workspaceId],
  }
}
