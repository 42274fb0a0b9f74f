/**
 * The drivers, loaded by their first statement: each is a part of its own, which scripts/worker-parts.ts builds (decision
 * 055), and Neon's package alone is a sixth of the Worker. Once loaded, a driver is called directly.
 */
import type { SqlAddress, TcpProvider } from '../../core/sql/address.ts'
import { SqlFault, type SqlFaultDetail } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports.ts'
import type { Fetch } from '../fetch.ts'
import type { TcpAddress } from './parts/tcp-address.ts'
import { currentRequest } from './request-scope.ts'

/** The system database. */
export function openNeonLazily(connectionString: string, timeLimit?: number): SqlDriver {
  return late(async () => (await import('./parts/neon.js')).openNeon(connectionString, undefined, timeLimit))
}

/** The database of a data source; requests go through `wayOut`. */
export function openNeonSource(address: SqlAddress, wayOut: Fetch, timeLimit?: number): SqlDriver {
  return late(async () => {
    const { neonUrl, openNeon } = await import('./parts/neon.js')
    return openNeon(neonUrl(address), wayOut, timeLimit)
  })
}

/** Like `openNeonSource`, for PlanetScale. */
export function openPlanetscaleSource(address: SqlAddress, wayOut: Fetch, timeLimit?: number): SqlDriver {
  return late(async () => (await import('./parts/planetscale.js')).openPlanetscale(address, wayOut, timeLimit))
}

const loadMysql = () => import('./parts/mysql.js')

const tcpParts = {
  postgres: () => import('./parts/postgres.js'),
  mysql: loadMysql,
  mariadb: loadMysql,
} satisfies Readonly<Record<TcpProvider, unknown>>

/** The database of a data source over TCP, by connections of the current request. */
export function openTcpSource(provider: TcpProvider, address: TcpAddress, timeLimit = 0): SqlDriver {
  return late(async () => {
    const { openPart } = await tcpParts[provider]()
    return openPart(address, { timeLimit, request: currentRequest })
  })
}

// Shares only the finished driver: on Workers no request may await another request's promise.
function late(open: () => Promise<SqlDriver>): SqlDriver {
  let opened: SqlDriver | undefined
  const run = async <T>(work: (driver: SqlDriver) => Promise<T>): Promise<T> => {
    try {
      if (opened !== undefined) return await work(opened)
      const loaded = await open()
      opened ??= loaded
      return await work(opened)
    } catch (error) {
      throw ourFault(error)
    }
  }
  return {
    query: (statement, context) => run((driver) => driver.query(statement, context)),
    batch: (statements, context) => run((driver) => driver.batch(statements, context)),
    close: async () => opened?.close(),
  }
}

/** A part has a copy of the class SqlFault; callers know only ours. */
function ourFault(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'SqlFault' || error instanceof SqlFault) return error
  return new SqlFault(error.message, error as Error & SqlFaultDetail)
}
