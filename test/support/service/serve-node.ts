/** Starts what the acceptance-node project talks to: the Node server over a Postgres server. */
import type { TestProject } from 'vitest/node'
import { startNode } from '../../../handlers/node.ts'
import { observeAsLines } from '../../../src/platform/log-lines.ts'
import { startSmtpServer } from '../servers/mail-servers.ts'
import { startPostgres } from '../servers/postgres.ts'
import { quickHashing } from './quick-hashing.ts'
import { openServedEnvironment, prepareServed } from './served.ts'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stage = await openServedEnvironment()
  const postgres = await startPostgres()
  const mails = await startSmtpServer(stage.mail)
  const variables = { ...stage.variables, PORT: '0', SERVICE_DATABASE_URL: postgres.url, SERVICE_MAIL__URL: mails.url }
  const server = await startNode({
    environment: variables,
    observe: observeAsLines(stage.log),
    passwords: quickHashing,
  })
  project.provide('served', await prepareServed({ url: server.url, platform: 'node', variables }, stage))

  return async () => {
    await server.close()
    await mails.close()
    await postgres.close()
    await stage.close()
  }
}
