/**
 * What the services need from the outside world. Each port has one adapter per platform and one contract suite in
 * test/contract that every adapter passes.
 */
import type { LicensingResponse } from './core/license/answer.ts'
import type { SqlAddress, SqlProvider } from './core/sql/address.ts'
import type { SqlParam, Statement } from './core/sql/statement.ts'

/** Milliseconds since the epoch. */
export type Instant = number

export type Clock = { readonly now: () => Instant }

/** New random UUIDs (version 7: they sort by time, so that primary keys are appended, not scattered). */
export type Ids = { readonly next: () => string }

/** Rows come back as arrays in column order; every value in the database's own text form. */
export type SqlRow = readonly SqlParam[]

/** Whoever waits for the answer to a statement. */
export interface QueryContext {
  /** Whether nobody waits any more. Asked now and then while a statement takes long; absent where nobody can know. */
  isDisconnected?(): boolean
  /** Changes rows: a driver that could not say whether an ended statement has changed them lets it go on. */
  readonly isWriting?: boolean
}

/**
 * One database. Errors of the database are thrown as `SqlFault`.
 * There are no interactive transactions: some drivers are HTTP only (docs/decisions/002).
 * What has an asker ends after the driver's time limit (fault OVERDUE), a read also soon after its asker has left (fault
 * ABANDONED). What has none is work of our own, such as a migration, and may take as long as it needs (decision 040).
 */
export interface SqlDriver {
  /** Runs one statement and answers its rows. */
  query(statement: Statement, context?: QueryContext): Promise<readonly SqlRow[]>
  /**
   * Like `query`, for an answer that may be too large for the memory: rows come as they are taken, and resolving means that
   * the first has come. Whoever does not take all of them calls `return`. Absent where the driver gets answers whole.
   */
  stream?(statement: Statement, context?: QueryContext): Promise<AsyncIterator<SqlRow>>
  /** Runs all statements in one transaction, in order: all or nothing. Answers the rows of each. */
  batch(statements: readonly Statement[], context?: QueryContext): Promise<readonly (readonly SqlRow[])[]>
  /** Ends every connection. Running statements are waited for. */
  close(): Promise<void>
}

/** The databases that data sources lead to, by the drivers of this platform. */
export interface SqlDatabases {
  /** Why this platform cannot run the provider; undefined where it can. */
  unavailable(provider: SqlProvider): string | undefined
  /**
   * A driver for the database at `address`, connected when it is first asked. Its faults are SqlFaults, `08004` where
   * the address is not allowed: private hosts are refused unless the configuration allows them, at every connection
   * and for every address that the name resolves to. Throws nothing itself.
   */
  open(address: SqlAddress): SqlDriver
}

/** What every request needs to know of its workspace; read from memory, at most `STATE_MAX_AGE` old. */
export type WorkspaceSnapshot = {
  /** Counts the migrations; a cached model of another version is stale. */
  readonly modelVersion: number
  /** Counts changes of members, roles, policies, keys and accounts of the whole instance. */
  readonly accessVersion: number
  /** Counts what the licensing service has said. */
  readonly licenseVersion: number
}

/**
 * How old a snapshot may be, in milliseconds: a model may be 2 s old (docs/contract.md#when-a-new-model-is-seen),
 * rights 5 s (docs/contract.md#when-changes-of-rights-take-effect).
 */
export const STATE_MAX_AGE = 1_000

/** Turns taken in the system database, shared by every process and isolate of the instance. */
export interface WorkspaceState {
  /**
   * Runs `work` while no other holder runs for this workspace; waiters of one process are served in order of arrival.
   * `work` gets a fence number that is higher than that of every earlier holder. The lock is free again when `work`
   * ends, however it ends, and when its process dies. Throws ServiceError `unavailable` after waiting too long.
   */
  withMigrationLock<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T>
  /** The current versions, at most `maxAge` (STATE_MAX_AGE) old; undefined where there is no such workspace. */
  snapshot(workspaceId: string, maxAge?: number): Promise<WorkspaceSnapshot | undefined>
  /** The same from memory, at once; undefined where nothing young enough is there. The same object while it stands. */
  remembered(workspaceId: string): WorkspaceSnapshot | undefined
  /** Says that versions have changed, so that this process sees them on its next request and others soon. */
  changed(workspaceId: string): Promise<void>
}

