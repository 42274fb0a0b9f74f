/**
 * The installed connectors of a Worker and the host that runs them, from the bundle in its assets. Without a bundle
 * there are no connectors.
 */
import { exports } from 'cloudflare:workers'
import type { Config } from '../../config.ts'
import type { ConnectorCatalog, ConnectorHost } from '../../ports/connectors.ts'
import type { Observe } from '../../ports/observe.ts'
import { BUNDLE_FILE, type ConnectorBundle, catalogOf, NO_CONNECTORS } from '../connectors/connector-bundle.ts'
import { createCloudflareConnectorHost } from './connector-host.ts'
import type { GateProps } from './gate.ts'

export type CloudflareConnectorsDeps = {
  readonly bindings: ConnectorBindings
  readonly config: Config
  readonly observe: Observe
}

export type ConnectorBindings = { readonly LOADER: WorkerLoader; readonly ASSETS?: Fetcher }

/** The Worker's main module must export ConnectorGate. */
export async function openCloudflareConnectors(
  deps: CloudflareConnectorsDeps,
): Promise<{ readonly host: ConnectorHost; readonly catalog: ConnectorCatalog }> {
  const { config, observe } = deps
  const { LOADER, ASSETS } = deps.bindings
  const bundle = await readBundle(ASSETS)
  // The generated types do not know the exports of the Worker.
  const { ConnectorGate } = exports as unknown as {
    readonly ConnectorGate: (options: { readonly props: GateProps }) => Fetcher
  }
  const host = createCloudflareConnectorHost({
    loader: LOADER,
    openGate: (props) => ConnectorGate({ props }),
    runtime: bundle.runtime,
    onPrint: (line) => observe({ kind: 'connector', ...line }),
    limits: {
      timeLimit: config.SERVICE_EXTENSIONS__TIME_LIMIT,
      busyLimit: config.SERVICE_EXTENSIONS__CPU_LIMIT,
      allowPrivate: config.SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS,
    },
  })
  return { host, catalog: catalogOf(bundle) }
}

async function readBundle(assets: Fetcher | undefined): Promise<ConnectorBundle> {
  // Only the path matters; the host is arbitrary.
  const response = await assets?.fetch(`https://assets/${BUNDLE_FILE}`)
  return response?.ok ? response.json<ConnectorBundle>() : NO_CONNECTORS
}
