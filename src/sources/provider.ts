/**
 * The interface of providers, which create data sources: the built-in SQL databases and installed data connectors. The
 * sources service knows only this interface.
 */
import type { SqlPlace } from '../core/sql/address.ts'
import type { Dialect } from '../core/sql/dialect.ts'
import type { Introspection } from '../core/sql/introspect.ts'
import type { SourceSchema } from '../core/sql/source-schema.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { Source } from './source.ts'

/**
 * A permission of a connector (docs/contract.md#connector-permissions): a target `net:…`, and the reason for the user
 * who approves it.
 */
export type ConnectorPermission = { readonly permission: string; readonly reason: string }

/** The configuration and the grant of a source, fixed at its creation. Never shown to anyone. */
export type SourceSetting = { readonly config: unknown; readonly permissions: readonly ConnectorPermission[] }

/** Identifies a data source. */
export type SourceRef = { readonly workspaceId: string; readonly id: string }

/** A setting to try in a workspace before a source is created. */
export type ConnectionTest = { readonly setting: SourceSetting; readonly workspaceId: string }

/** Display metadata for choosing a provider. */
export type Preset = { readonly id: string; readonly name: string; readonly hint?: string }

export type Availability = { readonly kind: 'available' } | { readonly kind: 'unavailable'; readonly reason: string }

export interface Provider {
  readonly id: string
  readonly name: string
  readonly origin: 'builtIn' | 'extension'
  readonly availability: Availability
  readonly presets: readonly Preset[]
  /** The permissions of the manifest; empty for built-in providers. */
  readonly permissions: readonly ConnectorPermission[]
  /**
   * Returns the exact set of permissions that a grant must equal, determined under the grant that was sent. Throws
   * ServiceError `invalid` for an unreadable configuration, and any error that keeps the provider from starting.
   */
  requiredPermissions(test: ConnectionTest): Promise<readonly ConnectorPermission[]>
  /** Connects anew to the configured system; throws ServiceError. Returns `none` if the provider has no test. */
  test(test: ConnectionTest): Promise<'passed' | 'none'>
  /**
   * Returns the importable schema, in the form of docs/contract.md#what-a-connector-declares, over a new connection;
   * throws ServiceError.
   */
  preview(test: ConnectionTest): Promise<unknown>
  /** May defer connecting until the first use; throws ServiceError. */
  open(setting: SourceSetting, place: SourceRef): Promise<OpenedSource>
}

export type OpenedSource = {
  readonly source: Source
  /** Returns the importable schema; throws ServiceError. */
  readonly introspect: () => Promise<Imported>
  /** Like `introspect`, but changes nothing in the source. */
  readonly look: () => Promise<SourceSchema>
  /**
   * Returns a text that differs whenever `introspect` would return another schema; throws ServiceError. With depth `catalog` it
   * is one query of the catalog. Undefined if the source has no catalog.
   */
  readonly digest: ((depth: DigestDepth) => Promise<string>) | undefined
  /** Returns the database to migrate, throws ServiceError; undefined if the source cannot be migrated. */
  readonly database: (() => Promise<SourceDatabase>) | undefined
  readonly close: () => Promise<void>
}

/** `catalog` excludes what an import derives from rows. */
export type DigestDepth = 'all' | 'catalog'

export type Imported = {
  readonly schema: SourceSchema
  /** The result of `digest` with depth `all` at the moment of the import. */
  readonly digest: string | undefined
  /** Statements for the transaction that saves the model; empty if only the model changed. */
  readonly statements: readonly Statement[]
}

export type SourceDatabase = {
  readonly driver: SqlDriver
  readonly dialect: Dialect
  readonly catalog: Introspection
  /** The configured address of the source; undefined for the system database. */
  readonly place?: SqlPlace
}
