/**
 * MySQL and MariaDB over TCP through a pool of mysql2, which keeps prepared statements for each connection.
 */
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import { BUSY, SqlFault } from '../../core/sql/fault.ts'
import type { ConversingDriver } from '../../ports/database.ts'
import { createMysqlDriver } from './mysql/driver.ts'
import { CONNECT_LIMIT, connectionOptions, type MysqlAddress, sessionSetup } from './mysql/session.ts'
import { createSharedSlots, lendInSlot } from './shared-slots.ts'
import { isForCaller } from './time-limit.ts'

/** A connection string begins with `mysql://` or `mariadb://`; `?tls=true` or `?ssl-mode=REQUIRED` enables TLS. */
export type MysqlOptions = (MysqlAddress | { readonly connectionString: string }) & {
  readonly max?: number
  /** Time limit in milliseconds for statements with a client; 0 or absent means no limit. */
  readonly timeLimit?: number
}

export function openMysql(options: MysqlOptions): ConversingDriver {
  const address = 'connectionString' in options ? parseAddress(options.connectionString) : options
  const { max = MAX_SESSIONS, timeLimit = 0 } = options
  const limited = openPool(address, { max, timeLimit })
  const unlimited = openPool(address, { max, timeLimit: 0 })
  const { connectLimit = CONNECT_LIMIT } = address
  const slots = createSharedSlots({
    most: max,
    ofShare: Math.max(max - OF_OTHER_SHARES, 1),
    ofAccount: Math.max(max - OF_OTHER_ACCOUNTS, 1),
    patience: connectLimit,
  })
  const take = ({ pool, renew }: ReturnType<typeof openPool>) => renew(() => lend(pool, connectLimit))
  return createMysqlDriver({
    sessions: {
      async take(context) {
        if (!isForCaller(context)) return take(unlimited)
        return lendInSlot(slots, context, () => take(limited), ['release', 'destroy'])
      },
      async close() {
        await Promise.all([limited.pool.end(), unlimited.pool.end()])
      },
    },
    address,
    timeLimit,
  })
}

type Limits = { readonly max: number; readonly timeLimit: number }

function openPool(address: MysqlAddress, { max, timeLimit }: Limits) {
  const pool = createPool({ ...connectionOptions(address), connectionLimit: max, maxIdle: max, idleTimeout: 60_000 })
  // Queued first on a new connection, before the statement that opened it.
  pool.pool.on('connection', (session) => {
    for (const text of sessionSetup(timeLimit)) {
      session.query(text, (error) => {
        if (error) session.destroy()
      })
    }
  })
  return { pool, renew: renewal(pool, address) }
}

const MAX_SESSIONS = 10
/** Those that a workspace leaves to other workspaces, and one account to all others. */
const [OF_OTHER_SHARES, OF_OTHER_ACCOUNTS] = [2, 3]

/** Lends a connection of the pool, which has no limit of its own. Throws SqlFault BUSY where none becomes free in time. */
function lend(pool: Pool, limit: number): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    let isGivenUp = false
    const wait = () => {
      timer = setTimeout(() => {
        isGivenUp = true
        reject(new SqlFault('no connection became free in time', { state: BUSY }))
      }, limit)
    }
    // Told before the call returns.
    pool.pool.once('enqueue', wait)
    const pending = pool.getConnection()
    pool.pool.off('enqueue', wait)
    pending
      .then((session) => (isGivenUp ? session.release() : resolve(session)), reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Milliseconds that a token is reused for new connections; servers accept one for some minutes. */
const TOKEN_AGE = 60_000

/** Renews the password in the pool's settings before new connections, since the settings cannot hold a function. */
function renewal({ pool }: Pool, { password }: MysqlAddress): <T>(work: () => Promise<T>) => Promise<T> {
  if (typeof password === 'string') return (work) => work()
  // Missing in the types.
  const { connectionConfig } = (pool as unknown as { config: { connectionConfig: { password: string } } }).config
  let expires = 0
  return async (work) => {
    if (expires < performance.now()) {
      connectionConfig.password = await password()
      expires = performance.now() + TOKEN_AGE
    }
    return work()
  }
}

function parseAddress(connectionString: string): MysqlAddress {
  const url = URL.parse(connectionString)
  if (url === null || !/^(mysql|mariadb):$/.test(url.protocol)) {
    throw new SqlFault('the connection string is not an address of MySQL or MariaDB', { state: '08000' })
  }
  const { searchParams } = url
  const mode = searchParams.get('ssl-mode') ?? searchParams.get('sslmode')
  const database = decodeURIComponent(url.pathname.slice(1))
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    ...(database !== '' && { database }),
    tls: searchParams.get('tls') === 'true' || (mode !== null && !/^(disabled?|preferred)$/i.test(mode)),
  }
}
