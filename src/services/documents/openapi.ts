/**
 * The OpenAPI document of a workspace, as its caller may see it. Its content depends only on rights, release, model
 * (changed declarations of connectors change the model) and what people call that, so the entity tag is known without building it. It is built in
 * small steps, between which other requests run; short documents are cached, long ones are sent piece by piece.
 */
import { viewerOf } from '../../core/access/merge.ts'
import { type Rights, requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { Parts } from '../../core/parts.ts'
import { inParts, pause } from '../../sources/in-parts.ts'
import type { Caller, RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadCalled } from './called.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'

export type Document = {
  /** A weak entity tag. */
  readonly tag: string
  readonly render: () => Promise<string | ReadableStream<Uint8Array>>
}

export type OpenApi = {
  /** Throws 403 without the entitlement openApiSchema:read. */
  workspace(scope: RequestScope): Promise<Document>
  /**
   * Returns the document that `render` creates, the same for every caller; throws 403 without the entitlement
   * systemOpenApiSchema:read.
   */
  system(caller: Caller, render: () => Promise<string>): Promise<Document>
}

/** Maximum length of what is sent at once of a longer one, in characters. */
const MAX_SENT = 64 * 1024
/** Maximum length of a cached document, in characters. */
const MAX_KEPT = 2 * 1024 * 1024
const MAX_KEPT_IN_ALL = 16 * 1024 * 1024

export type OpenApiDeps = {
  readonly called: LoadCalled
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly version: string
}

export function createOpenApi(deps: OpenApiDeps): OpenApi {
  const { called: load, models, declarations, version } = deps
  const kept = new Map<string, string>()
  let system: string | undefined
  const fingerprints = new WeakMap<Rights, string>()

  function keep(tag: string, text: string): void {
    kept.set(tag, text)
    let length = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length: freed }] of kept) {
      if (length <= MAX_KEPT_IN_ALL) return
      kept.delete(oldest)
      length -= freed
    }
  }

  return {
    async workspace({ workspace, snapshot, rights }) {
      requireEntitlement(rights, 'openApiSchema:read')
      const model = await models.load(workspace, snapshot.modelVersion)
      const called = await load(workspace.apiName)
      const rightsKey = fingerprints.get(rights) ?? fingerprint(rights)
      fingerprints.set(rights, rightsKey)
      const parts = [version, workspace.id, workspace.apiName, model.version, rightsKey, called.text]
      const tag = await weakTag(JSON.stringify(parts))
      return {
        tag,
        async render() {
          const known = kept.get(tag)
          if (known !== undefined) return known
          const [{ workspaceDocument }, { modelViewOf }, declared] = await Promise.all([
            import('../../core/openapi.ts'),
            import('../../core/manifest/model-view.ts'),
            declarations(workspace, model),
          ])
          const view = modelViewOf(viewerOf(rights, model), declared, called.of)
          const pieces = workspaceDocument({ workspace: workspace.apiName, model, view, version })
          const start = await inParts(joined(pieces, MAX_KEPT))
          if (!start.isWhole) return streamed(start.text, pieces)
          keep(tag, start.text)
          return start.text
        },
      }
    },

    async system(caller, render) {
      if (caller.kind !== 'user' || !caller.isAdministrator) {
        throw new ServiceError('forbidden', 'Requires the entitlement systemOpenApiSchema:read')
      }
      const text = system ?? (await render())
      system = text
      return { tag: await weakTag(text), render: async () => text }
    },
  }
}

/** Fingerprint of all rights that a document depends on. The user id matters only as present or absent. */
function fingerprint(rights: Rights): string {
  if (rights.kind === 'all') return 'all'
  if (rights.kind === 'scoped') {
    const collections = rights.collections && [...rights.collections].map(([id, actions]) => [id, [...actions]])
    return JSON.stringify([fingerprint(rights.rights), rights.entitlements && [...rights.entitlements], collections])
  }
  const { userId, policies, entitlements } = rights
  return JSON.stringify([userId === undefined, policies, [...entitlements]])
}

/** Joins pieces until the end, or until the text exceeds `most` characters. */
function* joined(pieces: Iterator<string>, most: number): Parts<{ readonly text: string; readonly isWhole: boolean }> {
  let text = ''
  while (text.length <= most) {
    const { value, done } = pieces.next()
    if (done === true) return { text, isWhole: true }
    text += value
    yield
  }
  return { text, isWhole: false }
}

function streamed(start: string, pieces: Iterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(start))
    },
    async pull(controller) {
      await pause()
      const { text, isWhole } = await inParts(joined(pieces, MAX_SENT))
      controller.enqueue(encoder.encode(text))
      if (isWhole) controller.close()
    },
  })
}
