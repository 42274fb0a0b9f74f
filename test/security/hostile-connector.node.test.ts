/** The hostile connector in a Deno process. */
import { afterAll } from 'vitest'
import { createNodeConnectorHost } from '../../src/platform/node/connectors/host.ts'
import { bundleHostile } from '../support/data/hostile.ts'
import { startUpstream } from '../support/servers/upstream.ts'
import { describeHostileConnector } from './hostile-connector.ts'

const limits = { timeLimit: 30_000, busyLimit: 10_000, idleLimit: 60_000, memoryLimit: 64, allowPrivate: true }
const host = createNodeConnectorHost(limits)
const upstream = await startUpstream()
const { code, attempts } = await bundleHostile()

afterAll(async () => {
  await host.close()
  await upstream.close()
})

describeHostileConnector('Node', attempts, () => ({ host, upstream, code, attempts }))
