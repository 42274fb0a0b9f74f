/**
 * PGlite, a Postgres inside this process, kept in a directory of its own. One engine with one session: whoever uses it
 * takes turns, see embedded-session.ts. Committed data survives the death of the process, but not a loss of power,
 * because PGlite does not fsync. It has no autovacuum and no checkpointer either: both run here, on a timer.
 */
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { PGlite } from '@electric-sql/pglite'
import { openDataDirectory } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { type Engine, openSession, simpleQuery } from './embedded-session.ts'

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
  const engine = await startEngine(path).catch((cause) => {
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
      for (const session of sessions) session.destroy()
      await engine.close()
      unlock()
    },
  }
}

const minute = 60_000
const vacuumEvery = 10

type OwnEngine = Engine & { readonly close: () => Promise<void> }

async function startEngine(directory: string): Promise<OwnEngine> {
  const cluster = join(directory, 'cluster')
  await createCluster(cluster)
  let database: PGlite | undefined = await openCluster(cluster)
  let last = Promise.resolve()
  let closing: Promise<void> | undefined

  const turn: Engine['turn'] = async () => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    return { run, done: resolve }
  }

  const run = async (messages: Uint8Array): Promise<Buffer> => {
    database ??= await openCluster(cluster)
    try {
      const { buffer, byteOffset, byteLength } = await database.execProtocolRaw(messages)
      return Buffer.from(buffer, byteOffset, byteLength)
    } catch (cause) {
      // The engine has exited (out of memory, COPY from a client) and would spin if it were asked again. What is
      // committed is in its files; the next turn opens them anew.
      database = undefined
      throw new Error('the embedded database had to be restarted', { cause })
    }
  }

  const close = async () => {
    const { run, done } = await turn()
    try {
      await run(simpleQuery('checkpoint'))
      await database?.close()
    } finally {
      done()
    }
  }

  return {
    turn: () => (closing === undefined ? turn() : Promise.reject(new Error('the embedded database is closed'))),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Made beside its place and moved there when complete, so that a first start that was interrupted is repeated. */
async function createCluster(cluster: string): Promise<void> {
  if (existsSync(cluster)) return
  const draft = `${cluster}.new`
  await rm(draft, { recursive: true, force: true })
  const database = await openCluster(draft)
  await database.close()
  await rename(draft, cluster)
}

/** As parameters of the server these are also what RESET and DISCARD go back to. */
const settings = ['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=postgres']

function openCluster(cluster: string): Promise<PGlite> {
  return PGlite.create({
    dataDir: `file://${cluster}`,
    startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
  })
}

/** Every minute a checkpoint and every ten minutes a vacuum, if the log of writes has grown. */
function care(engine: Engine): () => Promise<void> {
  let checkpointed = ''
  let unvacuumed = 0

  return async () => {
    const turn = await engine.turn()
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
