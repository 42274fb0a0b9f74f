/**
 * The engine of the embedded database: PGlite in a process of its own (engine-child.ts), so that neither a slow
 * statement nor a crash of the engine touches this process. PGlite cannot be interrupted: a statement is ended by
 * killing its process, and the next turn opens the files, with all committed data, in a new one.
 */
import { type EngineChild, type EngineChildDeps, startEngineChild } from './engine-child.ts'
import { type Engine, simpleQuery } from './session.ts'

export type OwnEngine = Engine & {
  /** Waits for the requested turns. */
  readonly close: () => Promise<void>
}

/** Resolves when the database is open; creates it if missing. */
export async function startEngine(deps: EngineChildDeps): Promise<OwnEngine> {
  let child = await startEngineChild(deps)
  let last = Promise.resolve()
  let closing: Promise<void> | undefined

  const turn: Engine['lock'] = async () => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    /** The same for all of a turn: the next statement of a transaction must not run without those before it. */
    let own: EngineChild | undefined

    const ready = async () => {
      if (own === undefined && !child.isAlive()) child = await startEngineChild(deps)
      own ??= child
      return own
    }

    const run = async (messages: Uint8Array): Promise<Buffer> => {
      const engine = await ready()
      try {
        const answer = await engine.run(messages)
        // As on a full disk. The database has ended, but not its process, which would spin on its next call.
        if (hasPanicked(answer)) engine.end()
        return answer
      } catch (cause) {
        // It was ended, crashed, or exited (out of memory, COPY from a client). Committed data is in its files.
        throw new Error('the embedded database had to be restarted', { cause })
      }
    }

    const end = () => {
      if (closing === undefined) own?.end()
    }

    return { ready: () => ready().then(() => {}), run, end, done: resolve }
  }

  const close = async () => {
    const { run, done } = await turn()
    try {
      // What was committed by one that is dead is in its files, too.
      if (!child.isAlive()) return
      await run(simpleQuery('checkpoint'))
      await child.close()
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

/** Whether an answer ends with the error after which nothing follows. */
function hasPanicked(answer: Buffer): boolean {
  return answer.subarray(-LONGEST_ERROR).includes('VPANIC\0')
}

const LONGEST_ERROR = 4_096
