/** ConnectorHost of the Worker under test in the workerd project, as cloudflare/connectors.ts makes it. */
import { env, exports } from 'cloudflare:workers'
import { inject } from 'vitest'
import { createCloudflareConnectorHost } from '../../src/platform/cloudflare/connector-host.ts'
import type { GateProps } from '../../src/platform/cloudflare/gate.ts'
import type { OnLogLine } from '../../src/platform/connectors/connector-log.ts'
import type { ConnectorHost } from '../../src/ports/connectors.ts'
import type { TestEnv } from './worker.ts'

// The types know no particular Worker; this one is ./worker.ts.
const { LOADER: loader } = env as unknown as TestEnv

export const { ConnectorGate: gate } = exports as unknown as {
  readonly ConnectorGate: (options: { readonly props: GateProps }) => Fetcher
}

export function openWorkerdHost(
  { timeLimit = 30_000 }: { readonly timeLimit?: number } = {},
  onPrint: OnLogLine = () => {},
): ConnectorHost {
  return createCloudflareConnectorHost({
    loader,
    openGate: (props) => gate({ props }),
    runtime: inject('isolateRuntime'),
    onPrint,
    limits: { timeLimit, busyLimit: 5_000, allowPrivate: true },
  })
}
