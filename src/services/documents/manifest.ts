/**
 * The manifest of a workspace as text, complete or with what its reader can use. It depends only on release, model and people's
 * names for its parts, and in the second case on the reader's rights, so its entity tag is known without building it.
 */
import { viewerOf } from '../../core/access/merge.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { jsonInParts } from '../../core/json-parts.ts'
import type { Manifest } from '../../core/manifest/format.ts'
import { fullModelView, modelViewOf } from '../../core/manifest/model-view.ts'
import { compileManifest } from '../../core/manifest.ts'
import { shortName } from '../../core/message-text.ts'
import type { Collection, Model } from '../../core/model/model.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Parts } from '../../core/parts.ts'
import { queryFault } from '../../core/query/parse.ts'
import { inParts } from '../../sources/in-parts.ts'
import { type RequestScope, requireStill } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import { ofWholeModel } from '../caller/queued-requests.ts'
import type { WorkQueue } from '../caller/work-queue.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadCalled } from './called.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'
import { type Bytes, createKeptTexts } from './kept-texts.ts'
import type { Document } from './openapi.ts'
import { rightsKey } from './rights-key.ts'

export type Manifests = {
  /**
   * Returns the manifest of all collections, of these API names, or of what the caller can use. Throws 403 without the
   * entitlement dataModel:read, except for what the caller can use, and 422 for a name that no collection has.
   */
  load(scope: RequestScope, part?: readonly string[] | 'usable'): Promise<Document<Bytes>>
}

export type ManifestsDeps = {
  readonly called: LoadCalled
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly queue: WorkQueue
  readonly version: string
}

export function createManifests(deps: ManifestsDeps): Manifests {
  const { called, models, declarations, queue, version } = deps
  const kept = createKeptTexts()

  return {
    async load(scope, part) {
      const { workspace, snapshot, rights } = scope
      if (part !== 'usable') requireEntitlement(rights, 'dataModel:read')
      const model = await models.load(workspace, snapshot.modelVersion)
      const { digest, load } = await called(workspace.apiName)
      const collections = Array.isArray(part) ? new Set(part.map((name) => find(model, name))) : undefined
      const seenBy = part === 'usable' ? await rightsKey(rights) : 'dataModel:read'
      const ids = collections && [...collections].map(({ id }) => id)
      const key = await sha256Hex(JSON.stringify([version, workspace.id, model.version, seenBy, digest, ids]))
      const build = () =>
        kept.load(key, () =>
          ofWholeModel(queue, { scope, model }, async () => {
            const [declared, names] = await Promise.all([declarations(workspace, model), load()])
            const view =
              part === 'usable' ? modelViewOf(viewerOf(rights, model), declared, names) : fullModelView(declared, names)
            return printed(compileManifest(model, view, collections))
          }),
        )
      const render = async () => {
        const text = await build()
        await requireStill(scope, part === 'usable' ? undefined : 'dataModel:read')
        return text
      }
      // The tag of a part is that of its text, so that it changes only with these collections; that of the whole needs no text.
      return { tag: await weakTag(collections === undefined ? key : await render()), render }
    },
  }
}

async function printed(manifest: Parts<Manifest>): Promise<string> {
  return inParts(jsonInParts(await inParts(manifest), { depth: 3 }))
}

function find(model: Model, name: string): Collection {
  const collection = model.byName.get(name)
  if (collection !== undefined) return collection
  throw queryFault(
    'collections',
    `collection ${shortName(name)} does not exist${didYouMean(name, model.byName.keys())}`,
  )
}
