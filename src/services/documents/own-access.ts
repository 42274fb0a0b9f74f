/** The caller's access in a workspace, as text: computed once for all requests with the same rights and model. */

import { entitlementSchema } from '../../core/access/entitlement.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { hasEntitlement, type Rights } from '../../core/access/principal.ts'
import { isFiles, uploadingModel } from '../../core/model/file-collection.ts'
import type { Model } from '../../core/model/model.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { type RequestScope, requireStill } from '../caller/callers.ts'
import { ofWholeModel } from '../caller/queued-requests.ts'
import type { WorkQueue } from '../caller/work-queue.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'
import { type Bytes, createKeptTexts } from './kept-texts.ts'
import { rightsKey } from './rights-key.ts'

/** `text` is the JSON of an answer with entitlements, collections and their ids; `tag` is its weak entity tag. */
export type AccessText = { readonly text: Bytes; readonly tag: string }

export type OwnAccess = {
  /** Returns the caller's own access; also for anonymous callers. */
  load(scope: RequestScope): Promise<AccessText>
}

export type OwnAccessDeps = {
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly queue: WorkQueue
}

export function createOwnAccess(deps: OwnAccessDeps): OwnAccess {
  const { models, declarations, queue } = deps
  const kept = createKeptTexts()

  async function build(rights: Rights, model: Model, workspace: WorkspaceRow): Promise<string> {
    const [{ accessView }, { modelViewOf }, declared] = await Promise.all([
      import('../../core/manifest/access-view.ts'),
      import('../../core/manifest/model-view.ts'),
      declarations(workspace, model),
    ])
    const viewer = viewerOf(rights, model)
    const collections = await inParts(accessView(model, viewer, modelViewOf(viewer, declared)))
    const entitlements = entitlementSchema().options.filter((one) => hasEntitlement(rights, one))
    // Views name collections by id, also for callers who may not read the model (decision 109).
    const named = [...model.collections.values()].filter(
      (one) => (!one.isSystem || isFiles(one)) && Object.hasOwn(collections, one.apiName),
    )
    const ids = Object.fromEntries(named.map(({ apiName, id }) => [apiName, id]))
    return JSON.stringify({ data: { entitlements, collections, ids } })
  }

  return {
    async load(scope) {
      const { workspace, snapshot, rights } = scope
      // The right to create files is the right to upload them.
      const model = uploadingModel(await models.load(workspace, snapshot.modelVersion))
      const key = await weakTag(JSON.stringify([workspace.id, model.version, await rightsKey(rights)]))
      const text = await kept.load(key, () =>
        ofWholeModel(queue, { scope, model }, () => build(rights, model, workspace)),
      )
      await requireStill(scope)
      return { text, tag: key }
    },
  }
}
