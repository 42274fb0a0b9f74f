/**
 * What `npm run extensions:bundle` writes and a Worker reads: the installed connectors and the modules that stand around
 * them in their isolates. It lies among the Worker's assets, is of one version with it, and costs the script nothing.
 */
import type { BrokenExtension, ConnectorCatalog, InstalledConnector } from '../../ports.ts'
import type { IsolateRuntime } from './isolate-runtime.ts'

export type ConnectorBundle = {
  readonly runtime: IsolateRuntime
  readonly installed: readonly InstalledConnector[]
  readonly broken: readonly BrokenExtension[]
}

/** Its name among the assets. */
export const BUNDLE_FILE = 'connectors.json'

export const NO_CONNECTORS: ConnectorBundle = { runtime: { main: '', conduct: '' }, installed: [], broken: [] }

export function catalogOf({ installed, broken }: ConnectorBundle): ConnectorCatalog {
  return { installed: () => installed, broken: () => broken }
}
