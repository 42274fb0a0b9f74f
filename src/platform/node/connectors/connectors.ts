/** The installed connectors of a Node process and the host that runs them, as configured. */
import type { Config } from '../../../config.ts'
import type { ConnectorCatalog, ConnectorHost } from '../../../ports/connectors.ts'
import type { Observe } from '../../../ports/observe.ts'
import { openNodeCatalog } from './extensions.ts'
import { createNodeConnectorHost, type NodeConnectorHostDeps } from './host.ts'
import type { SlotLimits } from './process-slots.ts'

export type NodeConnectors = {
  readonly host: ConnectorHost
  readonly catalog: ConnectorCatalog
  /** Ends every connector. */
  readonly close: () => Promise<void>
}

export type NodeConnectorsDeps = { readonly config: Config; readonly observe: Observe }

export async function openNodeConnectors(deps: NodeConnectorsDeps): Promise<NodeConnectors> {
  const { config, observe } = deps
  const catalog = await openNodeCatalog({
    path: config.SERVICE_EXTENSIONS__PATH,
    autoReload: config.SERVICE_EXTENSIONS__AUTO_RELOAD,
    observe,
  })
  const host = createNodeConnectorHost({
    ...connectorLimits(config),
    onPrint: (line) => observe({ kind: 'connector', ...line }),
    slotLimits: slotLimits(config),
  })
  return {
    host,
    catalog,
    async close() {
      catalog.close()
      await host.close()
    },
  }
}

function slotLimits(config: Config): SlotLimits {
  return {
    total: config.SERVICE_EXTENSIONS__MAX_PROCESSES,
    perOwner: config.SERVICE_EXTENSIONS__MAX_PROCESSES_PER_WORKSPACE,
    waitLimit: 10_000,
    queueLimit: 100,
  }
}

function connectorLimits(config: Config): NodeConnectorHostDeps {
  return {
    timeLimit: config.SERVICE_EXTENSIONS__TIME_LIMIT,
    busyLimit: config.SERVICE_EXTENSIONS__CPU_LIMIT,
    idleLimit: config.SERVICE_EXTENSIONS__IDLE_TIME,
    memoryLimit: config.SERVICE_EXTENSIONS__MEMORY_LIMIT,
    allowPrivate: config.SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS,
  }
}
