/** Pools of connections to Postgres, for what needs a connection of its own. */
import pg from 'pg'
import { BUSY } from '../../../core/sql/fault.ts'
import {
  clientConfig,
  GuardedClient,
  idle,
  ignore,
  type PostgresOptions,
  postgresFault,
  showFloatsExactly,
  unreachable,
} from './client.ts'

/** Creates a pool whose sessions run in UTC; a broken idle client does not end the process. */
export function openPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(options),
    Client: GuardedClient,
    max: options.max ?? 10,
    idleTimeoutMillis: options.idle ?? idle,
  })
  pool.on('error', ignore)
  pool.on('connect', showFloatsExactly)
  return pool
}

/** Lends a connection. Throws SqlFault BUSY where none became free in time, or why none could be opened. */
export async function checkOut(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    const isBusy = error instanceof Error && error.message === WAITED
    throw postgresFault(error, isBusy ? BUSY : unreachable)
  }
}

/** What the pool says of a wait for a connection that others have; it has no code for it. */
const WAITED = 'timeout exceeded when trying to connect'
