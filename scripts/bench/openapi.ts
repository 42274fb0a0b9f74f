/**
 * The OpenAPI document of a workspace with 10,000 collections: how long it takes, and how long everybody else waits
 * meanwhile.
 */
import { createModelCache } from '../../src/services/model-cache.ts'
import { createOpenApi } from '../../src/services/openapi.ts'
import { build } from '../../test/support/build.ts'
import type { Measured } from './figures.ts'

const COLLECTIONS = 10_000
const ROUNDS = 3
const workspace = { id: 'large', apiName: 'large', displayName: null }

export async function measureOpenApi(progress: (text: string) => void): Promise<readonly Measured[]> {
  const names = Array.from({ length: COLLECTIONS }, (_, index) => `c${index}`)
  const fields = { id: 'int64', name: 'string(80)', price: 'decimal(10,2)?', at: 'dateTime?' }
  const model = build.model(Object.fromEntries(names.map((name) => [name, fields])))
  const rounds: Awaited<ReturnType<typeof render>>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    progress(`document ${round + 1} of ${ROUNDS}`)
    rounds.push(await render(model))
  }
  const milliseconds = Math.min(...rounds.map((round) => round.milliseconds))
  const wait = Math.min(...rounds.map((round) => round.longestWait))
  const detail = `${((rounds[0]?.bytes ?? 0) / 1e6).toFixed(0)} MB, the fastest of ${ROUNDS}`
  return [
    {
      what: 'OpenAPI of 10,000 collections',
      bound: { kind: 'atMost', value: 2_000 },
      value: milliseconds,
      unit: 'ms',
      detail,
    },
    {
      what: 'OpenAPI of 10,000 collections: longest wait of others',
      bound: { kind: 'atMost', value: 100 },
      value: wait,
      unit: 'ms',
      detail,
    },
  ]
}

async function render(model: ReturnType<typeof build.model>) {
  const models = createModelCache(noDatabase)
  models.keep(workspace.id, model)
  const openApi = createOpenApi({ models, declarations: async () => () => undefined, version: '1.0.0' })
  const others = watchTurns()
  const start = worked()
  const { render } = await openApi.workspace({
    workspace,
    snapshot: { modelVersion: 1, licenseVersion: 0, accessVersion: 1 },
    caller: { kind: 'anonymous' },
    rights: { kind: 'all' },
  })
  const body = await render()
  let bytes = 0
  if (typeof body !== 'string') for await (const chunk of body) bytes += chunk.byteLength
  return { milliseconds: worked() - start, bytes, longestWait: others.stop() }
}

/** Milliseconds of work of this thread: what else runs on the machine takes its time, but is not its work. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Something that wants to run as often as it can. */
function watchTurns() {
  let longest = 0
  let last = worked()
  let timer = setTimeout(turn, 0)
  function turn() {
    longest = Math.max(longest, worked() - last)
    last = worked()
    timer = setTimeout(turn, 0)
  }
  return {
    stop() {
      clearTimeout(timer)
      return longest
    },
  }
}

const noDatabase = {
  query: () => Promise.reject(new Error('the model is at hand')),
  batch: () => Promise.reject(new Error('the model is at hand')),
  close: () => Promise.resolve(),
}
