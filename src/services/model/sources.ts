/**
 * The use cases of data sources (docs/contract.md#data-sources): creates, tests, previews and deletes them. `open-sources.ts`
 * opens them; `source-settings.ts` holds their settings.
 */
import { gone } from '../../core/access/gone.ts'
import { type Rights, requireEntitlement } from '../../core/access/principal.ts'
import type { AuditAction } from '../../core/audit.ts'
import { noConnectionTest } from '../../core/connector/handshake.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { isObject } from '../../core/json-object.ts'
import { withoutSource } from '../../core/migration/remove-source.ts'
import { isSystemSource, type SourceRecord } from '../../core/model/model.ts'
import { parseSqlTarget, type SqlProvider } from '../../core/sql/address.ts'
import type { BrokenExtension } from '../../ports/connectors.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ConnectorPermission, Provider } from '../../sources/provider.ts'
import { dropCapabilities } from '../../store/capabilities.ts'
import { forgetDrift } from '../../store/drift.ts'
import { bindSecrets, unbindSecrets } from '../../store/secrets.ts'
import { forgetPlace } from '../../store/source-places.ts'
import { sealSource, unmarkSource } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import { type Caller, isAdministrator, isAdministratorIn } from '../caller/caller.ts'
import { callerNow, type RequestScope, requireStill } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { LazyBody } from '../caller/directory.ts'
import { queuedFor } from '../caller/queued-requests.ts'
import type { WorkQueue } from '../caller/work-queue.ts'
import type { ModelChanges } from './model-changes.ts'
import type { OpenSources } from './open-sources.ts'
import { firstUse, stillUnused } from './policy-use.ts'
import { UNTESTED, untested, withMessage } from './source-errors.ts'
import {
  type GrantedSetting,
  type NewSecret,
  type SettingOutline,
  type SourceInput,
  type SourceSettings,
  sourcePurpose,
} from './source-settings.ts'

export type NewSource = SourceInput & { readonly apiName: string }

export type ChangedSource = { readonly config: SourceInput['config'] }

/** Bodies are parsed only after authorization. */
export type Sources = {
  /**
   * Creates a source after testing it. Requires dataSource:create (403); throws 409 for a name that is taken, 422 for
   * an invalid configuration, and the error of a failed test.
   */
  create(scope: RequestScope, sent: LazyBody<NewSource>): Promise<{ readonly id: string }>
  /** Tests an input. Throws if the test fails, and 422 with code 7002 if the provider has no test. */
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
  /** Returns the public part of a source. Requires dataSource:create (403), because the answer names its secrets and hosts. */
  read(scope: RequestScope, id: string): Promise<ReadSource>
  /**
   * Gives a source another configuration after testing it; its grant stays. Requires dataSource:create and an administrator of
   * the workspace or the instance (403), because the chosen database receives all writes. Throws 409 for the workspace's own
   * source, and otherwise what `create` throws.
   */
  change(scope: RequestScope, id: string, sent: LazyBody<ChangedSource>): Promise<void>
  /** Deletes the source and the model of its collections; its data is not touched. */
  delete(scope: RequestScope, id: string): Promise<void>
  /** Tests a source with a new value of a secret that it uses; throws ServiceError. */
  testWith(workspace: WorkspaceRow, record: SourceRecord, secret: NewSecret): Promise<void>
}

export type ReadSource = Pick<SourceRecord, 'id' | 'apiName' | 'provider'> &
  SettingOutline & {
    /** True if the caller may give the source another configuration. */
    readonly mayChange: boolean
  }

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

export type SourcesDeps = {
  readonly ports: Pick<Ports, 'database' | 'ids' | 'vault' | 'connectors'>
  readonly models: ModelChanges
  readonly settings: SourceSettings
  readonly openSources: Pick<OpenSources, 'closeSources'>
  readonly queue: WorkQueue
  readonly providers: () => readonly Provider[]
}

