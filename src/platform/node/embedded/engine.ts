/**
 * The engine of the embedded database: PGlite in its own thread (thread.ts), so that a slow statement does not block
 * the event loop. PGlite cannot be interrupted: a statement is ended by ending the thread, and the next turn reopens
 * the files, with all committed data, in a new one.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Engine, simpleQuery } from './session.ts'

export type OwnEngine = Engine & {
  /** Waits for the requested turns. */
  readonly close: () => Promise<void>
}

/** Resolves when the database in `cluster` is open; creates it if missing. */
export async function startEngine(cluster: string): Promise<OwnEngine> {
  let thread: Thread | undefined = await startThread(cluster)
  let last = Promise.resolve()
  let closing: Promise<void> | undefined

  const turn: Engine['lock'] = async () => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    return { ready, run, end, done: resolve }
  }

  const ready = async () => {
    thread ??= await startThread(cluster)
  }

  const run = async (messages: Uint8Array): Promise<Buffer> => {
    thread ??= await startThread(cluster)
    try {
      return await thread.run(messages)
    } catch (cause) {
      // The thread was ended, or the engine exited (out of memory, COPY from a client). Committed data is in its files.
      thread = undefined
      throw new Error('the embedded database had to be restarted', { cause })
    }
  }

  const end = () => {
    if (closing === undefined) thread?.end()
  }

  const close = async () => {
    const { run, done } = await turn()
    try {
      await run(simpleQuery('checkpoint'))
      await thread?.close()
    } finally {
      done()
    }
  }

  return {
    lock: () => (closing === undefined ? turn() : Promise.reject(new Error('the embedded database is closed'))),
    close() {
      closing ??= close()
      return closing
    },
  }
}

type Thread = {
  /** One at a time. Rejects if the thread ends before it answers. */
  readonly run: (messages: Uint8Array) => Promise<Buffer>
  readonly end: () => void
  readonly close: () => Promise<void>
}

async function startThread(cluster: string): Promise<Thread> {
  const worker = new Worker(join(import.meta.dirname, 'thread.ts'), { workerData: cluster })
  const exited = once(worker, 'exit').then(
    () => {
      throw new Error('the thread of the embedded database has ended')
    },
    // An uncaught error in the thread, which ends it.
    (cause: unknown) => {
      throw cause
    },
  )
  exited.catch(() => {})
  const answer = () => Promise.race([once(worker, 'message').then(([message]) => message as Uint8Array), exited])

  await answer()
  return {
    async run(messages) {
      const answering = answer()
      // Small buffers are parts of a pool, all of which would be copied.
      const own = new Uint8Array(messages)
      worker.postMessage(own, [own.buffer])
      const { buffer, byteOffset, byteLength } = await answering
      return Buffer.from(buffer, byteOffset, byteLength)
    },
    end: () => void worker.terminate(),
    async close() {
      worker.postMessage('close')
      await exited.catch(() => {})
    },
  }
}
