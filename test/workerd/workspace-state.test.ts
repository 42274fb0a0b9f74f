/** WorkspaceState on Workers: the shared laws against the real Durable Object, and callers and objects that die. */
/// <reference types="@cloudflare/vitest-plugin/types" />
import { runInDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { createCloudflareWorkspaceState } from '../../src/platform/cloudflare/workspace-state.ts'
import { openNeon } from '../../src/platform/drivers/neon.ts'
import { createSystemTables, describeWorkspaceState, hold, insertWorkspace, pause } from '../ports/workspace-state.ts'
import type { TestEnv } from './worker.ts'

// The types know no particular Worker; this one is ./worker.ts.
const bindings = env as unknown as TestEnv
const worker = (exports as unknown as { readonly default: Fetcher }).default
const clock = { now: () => Date.now() }
const database = openNeon({ connectionString: bindings.SERVICE_DATABASE_URL })

describeWorkspaceState('two isolates on a Durable Object', async (waitLimit) => ({
  database,
  state: isolate({ waitLimit }),
  replica: isolate({ waitLimit }),
}))

describe('workspace state: isolates and objects that come and go', () => {
  beforeAll(() => createSystemTables(database))

  it('frees the lock of a request whose client is gone', async () => {
    const workspace = await insertWorkspace(database)
    const client = new AbortController()
    const response = await worker.fetch(`http://test/?workspace=${workspace}`, { signal: client.signal })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    const fence = Number(new TextDecoder().decode(first?.value))

    const waiting = isolate({ waitLimit: 60_000 }).withMigrationLock(workspace, async (next) => next)
    const early = await Promise.race([waiting, pause(300).then(() => 'still held')])
    client.abort()

    expect(early).toBe('still held')
    expect(await waiting).toBeGreaterThan(fence)
  })

  it('lets the next one in with a higher fence number when the lease of a holder is over', async () => {
    const workspace = await insertWorkspace(database)
    const holder = await hold(isolate({ lease: 300 }), workspace)

    const next = await isolate({}).withMigrationLock(workspace, async (fence) => fence)

    expect(next).toBeGreaterThan(holder.fence)
    await holder.release()
  })

  it('fails as the database does, whose states say what was not sent', async () => {
    const failing = isolate({})
      .snapshot('no id')
      .catch((error: unknown) => error)

    expect(await failing).toBeInstanceOf(SqlFault)
    expect(await failing).toMatchObject({ state: '22P02', message: expect.stringContaining('uuid') })
  })

  it('lets work that has begun come to its own end when the object is lost, and the next one in at once', async () => {
    const workspace = await insertWorkspace(database)
    const holder = await hold(isolate({}), workspace)

    const object = bindings.WORKSPACES.get(bindings.WORKSPACES.idFromName(workspace))
    await runInDurableObject(object, (_, state) => state.abort('lost')).catch(() => {})
    const next = await isolate({}).withMigrationLock(workspace, async (fence) => fence)

    expect(next).toBeGreaterThan(holder.fence)
    await holder.release()
  })
})

function isolate(limits: { readonly waitLimit?: number; readonly lease?: number }) {
  return createCloudflareWorkspaceState({ namespace: bindings.WORKSPACES, clock, ...limits })
}