export interface Passwords {
  /** A self-describing text with salt and cost. */
  hash(password: string): Promise<string>
  /** Costs the same whether `hash` is a real one or undefined (unknown account), which never matches. */
  verify(password: string, hash: string | undefined): Promise<boolean>
}

/** Encryption at rest with SERVICE_SECRET. `purpose` is bound to the text: one made for another purpose is refused. */
export interface Vault {
  seal(purpose: string, text: string): Promise<string>
  open(purpose: string, sealed: string): Promise<string>
  /** The same text under the first secret; undefined where it is already. Throws where no secret opens it. */
  reseal(purpose: string, sealed: string): Promise<string | undefined>
}

/**
 * Runs connector code in an isolate whose only way out is its grant (docs/contract.md#connectors): a Worker Loader
 * isolate behind a gate on Workers, a Deno process with network flags on Node. What the connector does wrong is a
 * reply, never a throw.
 */
export interface ConnectorHost {
  /** Nothing runs yet: the isolate is started by the session's first call. */
  open(connector: ConnectorProgram): ConnectorSession
}

export type ConnectorProgram = {
  /** Whose it is: isolates are never shared between two ids. */
  readonly id: string
  /** For whose data source it runs: no workspace may take all there is. */
  readonly workspace?: string
  /** One bundled ES module (JavaScript) as text. */
  readonly code: string
  /** Targets in normal form, without `net:`. */
  readonly grant: readonly string[]
  /** Handed unchanged to `preflight` and `setup`. */
  readonly config: unknown
}

export interface ConnectorSession {
  /**
   * Calls one function of the module; `argument` is the handler's one request, JSON. Calls may overlap. Where the isolate
   * was restarted, or `setup` has not run in it yet, the host runs `setup` before a handler; a fault of that `setup` is then
   * the reply. Throws ServiceError `unavailable` only where the host itself cannot run the connector.
   */
  call(method: ConnectorMethod, argument?: unknown): Promise<ConnectorReply>
  /** Ends the isolate; calls in flight are answered `ended`. A closed session starts a fresh isolate on its next call. */
  close(): Promise<void>
}

export type ConnectorMethod = 'preflight' | 'setup' | 'introspect' | 'query' | 'testConnection'

export type ConnectorReply =
  /** JSON; undefined and null where the function returned nothing. */
  | { readonly kind: 'value'; readonly value: unknown }
  /** `preflight` returned a promise. */
  | { readonly kind: 'promise' }
  /** Names of the functions that `setup` returned; null where it returned no object. */
  | { readonly kind: 'handlers'; readonly names: readonly string[] | null }
  /** There is no such function or handler. */
  | { readonly kind: 'missing' }
  /** `code` is a safe integer of the `monospace` property. `denied`: a NotCapable is in the cause chain, and wins. */
  | { readonly kind: 'error'; readonly message: string; readonly code: number | null; readonly denied: boolean }
  /** The module failed to load. */
  | { readonly kind: 'unloadable'; readonly message: string; readonly denied: boolean }
  /** A runaway or dead isolate; only requests in flight see it, the next call starts another. */
  | { readonly kind: 'ended'; readonly reason: 'time' | 'memory' | 'crash' }

/** A line that a connector printed on its console. */
export type ConnectorLine = {
  /** The connector's id and that of the data source. */
  readonly connector: string
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
}

/** What is installed. The lists may change between two calls (auto-reload), so nobody keeps them. */
export interface ConnectorCatalog {
  /** Every connector that can be used, ordered by id. */
  installed(): readonly InstalledConnector[]
  /** Every extension that was found and cannot be used, with the reason. */
  broken(): readonly BrokenExtension[]
}

export type InstalledConnector = {
  /** The entry id of the manifest, which a data source names as its `provider`. */
  readonly id: string
  readonly name: string
  /** As the manifest gives them, each one checked. */
  readonly permissions: readonly { readonly permission: string; readonly reason: string }[]
  readonly code: string
  /** Changes when anything above does: what was started from another revision is stale. */
  readonly revision: string
}

