/**
 * Data sources (docs/contract.md#data-sources): creates, tests, previews and deletes them, and opens them for reads,
 * writes, migrations and introspection. The setting of a source is sealed, immutable and never returned.
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import { isStartFailure } from '../../core/connector/activity.ts'
import { noConnectionTest, requireGrant } from '../../core/connector/handshake.ts'
import { secretNames, withSecrets } from '../../core/connector/secret-reference.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { withoutSource } from '../../core/migration/remove-source.ts'
import { isSystemSource, type Model, type SourceRecord } from '../../core/model/model.ts'
import { didYouMean } from '../../core/nearest.ts'
import { parseSqlAddress, type SqlProvider } from '../../core/sql/address.ts'
import { type AwsRole, requireAwsRole } from '../../core/sql/aws-role.ts'
import type { BrokenExtension, Ports } from '../../ports.ts'
import { withCrossSourceRelations } from '../../sources/cross-source.ts'
import { lazySource } from '../../sources/lazy-source.ts'
import type { ConnectorPermission, OpenedSource, Provider, SourceSetting } from '../../sources/provider.ts'
import type { Source } from '../../sources/source.ts'
import { dropCapabilities } from '../../store/capabilities.ts'
import { bindSecrets, loadSecrets, secretPurpose, secretsRevision, unbindSecrets } from '../../store/secrets.ts'
import { loadSealedSource, sealSource, unmarkSource } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import { isAdministrator, type RequestScope } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { LazyBody } from '../caller/directory.ts'
import type { ModelChanges } from './model-changes.ts'
import { firstUse, stillUnused } from './policy-use.ts'

/** `provider` is the id of a built-in provider or of an installed data connector. */
export type SourceInput = { readonly provider: string } & SourceSetting
export type NewSource = SourceInput & { readonly apiName: string }

/** Bodies are parsed only after authorization. */
export type Sources = {
  /**
   * Creates a source after testing it. Requires dataSource:create (403); throws 409 for a name that is taken, 422 for
   * an invalid configuration, and the error of a failed test.
   */
  create(scope: RequestScope, sent: LazyBody<NewSource>): Promise<{ readonly id: string }>
  /** Throws where the test fails, and 422 with code 7002 where the provider has none. */
  test(scope: RequestScope, sent: LazyBody<SourceInput>): Promise<void>
  /** Returns the schema that the provider reports, with its hash; saves nothing. */
  preview(
    scope: RequestScope,
    sent: LazyBody<SourceInput>,
  ): Promise<{ readonly schema: unknown; readonly hash: string }>
  /**
   * Lists every provider of this instance, including those that this platform cannot run. Unusable extensions are shown
   * to administrators of the instance, who install them.
   */
  connectors(scope: RequestScope): {
    readonly listed: readonly ListedConnector[]
    readonly broken: readonly BrokenExtension[]
  }
  /** Deletes the source and the model of its collections; its data is not touched. */
  delete(scope: RequestScope, id: string): Promise<void>

  /** Opens the source of a record; this process keeps it open until the source is deleted. */
  open(workspace: WorkspaceRow, record: SourceRecord): Promise<OpenedSource>
  /** Opens the source of a model; sources that the model no longer has are closed. */
  sourceOf(workspace: WorkspaceRow, model: Model, sourceId: string): Source
  /** Tests a source with a new value of a secret that it uses; throws ServiceError. */
  testWith(workspace: WorkspaceRow, record: SourceRecord, secret: NewSecret): Promise<void>
  /** Closes these sources, so that the next use opens them again. */
  reopen(workspaceId: string, sourceIds: ReadonlySet<string>): Promise<void>
  /** Closes the sources of a deleted workspace after running statements end. */
  forget(workspaceId: string): Promise<void>
  /** Closes all sources. */
  close(): Promise<void>
}

export type NewSecret = { readonly name: string; readonly value: string }

