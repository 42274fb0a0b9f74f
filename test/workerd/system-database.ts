/** Starts what the files of the workerd project talk to: a Postgres behind the Neon gateway, a bucket, and a connector's upstream. */
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import type { IsolateRuntime } from '../../src/platform/connectors/isolate-runtime.ts'
import { readIsolateRuntime } from '../../src/platform/node/connectors/isolate-runtime.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { bundleHostile } from '../support/data/hostile.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type S3Server, startS3 } from '../support/servers/s3.ts'
import { startUpstream, type Upstream } from '../support/servers/upstream.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
    s3: S3Server['address']
    upstream: Upstream
    /** The isolate's own modules, which a Worker cannot read from a disk. */
    isolateRuntime: IsolateRuntime
    hostile: { readonly code: string; readonly attempts: readonly string[] }
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres()
  // Two files that make it at once would fail, though each makes it only where there is none.
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query('create schema service')
  await client.end()
  const gateway = await startNeonGateway(postgres.url)
  const s3 = await startS3()
  const upstream = await startUpstream()
  project.provide('databaseUrl', gateway.url)
  project.provide('s3', s3.address)
  project.provide('upstream', { granted: upstream.granted, forbidden: upstream.forbidden })
  project.provide('isolateRuntime', readIsolateRuntime())
  project.provide('hostile', await bundleHostile())

  return async () => {
    await upstream.close()
    await s3.close()
    await gateway.close()
    await postgres.close()
  }
}
