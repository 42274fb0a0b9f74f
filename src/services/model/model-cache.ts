/** The compiled model of each workspace, by version; the only cache of models. A model is built once per version. */
import { buildModel, type Model, noRecords } from '../../core/model/model.ts'
import { systemRecords } from '../../core/model/system.ts'
import type { SqlDriver } from '../../ports.ts'
import { loadModel } from '../../store/models.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'

export type ModelCache = {
  /** The model of `workspace`, at `version` or a newer one. */
  load(workspace: WorkspaceRow, version: number): Model | Promise<Model>
  /** The model of exactly that version, where it is in memory. */
  known(workspaceId: string, version: number): Model | undefined
  /** Keeps a model that was just made, so that whoever made it need not read it back. */
  keep(workspaceId: string, model: Model): void
  /** Of a workspace that is gone. */
  forget(workspaceId: string): void
}

export function createModelCache(database: SqlDriver): ModelCache {
  const models = new Map<string, Model>()

  async function loadAnew(workspace: WorkspaceRow, version: number): Promise<Model> {
    const loaded = await loadModel(database, workspace)
    // The workspace ended between two statements: an empty model answers 404 on whatever is asked of it.
    if (loaded === undefined) return buildModel(version, noRecords)
    const model = compileModel(loaded.version, loaded.records)
    models.set(workspace.id, model)
    return model
  }

  return {
    load(workspace, version) {
      const known = models.get(workspace.id)
      return known !== undefined && known.version >= version ? known : loadAnew(workspace, version)
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

/** `records` with the system collections beside them. */
export function compileModel(version: number, records: Model['records']): Model {
  const system = records.sources.find(({ apiName }) => apiName === '_system')
  const meta = records.namespaces.find(({ sourceId, isSystem }) => isSystem && sourceId === system?.id)
  if (system === undefined || meta === undefined) throw new Error('a workspace without its system source')
  return buildModel(version, records, systemRecords(system.id, meta.id))
}
