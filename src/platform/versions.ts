/**
 * A cache of workspace versions in the system database, and the fence numbers of the migration lock. For platforms
 * whose callers may share a promise: a Node process, a Durable Object.
 */
import type { Statement } from '../core/sql/statement.ts'
import { type Age, type Clock, startAge } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { AgingSnapshot, WorkspaceSnapshot } from '../ports/workspace-state.ts'

export type DatedSnapshot = {
  readonly snapshot: AgingSnapshot | undefined
  /** Milliseconds between the start of the read and the call. */
  readonly age: number
}

export type Versions = {
  /** Returns a snapshot read less than `maxAge` milliseconds ago, or reads a new one. */
  readonly read: (workspaceId: string, maxAge: number) => Promise<DatedSnapshot>
  /** Returns the cached snapshot that `read` would return without a query. */
  readonly remembered: (workspaceId: string, maxAge: number) => AgingSnapshot | undefined
  readonly forget: () => void
}

export type VersionsDeps = { readonly database: SqlDriver; readonly clock: Clock }

export function createVersions(deps: VersionsDeps): Versions {
  const { database, clock } = deps
  const readings = new Map<string, Reading>()

  return {
    async read(workspaceId, maxAge) {
      const known = readings.get(workspaceId)
      const age = known?.age()
      if (known !== undefined && age !== undefined && age < maxAge) return { snapshot: await known.snapshot, age }

      const aged = aging(clock)
      const loading = loadSnapshot(database, workspaceId).then((versions) => aged(versions))
      const reading: Reading = { age: startAge(clock), snapshot: loading, settled: undefined }
      readings.set(workspaceId, reading)
      let snapshot: AgingSnapshot | undefined
      try {
        snapshot = await reading.snapshot
        reading.settled = snapshot
      } finally {
        // Errors and unknown workspaces are not cached, so requests for many of them use no memory.
        if (snapshot === undefined && readings.get(workspaceId) === reading) readings.delete(workspaceId)
      }
      return { snapshot, age: 0 }
    },
    remembered(workspaceId, maxAge) {
      const known = readings.get(workspaceId)
      return known !== undefined && known.age() < maxAge ? known.settled : undefined
    },
    // Also drops a pending read, which may have seen the old state.
    forget: () => readings.clear(),
  }
}

type Reading = {
  readonly age: Age
  readonly snapshot: Promise<AgingSnapshot | undefined>
  /** The promise's value, once it is fulfilled. */
  settled: AgingSnapshot | undefined
}

/** Gives versions their age, where the read of them begins with this call; `earlier` is how long before it has begun. */
export function aging(clock: Clock) {
  const age = startAge(clock)
  return <S extends WorkspaceSnapshot | undefined>(snapshot: S, earlier = 0) =>
    snapshot && { ...snapshot, age: () => age() + earlier }
}

/** Returns a number higher than every earlier one in any process or isolate. */
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
