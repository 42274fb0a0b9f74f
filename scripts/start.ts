/** `npm start`: the real Worker on workerd, with an embedded Postgres behind the Neon gateway as system database. */
import { join } from 'node:path'
import { openDataDirectory } from '../src/platform/node/embedded/data-directory.ts'
import { startNeonGateway } from '../src/platform/node/embedded/neon-gateway.ts'
import { openEmbeddedPostgres } from '../src/platform/node/embedded/postgres.ts'
import { closeOnSignal, fail, localEnvironment, prepareLocalRun, requireConfig, showStep } from './local.ts'
import { endWithNpm } from './npm-run.ts'
import { requireFreePort } from './require-free-port.ts'
import { type LogLine, print, startWorkerd } from './workerd.ts'

endWithNpm()
// There is nothing to close yet; exit handlers do the rest.
closeOnSignal(async () => {})
await start().catch(fail)

async function start(): Promise<void> {
  const config = requireConfig(process.env)
  await requireFreePort(config.SERVICE_HOST, config.PORT)
  const directory = openDataDirectory(config.SERVICE_DATA_DIR)
  const environment = localEnvironment(process.env, directory)
  showStep('Opening the embedded database')
  const embedded = await openEmbeddedPostgres({ directory: join(directory.path, 'postgres') })
  const gateway = await startNeonGateway({ connect: embedded.connect })
  const closeDatabase = async () => {
    await gateway.close()
    await embedded.close()
  }
  const variables = { ...environment, SERVICE_DATABASE_URL: gateway.url }
  let isPrepared = false
  // Requests of this script are not logged before the summary; errors are.
  const onLog = (line: LogLine) => {
    if (isPrepared || line.level !== 'log') print(line)
  }
  const { SERVICE_HOST: host, PORT: port } = config
  showStep('Building and starting the Worker')
  const storage = config.SERVICE_FILES__PATH ?? join(directory.path, 'bucket')
  const worker = await startWorkerd({ variables, host, port, onLog, storage }).catch(async (cause) => {
    await closeDatabase()
    throw cause
  })
  closeOnSignal(async () => {
    await worker.close()
    await closeDatabase()
  })
  await prepareLocalRun({
    url: worker.url,
    environment,
    config,
    directory,
    platform: 'workerd',
    connect: embedded.connect,
  })
  isPrepared = true
}
