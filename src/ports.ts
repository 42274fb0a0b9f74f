/**
 * Interfaces between the services and their environment. Each port has one adapter per platform and one contract suite
 * in test/ports that every adapter passes.
 */
import type { Eventual } from './core/and-then.ts'
import type { LicensingResponse } from './core/license/answer.ts'
import type { SqlTarget } from './core/sql/address.ts'
import type { PlanTerm } from './core/sql/begin/plan-term.ts'
import type { SqlParam, Statement } from './core/sql/statement.ts'

/** Milliseconds since the epoch. */
export type Instant = number

export type Clock = {
  readonly now: () => Instant
  /** Milliseconds by a clock that nobody sets; absent for that of the platform. */
  readonly elapsed?: () => number
}

/** Milliseconds since a call of `startAge`. */
export type Age = () => number

/**
 * Starts to measure an age, by the clock that moves more: one that was set back would keep what is cached, and the
 * other may stand still while its machine sleeps.
 */
export function startAge(clock: Clock): Age {
  const { now } = clock
  const elapsed = elapsedOf(clock)
  const [at, startedAt] = [now(), elapsed()]
  return () => Math.max(now() - at, elapsed() - startedAt)
}

/**
 * Resolves after the milliseconds, and after everything else that is ready to run. Whoever waits for another request looks again
 * and again, with a pause between, since Workers share no promise between requests.
 *
 * Of those who only give way, without milliseconds, one goes on at a time, in the order of their pauses: requests that come
 * meanwhile wait for what one of them does, and not for all.
 */
export function pause(milliseconds = 0): Promise<void> {
  if (milliseconds > 0) return new Promise((resolve) => setTimeout(resolve, milliseconds))
  return new Promise((resolve) => {
    const own = { seen: performance.now() }
    waiting.add(own)
    const look = () => {
      if (isNext(own)) resolve()
      else setTimeout(look)
    }
    setTimeout(look)
  })
}

/** Those who gave way, with when each last looked whether it may go on. */
const waiting = new Set<{ seen: number }>()
/** When somebody went on, until others had their turn. */
let wentOn: number | undefined
/** Milliseconds without a look after which somebody is gone: Workers drop what they do for clients who have left. */
const GONE = 100

function isNext(own: { seen: number }): boolean {
  const now = performance.now()
  own.seen = now
  waiting.add(own)
  if (wentOn !== undefined && now - wentOn < GONE) return false
  for (const one of waiting) {
    if (one === own) break
    if (now - one.seen < GONE) return false
    waiting.delete(one)
  }
  waiting.delete(own)
  wentOn = now
  setTimeout(() => {
    wentOn = undefined
  })
  return true
}

/** Returns the clock that nobody sets. */
export function elapsedOf({ elapsed = () => performance.now() }: Clock): () => number {
  return elapsed
}

/** Generates random UUIDs. They are version 7, which sorts by time, so that inserts append to the primary key index. */
export type Ids = { readonly next: () => string }

/**
 * Returns the entity tag of a text: the first 22 characters of its SHA-256 in base64url. At once where the platform can.
 */
export type TagOf = (text: string) => Eventual<string>

/** One row, its values in column order, each in the database's own text form. */
export type SqlRow = readonly SqlParam[]

/** The request that waits for the result of a statement. */
export interface QueryContext {
  /** Returns true when the client has disconnected. Polled during long statements; absent if that cannot be known. */
  isDisconnected?(): boolean
  /** Whose statement it is, by `ofShare`: what one has running and slow leaves room for others. */
  readonly share?: string
  /** Which account of the share asked: what one has running and slow leaves room for the others, too. */
  readonly account?: string | undefined
  /** It is work of the service itself, as without a context: without limits, and some drivers run it again. */
  readonly isInternal?: true
  /** The statement changes rows. A driver that cannot tell whether a cancelled one took effect must not cancel it. */
  readonly isWriting?: boolean
  /**
   * Milliseconds that a statement of our own may take, in place of the driver's limit: one about the catalog, which nobody
   * knows to answer. Its answer is bounded by MAX_RECEIVED alone.
   */
  readonly timeLimit?: number
  /** What the statement was planned on: drivers begin nothing when that is over, and throw SqlFault OUTDATED. */
  readonly term?: PlanTerm | undefined
  /**
   * Whether the statement may be sent behind those of others, where what is sent cannot be taken back: it may then begin late,
   * however soon its plan was looked at. It adds a row, and reads nothing but that row.
   */
  readonly mayFollow?: boolean
  /**
   * Gets the answers of a batch before it is committed; what it throws ends the batch, and nothing of it is left. Where a
   * statement fails, it gets those before, and what it throws is the fault in place of that one's. Only drivers that have
   * `confirms` call it.
   */
  readonly confirm?: (answers: readonly (readonly SqlRow[])[]) => void
}