export type BrokenExtension = {
  /** File and member, such as `extensions/crm/package.json: service.extensions[0].entry`. */
  readonly place: string
  readonly reason: string
}

/**
 * The way out to sign-in providers (docs/contract.md#sign-in-providers): what an administrator names, and what a
 * provider names in turn.
 */
export interface ProviderGate {
  /** Why nothing is ever sent to `address`, as the end of a sentence that begins with it; undefined where it may be. */
  refusal(address: string): string | undefined
  /**
   * Sends one request and answers the response, its body read. No redirect is followed. Throws where the address is
   * refused, the answer is late or too large, or there is none.
   */
  fetch(address: string, request: RequestInit): Promise<Response>
}

export type Mail = { readonly to: string; readonly subject: string; readonly text: string }

export interface Mailer {
  /** Resolves once the mail was accepted for delivery. Throws where it was not; the error says nothing of the text. */
  send(mail: Mail): Promise<void>
}

/**
 * Takes work that no answer waits for (the time of an answer must not tell whether a mail is sent). Its failure is
 * observed.
 */
export type Background = (work: Promise<unknown>) => void
/** The licensing service over HTTP. */
export interface LicensingClient {
  /**
   * Posts a value as JSON. Answers what came back, whatever its status; a network error, a time-out or a status of 500
   * and up is tried three times more, from 250 ms on, before the last of it is answered. Never throws
   * (docs/contract.md#licensing).
   */
  post(url: string, value: unknown): Promise<LicensingResponse>
}

/** Wakes the instance for work that is due: an alarm of a Durable Object on Workers, a timer on Node. */
export interface Alarm {
  /** Asks to be woken at `at` or soon after it; an earlier time that was asked for stands. */
  set(at: Instant): Promise<void>
}

/** Where telemetry goes out. */
export interface TelemetryPort {
  readonly platform: 'node' | 'workers'
  /** Posts JSON text, once. Throws an Error that does not name the address where that was not answered with success. */
  post(url: string, body: string): Promise<void>
}

export type LicensingPorts = {
  readonly client: LicensingClient
  readonly alarm: Alarm
  readonly pause: (milliseconds: number) => Promise<void>
  /** Names this start of the instance: a process on Node, a deployed version on Workers. */
  readonly startId: string
}

/** Everything worth telling an operator; the platform decides what to print or count. */
export type Observation =
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      /** As it was asked, but for its token. */
      readonly path: string
      /** The pattern that it fits, such as `/api/:workspace/roles/:id`. */
      readonly route: string
      readonly status: number
      readonly milliseconds: number
      /** Whether the caller can mend what a status of 500 or above says. */
      readonly isCallers?: boolean
      /** The W3C header of that name, where somebody wants to know. */
      readonly traceparent?: string | undefined
    }
  | { readonly kind: 'fault'; readonly requestId?: string; readonly error: unknown }
  | { readonly kind: 'warning'; readonly message: string }
  | ({ readonly kind: 'connector' } & ConnectorLine)
  /** A mail that is printed instead of sent: the local run has no other way (SERVICE_MAIL__URL is `log:`). */
  | { readonly kind: 'mail'; readonly mail: Mail }

export type Observe = (observation: Observation) => void

/** Loads what turns any text into ASCII letters as near to it as there are; only introspection needs it. */
export type LoadTransliterate = () => Promise<(text: string) => string>

/** The text of a file that is served beside the API, by its name; throws where it was not shipped. */
export type Assets = (name: string) => Promise<string>

export type Ports = {
  /** The system database. */
  readonly database: SqlDriver
  /** The databases of data sources. */
  readonly databases: SqlDatabases
  /** What runs data connectors, and those that are installed. */
  readonly connectors: { readonly host: ConnectorHost; readonly catalog: ConnectorCatalog }
  readonly workspaces: WorkspaceState
  readonly clock: Clock
  readonly ids: Ids
  readonly passwords: Passwords
  readonly vault: Vault
  readonly providerGate: ProviderGate
  readonly observe: Observe
  readonly mailer: Mailer
  readonly background: Background
  readonly licensing: LicensingPorts
  readonly telemetry: TelemetryPort
  readonly transliterate: LoadTransliterate
}