export function createSources(deps: SourcesDeps): Sources {
  const { ports, models, settings, openSources, queue, providers } = deps
  const { database, ids, vault } = ports

  /**
   * Records a connection attempt and its outcome in the audit log, its only trace. Each account runs one attempt at a time: the
   * target may never answer, and a connector takes one of its workspace's few processes meanwhile.
   */
  function onRecord<T>(
    scope: RequestScope,
    { action, payload, isOfFailures = false }: Attempted,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const record = (outcome: { readonly outcome?: 'failure' }) =>
      database.batch([recordWorkspaceEvent(ids, scope, { action, payload, ...outcome })])
    const { id, ...by } = queuedFor(scope)
    return queue.run({ id: `attempt ${id}`, ...by, isLarge: false }, async () => {
      const answer = await attempt().catch(async (cause: unknown) => {
        await record({ outcome: 'failure' })
        throw cause
      })
      if (!isOfFailures) await record({})
      return answer
    })
  }

  /** Queues a preview only after its database answered a test. */
  async function previewQueued(scope: RequestScope, { provider, attempt }: GrantedSetting): Promise<unknown> {
    if (provider.origin !== 'builtIn') return provider.preview(attempt)
    await provider.test(attempt)
    return queue.run({ ...queuedFor(scope), isLarge: true }, () => provider.preview(attempt))
  }

  return {
    async create(scope, sent) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataSource:create')
      const { apiName, ...input } = await sent()
      const granted = await settings.grant(workspace, input)
      const { provider, attempt, sealed: asSent, secretIds } = granted
      const failed = { ...attempted('source.create.v1', granted, { apiName }), isOfFailures: true }
      await onRecord(scope, failed, () => withMessage(UNTESTED, provider.test(attempt)))
      const id = ids.next()
      const sealed = await vault.seal(sourcePurpose(id), JSON.stringify(asSent))
      await models.change(scope, 'dataSource:create', async ({ records: current }) => {
        if (current.sources.some((source) => source.apiName === apiName)) {
          throw new ServiceError('conflict', 'A data source of this name already exists')
        }
        const payload = { apiName, provider: provider.id }
        return {
          records: { ...current, sources: [...current.sources, { id, apiName, provider: provider.id }] },
          statements: [
            sealSource({ workspace: workspace.apiName, sourceId: id }, sealed),
            bindSecrets({ workspaceId: workspace.id, sourceId: id }, secretIds),
            recordWorkspaceEvent(ids, scope, { action: 'source.create.v1', target: { type: 'source', id }, payload }),
          ],
          answer: undefined,
        }
      })
      return { id }
    },

    async test(scope, sent) {
      requireEntitlement(scope.rights, 'dataSource:create')
      const granted = await untested(settings.grant(scope.workspace, await sent()))
      const { provider, attempt } = granted
      const tested = await onRecord(scope, attempted('source.test.v1', granted), () =>
        untested(withMessage(UNTESTED, provider.test(attempt))),
      )
      if (tested === 'none') throw noConnectionTest()
    },

    async preview(scope, sent) {
      requireEntitlement(scope.rights, 'dataSource:create')
      const granted = await settings.grant(scope.workspace, await sent())
      const schema = await onRecord(scope, attempted('source.preview.v1', granted), () =>
        withMessage('Query failed', previewQueued(scope, granted)),
      )
      await requireStill(scope, 'dataSource:create')
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

    async read({ workspace, caller, rights }, id) {
      requireEntitlement(rights, 'dataSource:create')
      const record = recordIn((await models.current(workspace)).records.sources, id)
      const { apiName, provider } = record
      const outline = isSystemSource(record)
        ? { permissions: [], secrets: [] }
        : await settings.outline(workspace, record)
      const mayChange = !isSystemSource(record) && isAdministratorIn(caller, rights)
      return { id, apiName, provider, ...outline, mayChange }
    },

    async change(scope, id, sent) {
      const { workspace, caller, rights } = scope
      requireEntitlement(rights, 'dataSource:create')
      requireChooser(caller, rights)
      const { config } = await sent()
      const record = recordIn((await models.current(workspace)).records.sources, id)
      if (isSystemSource(record)) throw nested('conflict', ['The data source cannot be changed', OWN])
      const { apiName, provider } = record
      const { permissions } = await settings.outline(workspace, record)
      const granted = await settings.grant(workspace, { provider, config, permissions })
      const { action, payload } = attempted('source.update.v1', granted, { apiName })
      await onRecord(scope, { action, payload, isOfFailures: true }, () =>
        untested(withMessage(UNTESTED, granted.provider.test(granted.attempt))),
      )
      const sealed = await vault.seal(sourcePurpose(id), JSON.stringify(granted.sealed))
      // A new version of the model makes every process check the settings of its open sources.
      await models.change(scope, 'dataSource:create', async ({ records }, { rights }) => {
        requireChooser(await callerNow(database, caller), rights)
        recordIn(records.sources, id)
        return {
          records,
          statements: [
            sealSource({ workspace: workspace.apiName, sourceId: id }, sealed),
            unbindSecrets(id),
            bindSecrets({ workspaceId: workspace.id, sourceId: id }, granted.secretIds),
            recordWorkspaceEvent(ids, scope, { action, target: { type: 'source', id }, payload }),
          ],
          answer: undefined,
        }
      })
      await openSources.closeSources(workspace.id, [id])
    },

    async delete(scope, id) {
      const { workspace } = scope
      requireEntitlement(scope.rights, 'dataSource:delete')
      await models.change(scope, 'dataSource:delete', async ({ records: current }, { rights }) => {
        const record = recordIn(current.sources, id)
        const { apiName, provider } = record
        if (isSystemSource(record)) throw inUse(OWN)
        const records = withoutSource(current, id)
        const lost = gone({ before: current, after: records })
        const use = await firstUse(database, workspace.id, { lost, rights })
        if (use !== undefined) throw inUse(use)
        const payload = { apiName, provider }
        return {
          records,
          statements: [
            ...stillUnused(workspace.id, { lost }),
            unmarkSource(id),
            forgetDrift(id),
            forgetPlace(id),
            unbindSecrets(id),
            dropCapabilities({ workspaceId: workspace.id, sourceId: id }),
            recordWorkspaceEvent(ids, scope, { action: 'source.delete.v1', target: { type: 'source', id }, payload }),
          ],
          answer: undefined,
        }
      })
      await openSources.closeSources(workspace.id, [id])
    },

    async testWith(workspace, record, secret) {
      const { provider, setting } = await settings.load(workspace, record, secret)
      await untested(withMessage(UNTESTED, provider.test({ setting, workspaceId: workspace.id })))
    },
  }
}

