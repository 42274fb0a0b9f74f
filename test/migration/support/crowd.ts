/** One instance served by two Node processes and a Worker, with its administrator signed in at the first. */
import { startWorkerd } from '../../../scripts/workerd.ts'
import { startNeonGateway } from '../../../src/platform/node/embedded/neon-gateway.ts'
import { type Client, signIn } from './client.ts'
import { type Instance, openInstance, startReplica } from './instance.ts'

export type Crowd = {
  readonly instance: Instance
  /** Addresses of the Node processes, and then of the Worker. */
  readonly urls: readonly [string, string, string]
  readonly node: Client
  close(): Promise<void>
}

export async function openCrowd(): Promise<Crowd> {
  const instance = await openInstance()
  const [first, second] = [await startReplica(instance), await startReplica(instance)]
  const gateway = await startNeonGateway(instance.databaseUrl)
  const worker = await startWorkerd({
    variables: { ...instance.variables, SERVICE_DATABASE_URL: gateway.url },
    host: '127.0.0.1',
    port: 0,
    onLog: () => {},
  })
  return {
    instance,
    urls: [first.url, second.url, worker.url],
    node: await signIn(instance.administrator, first.url),
    async close() {
      await worker.close()
      await gateway.close()
      await Promise.all([first.kill(), second.kill()])
      await instance.close()
    },
  }
}
