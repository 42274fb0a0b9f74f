/**
 * The setting with which a data source was created. Finds its provider, inserts the values of secrets and checks its grant. A
 * setting is sealed and never returned.
 */

import { requireGrant } from '../../core/connector/handshake.ts'
import { secretNames, withSecrets } from '../../core/connector/secret-reference.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import { isObject } from '../../core/json-object.ts'
import type { SourceRecord } from '../../core/model/model.ts'
import { didYouMean } from '../../core/nearest.ts'
import { configFault, parseSqlTarget, type SqlProvider, sqlProviders } from '../../core/sql/address.ts'
import { type AwsRole, requireAwsRole } from '../../core/sql/aws-role.ts'
import { type Hyperdrive, requireHyperdrive } from '../../core/sql/hyperdrive.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ConnectionTest, Provider, SourceSetting } from '../../sources/provider.ts'
import { loadSecrets, secretPurpose } from '../../store/secrets.ts'
import { loadSealedSource } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'

/** `provider` is the id of a built-in provider or of an installed data connector. */
export type SourceInput = { readonly provider: string } & SourceSetting

/** A secret that is not saved yet. */
export type NewSecret = { readonly name: string; readonly value: string }

export type SourceSettings = {
  /** True for databases, which follow relations among their own tables; connectors serve one collection at a time. */
  isBuiltIn(providerId: string): boolean
  /**
   * Returns the provider and setting that an input is tested with. Throws 422 for a provider that is unknown or not available
   * here, for an unreadable configuration, and for a grant that is not the required one.
   */
  grant(workspace: WorkspaceRow, input: SourceInput): Promise<GrantedSetting>
  /** Returns the setting of a saved source. Throws 404 if the source is deleted, and 503 if its provider is not installed. */
  load(
    workspace: WorkspaceRow,
    record: SourceRecord,
    fresh?: NewSecret,
  ): Promise<{ readonly provider: Provider; readonly setting: SourceSetting }>
  /** Returns the public part of a saved source's setting. Throws 404 if the source is deleted. */
  outline(workspace: WorkspaceRow, record: SourceRecord): Promise<SettingOutline>
}

export type SettingOutline = {
  /** Host and port of a database, unless a secret contains them. */
  readonly host?: string
  readonly port?: number
  /** The hosts that were granted. */
  readonly permissions: SourceSetting['permissions']
  /** Names of the secrets that the configuration refers to. */
  readonly secrets: readonly string[]
}

export type GrantedSetting = {
  readonly provider: Provider
  /** The setting with the values of its secrets. */
  readonly attempt: ConnectionTest
  /** The setting as the client sent it, to be sealed. */
  readonly sealed: SourceSetting
  readonly secretIds: readonly string[]
}

export type SourceSettingsDeps = {
  readonly ports: Pick<Ports, 'database' | 'databases' | 'vault'>
  /** The current providers: connectors can be installed and removed at any time. */
  readonly providers: () => readonly Provider[]
  /** AWS roles that sources may use with the keys of this process. */
  readonly awsRoles: readonly AwsRole[]
  /** Hyperdrive bindings that sources may name. */
  readonly hyperdrives: readonly Hyperdrive[]
}

export function createSourceSettings(deps: SourceSettingsDeps): SourceSettings {
  const { ports, providers, awsRoles, hyperdrives } = deps
  const { database, databases, vault } = ports

  function providerOf(id: string): Provider {
    const provider = providers().find((one) => one.id === id)
    if (provider === undefined) {
      // Installed extensions are left out: listing them requires a separate entitlement.
      const builtIn = providers().filter(({ origin }) => origin === 'builtIn')
      const hint = didYouMean(
        id,
        builtIn.map((one) => one.id),
      )
      throw nested('invalid', [
        'Failed to read the JSON body',
        'provider',
        `is not a data connector that is installed${hint}`,
      ])
    }
    const { availability } = provider
    if (availability.kind === 'unavailable') {
      throw nested('invalid', ['The data connector is not available here', availability.reason])
    }
    return provider
  }

  /** Returns the setting with the values of its secrets; `fresh` is a secret that is not saved yet. */
  async function resolved(workspace: WorkspaceRow, provider: Provider, sealed: SourceSetting, fresh?: NewSecret) {
    const names = secretNames(sealed.config)
    const rows = names.length === 0 ? [] : await loadSecrets(database, workspace.id, names)
    const values = new Map<string, string>()
    for (const { name, sealed: text } of rows) {
      values.set(name, await vault.open(secretPurpose(workspace.id, name), text))
    }
    if (fresh !== undefined) values.set(fresh.name, fresh.value)
    const config = names.length === 0 ? sealed.config : withSecrets(sealed.config, values)
    if (provider.origin === 'builtIn') {
      const target = parseSqlTarget(provider.id as SqlProvider, config)
      const refusal = databases.refusal(target)
      if (refusal !== undefined) throw configFault(refusal.member, refusal.reason)
      requireHyperdrive(target, hyperdrives, workspace.apiName)
      requireAwsRole(target, awsRoles, workspace.apiName)
    }
    return { setting: { ...sealed, config }, secretIds: rows.map(({ id }) => id) }
  }

  async function stored(workspace: WorkspaceRow, id: string): Promise<SourceSetting> {
    const sealed = await loadSealedSource(database, { workspace: workspace.apiName, sourceId: id })
    if (sealed === undefined) throw new ServiceError('notFound', 'Source does not exist')
    return parseJson(await vault.open(sourcePurpose(id), sealed)) as SourceSetting
  }

  return {
    isBuiltIn: (providerId) => providers().some(({ id, origin }) => id === providerId && origin === 'builtIn'),

    async grant(workspace, { provider: id, ...sealed }) {
      const provider = providerOf(id)
      const { setting, secretIds } = await resolved(workspace, provider, sealed)
      const attempt = { setting, workspaceId: workspace.id }
      requireGrant(setting.permissions, await provider.requiredPermissions(attempt))
      return { provider, attempt, sealed, secretIds }
    },

    async load(workspace, { id, provider }, fresh) {
      const setting = await stored(workspace, id)
      if (providers().every((one) => one.id !== provider)) throw uninstalled()
      const one = providerOf(provider)
      return { provider: one, ...(await resolved(workspace, one, setting, fresh)) }
    },

    async outline(workspace, { id, provider }) {
      const { config, permissions } = await stored(workspace, id)
      return { ...placeOf(provider, config), permissions, secrets: secretNames(config) }
    },
  }
}

/** The host and port that a configuration contains in plain text; those in secrets are not read. */
function placeOf(provider: string, config: unknown): Pick<SettingOutline, 'host' | 'port'> {
  const known = sqlProviders.find((name) => name === provider)
  if (known === undefined || !isObject(config)) return {}
  const { connectionString, host, port } = config
  const account = { database: '-', user: '-', password: '-' }
  const parts = { host, ...(port !== undefined && { port }), ...account }
  if (typeof connectionString !== 'string' && typeof host !== 'string') return {}
  if (typeof connectionString !== 'string' && isObject(port)) return { host: String(host) }
  const target = parseSqlTarget(known, typeof connectionString === 'string' ? { connectionString } : parts)
  return 'host' in target ? { host: target.host, port: target.port } : {}
}

/** The purpose that binds sealed settings to one source. */
export function sourcePurpose(sourceId: string): string {
  return `source:${sourceId}`
}

/** The error of a source whose extension is not installed. */
function uninstalled(): ServiceError {
  return new ServiceError('unavailable', 'Data source is deactivated')
}