/**
 * One database. Its errors are thrown as `SqlFault`.
 * There are no interactive transactions, since some drivers are HTTP only (docs/decisions/002).
 * A statement with a `context` ends after the driver's time limit (fault TIMED_OUT); a read also ends soon after its
 * client disconnects (fault CANCELED). Where the database sends the rows of an answer one by one, the driver refuses more
 * than MAX_TEXT bytes of them (fault TOO_LARGE), and nothing is written; elsewhere the statement itself has this bound.
 * A statement without a context, or with one that is internal, is work such as a migration, and has no limit (decisions 033 and 040).
 */
export interface SqlDriver {
  /** Runs one statement and returns its rows. */
  query(statement: Statement, context?: QueryContext): Promise<readonly SqlRow[]>
  /**
   * Like `query`, for results too large for memory: resolves with the first row, and reads further rows on demand. A
   * consumer that stops early must call `return`. Absent where the driver receives whole results only.
   */
  stream?(statement: Statement, context?: QueryContext): Promise<AsyncIterator<SqlRow>>
  /** Runs all statements in order in one transaction, all or nothing. Returns the rows of each. */
  batch(statements: readonly Statement[], context?: QueryContext): Promise<readonly (readonly SqlRow[])[]>
  /**
   * Like `batch`, with statements that are made when the one before was answered. Absent where a batch is sent whole;
   * elsewhere statements get their answers by `onRows` in both (decision 060).
   */
  converse?(statements: Statements, context?: QueryContext): Promise<readonly (readonly SqlRow[])[]>
  /** Whether the answers of a batch with a context can be confirmed before it is committed, and are bounded by the driver. */
  readonly confirms?: true
  /** Closes every connection after its running statement ends. */
  close(): Promise<void>
}

/** Some are only made when those before were answered. */
export type Statements = Iterable<Statement> | AsyncIterable<Statement>

export type ConversingDriver = SqlDriver & Required<Pick<SqlDriver, 'converse'>>

/** Connects to the databases of data sources, with the drivers of this platform. */
export interface SqlDatabases {
  /** Returns what this platform cannot do of a configuration, and why; undefined if it can connect to the target. */
  refusal(target: SqlTarget): TargetRefusal | undefined
  /**
   * Returns a driver for the database of `target`, which connects on first use. Its errors are SqlFaults. Unless the
   * configuration allows private hosts, every connection checks all addresses that the name resolves to and refuses
   * private ones with `08004`. Throws nothing itself for targets without a refusal.
   */
  open(target: SqlTarget): SqlDriver
}

/** `member` is the path within the configuration. */
export type TargetRefusal = { readonly member: string; readonly reason: string }

/** The versions that every request needs, read from memory and at most `STATE_MAX_AGE` old. */
export type WorkspaceSnapshot = {
  /** Incremented by each migration; a cached model of an older version is stale. */
  readonly modelVersion: number
  /** Incremented by each change of members, roles, policies, keys or accounts in the whole instance. */
  readonly accessVersion: number
  /** Incremented by each answer of the licensing service. */
  readonly licenseVersion: number
}

/** Versions, and milliseconds since the read of them began, by a clock that nobody sets. */
export type AgingSnapshot = WorkspaceSnapshot & { readonly age: () => number }

/**
 * How old a snapshot may be, in milliseconds: a model may be 2 s old (docs/contract.md#when-a-new-model-is-seen),
 * rights 5 s (docs/contract.md#when-changes-of-rights-take-effect).
 */
export const STATE_MAX_AGE = 1_000

/** Migration locks and versions of workspaces, shared by all processes and isolates through the system database. */
export interface WorkspaceState {
  /**
   * Runs `work` while holding the workspace's migration lock; waiters of one process are served in order of arrival.
   * `work` gets a fence number higher than that of every earlier holder. The lock is released when `work` settles or
   * its process dies. Throws ServiceError `unavailable` when the wait times out (docs/contract.md#migration-lock).
   */
  withMigrationLock<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T>
  /** Returns versions at most `maxAge` milliseconds old (STATE_MAX_AGE); undefined for an unknown workspace. */
  snapshot(workspaceId: string, maxAge?: number): Promise<AgingSnapshot | undefined>
  /** Returns the cached snapshot; undefined if none is recent enough. An unchanged snapshot is the same object. */
  remembered(workspaceId: string): AgingSnapshot | undefined
  /** Invalidates the cached versions: this process sees the new ones on its next request, others soon. */
  changed(workspaceId: string): Promise<void>
}

