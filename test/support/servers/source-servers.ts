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

export type SourceServers = Readonly<Record<ProviderName, SourceServer>> & { close(): Promise<void> }

export async function startSourceServers(): Promise<SourceServers> {
  const [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()])
  const closing: (() => Promise<void>)[] = []
  const server = (config: object, driver: SqlDriver): SourceServer => {
    closing.unshift(() => driver.close())
    return {
      config,
      async run(...statements) {
        let rows: readonly (readonly (string | null)[])[] = []
        for (const text of statements) rows = await driver.query({ text, params: [] })
        return rows
      },
    }
  }

  const root = openPostgres({ connectionString: postgres.url })
  await root.query({ text: 'create database behind_neon', params: [] })
  await root.query({ text: 'create database over_tcp', params: [] })
  await root.close()
  const at = (database: string) => postgres.url.replace(/\/postgres$/, `/${database}`)
  const neon = await startNeonGateway(at('behind_neon'))

  const all = openMysql(mariadb)
  for (const name of ['as_mysql', 'as_mariadb', 'behind_planetscale']) {
    await all.query({ text: `create database ${name} character set utf8mb4`, params: [] })
  }
  await all.close()
  const { host, port, user, password } = mariadb
  const account = (database: string) => ({ host, port, user, password, database })
  const planetscale = await startPlanetscaleGateway(account('behind_planetscale'))
  const overMysql = (database: string, config: object = account(database)) =>
    server(config, openMysql({ ...account(database), max: 2 }))

  return {
    postgres: server({ connectionString: at('over_tcp') }, openPostgres({ connectionString: at('over_tcp') })),
    neon: server({ connectionString: neon.url }, openPostgres({ connectionString: at('behind_neon') })),
    mysql: overMysql('as_mysql', { connectionString: `mysql://${user}:${password}@${host}:${port}/as_mysql` }),
    mariadb: overMysql('as_mariadb'),
    planetscale: overMysql('behind_planetscale', planetscale.config),
    async close() {
      for (const end of closing) await end()
      await Promise.all([neon.close(), planetscale.close()])
      await Promise.all([postgres.close(), mariadb.close()])
    },
  }
}
