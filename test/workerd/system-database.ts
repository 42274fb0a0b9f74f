/** Starts what every file of the workerd project finds under SERVICE_DATABASE_URL: a Postgres behind the Neon gateway. */
import type { TestProject } from 'vitest/node'
import { startNeonGateway } from '../../src/platform/node/neon-gateway.ts'
import { startPostgres } from '../support/postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres()
  const gateway = await startNeonGateway(postgres.url)
  project.provide('databaseUrl', gateway.url)

  return async () => {
    await gateway.close()
    await postgres.close()
  }
}
