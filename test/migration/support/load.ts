/**
 * Loads and compiles the model of a workspace as a service does that has just started, in a process of its own, and
 * prints what it took as JSON: milliseconds of the first load and of the fastest, which the machine's other
 * work disturbs least, the median of the milliseconds that each kept this process at work, and the bytes that the model keeps.
 */
import { median } from '../../../scripts/bench/compare.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import { compileModel } from '../../../src/services/model/model-cache.ts'
import { loadModel } from '../../../src/store/models.ts'

export type Figures = {
  readonly collections: number
  readonly first: number
  readonly fastest: number
  readonly work: number
  readonly bytes: number
}

const [url = '', id = '', apiName = ''] = process.argv.slice(2)
const database = openPostgres({ connectionString: url })

async function load() {
  const loaded = await loadModel(database, { id, apiName })
  if (loaded === undefined) throw new Error(`there is no workspace ${apiName}`)
  return compileModel(loaded.version, loaded.records)
}

/** What was left behind by the one before is not collected at the cost of this one. */
async function timed(): Promise<{ readonly time: number; readonly work: number }> {
  globalThis.gc?.()
  const start = performance.now()
  const before = process.threadCpuUsage()
  await load()
  const { user, system } = process.threadCpuUsage(before)
  return { time: performance.now() - start, work: (user + system) / 1_000 }
}

function usedBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

// A connection exists when a model is asked for.
await database.query({ text: 'select 1', params: [] })
const rounds: Awaited<ReturnType<typeof timed>>[] = []
while (rounds.length < 20) rounds.push(await timed())
const times = rounds.map(({ time }) => time)
const before = usedBytes()
const model = await load()
const bytes = usedBytes() - before
const figures: Figures = {
  collections: model.collections.size,
  first: times[0] ?? 0,
  fastest: Math.min(...times),
  work: median(rounds.map(({ work }) => work)),
  bytes,
}
process.stdout.write(JSON.stringify(figures))
await database.close()
