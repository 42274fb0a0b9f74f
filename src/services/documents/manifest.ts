/** The manifest of a workspace as text: the whole one is built on first request and cached with its model and what people call it. */
import { requireEntitlement } from '../../core/access/principal.ts'
import { jsonInParts } from '../../core/json-parts.ts'
import { compileManifest } from '../../core/manifest.ts'
import { shortName } from '../../core/message-text.ts'
import type { Collection, Model } from '../../core/model/model.ts'
import { didYouMean } from '../../core/nearest.ts'
import { queryFault } from '../../core/query/parse.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadCalled } from './called.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'

/** `tag` is the weak entity tag of the text. */
export type ManifestText = { readonly text: string; readonly tag: string }

export type Manifests = {
  /**
   * Of the collections of these API names alone, where they are given. Throws 403 without the entitlement
   * dataModel:read, 422 for a name that no collection has.
   */
  load(scope: RequestScope, names?: readonly string[]): Promise<ManifestText>
}

export type ManifestsDeps = {
  readonly called: LoadCalled
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
}

export function createManifests(deps: ManifestsDeps): Manifests {
  const { called: load, models, declarations } = deps
  const known = new WeakMap<Model, ManifestText & { readonly names: string }>()
  return {
    async load({ workspace, snapshot, rights }, names) {
      requireEntitlement(rights, 'dataModel:read')
      const model = await models.load(workspace, snapshot.modelVersion)
      const called = await load(workspace.apiName)
      const kept = names === undefined ? known.get(model) : undefined
      if (kept?.names === called.text) return kept
      const collections = names && new Set(names.map((name) => find(model, name)))
      const declared = await declarations(workspace, model)
      const compiled = await inParts(compileManifest(model, declared, collections, called.of))
      const text = await inParts(jsonInParts(compiled, { depth: 3 }))
      const manifest = { text, tag: await weakTag(text), names: called.text }
      if (names === undefined) known.set(model, manifest)
      return manifest
    },
  }
}

function find(model: Model, name: string): Collection {
  const collection = model.byName.get(name)
  if (collection !== undefined) return collection
  throw queryFault(
    'collections',
    `collection ${shortName(name)} does not exist${didYouMean(name, model.byName.keys())}`,
  )
}