/** Password hashing (docs/contract.md#passwords). */
export interface Passwords {
  /** Returns a self-describing hash with its salt and cost. */
  hash(password: string): Promise<string>
  /**
   * Whether the password matches. Takes the same time for an undefined `hash` (unknown account), which never does. Of one `origin`,
   * a client's network or credential, few are compared at once: throws 429 beyond, and 503 where too many of all are.
   */
  verify(password: string, hash: string | undefined, origin: string): Promise<boolean>
}

/** Encryption at rest with SERVICE_SECRET. `purpose` is authenticated: a text sealed for another purpose is refused. */
export interface Vault {
  /** Encrypts with the first secret. */
  seal(purpose: string, text: string): Promise<string>
  /** Decrypts with any of the secrets. Throws if none opens the text, or if it was sealed for another purpose. */
  open(purpose: string, sealed: string): Promise<string>
  /** Returns the text sealed with the first secret; undefined if it already is. Throws if no secret opens it. */
  reseal(purpose: string, sealed: string): Promise<string | undefined>
}

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
  /** The isolate exceeded a limit or crashed. Only calls in flight get this; the next call starts a new isolate. */
  | { readonly kind: 'ended'; readonly reason: 'time' | 'memory' | 'crash' }

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

/**
 * Outbound requests to sign-in providers (docs/contract.md#sign-in-providers), at addresses that come from an
 * administrator or from a provider's own documents.
 */
export interface ProviderGate {
  /** Returns why `address` is refused, as a predicate to follow the address in a message; undefined if allowed. */
  refusal(address: string): string | undefined
  /**
   * Sends one request and returns the response with its body read. Does not follow redirects. Throws if the address is
   * refused, on a timeout, on a network error, and if the response is too large.
   */
  fetch(address: string, request: RequestInit): Promise<Response>
  /**
   * Sends one request and returns the response while its body comes. Throws like `fetch`, and its body ends with an error where
   * nothing comes for `idle` milliseconds.
   */
  stream(address: string, request: RequestInit, idle: number): Promise<Response>
}

export type Mail = { readonly to: string; readonly subject: string; readonly text: string }

export interface Mailer {
  /** Resolves when the mail was accepted for delivery. Throws otherwise; the error does not contain the mail's text. */
  send(mail: Mail): Promise<void>
}

/** Runs work after the response, whose time then does not show whether a mail was sent. Failures are observed. */
export type Background = (work: Promise<unknown>) => void

/** The licensing service over HTTP. */
export interface LicensingClient {
  /**
   * Posts a value as JSON and returns the response, whatever its status. A network error, a timeout or a status of 500
   * and above is retried three times, first after 250 ms; then the last result is returned. Never throws
   * (docs/contract.md#licensing).
   */
  post(url: string, value: unknown): Promise<LicensingResponse>
}

/** Wakes the instance for work that is due: an alarm of a Durable Object on Workers, a timer on Node. */
export interface Alarm {
  /** Schedules a wake-up at `at` or soon after. An earlier scheduled time stays. */
  set(at: Instant): Promise<void>
}

/** Posts telemetry reports (docs/contract.md#telemetry). */
export interface TelemetryPort {
  readonly platform: 'node' | 'workers'
  /** Posts JSON text once. Throws an Error, whose message omits the address, unless the status is a success. */
  post(url: string, body: string): Promise<void>
}

export type LicensingPorts = {
  readonly client: LicensingClient
  readonly alarm: Alarm
  readonly pause: (milliseconds: number) => Promise<void>
  /** Identifies this start of the instance: a process on Node, a deployed version on Workers. */
  readonly startId: string
}

/** An event for the operator; the platform decides what to print and what to count. */
export type Observation =
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      /** The requested path without its query. */
      readonly path: string
      /** The matched route pattern, such as `/api/:workspace/roles/:id`. */
      readonly route: string
      readonly status: number
      readonly milliseconds: number
      /** True if the caller can fix the cause of this status of 500 or above. */
      readonly isCallers?: boolean
      /** The W3C `traceparent` header; set only when tracing is on. */
      readonly traceparent?: string | undefined
    }
  /** A request that took longer than SERVICE_LOG__SLOW, with the parts of its time in milliseconds; it holds no values. */
  | {
      readonly kind: 'slow'
      readonly requestId: string
      readonly method: string
      readonly route: string
      /** The collection that the path names. */
      readonly collection?: string
      readonly milliseconds: number
      readonly auth: number
      readonly plan: number
      /** Of the database, or of the connector, and of what was waited for meanwhile. */
      readonly source: number
    }
  | { readonly kind: 'fault'; readonly requestId?: string; readonly error: unknown }
  | { readonly kind: 'warning'; readonly message: string }
  /** How many data sources of the instance differ from their models; for metrics, not for the log. */
  | { readonly kind: 'drift'; readonly sources: number }
  | ({ readonly kind: 'connector' } & ConnectorLine)
  /** A mail that is printed instead of sent, in the local run (SERVICE_MAIL__URL is `log:`). */
  | { readonly kind: 'mail'; readonly mail: Mail }

