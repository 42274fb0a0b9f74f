/**
 * The laws of the WorkspaceState port, for every adapter. A world is one system database with two replicas of one
 * instance on it: processes or isolates, or one and the same where there can be only one.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceError } from '../../src/core/error.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { WorkspaceState } from '../../src/ports/workspace-state.ts'

export type StateWorld = {
  readonly database: SqlDriver
  readonly state: WorkspaceState
  readonly replica: WorkspaceState
}

/** Makes a world whose replicas wait for a lock at most `waitLimit` milliseconds; all worlds share one database. */
export type MakeStateWorld = (waitLimit: number) => Promise<StateWorld>

export function describeWorkspaceState(name: string, makeWorld: MakeStateWorld): void {
  describe(`workspace state: ${name}`, () => {
    let world: StateWorld

    beforeAll(async () => {
      world = await makeWorld(30_000)
      await createSystemTables(world.database)
    })

    it('never lets two holders work at once, and fence numbers rise from holder to holder', async () => {
      const workspace = await insertWorkspace(world.database)
      const fences: number[] = []
      let holders = 0
      let mostHolders = 0
      const work = async (fence: number) => {
        holders += 1
        mostHolders = Math.max(mostHolders, holders)
        fences.push(fence)
        await pause(2)
        holders -= 1
      }

      await Promise.all(
        Array.from({ length: 25 }, () => [
          world.state.withMigrationLock(workspace, work),
          world.replica.withMigrationLock(workspace, work),
        ]).flat(),
      )

      expect(mostHolders).toBe(1)
      expect(fences).toHaveLength(50)
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
    })

    it('serves the waiters of one process in order of arrival', async () => {
      const workspace = await insertWorkspace(world.database)
      const served: number[] = []

      const arrivals = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
      await Promise.all(
        arrivals.map((arrival) => world.state.withMigrationLock(workspace, async () => served.push(arrival))),
      )

      expect(served).toEqual(arrivals)
    })

    it('answers what work answers, and frees the lock after work that throws, whose error arrives as it is', async () => {
      const workspace = await insertWorkspace(world.database)
      const error = new RangeError('no such field')

      const failing = world.state.withMigrationLock(workspace, async () => {
        throw error
      })

      await expect(failing).rejects.toBe(error)
      expect(await world.replica.withMigrationLock(workspace, async () => ['done'])).toEqual(['done'])
    })

    it('ends a wait that takes too long, and leaves the other waiters where they are', async () => {
      const { state, replica } = await makeWorld(4_000)
      const workspace = await insertWorkspace(world.database)
      const holder = await hold(state, workspace)
      const early = state.withMigrationLock(workspace, async () => 'early').catch((error: unknown) => error)
      // So late that there is all the time in the world between the ends of both waits.
      await pause(3_000)
      const late = replica.withMigrationLock(workspace, async () => 'late')

      const refusal = await early
      await holder.release()

      expect(refusal).toMatchObject({
        kind: 'unavailable',
        message: 'Another migration of this workspace is still running',
      } satisfies Partial<ServiceError>)
      expect(await late).toBe('late')
    })

    it('runs different workspaces in parallel', async () => {
      const holder = await hold(world.state, await insertWorkspace(world.database))
      const other = await insertWorkspace(world.database)

      const answers = [
        await world.state.withMigrationLock(other, async () => 'same process'),
        await world.replica.withMigrationLock(other, async () => 'other process'),
      ]
      await holder.release()

      expect(answers).toEqual(['same process', 'other process'])
    })

    it('sees versions that another replica has changed within 2 seconds, however many caches are in between', async () => {
      const workspace = await insertWorkspace(world.database)
      const before = await world.state.snapshot(workspace)
      await raiseVersions(world.database, workspace)

      await pause(850)
      await world.replica.snapshot(workspace)
      await pause(250)
      const after = [await world.state.snapshot(workspace), await world.replica.snapshot(workspace)]

      const expected = {
        modelVersion: 1,
        accessVersion: (before?.accessVersion ?? 0) + 1,
        licenseVersion: 0,
        age: expect.any(Function),
      }
      expect(before).toMatchObject({ modelVersion: 0 })
      expect(after).toEqual([expected, expected])
    })

    it('sees changed versions at once where they were changed, those of other workspaces included', async () => {
      const workspace = await insertWorkspace(world.database)
      const neighbour = await insertWorkspace(world.database)
      const before = await world.state.snapshot(neighbour)
      await world.state.snapshot(workspace)

      await raiseVersions(world.database, workspace)
      await world.state.changed(workspace)

      expect(await world.state.snapshot(workspace)).toMatchObject({ modelVersion: 1 })
      expect(await world.state.snapshot(neighbour)).toEqual({
        modelVersion: 0,
        accessVersion: (before?.accessVersion ?? 0) + 1,
        licenseVersion: 0,
        age: expect.any(Function),
      })
    })

    it('knows no versions of an unknown workspace, until there is one', async () => {
      const unknown = crypto.randomUUID()

      expect(await world.state.snapshot(unknown)).toBeUndefined()
      await insertWorkspace(world.database, unknown)
      expect(await world.state.snapshot(unknown)).toMatchObject({ modelVersion: 0 })
    })
  })
}

/** Takes the lock and keeps it until it is told to let go. */
export async function hold(state: WorkspaceState, workspace: string) {
  const started = Promise.withResolvers<number>()
  const end = Promise.withResolvers<void>()
  const finished = state.withMigrationLock(workspace, async (fence) => {
    started.resolve(fence)
    await end.promise
  })
  return {
    fence: await started.promise,
    release: async () => {
      end.resolve()
      await finished
    },
  }
}

export async function insertWorkspace(database: SqlDriver, id: string = crypto.randomUUID()): Promise<string> {
  await database.query({
    text: 'insert into service.workspace (id, api_name) values ($1::uuid, $2)',
    params: [id, `w${id.replaceAll('-', '')}`],
  })
  return id
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

export async function createSystemTables(database: SqlDriver): Promise<void> {
  const statements = [
    'create schema if not exists service',
    `create table if not exists service.workspace
      (id uuid primary key, api_name text unique, model_version bigint not null default 0)`,
    `create table if not exists service.instance
      ("only" boolean primary key default true, access_version bigint not null default 0,
        license_version bigint not null default 0)`,
    'insert into service.instance default values on conflict do nothing',
    'create sequence if not exists service.fence',
  ]
  await database.batch(statements.map((text) => ({ text, params: [] })))
}

async function raiseVersions(database: SqlDriver, workspace: string): Promise<void> {
  await database.batch([
    {
      text: 'update service.workspace set model_version = model_version + 1 where id = $1::uuid',
      params: [workspace],
    },
    { text: 'update service.instance set access_version = access_version + 1', params: [] },
  ])
}
