/** The only cache of compiled models, by workspace and version. A model is loaded and built once per version. */
import type { Eventual } from '../../core/and-then.ts'
import { buildModel, isSystemSource, type Model, modelOf, noRecords } from '../../core/model/model.ts'
import { systemRecords } from '../../core/model/system.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import { loadModel } from '../../store/models.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { createLoads } from '../caller/work-queue.ts'

export type ModelCache = {
  /** Returns the model of `workspace`, at `version` or a newer one. */
  load(workspace: WorkspaceRow, version: number): Eventual<Model>
  /** Returns the model of exactly that version, if it is in memory. */
  known(workspaceId: string, version: number): Model | undefined
  /** Adds a model that was just created, so that it need not be read back. */
  keep(workspaceId: string, model: Model): void
  /** Removes the model of a deleted workspace. */
  forget(workspaceId: string): void
}

export type ModelCacheDeps = Pick<Ports, 'database'>

export function createModelCache(deps: ModelCacheDeps): ModelCache {
  const { database } = deps
  const models = new Map<string, Model>()
  const loads = createLoads({ isLong: false })

  async function loadAnew(workspace: WorkspaceRow, version: number): Promise<Model> {
    const loaded = await loadModel(database, workspace)
    // The workspace was deleted meanwhile: an empty model answers 404 to every request.
    if (loaded === undefined) return buildModel(version, noRecords)
    const model = await compileModel(loaded.version, loaded.records)
    models.set(workspace.id, model)
    return model
  }

  return {
    load(workspace, version) {
      const find = () => {
        const known = models.get(workspace.id)
        return known !== undefined && known.version >= version ? known : undefined
      }
      return find() ?? loads.load(workspace.id, { find, make: () => loadAnew(workspace, version) })
    },
    known(workspaceId, version) {
      const model = models.get(workspaceId)
      return model?.version === version ? model : undefined
    },
    keep(workspaceId, model) {
      models.set(workspaceId, model)
    },
    forget(workspaceId) {
      models.delete(workspaceId)
    },
  }
}

/** Builds the model of `records` with the system collections; a large model lets other requests run in between. */
export function compileModel(version: number, records: Model['records']): Eventual<Model> {
  const system = records.sources.find(isSystemSource)
  const meta = records.namespaces.find(({ sourceId, isSystem }) => isSystem && sourceId === system?.id)
  if (system === undefined || meta === undefined) throw new Error('a workspace without its system source')
  return inParts(modelOf(version, records, systemRecords(system.id, meta.id)))
}
