/**
 * Loads and compiles the model of a workspace as a service does that has just started, in a process of its own, and
 * prints what it took as JSON: milliseconds of the first load and of the fastest, which the machine's other
 * work disturbs least, and the bytes that the model keeps.
 */
import { openPostgres } from '../../../src/platform/drivers/postgres.ts'
import { compileModel } from '../../../src/services/model-cache.ts'
import { loadModel } from '../../../src/store/models.ts'

export type Figures = {
  readonly collections: number
  readonly first: number
  readonly fastest: number
  readonly bytes: number
}

const [url = '', id = '', apiName = ''] = process.argv.slice(2)
const database = openPostgres({ connectionString: url })

async function load() {
  const loaded = await loadModel(database, { id, apiName })
  if (loaded === undefined) throw new Error(`there is no workspace ${apiName}`)
  return compileModel(loaded.version, loaded.records)
}

async function timed(): Promise<number> {
  const start = performance.now()
  await load()
  return performance.now() - start
}

function usedBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

// A connection exists when a model is asked for.
await database.query({ text: 'select 1', params: [] })
const first = await timed()
let fastest = first
for (let count = 0; count < 9; count += 1) fastest = Math.min(fastest, await timed())
const before = usedBytes()
const model = await load()
const bytes = usedBytes() - before
const figures: Figures = { collections: model.collections.size, first, fastest, bytes }
process.stdout.write(JSON.stringify(figures))
await database.close()
