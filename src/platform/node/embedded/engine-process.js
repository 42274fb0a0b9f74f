/**
 * The process of the embedded database: takes messages of the Postgres protocol from the process that started it and
 * answers them, one after the other. JavaScript, because Node loads a compiler for TypeScript, 18 MB in every process.
 * - On the channel, both ways: a frame is its length (32 bits, big-endian) and so many bytes. A request is one frame, its
 *   answer is frames up to an empty one. The first request is empty and opens the database; a later empty one closes it.
 * - It reads and writes synchronously, so it has no event loop, which halves the time of a short statement. It ignores
 *   signals meant for a whole process group: its parent closes it. It does not outlive its parent (engine-tether.js).
 */
import { existsSync, readSync, writeSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

const CHANNEL = 3
const HEADER = 4

/** Bytes that are written at once, with a header before them and, at the end of an answer, an empty frame after them. */
const MOST_WRITTEN = 64 * 1024

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
const limits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 }
new Worker(new URL('engine-tether.js', import.meta.url), { env: {}, execArgv: [], resourceLimits: limits })

const { PGlite } = await import('@electric-sql/pglite')
const output = Buffer.alloc(HEADER + MOST_WRITTEN + HEADER)
let filled = 0
const cluster = process.argv[2]

receive()
await createCluster()
const database = await openCluster(cluster)
finishAnswer()

for (let messages = receive(); messages.length > 0; messages = receive()) {
  // An engine that has exited would spin on its next call, so the error must end the process.
  await database.execProtocolRawStream(messages, { syncToFs: false, onRawData: answer })
  finishAnswer()
}
await database.close()
leave()

/** Created beside its final place and moved there when complete, so that an interrupted first start is repeated. */
async function createCluster() {
  if (existsSync(cluster)) return
  const draft = `${cluster}.new`
  await rm(draft, { recursive: true, force: true })
  const database = await openCluster(draft)
  await database.close()
  await rename(draft, cluster)
}

function openCluster(directory) {
  // As server parameters, these are also the values that RESET and DISCARD restore.
  const settings = ['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=postgres']
  return PGlite.create({
    dataDir: `file://${directory}`,
    startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
  })
}

function receive() {
  return read(read(HEADER).readUInt32BE())
}

function read(size) {
  const bytes = Buffer.allocUnsafe(size)
  for (let count = 0; count < size; ) {
    const more = readSync(CHANNEL, bytes, count, size - count, null)
    // The parent has ended.
    if (more === 0) leave()
    count += more
  }
  return bytes
}

/** An orderly exit would wait until V8 has compiled for speed what does not run any more. */
function leave() {
  process.kill(process.pid, 'SIGKILL')
}

/** Large answers leave in parts, so that they are never in memory here as a whole. */
function answer(bytes) {
  for (let taken = 0; taken < bytes.length; ) {
    if (filled === MOST_WRITTEN) send()
    const part = bytes.subarray(taken, taken + MOST_WRITTEN - filled)
    output.set(part, HEADER + filled)
    filled += part.length
    taken += part.length
  }
}

function finishAnswer() {
  output.writeUInt32BE(0, filled === 0 ? 0 : HEADER + filled)
  send(HEADER)
}

/** Writes what has been gathered, and so many bytes that come after it. */
function send(after = 0) {
  if (filled > 0) output.writeUInt32BE(filled)
  const size = (filled === 0 ? 0 : HEADER + filled) + after
  for (let count = 0; count < size; ) count += writeSync(CHANNEL, output, count, size - count)
  filled = 0
}
