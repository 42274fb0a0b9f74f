/** Pools of connections to Postgres, for what needs a connection of its own. */
import pg from 'pg'
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

export async function checkOut(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw postgresFault(error, unreachable)
  }
}
