/** Data connectors: where they run, and which are installed. */

/**
 * Runs connector code in an isolate that can reach only its granted network targets (docs/contract.md#connectors): a
 * Worker Loader isolate behind a gate on Workers, a Deno process with network flags on Node. Errors of the connector
 * are replies; they are never thrown.
 */
export interface ConnectorHost {
  /** Opens a session without starting the isolate; the session's first call starts it. */
  open(connector: ConnectorProgram): ConnectorSession
}

export type ConnectorProgram = {
  /** Identifies the connector and its data source. Isolates are never shared between ids. */
  readonly id: string
  /** The workspace of the data source. The number of isolates per workspace is limited. */
  readonly workspace?: string
  /** The code: one bundled ES module (JavaScript). */
  readonly code: string
  /** Permission targets in normal form, without `net:`. */
  readonly grant: readonly string[]
  /** Passed unchanged to `preflight` and `setup`. */
  readonly config: unknown
}

export interface ConnectorSession {
  /**
   * Calls one function of the module; `argument` is the handler's request, as JSON. Calls may overlap. Before a
   * handler, the host runs `setup` if it has not run in this isolate yet; an error of that `setup` is then the reply.
   * Throws ServiceError `unavailable` only if the host itself cannot run the connector.
   */
  call(method: ConnectorMethod, argument?: unknown): Promise<ConnectorReply>
  /** Ends the isolate; calls in flight get the reply `ended`. The next call of the session starts a new isolate. */
  close(): Promise<void>
}

export type ConnectorMethod = 'preflight' | 'setup' | 'introspect' | 'query' | 'testConnection'

export type ConnectorReply =
  /** The returned JSON; undefined or null if the function returned nothing. */
  | { readonly kind: 'value'; readonly value: unknown }
  /** `preflight` returned a promise. */
  | { readonly kind: 'promise' }
  /** Names of the functions in the object that `setup` returned; null if it returned no object. */
  | { readonly kind: 'handlers'; readonly names: readonly string[] | null }
  /** The function or handler does not exist. */
  | { readonly kind: 'missing' }
  /**
   * The function threw. `code` is the error's `monospace.code` if that is a safe integer. `denied` is true if the cause
   * chain has a NotCapable error, and takes precedence over `code`.
   */
  | { readonly kind: 'error'; readonly message: string; readonly code: number | null; readonly denied: boolean }
  /** The module failed to load. */
  | { readonly kind: 'unloadable'; readonly message: string; readonly denied: boolean }
  /** More values than an answer may have, so that it was not read; `excess` says which bound it is above. */
  | { readonly kind: 'oversized'; readonly excess: string }
  /**
   * The isolate exceeded a limit or crashed. Only calls in flight get this; the next call starts a new isolate. `isAlone` is true if
   * only this call was given up, and the others in flight go on.
   */
  | { readonly kind: 'ended'; readonly reason: 'time' | 'memory' | 'crash'; readonly isAlone?: true }

/** A line that a connector printed on its console. */
export type ConnectorLine = {
  /** The `id` of the ConnectorProgram. */
  readonly connector: string
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
}

/** The installed connectors. Auto-reload may change the lists between two calls, so do not cache them. */
export interface ConnectorCatalog {
  /** Every usable connector, ordered by id. */
  installed(): readonly InstalledConnector[]
  /** Every extension that cannot be used, with the reason. */
  broken(): readonly BrokenExtension[]
}

export type InstalledConnector = {
  /** The entry id in the manifest, which a data source gives as its `provider`. */
  readonly id: string
  readonly name: string
  /** The permissions of the manifest, validated. */
  readonly permissions: readonly { readonly permission: string; readonly reason: string }[]
  readonly code: string
  /** Changes with any member above; an isolate started from another revision is stale. */
  readonly revision: string
}

export type BrokenExtension = {
  /** File and member, such as `extensions/crm/package.json: service.extensions[0].entry`. */
  readonly location: string
  readonly reason: string
}
