/**
 * The drivers, loaded by their first statement: each is a part of its own, which scripts/worker-parts.ts builds (decision
 * 055), and Neon's package alone is a sixth of the Worker. Once loaded, a driver is called directly.
 */
import type { TcpProvider } from '../../core/sql/address.ts'
import { SqlFault, type SqlFaultDetail } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports.ts'
import type { NeonDeps } from '../drivers/neon.ts'
import type { PlanetscaleDeps } from '../drivers/planetscale.ts'
import type { TcpAddress } from './parts/tcp-address.ts'
import { currentRequest } from './request-scope.ts'

type TcpSourceDeps = {
  readonly provider: TcpProvider
  readonly address: TcpAddress
  readonly timeLimit?: number | undefined
}

/** The system database. */
export function openNeonLazily(deps: NeonDeps): SqlDriver {
  return late(async () => (await import('./parts/neon.js')).openNeon(deps))
}

/** The database of a data source; requests go through `wayOut`. */
export function openNeonSource(deps: PlanetscaleDeps): SqlDriver {
  return late(async () => {
    const { neonUrl, openNeon } = await import('./parts/neon.js')
    const { address, ...rest } = deps
    return openNeon({ ...rest, connectionString: neonUrl(address) })
  })
}

/** Like `openNeonSource`, for PlanetScale. */
export function openPlanetscaleSource(deps: PlanetscaleDeps): SqlDriver {
  return late(async () => (await import('./parts/planetscale.js')).openPlanetscale(deps))
}

const loadMysql = () => import('./parts/mysql.js')

const tcpParts = {
  postgres: () => import('./parts/postgres.js'),
  mysql: loadMysql,
  mariadb: loadMysql,
} satisfies Readonly<Record<TcpProvider, unknown>>

/** The database of a data source over TCP, by connections of the current request. */
export function openTcpSource(deps: TcpSourceDeps): SqlDriver {
  const { provider, address, timeLimit = 0 } = deps
  return late(async () => {
    const { openPart } = await tcpParts[provider]()
    return openPart({ address, timeLimit, request: currentRequest })
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
