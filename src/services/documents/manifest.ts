/**
 * The manifest of a workspace as text, or of what its reader can use of it. The whole one is built on first request and cached with its
 * model and what people call it.
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
import type { RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadCalled } from './called.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'
import { createKeptTexts } from './kept-texts.ts'
import { rightsKey } from './rights-key.ts'

/** `tag` is the weak entity tag of the text. */
export type ManifestText = { readonly text: string; readonly tag: string }

export type Manifests = {
  /**
   * Of the collections of these API names alone, where they are given; or of what the caller can use. Throws 403 without the entitlement
   * dataModel:read, unless it is of what they can use, and 422 for a name that no collection has.
   */
  load(scope: RequestScope, part?: readonly string[] | 'usable'): Promise<ManifestText>
}

export type ManifestsDeps = {
  readonly called: LoadCalled
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
}

export function createManifests(deps: ManifestsDeps): Manifests {
  const { called: load, models, declarations } = deps
  const known = new WeakMap<Model, ManifestText & { readonly names: string }>()
  const usable = createKeptTexts()

  async function usableTo({ workspace, snapshot, rights }: RequestScope): Promise<ManifestText> {
    const model = await models.load(workspace, snapshot.modelVersion)
    const called = await load(workspace.apiName)
    const key = JSON.stringify([workspace.id, model.version, rightsKey(rights), called.text])
    const kept = usable.get(key)
    if (kept !== undefined) return { text: kept, tag: await weakTag(kept) }
    const view = modelViewOf(viewerOf(rights, model), await declarations(workspace, model), called.of)
    const text = await printed(compileManifest(model, view))
    usable.keep(key, text)
    return { text, tag: await weakTag(text) }
  }

  return {
    async load(scope, part) {
      if (part === 'usable') return usableTo(scope)
      const { workspace, snapshot, rights } = scope
      requireEntitlement(rights, 'dataModel:read')
      const model = await models.load(workspace, snapshot.modelVersion)
      const called = await load(workspace.apiName)
      const kept = part === undefined ? known.get(model) : undefined
      if (kept?.names === called.text) return kept
      const collections = part && new Set(part.map((name) => find(model, name)))
      const view = fullModelView(await declarations(workspace, model), called.of)
      const text = await printed(compileManifest(model, view, collections))
      const manifest = { text, tag: await weakTag(text), names: called.text }
      if (part === undefined) known.set(model, manifest)
      return manifest
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
