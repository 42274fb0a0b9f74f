/**
 * Starts what the acceptance-workerd projects talk to: the Worker under workerd, over the embedded Postgres in the full tier and
 * over a Postgres server in the quick one, which answers in half the time.
 */
import { join } from 'node:path'
import { startWorkerd } from '../../../scripts/workerd.ts'
import { startNeonGateway } from '../../../src/platform/node/embedded/neon-gateway.ts'
import { openEmbeddedPostgres } from '../../../src/platform/node/embedded/postgres.ts'
import { effort } from '../run/effort.ts'
import { servedToProjects } from '../run/for-projects.ts'
import { prepareEmbedded } from '../servers/embedded-cluster.ts'
import { startMailEndpoint } from '../servers/mail-servers.ts'
import { startPostgres } from '../servers/postgres.ts'
import { openServedEnvironment, prepareServed } from './served.ts'

async function openEmbedded(directory: string) {
  await prepareEmbedded(directory)
  return openEmbeddedPostgres({ directory })
}

export default servedToProjects('workerd', async () => {
  const stage = await openServedEnvironment()
  const database = effort() === 'full' ? await openEmbedded(join(stage.directory, 'postgres')) : await startPostgres()
  const gateway = await startNeonGateway('url' in database ? database.url : database)
  const mails = await startMailEndpoint(stage.mail)
  const variables = { ...stage.variables, SERVICE_DATABASE_URL: gateway.url, SERVICE_MAIL__URL: mails.url }
  const worker = await startWorkerd({
    entry: 'test/support/service/suite-worker.ts',
    minify: true,
    variables,
    host: '127.0.0.1',
    port: 0,
    storage: join(stage.directory, 'bucket'),
    onLog: ({ message }) => stage.log(message),
  })
  const served = await prepareServed({ url: worker.url, platform: 'workerd', variables }, stage)

  const close = async () => {
    await worker.close()
    await mails.close()
    await gateway.close()
    await database.close()
    await stage.close()
  }
  return { served, close }
})
