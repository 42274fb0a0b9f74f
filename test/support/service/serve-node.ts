/** Starts what the acceptance-node projects talk to: the Node server over a Postgres server. */
import { join } from 'node:path'
import { startNode } from '../../../handlers/node.ts'
import { consoleFolder } from '../../../scripts/console/build.ts'
import { observeAsLines } from '../../../src/platform/log-lines.ts'
import { servedToProjects } from '../run/for-projects.ts'
import { startSmtpServer } from '../servers/mail-servers.ts'
import { startPostgres } from '../servers/postgres.ts'
import { quickHashing } from './quick-hashing.ts'
import { openServedEnvironment, prepareServed } from './served.ts'

export default servedToProjects('node', async () => {
  const stage = await openServedEnvironment()
  const postgres = await startPostgres()
  const mails = await startSmtpServer(stage.mail)
  const variables = {
    ...stage.variables,
    PORT: '0',
    SERVICE_DATABASE_URL: postgres.url,
    SERVICE_MAIL__URL: mails.url,
    SERVICE_FILES__PATH: join(stage.directory, 'files'),
  }
  const server = await startNode({
    environment: variables,
    consoleFolder: await consoleFolder(),
    observe: observeAsLines(stage.log),
    passwords: quickHashing,
  })
  const served = await prepareServed({ url: server.url, platform: 'node', variables }, stage)

  const close = async () => {
    await server.close()
    await mails.close()
    await postgres.close()
    await stage.close()
  }
  return { served, close }
})
