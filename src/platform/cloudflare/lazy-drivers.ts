/**
 * The drivers, loaded by their first statement: each is a part of its own, which scripts/worker-parts.ts builds (decision
 * 055). Once loaded, a driver is called directly.
 */
import type { TcpProvider } from '../../core/sql/address.ts'
import { SqlFault, type SqlFaultDetail } from '../../core/sql/fault.ts'
import type { ConversingDriver, SqlDriver } from '../../ports/database.ts'
import type { NeonDeps } from '../drivers/neon.ts'
import type { HttpSourceDeps } from '../drivers/planetscale.ts'
import type { TcpAddress, TcpDeps } from './parts/tcp-address.ts'
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
export function openNeonSource(deps: HttpSourceDeps): SqlDriver {
  return late(async () => {
    const { neonUrl, openNeon } = await import('./parts/neon.js')
    const { address, ...rest } = deps
    return openNeon({ ...rest, connectionString: neonUrl(address) })
  })
}

/** Like `openNeonSource`, for PlanetScale. */
export function openPlanetscaleSource(deps: HttpSourceDeps): SqlDriver {
  return conversing(async () => (await import('./parts/planetscale.js')).openPlanetscale(deps))
}

const openMysql = (deps: TcpDeps) => conversing(async () => (await import('./parts/mysql.js')).openPart(deps))

const tcpParts: Readonly<Record<TcpProvider, (deps: TcpDeps) => SqlDriver>> = {
  postgres: (deps) => late(async () => (await import('./parts/postgres.js')).openPart(deps)),
  mysql: openMysql,
  mariadb: openMysql,
}

/** The database of a data source over TCP, by connections of the current request. */
export function openTcpSource(deps: TcpSourceDeps): SqlDriver {
  const { provider, address, timeLimit = 0 } = deps
  return tcpParts[provider]({ address, timeLimit, request: currentRequest })
}

function conversing(open: () => Promise<ConversingDriver>): ConversingDriver {
  const { run, ...driver } = late(open)
  return { ...driver, converse: (statements, context) => run(({ converse }) => converse(statements, context)) }
}

type Late<Driver> = SqlDriver & { readonly run: <T>(work: (driver: Driver) => Promise<T>) => Promise<T> }

// Shares only the finished driver: on Workers no request may await another request's promise.
function late<Driver extends SqlDriver>(open: () => Promise<Driver>): Late<Driver> {
  let opened: Driver | undefined
  const run: Late<Driver>['run'] = async (work) => {
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
    run,
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