export type ListedConnector = {
  readonly id: string
  readonly name: string
  readonly type: 'data-connector'
  readonly origin: Provider['origin']
  readonly isAvailable: boolean
  readonly unavailableReason: string | null
  readonly permissions: readonly ConnectorPermission[]
  readonly presets: Provider['presets']
}

type Deps = {
  readonly ports: Ports
  readonly models: ModelChanges
  /** The source of every workspace in the system database. */
  readonly system: OpenedSource
  /** The current providers: connectors can be installed and removed at any time. */
  readonly providers: () => readonly Provider[]
  /** AWS roles that sources may use with the keys of this process. */
  readonly awsRoles: readonly AwsRole[]
}

export function createSources({ ports, models, system, providers, awsRoles }: Deps): Sources {
  const { database, ids, vault } = ports
  /**
   * By workspace, then by source. Only opened sources are kept: on Workers no request may wait for the I/O of another.
   */
  const opened = new Map<string, OpenedOfWorkspace>()

  function providerOf(id: string): Provider {
    const provider = providers().find((one) => one.id === id)
    if (provider === undefined) {
      // Installed extensions are left out: listing them requires a separate entitlement.
      const builtIn = providers().filter(({ origin }) => origin === 'builtIn')
      const meant = didYouMean(
        id,
        builtIn.map((one) => one.id),
      )
      throw nested('invalid', [
        'Failed to read the JSON body',
        'provider',
        `is not a data connector that is installed${meant}`,
      ])
    }
    const { availability } = provider
    if (availability.kind === 'unavailable') {
      throw nested('invalid', ['The data connector is not available here', availability.reason])
    }
    return provider
  }

  /** Databases follow relations among their own tables; connectors serve one collection at a time. */
  function isBuiltIn(id: string): boolean {
    return providers().some((one) => one.id === id && one.origin === 'builtIn')
  }

  /** Returns the provider of the input after checking the permission grant. */
  async function granted(workspace: WorkspaceRow, { provider: id, ...sealed }: SourceInput) {
    const provider = providerOf(id)
    const { setting, secretIds } = await resolved(workspace, provider, sealed)
    const attempt = { setting, workspaceId: workspace.id }
    requireGrant(setting.permissions, await provider.requiredPermissions(attempt))
    return { provider, attempt, sealed, secretIds }
  }

  /** The setting with the values of its secrets; `fresh` is one that is not saved yet. */
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
      requireAwsRole(parseSqlAddress(provider.id as SqlProvider, config), awsRoles, workspace.apiName)
    }
    return { setting: { ...sealed, config }, secretIds: rows.map(({ id }) => id) }
  }

  async function loadSetting(workspace: WorkspaceRow, { id, provider }: SourceRecord, fresh?: NewSecret) {
    const sealed = await loadSealedSource(database, { workspace: workspace.apiName, sourceId: id })
    if (sealed === undefined) throw new ServiceError('notFound', 'Source does not exist')
    const setting = JSON.parse(await vault.open(sourcePurpose(id), sealed)) as SourceSetting
    if (providers().every((one) => one.id !== provider)) throw uninstalled()
    const one = providerOf(provider)
    return { provider: one, ...(await resolved(workspace, one, setting, fresh)) }
  }

  async function openSealed(workspace: WorkspaceRow, record: SourceRecord, version: number): Promise<KeptSource> {
    // Read before the values, so that a concurrent change is found by the next check.
    const mark = await secretsRevision(database, record.id)
    const { provider, setting } = await loadSetting(workspace, record)
    const source = await provider.open(setting, { workspaceId: workspace.id, id: record.id })
    return { ...source, secrets: mark === '' ? undefined : { mark, version } }
  }

  /** Returns true if a secret of the source was written since it was opened; checked once per version. */
  async function isOutdated({ secrets }: KeptSource, sourceId: string, version: number | 'any'): Promise<boolean> {
    if (secrets === undefined || (version !== 'any' && secrets.version >= version)) return false
    if ((await secretsRevision(database, sourceId)) !== secrets.mark) return true
    if (version !== 'any') secrets.version = version
    return false
  }

  /** Reads use the opened source as it is; migrations and introspections check its secrets again. */
  async function open(workspace: WorkspaceRow, record: SourceRecord, look = true): Promise<OpenedSource> {
    if (isSystemSource(record)) return system
    const ofWorkspace = opened.get(workspace.id) ?? { version: 0, sources: new Map<string, KeptSource>() }
    opened.set(workspace.id, ofWorkspace)
    const known = ofWorkspace.sources.get(record.id)
    if (known !== undefined) {
      const isOld = await isOutdated(known, record.id, look ? 'any' : ofWorkspace.version)
      if (!isOld) return known
      if (ofWorkspace.sources.get(record.id) === known) {
        ofWorkspace.sources.delete(record.id)
        known.close().catch((error: unknown) => ports.observe({ kind: 'fault', error }))
      }
    }
    const fresh = await openSealed(workspace, record, ofWorkspace.version)
    if (opened.get(workspace.id) !== ofWorkspace) {
      await fresh.close()
      throw new ServiceError('notFound', 'Source does not exist')
    }
    // Another request may have opened it first.
    const winner = ofWorkspace.sources.get(record.id)
    if (winner === undefined) ofWorkspace.sources.set(record.id, fresh)
    else await fresh.close()
    return winner ?? fresh
  }

  /** Closes sources that a newer model no longer has. */
  function forgetDeleted(workspaceId: string, model: Model): void {
    const ofWorkspace = opened.get(workspaceId)
    if (ofWorkspace === undefined || ofWorkspace.version >= model.version) return
    ofWorkspace.version = model.version
    for (const [id, source] of ofWorkspace.sources) {
      if (model.sources.has(id)) continue
      ofWorkspace.sources.delete(id)
      source.close().catch((error: unknown) => ports.observe({ kind: 'fault', error }))
    }
  }

  return {
    async create(scope, sent) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataSource:create')
      const { apiName, ...input } = await sent()
      const { provider, attempt, sealed: asSent, secretIds } = await granted(workspace, input)
      await withMessage(UNTESTED, provider.test(attempt))
      const id = ids.next()
      const sealed = await vault.seal(sourcePurpose(id), JSON.stringify(asSent))
      await models.change(workspace, async (current) => {
        if (current.sources.some((source) => source.apiName === apiName)) {
          throw new ServiceError('conflict', 'A data source of this name already exists')
        }
        const payload = { apiName, provider: provider.id }
        return {
          records: { ...current, sources: [...current.sources, { id, apiName, provider: provider.id }] },
          statements: [
            sealSource({ workspace: workspace.apiName, sourceId: id }, sealed),
            ...(secretIds.length === 0 ? [] : [bindSecrets({ workspaceId: workspace.id, sourceId: id }, secretIds)]),
            recordWorkspaceEvent(ids, scope, { action: 'source.create.v1', target: { type: 'source', id }, payload }),
          ],
          answer: undefined,
        }
      })
      return { id }
    },

    async test({ workspace, rights }, sent) {
      requireEntitlement(rights, 'dataSource:create')
      const { provider, attempt } = await untested(granted(workspace, await sent()))
      if ((await untested(withMessage(UNTESTED, provider.test(attempt)))) === 'none') throw noConnectionTest()
    },

    async preview({ workspace, rights }, sent) {
      requireEntitlement(rights, 'dataSource:create')
      const { provider, attempt } = await granted(workspace, await sent())
      const schema = await withMessage('Query failed', provider.preview(attempt))
      return { schema, hash: await sha256Hex(JSON.stringify(schema)) }
    },

    connectors({ rights, caller }) {
      requireEntitlement(rights, 'extension:read')
      const broken = isAdministrator(caller) ? ports.connectors.catalog.broken() : []
      const listed = providers().map(
        ({ id, name, origin, availability, permissions, presets }): ListedConnector => ({
          id,
          name,
          type: 'data-connector',
          origin,
          isAvailable: availability.kind === 'available',
          unavailableReason: availability.kind === 'available' ? null : availability.reason,
          permissions,
          presets,
        }),
      )
      return { listed, broken }
    },

    async delete(scope, id) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataSource:delete')
      await models.change(workspace, async (current) => {
        const record = current.sources.find((source) => source.id === id)
        if (record === undefined) throw new ServiceError('notFound', 'Source does not exist')
        const { apiName, provider } = record
        if (isSystemSource(record)) throw inUse('it is the workspace’s own')
        const records = withoutSource(current, id)
        const use = await firstUse(database, workspace.id, current, records)
        if (use !== undefined) throw inUse(use)
        const payload = { apiName, provider }
        return {
          records,
          statements: [
            ...stillUnused(workspace.id, current, records),
            unmarkSource(id),
            unbindSecrets(id),
            dropCapabilities({ workspaceId: workspace.id, sourceId: id }),
            recordWorkspaceEvent(ids, scope, { action: 'source.delete.v1', target: { type: 'source', id }, payload }),
          ],
          answer: undefined,
        }
      })
      const sources = opened.get(workspace.id)?.sources
      const gone = sources?.get(id)
      sources?.delete(id)
      await gone?.close()
    },

    open: (workspace, record) => open(workspace, record),

    sourceOf(workspace, model, sourceId) {
      forgetDeleted(workspace.id, model)
      const record = model.sources.get(sourceId)
      if (record === undefined) throw new Error(`the model refers to the source ${sourceId}, which it does not have`)
      if (model.sources.size === 1) return system.source
      return withCrossSourceRelations(model, (one) => ({
        followsRelations: isSystemSource(one) || isBuiltIn(one.provider),
        source: isSystemSource(one)
          ? system.source
          : lazySource(async () => (await open(workspace, one, false)).source),
      }))(record.id)
    },

    async testWith(workspace, record, secret) {
      const { provider, setting } = await loadSetting(workspace, record, secret)
      await untested(withMessage(UNTESTED, provider.test({ setting, workspaceId: workspace.id })))
    },

    async reopen(workspaceId, sourceIds) {
      const sources = opened.get(workspaceId)?.sources
      for (const id of sourceIds) {
        const old = sources?.get(id)
        sources?.delete(id)
        await old?.close()
      }
    },

    async forget(workspaceId) {
      const sources = opened.get(workspaceId)?.sources.values() ?? []
      opened.delete(workspaceId)
      await Promise.all(Array.from(sources, (source) => source.close()))
    },

    async close() {
      const all = [...opened.values()].flatMap(({ sources }) => [...sources.values()])
      opened.clear()
      await Promise.allSettled(all.map((source) => source.close()))
    },
  }
}