function requireChooser(caller: Caller, rights: Rights): void {
  if (isAdministratorIn(caller, rights)) return
  throw new ServiceError(
    'forbidden',
    'Only Administrators of the workspace or of the instance choose where a data source leads',
  )
}

const OWN = 'it is the workspace’s own'

/** Throws 404 for an unknown source. */
function recordIn(sources: readonly SourceRecord[], id: string): SourceRecord {
  const record = sources.find((source) => source.id === id)
  if (record === undefined) throw new ServiceError('notFound', 'Source does not exist')
  return record
}

type Attempted = {
  readonly action: AuditAction
  readonly payload: Readonly<Record<string, unknown>>
  /** True if a success is recorded elsewhere. */
  readonly isOfFailures?: boolean
}

/** The audit payload of an attempt: a database's host, unless a secret contains it, or the permissions of a connector. */
function attempted(
  action: AuditAction,
  { provider, attempt, sealed }: GrantedSetting,
  named: Pick<NewSource, 'apiName'> | undefined = undefined,
): Attempted {
  const { config, permissions } = sealed
  const isSent = isObject(config) && [config.host, config.connectionString].some((one) => typeof one === 'string')
  const target =
    provider.origin === 'builtIn' && isSent
      ? parseSqlTarget(provider.id as SqlProvider, attempt.setting.config)
      : undefined
  const place = target === undefined || !('host' in target) ? {} : { host: target.host, port: target.port }
  const granted = permissions.length === 0 ? {} : { permissions: permissions.map(({ permission }) => permission) }
  return { action, payload: { ...named, provider: provider.id, ...place, ...granted } }
}

function inUse(reason: string): ServiceError {
  return nested('conflict', ['The data source cannot be deleted', reason])
}
