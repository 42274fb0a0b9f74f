/**
 * PGlite, a Postgres in a child process, with its own directory. It has one engine with one session; connections take
 * turns (session.ts). Committed data survives a crash of either process but not a power loss, since PGlite does not fsync.
 * It has no autovacuum and no checkpointer, so both run here on a timer.
 */
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { openDataDirectory } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { startEngine } from './engine.ts'
import { type Engine, openSession, simpleQuery } from './session.ts'

export type EmbeddedPostgres = {
  /** Opens a connection for `pg`: `new pg.Client({ stream: embedded.connect })`. */
  readonly connect: () => Duplex
  /** Rolls back open transactions, closes every connection and releases the directory. */
  readonly close: () => Promise<void>
}

export type EmbeddedPostgresDeps = {
  readonly directory: string
  /** Maximum milliseconds that a connection may be silent during its turn. */
  readonly idleInTransaction?: number
}

export async function openEmbeddedPostgres(deps: EmbeddedPostgresDeps): Promise<EmbeddedPostgres> {
  const { directory, idleInTransaction = 30_000 } = deps
  const { path } = openDataDirectory(directory)
  const { nameWriter, release } = await lockDirectory(path)
  const engine = await startEngine({ cluster: join(path, 'cluster'), announce: nameWriter }).catch((cause) => {
    release()
    throw new Error(`the embedded database in ${path} cannot be opened`, { cause })
  })
  const sessions = new Set<Duplex>()
  const careTimer = setInterval(createMaintenance(engine), minute).unref()

  return {
    connect() {
      const session = openSession({ engine, idleInTransaction })
      sessions.add(session)
      session.once('close', () => sessions.delete(session))
      return session
    },

    async close() {
      clearInterval(careTimer)
      // Waits for running statements instead of ending them.
      const closed = engine.close()
      for (const session of sessions) session.destroy()
      await closed
      release()
    },
  }
}

const minute = 60_000
const vacuumEvery = 10

/** Runs a checkpoint every minute and a vacuum every ten minutes, if the write-ahead log has grown. */
function createMaintenance(engine: Engine): () => Promise<void> {
  let checkpointed = ''
  let unvacuumed = 0

  return async () => {
    const turn = await engine.lock()
    const position = async () => (await turn.run(simpleQuery('select pg_current_wal_insert_lsn()'))).toString('latin1')
    try {
      if ((await position()) === checkpointed) return
      unvacuumed += 1
      if (unvacuumed % vacuumEvery === 0) await turn.run(simpleQuery('vacuum analyze'))
      await turn.run(simpleQuery('checkpoint'))
      checkpointed = await position()
    } catch {
      // The engine restarts with the next turn, whose user gets the error if it cannot.
    } finally {
      turn.done()
    }
  }
}
