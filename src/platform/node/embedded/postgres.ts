/**
 * PGlite, a Postgres inside this process, kept in a directory of its own. One engine with one session: whoever uses it
 * takes turns, see session.ts. Committed data survives the death of the process, but not a loss of power,
 * because PGlite does not fsync. It has no autovacuum and no checkpointer either: both run here, on a timer.
 */
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { openDataDirectory } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { startEngine } from './engine.ts'
import { type Engine, openSession, simpleQuery } from './session.ts'

export type EmbeddedPostgres = {
  /** A connection for `pg`: `new pg.Client({ stream: embedded.connect })`. */
  readonly connect: () => Duplex
  /** Rolls open transactions back, ends every connection and frees the directory. */
  readonly close: () => Promise<void>
}

export type EmbeddedPostgresOptions = {
  /** Milliseconds that a connection may keep its turn without saying anything. */
  readonly idleInTransaction?: number
}

export async function openEmbeddedPostgres(
  directory: string,
  { idleInTransaction = 30_000 }: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const { path } = openDataDirectory(directory)
  const unlock = await lockDirectory(path)
  const engine = await startEngine(join(path, 'cluster')).catch((cause) => {
    unlock()
    throw new Error(`the embedded database in ${path} cannot be opened`, { cause })
  })
  const sessions = new Set<Duplex>()
  const careTimer = setInterval(care(engine), minute).unref()

  return {
    connect() {
      const session = openSession(engine, idleInTransaction)
      sessions.add(session)
      session.once('close', () => sessions.delete(session))
      return session
    },

    async close() {
      clearInterval(careTimer)
      // Whatever runs at this moment is waited for, not ended.
      const closed = engine.close()
      for (const session of sessions) session.destroy()
      await closed
      unlock()
    },
  }
}

const minute = 60_000
const vacuumEvery = 10

/** Every minute a checkpoint and every ten minutes a vacuum, if the log of writes has grown. */
function care(engine: Engine): () => Promise<void> {
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
      // The engine restarts with the next turn, and whoever needs it then is told if it cannot.
    } finally {
      turn.done()
    }
  }
}
