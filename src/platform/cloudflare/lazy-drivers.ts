/**
 * The HTTP drivers, loaded by their first statement: a start does not need them, and Neon's package alone is a sixth of
 * the Worker (decision 036). Once loaded, a driver is called directly.
 */
import type { SqlAddress } from '../../core/sql/address.ts'
import type { SqlDriver } from '../../ports.ts'
import type { Fetch } from '../fetch.ts'

/** The system database. */
export function openNeonLazily(connectionString: string, timeLimit?: number): SqlDriver {
  return late(async () => (await import('../drivers/neon.ts')).openNeon(connectionString, undefined, timeLimit))
}

/** The database of a data source; requests go through `wayOut`. */
export function openNeonSource(address: SqlAddress, wayOut: Fetch, timeLimit?: number): SqlDriver {
  return late(async () => {
    const { neonUrl, openNeon } = await import('../drivers/neon.ts')
    return openNeon(neonUrl(address), wayOut, timeLimit)
  })
}

/** Like `openNeonSource`, for PlanetScale. */
export function openPlanetscaleSource(address: SqlAddress, wayOut: Fetch, timeLimit?: number): SqlDriver {
  return late(async () => (await import('../drivers/planetscale.ts')).openPlanetscale(address, wayOut, timeLimit))
}

// Shares only the finished driver: on Workers no request may await another request's promise.
function late(open: () => Promise<SqlDriver>): SqlDriver {
  let opened: SqlDriver | undefined
  const driver = async () => {
    const loaded = await open()
    opened ??= loaded
    return opened
  }
  return {
    query: (statement, context) =>
      opened === undefined
        ? driver().then((loaded) => loaded.query(statement, context))
        : opened.query(statement, context),
    batch: (statements, context) =>
      opened === undefined
        ? driver().then((loaded) => loaded.batch(statements, context))
        : opened.batch(statements, context),
    close: async () => opened?.close(),
  }
}
