/** The OpenAPI document of a model with very many collections, and what others had of the thread while it was made. */
import type { Model } from '../../../src/core/model/model.ts'
import type { RequestScope } from '../../../src/services/caller/callers.ts'
import { createOpenApi, type Document } from '../../../src/services/documents/openapi.ts'
import { createModelCache } from '../../../src/services/model/model-cache.ts'
import { build } from './build.ts'

const workspace = { id: 'large', apiName: 'large', displayName: null }

export function largeModel(count: number): Model {
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  const fields = { id: 'int64', name: 'string(80)', price: 'decimal(10,2)?', at: 'dateTime?' }
  return build.model(Object.fromEntries(names.map((name) => [name, fields])))
}

export type Rendering = {
  /** Milliseconds of work of this thread: what else runs on the machine takes its time, but is not its work. */
  readonly work: number
  readonly chunks: readonly Uint8Array[]
  /** How often somebody else had a turn. */
  readonly turns: number
  /** The most work between two of those turns, in milliseconds. */
  readonly longest: number
}

/** Returns a function that renders the document again and again, as requests to one process do. */
export function documentOf(model: Model): Document['render'] {
  const models = createModelCache({ database: noDatabase })
  models.keep(workspace.id, model)
  const openApi = createOpenApi({
    called: async () => ({ digest: '', load: async () => () => undefined }),
    queue: { run: (_, work) => work() },
    models,
    declarations: async () => () => undefined,
    version: '1.0.0',
  })
  return async () => {
    const scope: RequestScope = {
      workspace,
      snapshot: { modelVersion: 1, licenseVersion: 0, accessVersion: 1, age: () => 0 },
      term: { isOver: () => false, renew: async () => true },
      again: () => scope,
      caller: { kind: 'anonymous' },
      rights: { kind: 'all' },
    }
    const { render } = await openApi.workspace(scope)
    return render()
  }
}

export async function renderDocument(model: Model): Promise<Rendering> {
  const render = documentOf(model)
  const others = watchTurns()
  const start = worked()
  const body = await render()
  const chunks: Uint8Array[] = []
  if (body instanceof ReadableStream) for await (const chunk of body) chunks.push(chunk)
  return { work: worked() - start, chunks, ...others.stop() }
}

function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Something that wants to run as often as it can. */
function watchTurns() {
  let turns = 0
  let longest = 0
  let last = worked()
  let timer = setTimeout(turn, 0)
  function turn() {
    const now = worked()
    longest = Math.max(longest, now - last)
    last = now
    turns += 1
    timer = setTimeout(turn, 0)
  }
  return {
    stop() {
      clearTimeout(timer)
      return { turns, longest }
    },
  }
}

const noDatabase = {
  query: () => Promise.reject(new Error('the model is at hand')),
  batch: () => Promise.reject(new Error('the model is at hand')),
  close: () => Promise.resolve(),
}
