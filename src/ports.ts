/**
 * What the services need from the outside world. Each port has one adapter per platform and one contract suite in
 * test/contract that every adapter passes.
 */
import type { SqlParam, Statement } from './core/sql/statement.ts'

/** Milliseconds since the epoch. */
export type Instant = number

export type Clock = { readonly now: () => Instant }

/** New random UUIDs (version 7: they sort by time, so that primary keys are appended, not scattered). */
export type Ids = { readonly next: () => string }

/** Rows come back as arrays in column order; every value in the database's own text form. */
export type SqlRow = readonly SqlParam[]

/**
 * One database. Errors of the database are thrown as `SqlFault`.
 * There are no interactive transactions: some drivers are HTTP only (docs/decisions/002).
 */
export interface SqlDriver {
  /** Runs one statement and answers its rows. */
  query(statement: Statement): Promise<readonly SqlRow[]>
  /** Runs all statements in one transaction, in order: all or nothing. Answers the rows of each. */
  batch(statements: readonly Statement[]): Promise<readonly (readonly SqlRow[])[]>
  /** Ends every connection. Running statements are waited for. */
  close(): Promise<void>
}

/** What every request needs to know of its workspace; read from memory, at most `STATE_MAX_AGE` old. */
export type WorkspaceSnapshot = {
  /** Counts the migrations; a cached model of another version is stale. */
  readonly modelVersion: number
  /** Counts changes of members, roles, policies, keys and accounts of the whole instance. */
  readonly accessVersion: number
}

/** How old a snapshot may be, in milliseconds: contract 7 asks for 2 s on the model, contract 5 for 5 s on rights. */
export const STATE_MAX_AGE = 1_000

/** Turns taken in the system database, shared by every process and isolate of the instance. */
export interface WorkspaceState {
  /**
   * Runs `work` while no other holder runs for this workspace; waiters of one process are served in order of arrival.
   * `work` gets a fence number that is higher than that of every earlier holder. The lock is free again when `work`
   * ends, however it ends, and when its process dies. Throws ServiceError `unavailable` after waiting too long.
   */
  withMigrationLock<T>(workspaceId: string, work: (fence: number) => Promise<T>): Promise<T>
  /** The current versions, at most STATE_MAX_AGE old; undefined where there is no such workspace. */
  snapshot(workspaceId: string): Promise<WorkspaceSnapshot | undefined>
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
}

/** Everything worth telling an operator; the platform decides what to print or count. */
export type Observation =
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      readonly path: string
      readonly status: number
      readonly milliseconds: number
    }
  | { readonly kind: 'fault'; readonly requestId?: string; readonly error: unknown }
  | { readonly kind: 'warning'; readonly message: string }

export type Observe = (observation: Observation) => void

export type Ports = {
  /** The system database. */
  readonly database: SqlDriver
  readonly workspaces: WorkspaceState
  readonly clock: Clock
  readonly ids: Ids
  readonly passwords: Passwords
  readonly vault: Vault
  readonly observe: Observe
}
