/**
 * The opened sources of this process: opens them for reads, writes, migrations and introspection, keeps them open, and closes
 * them when the sources, their configurations or their secrets change.
 */
import { ServiceError } from '../../core/error.ts'
import { isSystemSource, type Model, type SourceRecord } from '../../core/model/model.ts'
import type { Ports } from '../../ports/ports.ts'
import { withCrossSourceRelations } from '../../sources/cross-source.ts'
import { lazySource } from '../../sources/lazy-source.ts'
import type { OpenedSource } from '../../sources/provider.ts'
import type { Source } from '../../sources/source.ts'
import { settingRevision } from '../../store/secrets.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { SourceSettings } from './source-settings.ts'

export type OpenSources = {
  /** Opens the source of a record; this process keeps it open until the source is deleted. */
  open(workspace: WorkspaceRow, record: SourceRecord): Promise<OpenedSource>
  /** Opens the source of a model; sources that the model no longer has are closed. */
  sourceOf(workspace: WorkspaceRow, model: Model, sourceId: string): Source
  /** Closes these sources of a workspace, so that the next use opens them again. */
  closeSources(workspaceId: string, sourceIds: Iterable<string>): Promise<void>
  /** Closes the sources of a deleted workspace after running statements end. */
  forget(workspaceId: string): Promise<void>
  /** Closes all sources. */
  close(): Promise<void>
}

export type OpenSourcesDeps = {
  readonly ports: Pick<Ports, 'database' | 'observe'>
  readonly settings: Pick<SourceSettings, 'isBuiltIn' | 'load'>
  /** Opens the source of a workspace in the system database, which the entry point closes. */
  readonly openSystem: (workspace: WorkspaceRow) => OpenedSource
}

export function createOpenSources(deps: OpenSourcesDeps): OpenSources {
  const { ports, settings, openSystem } = deps
  const { database, observe } = ports
  /**
   * By workspace, then by source. Only opened sources are kept: on Workers no request may wait for the I/O of another.
   */
  const opened = new Map<string, OpenedOfWorkspace>()
  const systems = new Map<string, OpenedSource>()

  function systemOf(workspace: WorkspaceRow): OpenedSource {
    const known = systems.get(workspace.id)
    if (known !== undefined) return known
    const system = openSystem(workspace)
    systems.set(workspace.id, system)
    return system
  }

  async function openSealed(workspace: WorkspaceRow, record: SourceRecord, version: number): Promise<KeptSource> {
    // Read before the values, so that a concurrent change is found by the next check.
    const mark = await settingRevision(database, { workspace: workspace.apiName, sourceId: record.id })
    const { provider, setting } = await settings.load(workspace, record)
    const source = await provider.open(setting, { workspaceId: workspace.id, id: record.id })
    return { ...source, revision: { mark, version } }
  }

  /** Returns true if the source's configuration or one of its secrets was written after opening; checked once per version. */
  async function isOutdated({ revision }: KeptSource, place: Place, version: number | 'any'): Promise<boolean> {
    if (version !== 'any' && revision.version >= version) return false
    if ((await settingRevision(database, place)) !== revision.mark) return true
    if (version !== 'any') revision.version = version
    return false
  }

  async function open(workspace: WorkspaceRow, record: SourceRecord, check: SettingCheck): Promise<OpenedSource> {
    if (isSystemSource(record)) return systemOf(workspace)
    const ofWorkspace = opened.get(workspace.id) ?? { version: 0, sources: new Map<string, KeptSource>() }
    opened.set(workspace.id, ofWorkspace)
    const known = ofWorkspace.sources.get(record.id)
    if (known !== undefined) {
      const place = { workspace: workspace.apiName, sourceId: record.id }
      const isOld = await isOutdated(known, place, check === 'always' ? 'any' : ofWorkspace.version)
      if (!isOld) return known
      if (ofWorkspace.sources.get(record.id) === known) {
        ofWorkspace.sources.delete(record.id)
        known.close().catch((error: unknown) => observe({ kind: 'fault', error }))
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
      source.close().catch((error: unknown) => observe({ kind: 'fault', error }))
    }
  }

  return {
    open: (workspace, record) => open(workspace, record, 'always'),

    sourceOf(workspace, model, sourceId) {
      forgetDeleted(workspace.id, model)
      const record = model.sources.get(sourceId)
      if (record === undefined) throw new Error(`the model refers to the source ${sourceId}, which it does not have`)
      if (model.sources.size === 1) return systemOf(workspace).source
      return withCrossSourceRelations(model, (one) => ({
        followsRelations: isSystemSource(one) || settings.isBuiltIn(one.provider),
        source: isSystemSource(one)
          ? systemOf(workspace).source
          : lazySource(async () => (await open(workspace, one, 'oncePerVersion')).source),
      }))(record.id)
    },

    async closeSources(workspaceId, sourceIds) {
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
      systems.delete(workspaceId)
      await Promise.all(Array.from(sources, (source) => source.close()))
    },

    async close() {
      const all = [...opened.values()].flatMap(({ sources }) => [...sources.values()])
      opened.clear()
      await Promise.allSettled(all.map((source) => source.close()))
    },
  }
}

type Place = { readonly workspace: string; readonly sourceId: string }

/** An opened source, and the revision of the configuration it was opened with. */
type KeptSource = OpenedSource & { readonly revision: { readonly mark: string; version: number } }

/** Reads use the opened source as it is; migrations and introspections check its configuration every time. */
type SettingCheck = 'always' | 'oncePerVersion'

type OpenedOfWorkspace = { version: number; readonly sources: Map<string, KeptSource> }
