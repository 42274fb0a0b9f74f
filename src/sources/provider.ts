/**
 * What data sources are made by: the built-in SQL providers and, beside them, installed data connectors. The sources
 * service knows this interface and nothing of what is behind it.
 */
import type { Dialect } from '../core/sql/dialect.ts'
import type { Introspection } from '../core/sql/introspect.ts'
import type { SourceSchema } from '../core/sql/source-schema.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports.ts'
import type { Source } from './source.ts'

/**
 * A permission of a connector (docs/contract.md#connector-permissions): its target is `net:…`, its reason is for
 * whoever approves it.
 */
export type ConnectorPermission = { readonly permission: string; readonly reason: string }

/** What a source was created with, fixed from then on: its configuration and the grant. Never shown to anybody. */
export type SourceSetting = { readonly config: unknown; readonly permissions: readonly ConnectorPermission[] }

/** Whose source is opened. */
export type SourceRef = { readonly workspaceId: string; readonly id: string }

/** What somebody in a workspace tries out before there is a source of it. */
export type ConnectionTest = { readonly setting: SourceSetting; readonly workspaceId: string }

/** How a provider is shown to somebody who chooses one; display metadata only. */
export type Preset = { readonly id: string; readonly name: string; readonly hint?: string }

export type Availability = { readonly kind: 'available' } | { readonly kind: 'unavailable'; readonly reason: string }

export interface Provider {
  readonly id: string
  readonly name: string
  readonly origin: 'builtIn' | 'extension'
  readonly availability: Availability
  readonly presets: readonly Preset[]
  /** Those of the manifest; empty where a provider is built in. */
  readonly permissions: readonly ConnectorPermission[]
  /**
   * The complete set that a grant has to equal, found out under the grant that was sent. Throws ServiceError `invalid`
   * for a configuration that cannot be read, and whatever keeps the provider from starting.
   */
  requiredPermissions(test: ConnectionTest): Promise<readonly ConnectorPermission[]>
  /**
   * A fresh attempt to reach what the configuration names; throws ServiceError. Answers `none` where the provider has
   * no test of its own.
   */
  test(test: ConnectionTest): Promise<'passed' | 'none'>
  /**
   * What there is to import, in the form of docs/contract.md#what-a-connector-declares, by a fresh attempt; throws
   * ServiceError.
   */
  preview(test: ConnectionTest): Promise<unknown>
  /** Need not connect before it is asked for something; throws ServiceError. */
  open(setting: SourceSetting, place: SourceRef): Promise<OpenedSource>
}

export type OpenedSource = {
  readonly source: Source
  /** What there is to import; throws ServiceError. */
  readonly introspect: () => Promise<Imported>
  /** Where migrations run, throws ServiceError; undefined where a source has none. */
  readonly database: (() => Promise<SourceDatabase>) | undefined
  readonly close: () => Promise<void>
}

export type Imported = {
  readonly schema: SourceSchema
  /** Run in the transaction that saves the model; none where nothing has changed but the model. */
  readonly statements: readonly Statement[]
}

export type SourceDatabase = { readonly driver: SqlDriver; readonly dialect: Dialect; readonly catalog: Introspection }
