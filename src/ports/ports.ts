/**
 * All interfaces between the services and their environment. Each port has one adapter per platform and one contract suite
 * in test/ports that every adapter passes.
 */
import type { Eventual } from '../core/and-then.ts'
import type { Mailer, Passwords, ProviderGate, Vault } from './accounts.ts'
import type { Clock } from './clock.ts'
import type { ConnectorCatalog, ConnectorHost } from './connectors.ts'
import type { SqlDatabases, SqlDriver } from './database.ts'
import type { FileStore, ImageScaler } from './files.ts'
import type { LicensingPorts, TelemetryPort } from './licensing.ts'
import type { Observe } from './observe.ts'
import type { WorkspaceState } from './workspace-state.ts'

/** Generates random UUIDs. They are version 7, which sorts by time, so that inserts append to the primary key index. */
export type Ids = { readonly next: () => string }

/**
 * Returns the entity tag of a text: the first 22 characters of its SHA-256 in base64url. At once where the platform can.
 */
export type TagOf = (text: string) => Eventual<string>

/** Runs work after the response, whose time then does not show whether a mail was sent. Failures are observed. */
export type Background = (work: Promise<unknown>) => void

/** Loads the function that transliterates text to ASCII letters; only introspection needs it. */
export type LoadTransliterate = () => Promise<(text: string) => string>

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