export type Observe = (observation: Observation) => void

/** Loads the function that transliterates text to ASCII letters; only introspection needs it. */
export type LoadTransliterate = () => Promise<(text: string) => string>

/** Returns a static file of text by its name, in UTF-8. Throws if the file was not shipped. */
export type Assets = (name: string) => Promise<string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>>

/** The built console. */
export type ConsoleFiles = {
  /** The page, which names the files of its build. */
  page(): Promise<string>
  /** A file by its path from the root; undefined where there is none. Absent where the platform serves files before us. */
  readonly file?: (path: string) => ConsoleFile | undefined
}

export type ConsoleFile = {
  /** Its media type. */
  readonly type: string
  /** A tag of its content, without quotes. */
  readonly tag: string
  /** Its bytes, compressed where a coding is given. */
  bytes(coding: 'br' | 'gzip' | undefined): Promise<Uint8Array<ArrayBuffer>>
}

/** Most bytes of a part of a file: what one request may keep in memory of a file, however large it is. */
export const PART_SIZE = 8 * 1024 ** 2

/**
 * The bytes of files, in parts of at most PART_SIZE, each of which is stored whole or not at all: a file of any size goes
 * through a bounded memory, and is resumed by asking which parts are there. A key is `<workspace id>/<random uuid>`, both in
 * lower case; the service makes it, never from a name that a client gives. Anything else, and numbers out of their range,
 * are a RangeError.
 *
 * A store that cannot be reached, and bytes that are not there, are ServiceError `unavailable`. What the store itself said
 * is observed and not part of the error.
 */
export interface FileStore {
  /** Most bytes of a file because of this kind of store; undefined where it sets no limit. */
  readonly limit?: number | undefined
  /**
   * Stores part `number`, from 1, in place of an earlier one. What was stored outlives a crash of the process and of the
   * machine once it resolves. May be repeated after an error: nobody knows then whether the part was stored.
   */
  put(key: string, number: number, bytes: Uint8Array): Promise<void>
  /**
   * Streams `length` bytes of one part from `offset`, as they are taken. Throws `MissingBytes`, unobserved, where the part is not there
   * or ends before.
   * Whoever gets the stream reads it to its end or cancels it, which frees the file or connection behind it; where the store
   * fails meanwhile it errors as the other calls do.
   */
  read(key: string, number: number, offset: number, length: number): Promise<ReadableStream<Uint8Array>>
  /** The parts that are there, by ascending number; empty for an unknown key. */
  parts(key: string): Promise<readonly FilePart[]>
  /** Removes all parts of a key, or of all keys of a workspace id. Where nothing is there it does nothing. */
  clear(key: string): Promise<void>
}

/** Whoever waits for an image in small: its workspace, and whether the client has disconnected. */
export type ImageWaiter = {
  readonly share: string
  readonly isDisconnected?: () => boolean
  /** Gets what is returned before the next one's turn, who finds it kept. */
  readonly keep?: (made: Uint8Array | 'unmakeable') => Promise<void>
}

/** Makes images smaller. */
export interface ImageScaler {
  /**
   * The image that `read` brings as WebP: upright, within a square of `side`, never enlarged, without metadata, of an animation
   * its first picture; `unmakeable` for what is broken or has too many pixels, and would be again. Undefined where there is
   * nothing that scales, where too much is asked at once, also by the same share, where whoever waits has disconnected before
   * its turn, and where `read`, which is called then, brings nothing; throws what `read` and `keep` throw.
   */
  scale(
    read: () => Promise<Uint8Array<ArrayBuffer> | undefined>,
    side: number,
    waiter: ImageWaiter,
  ): Promise<Uint8Array | 'unmakeable' | undefined>
}

export type FilePart = { readonly number: number; readonly size: number }

export type Ports = {
  /** The system database. */
  readonly database: SqlDriver
  /** The databases of data sources. */
  readonly databases: SqlDatabases
  /** Runs data connectors, and lists the installed ones. */
  readonly connectors: { readonly host: ConnectorHost; readonly catalog: ConnectorCatalog }
  readonly workspaces: WorkspaceState
  readonly clock: Clock
  readonly ids: Ids
  readonly tagOf: TagOf
  readonly passwords: Passwords
  readonly vault: Vault
  readonly providerGate: ProviderGate
  readonly observe: Observe
  readonly mailer: Mailer
  readonly background: Background
  readonly licensing: LicensingPorts
  readonly telemetry: TelemetryPort
  readonly transliterate: LoadTransliterate
  readonly files: FileStore
  readonly images: ImageScaler
}
