/** Starts what the acceptance-node project talks to: the Node server over a Postgres server. */
import type { TestProject } from 'vitest/node'
import { startNode } from '../../handlers/node.ts'
import { startPostgres } from './postgres.ts'
import { openStage, welcome } from './served.ts'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stage = await openStage()
  const postgres = await startPostgres()
  const server = await startNode({
    environment: { ...stage.variables, PORT: '0', SERVICE_DATABASE_URL: postgres.url },
    observe: (observation) => stage.log(JSON.stringify(observation)),
  })
  project.provide('served', await welcome(server.url, 'node', stage))

  return async () => {
    await server.close()
    await postgres.close()
    await stage.close()
  }
}
