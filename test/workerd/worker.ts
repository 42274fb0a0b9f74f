/** The Worker under test in the workerd project: what it exports is bound as wrangler.toml says. */

import { licenseObject, type WakingObject } from '../../src/platform/cloudflare/license-object.ts'
import type { WorkspaceObject } from '../../src/platform/cloudflare/workspace-object.ts'
import { createCloudflareWorkspaceState } from '../../src/platform/cloudflare/workspace-state.ts'

/** How often the license's object has woken us, and what it is answered, or which fault it meets. */
export const wakings: { count: number; next: number | undefined; fault?: Error | undefined } = {
  count: 0,
  next: undefined,
}

async function wake(): Promise<number | undefined> {
  wakings.count += 1
  if (wakings.fault !== undefined) throw wakings.fault
  return wakings.next
}

export const LicenseObject = licenseObject(wake, { now: () => Date.now() })

export { ConnectorGate } from '../../src/platform/cloudflare/gate.ts'
export { WorkspaceObject } from '../../src/platform/cloudflare/workspace-object.ts'

export type TestEnv = {
  readonly WORKSPACES: DurableObjectNamespace<WorkspaceObject>
  readonly LICENSE: DurableObjectNamespace<WakingObject>
  readonly SERVICE_DATABASE_URL: string
  readonly LOADER: WorkerLoader
  readonly FILES: R2Bucket
}

export default {
  /** Takes the lock of the workspace named in the query, tells its fence number, and holds until the client is gone. */
  async fetch(request, env) {
    const workspace = new URL(request.url).searchParams.get('workspace') ?? ''
    const state = createCloudflareWorkspaceState({ namespace: env.WORKSPACES, clock: { now: () => Date.now() } })
    const { readable, writable } = new TransformStream()
    const writer = writable.getWriter()
    void state.withMigrationLock(workspace, async (fence) => {
      await writer.write(new TextEncoder().encode(`${fence}\n`))
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    })
    return new Response(readable)
  },
} satisfies ExportedHandler<TestEnv>
