/** The manifest of a workspace as text, built on first request and cached with its model. */
import { requireEntitlement } from '../../core/access/principal.ts'
import { compileManifest } from '../../core/manifest.ts'
import type { Model } from '../../core/model/model.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'

/** `tag` is the weak entity tag of the text. */
export type ManifestText = { readonly text: string; readonly tag: string }

export type Manifests = {
  load(scope: RequestScope): Promise<ManifestText>
}

export type ManifestsDeps = {
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
}

export function createManifests(deps: ManifestsDeps): Manifests {
  const { models, declarations } = deps
  const known = new WeakMap<Model, ManifestText>()
  return {
    async load({ workspace, snapshot, rights }) {
      requireEntitlement(rights, 'dataModel:read')
      const model = await models.load(workspace, snapshot.modelVersion)
      const kept = known.get(model)
      if (kept !== undefined) return kept
      const text = JSON.stringify(compileManifest(model, await declarations(workspace, model)))
      const manifest = { text, tag: await weakTag(text) }
      known.set(model, manifest)
      return manifest
    },
  }
}
