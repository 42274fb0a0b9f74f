/**
 * The thread of the embedded database: takes messages of the Postgres protocol and returns the server's answers, one at
 * a time. It posts `open` when it is ready, and ends with the engine.
 */
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'

const cluster = String(workerData)
await createCluster(cluster)
const database = await openCluster(cluster)

parentPort?.on('message', async (messages: Uint8Array | 'close') => {
  if (messages === 'close') {
    await database.close()
    process.exit()
  }
  // An engine that has exited would spin on its next call, so the error must end the thread.
  parentPort?.postMessage(await database.execProtocolRaw(messages))
})
parentPort?.postMessage('open')

/** Created beside its final place and moved there when complete, so that an interrupted first start is repeated. */
async function createCluster(cluster: string): Promise<void> {
  if (existsSync(cluster)) return
  const draft = `${cluster}.new`
  await rm(draft, { recursive: true, force: true })
  const database = await openCluster(draft)
  await database.close()
  await rename(draft, cluster)
}

function openCluster(cluster: string): Promise<PGlite> {
  // As server parameters, these are also the values that RESET and DISCARD restore.
  const settings = ['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=postgres']
  return PGlite.create({
    dataDir: `file://${cluster}`,
    startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
  })
}
