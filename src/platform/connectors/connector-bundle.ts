/**
 * The bundle that `npm run extensions:bundle` writes and a Worker reads: the installed connectors and the modules that
 * wrap them in their isolates. It is one of the Worker's assets, so it always matches the deployed version and does not
 * add to the script's size.
 */
import type { BrokenExtension, ConnectorCatalog, InstalledConnector } from '../../ports/connectors.ts'
import type { IsolateRuntime } from './isolate-runtime.ts'

export type ConnectorBundle = {
  readonly runtime: IsolateRuntime
  readonly installed: readonly InstalledConnector[]
  readonly broken: readonly BrokenExtension[]
}

/** File name among the assets. */
export const BUNDLE_FILE = 'connectors.json'

export const NO_CONNECTORS: ConnectorBundle = { runtime: { main: '', dispatch: '' }, installed: [], broken: [] }

export function catalogOf({ installed, broken }: ConnectorBundle): ConnectorCatalog {
  return { installed: () => installed, broken: () => broken }
}
