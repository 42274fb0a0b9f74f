/**
 * The databases that data sources of the tests lead to: a Postgres and a MariaDB, each also behind the gateway of an HTTP
 * driver, and in each an empty database for every provider.
 */

import type { SqlProvider } from '../../../src/core/sql/address.ts'
import { openMysql } from '../../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../../src/platform/node/embedded/neon-gateway.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { startMariadb } from './mariadb.ts'
import { startPlanetscaleGateway } from './planetscale-gateway.ts'
import { startPostgres } from './postgres.ts'

export type ProviderName = SqlProvider

export type SourceServer = {
  /** What a source is created with. */
  readonly config: object
  /** Runs statements behind the service's back and answers the rows of the last. */
  run(...statements: readonly string[]): Promise<readonly (readonly (string | null)[])[]>
}

type ServersOf<Name extends ProviderName> = Readonly<Record<Name, SourceServer>> & { close(): Promise<void> }

export type SourceServers = ServersOf<ProviderName>

export async function startSourceServers(): Promise<SourceServers> {
  const [ofPostgres, ofMysql] = await Promise.all([startPostgresSources(), startMysqlSources()])
  const close = async () => {
    await Promise.all([ofPostgres.close(), ofMysql.close()])
  }
  return { ...ofPostgres, ...ofMysql, close }
}

function server(config: object, driver: SqlDriver): SourceServer {
  return {
    config,
    async run(...statements) {
      let rows: readonly (readonly (string | null)[])[] = []
      for (const text of statements) rows = await driver.query({ text, params: [] })
      return rows
    },
  }
}

/** Those that speak the protocol of PostgreSQL. */
export async function startPostgresSources(): Promise<ServersOf<'postgres' | 'neon'>> {
  const postgres = await startPostgres()
  const root = openPostgres({ connectionString: postgres.url })
  await root.query({ text: 'create database behind_neon', params: [] })
  await root.query({ text: 'create database over_tcp', params: [] })
  await root.close()
  const at = (database: string) => postgres.url.replace(/\/postgres$/, `/${database}`)
  const neon = await startNeonGateway(at('behind_neon'))
  const drivers = ['over_tcp', 'behind_neon'].map((name) => openPostgres({ connectionString: at(name) }))
  const [overTcp, behindNeon] = drivers as [SqlDriver, SqlDriver]
  return {
    postgres: server({ connectionString: at('over_tcp') }, overTcp),
    neon: server({ connectionString: neon.url }, behindNeon),
    async close() {
      for (const driver of drivers) await driver.close()
      await neon.close()
      await postgres.close()
    },
  }
}

async function startMysqlSources(): Promise<ServersOf<'mysql' | 'mariadb' | 'planetscale'>> {
  const mariadb = await startMariadb()
  const all = openMysql(mariadb)
  for (const name of ['as_mysql', 'as_mariadb', 'behind_planetscale']) {
    await all.query({ text: `create database ${name} character set utf8mb4`, params: [] })
  }
  await all.close()
  const { host, port, user, password } = mariadb
  const account = (database: string) => ({ host, port, user, password, database })
  const planetscale = await startPlanetscaleGateway(account('behind_planetscale'))
  const drivers: SqlDriver[] = []
  const overMysql = (database: string, config: object = account(database)) => {
    const driver = openMysql({ ...account(database), max: 2 })
    drivers.push(driver)
    return server(config, driver)
  }
  return {
    mysql: overMysql('as_mysql', { connectionString: `mysql://${user}:${password}@${host}:${port}/as_mysql` }),
    mariadb: overMysql('as_mariadb'),
    planetscale: overMysql('behind_planetscale', planetscale.config),
    async close() {
      for (const driver of drivers) await driver.close()
      await planetscale.close()
      await mariadb.close()
    },
  }
}
