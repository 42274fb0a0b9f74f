/**
 * Starts the process of the embedded database (engine-process.js, which describes the channel) and speaks with it. Of the
 * environment it gets nothing of ours, since it needs no secret, and no inspector, whose port is taken or which would
 * wait for a debugger. It gets no flags of this process but those of NODE_OPTIONS.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'

export type EngineChild = {
  /** Whether it can take messages; once false, it stays false. */
  readonly isAlive: () => boolean
  /** One at a time. Rejects if the process ends before it has answered. */
  readonly run: (messages: Uint8Array) => Promise<Buffer>
  readonly end: () => void
  /** Closes the database; resolves when the process has ended. */
  readonly close: () => Promise<void>
}

export type EngineChildDeps = {
  /** The directory of the database, which is created if missing. */
  readonly cluster: string
  /** Called with the id of each process before it opens the database. */
  readonly announce: (pid: number) => void
}

/** Resolves when the database is open. A process that is killed before, as by a fault in V8, is started again. */
export async function startEngineChild(deps: EngineChildDeps): Promise<EngineChild> {
  for (let start = 1; ; start += 1) {
    try {
      return await openChild(deps)
    } catch (error) {
      if (!(error instanceof Killed) || start === STARTS) throw error
    }
  }
}

const STARTS = 4

class Killed extends Error {}

async function openChild({ cluster, announce }: EngineChildDeps): Promise<EngineChild> {
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, cluster], {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SERVICE_'))),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  if (child.pid === undefined) {
    const [cause] = await once(child, 'error')
    throw new Error('the process of the embedded database cannot be started', { cause })
  }
  try {
    announce(child.pid)
  } catch (cause) {
    child.kill('SIGKILL')
    throw cause
  }
  // All three are pipes, as configured above.
  const [errors, channel, tether] = child.stdio.slice(2) as unknown as [Readable, Duplex, Duplex]
  // A write or a read that fails does so because the process has ended, which its end reports.
  for (const stream of [channel, tether]) stream.on('error', () => {})
  let end: Error | undefined
  let pending: PromiseWithResolvers<Buffer> | undefined
  const ended = awaitEnd(child, errors).then((error) => {
    end = error
    pending?.reject(error)
  })
  channel.on(
    'data',
    createAnswers((answer) => pending?.resolve(answer)),
  )
  const ask = (messages: Uint8Array): Promise<Buffer> => {
    if (end !== undefined) return Promise.reject(end)
    const header = Buffer.alloc(HEADER)
    header.writeUInt32BE(messages.length)
    channel.cork()
    channel.write(header)
    channel.write(messages)
    channel.uncork()
    pending = Promise.withResolvers()
    return pending.promise
  }

  await ask(OPEN)
  return {
    isAlive: () => end === undefined,
    run: ask,
    end: () => void child.kill('SIGKILL'),
    async close() {
      ask(CLOSE).catch(() => {})
      await ended
    },
  }
}

const PROGRAM = join(import.meta.dirname, 'engine-process.js')

const FLAGS = ['--no-inspect', '--no-inspect-brk', '--no-inspect-wait']

const HEADER = 4
const OPEN = new Uint8Array()
const CLOSE = new Uint8Array()

/** Characters of what a process has printed that are kept, for the error of its end. */
const PRINTED_LIMIT = 4_096

/** Resolves, with the reason, when the process has ended and all that it wrote has been read. */
async function awaitEnd(child: ChildProcess, errors: Readable): Promise<Error> {
  let printed = ''
  errors.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-PRINTED_LIMIT)
  })
  const [code, signal] = await once(child, 'close')
  const cause = printed === '' ? undefined : new Error(printed.trim())
  const message = `the process of the embedded database has ended (${signal ?? `code ${code}`})`
  return new (signal === null ? Error : Killed)(message, { cause })
}

/** Returns what takes the chunks of the channel; `onAnswer` gets each answer when it is complete. */
function createAnswers(onAnswer: (answer: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  /** Bytes of the current frame that are still to come. */
  let missing = 0
  let parts: Buffer[] = []

  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (bytes.length >= (missing === 0 ? HEADER : 1)) {
      if (missing > 0) {
        const part = bytes.subarray(0, missing)
        parts.push(part)
        missing -= part.length
        bytes = bytes.subarray(part.length)
        continue
      }
      missing = bytes.readUInt32BE()
      bytes = bytes.subarray(HEADER)
      if (missing > 0) continue
      const [first = bytes.subarray(0, 0)] = parts
      const answer = parts.length > 1 ? Buffer.concat(parts) : first
      parts = []
      onAnswer(answer)
    }
    rest = bytes
  }
}
