/**
 * The thread that the embedded database runs in: messages of the Postgres protocol in, the server's answers out, one after
 * the other. It says `open` when it is ready, and ends where the engine does.
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
  // An engine that has exited would spin if it were asked again: what this throws ends the thread.
  parentPort?.postMessage(await database.execProtocolRaw(messages))
})
parentPort?.postMessage('open')

/** Made beside its place and moved there when complete, so that a first start that was interrupted is repeated. */
async function createCluster(cluster: string): Promise<void> {
  if (existsSync(cluster)) return
  const draft = `${cluster}.new`
  await rm(draft, { recursive: true, force: true })
  const database = await openCluster(draft)
  await database.close()
  await rename(draft, cluster)
}

function openCluster(cluster: string): Promise<PGlite> {
  // As parameters of the server these are also what RESET and DISCARD go back to.
  const settings = ['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=postgres']
  return PGlite.create({
    dataDir: `file://${cluster}`,
    startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
  })
}
