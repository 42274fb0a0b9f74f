/** ConnectorHost on Workers: the shared laws against isolates of the Worker Loader behind the real gate. */
import { env, exports } from 'cloudflare:workers'
import { inject } from 'vitest'
import { createCloudflareConnectorHost } from '../../src/platform/cloudflare/connector-host.ts'
import type { GateProps } from '../../src/platform/cloudflare/gate.ts'
import type { ConnectorHost } from '../../src/ports.ts'
import { describeConnectorHost } from '../contract/connector-host.ts'
import type { TestEnv } from './worker.ts'

// The types know no particular Worker; this one is ./worker.ts.
const { LOADER: loader } = env as unknown as TestEnv
const { ConnectorGate: gate } = exports as unknown as {
  readonly ConnectorGate: (options: { readonly props: GateProps }) => Fetcher
}
const upstream = inject('upstream')

describeConnectorHost('isolates of the Worker Loader', (wished) => ({ host: hostWith(wished), upstream }))

function hostWith({ timeLimit = 30_000 }: { readonly timeLimit?: number }): ConnectorHost {
  return createCloudflareConnectorHost({
    loader,
    openGate: (props) => gate({ props }),
    runtime: inject('isolateRuntime'),
    limits: { timeLimit, busyLimit: 5_000, allowPrivate: true },
  })
}
