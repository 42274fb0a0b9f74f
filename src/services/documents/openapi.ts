/**
 * The OpenAPI document of a workspace, as its caller may see it. It depends only on rights, release, model (which includes
 * declarations of connectors) and people's names for its parts, so the entity tag is known without building it. It is built in
 * small steps, between which other requests run; short documents are cached, long ones are streamed.
 */
import { viewerOf } from '../../core/access/merge.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { Caller } from '../caller/caller.ts'
import { type RequestScope, requireStill } from '../caller/callers.ts'
import { ofWholeModel } from '../caller/queued-requests.ts'
import type { WorkQueue } from '../caller/work-queue.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { LoadCalled } from './called.ts'
import type { LoadDeclarations } from './declarations.ts'
import { weakTag } from './entity-tag.ts'
import { type Bytes, createKeptTexts, MAX_KEPT } from './kept-texts.ts'
import { createLongStreams, taken } from './long-streams.ts'
import { rightsKey } from './rights-key.ts'

export type Document<Text = string | Bytes | ReadableStream<Uint8Array>> = {
  /** A weak entity tag. */
  readonly tag: string
  readonly render: () => Promise<Text>
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

/** Number of documents that are remembered as long. */
const MOST_LONG = 1_000

export type OpenApiDeps = {
  readonly called: LoadCalled
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly queue: WorkQueue
  readonly version: string
}

export function createOpenApi(deps: OpenApiDeps): OpenApi {
  const { called, models, declarations, queue, version } = deps
  const kept = createKeptTexts()
  const streams = createLongStreams()
  /** Tags of documents that are too long for the cache: these are streamed without building them first. */
  const long = new Set<string>()
  let system: string | undefined

  return {
    async workspace(scope) {
      const { workspace, snapshot, rights } = scope
      requireEntitlement(rights, 'openApiSchema:read')
      const model = await models.load(workspace, snapshot.modelVersion)
      const { digest, load } = await called(workspace.apiName)
      const seenBy = await rightsKey(rights)
      const parts = [version, workspace.id, workspace.apiName, model.version, seenBy, digest]
      const tag = await weakTag(JSON.stringify(parts))
      const build = () =>
        ofWholeModel(queue, { scope, model }, async () => {
          const [{ workspaceDocument }, { modelViewOf }, declared, names] = await Promise.all([
            import('../../core/openapi.ts'),
            import('../../core/manifest/model-view.ts'),
            declarations(workspace, model),
            load(),
          ])
          const view = modelViewOf(viewerOf(rights, model), declared, names)
          const pieces = () => workspaceDocument({ workspace: workspace.apiName, model, view, version })
          if (long.has(tag)) return streams.open(workspace.id, pieces())
          const { texts, isWhole } = await inParts(taken(pieces(), MAX_KEPT))
          if (isWhole) return texts.join('')
          if (long.size >= MOST_LONG) long.clear()
          long.add(tag)
          // Starts again instead of reusing the pieces: they are megabytes, which a slow client would keep in memory.
          return streams.open(workspace.id, pieces())
        })
      const render = async () => {
        const document = await kept.load(tag, build)
        await requireStill(scope, 'openApiSchema:read')
        return document
      }
      return { tag, render }
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