/** An opened source, and the revision of the secrets it was opened with; undefined without secrets. */
type KeptSource = OpenedSource & { readonly secrets: { readonly mark: string; version: number } | undefined }

type OpenedOfWorkspace = { version: number; readonly sources: Map<string, KeptSource> }

/** The purpose that binds sealed settings to one source. */
export function sourcePurpose(sourceId: string): string {
  return `source:${sourceId}`
}

function inUse(reason: string): ServiceError {
  return nested('conflict', ['The data source cannot be deleted', reason])
}

/** The error of a source whose extension is not installed. */
function uninstalled(): ServiceError {
  return new ServiceError('unavailable', 'Data source is deactivated')
}

const UNTESTED = 'Failed to connect to data source with the provided configuration'

/**
 * Adds an outer message to errors of testing a source; failed starts keep their own (docs/contract.md#failed-starts).
 */
export async function withMessage<T>(message: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof ServiceError) || isStartFailure(cause)) throw cause
    throw new ServiceError(cause.kind, message, { cause })
  }
}

/** On the test route failed starts get the route's message as well. */
async function untested<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw cause instanceof ServiceError ? asUntested(cause) : cause
  }
}

function asUntested(error: ServiceError): ServiceError {
  if (!isStartFailure(error) || !(error.cause instanceof ServiceError)) return error
  return new ServiceError(error.kind, UNTESTED, { cause: error.cause })
}
