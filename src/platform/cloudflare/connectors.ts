/**
 * The installed connectors of a Worker and the host that runs them, out of the bundle among its assets. A Worker that was
 * deployed without one has no connectors.
 */
import { exports } from 'cloudflare:workers'
import type { Config } from '../../config.ts'
import type { ConnectorCatalog, ConnectorHost, Observe } from '../../ports.ts'
import { BUNDLE_FILE, type ConnectorBundle, catalogOf, NO_CONNECTORS } from '../connectors/connector-bundle.ts'
import { createCloudflareConnectorHost } from './connector-host.ts'
import type { GateProps } from './gate.ts'

export type ConnectorBindings = { readonly LOADER: WorkerLoader; readonly ASSETS?: Fetcher }

/** The Worker's main module has to export ConnectorGate. */
export async function openCloudflareConnectors(
  { LOADER, ASSETS }: ConnectorBindings,
  config: Config,
  observe: Observe,
): Promise<{ readonly host: ConnectorHost; readonly catalog: ConnectorCatalog }> {
  const bundle = await readBundle(ASSETS)
  // The types know no particular Worker.
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
  // Assets are found by path; the host is any.
  const response = await assets?.fetch(`https://assets/${BUNDLE_FILE}`)
  return response?.ok ? response.json<ConnectorBundle>() : NO_CONNECTORS
}
