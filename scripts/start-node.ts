/** `npm run start:node`: the service on Node, with SERVICE_DATABASE_URL or, if it is unset, the embedded Postgres. */
import { join } from 'node:path'
import { startNode } from '../handlers/node.ts'
import { openDataDirectory } from '../src/platform/node/embedded/data-directory.ts'
import { openEmbeddedPostgres } from '../src/platform/node/embedded/postgres.ts'
import { createBufferedLog } from '../src/platform/node/observing/buffered-log.ts'
import type { Observe } from '../src/ports/observe.ts'
import { consoleFolder } from './console/build.ts'
import {
  clearStep,
  closeOnFault,
  closeOnSignal,
  fail,
  localEnvironment,
  prepareLocalRun,
  requireConfig,
  showStep,
} from './local.ts'
import { endWithNpm } from './npm-run.ts'
import { requireFreePort } from './require-free-port.ts'

endWithNpm()
// There is nothing to close yet; exit handlers do the rest.
closeOnSignal(async () => {})
const log = createBufferedLog()
closeOnFault(log)
await start().catch(fail)

async function start(): Promise<void> {
  const config = requireConfig(process.env)
  await requireFreePort(config.SERVICE_HOST, config.PORT)
  if (config.SERVICE_DATABASE_URL !== undefined) {
    showStep('Connecting to the system database')
    const server = await startNode({ environment: process.env, consoleFolder: await consoleFolder(), observe: log })
    clearStep()
    closeOnSignal(server.close)
    console.log(`Listening on ${server.url}`)
    return
  }
  const directory = openDataDirectory(config.SERVICE_DATA_DIR)
  const environment = localEnvironment(process.env, directory)
  showStep('Opening the embedded database')
  const embedded = await openEmbeddedPostgres({ directory: join(directory.path, 'postgres') })
  let isPrepared = false
  // Requests of this script are not logged before the summary; errors are.
  const observe: Observe = (observation) => {
    if (isPrepared || observation.kind !== 'request') log(observation)
  }
  showStep('Starting the service')
  const server = await startNode({
    environment,
    embedded: embedded.connect,
    consoleFolder: await consoleFolder(),
    observe,
  }).catch(async (cause) => {
    await embedded.close()
    throw cause
  })
  closeOnSignal(async () => {
    await server.close()
    await embedded.close()
  })
  await prepareLocalRun({
    url: server.url,
    environment,
    config,
    directory,
    platform: 'Node',
    connect: embedded.connect,
  })
  isPrepared = true
}
