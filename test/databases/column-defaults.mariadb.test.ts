/** Defaults of columns on MariaDB, over TCP and behind PlanetScale's gateway. */
import { describe } from 'vitest'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import { mariadb, mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { mariadbIntrospection } from '../../src/core/sql/mysql/introspect.ts'
import { sql } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'
import { describeColumnDefaults } from './column-defaults.ts'

const settings = {
  'nothing set': [],
  'another sql_mode and zone': [
    sql`set @mode = @@sql_mode`,
    sql`set sql_mode = concat(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES')`,
    sql`set time_zone = '+09:00'`,
  ],
}
const own = {
  dialect: mariadb,
  catalog: mariadbIntrospection,
  ending: sql``,
  words: [sql`create table service_shop_data.t (id int primary key, x enum('it''s', 'ok') not null)`],
  latin: [sql`alter table service_shop_data.k modify id varchar(20) character set latin1 not null`],
  more: [],
}
const unset = [sql`set sql_mode = ifnull(@mode, @@sql_mode)`, sql`set time_zone = '+00:00'`]

describe('on MariaDB', () => {
  describeColumnDefaults({
    ...own,
    async open() {
      const server = await startMariadb()
      const plain = openMysql(server)
      return {
        plain,
        changing: plain,
        async close() {
          await plain.close()
          await server.close()
        },
      }
    },
    settings,
    unset,
  })
})

describe('behind PlanetScale', () => {
  describeColumnDefaults({
    ...own,
    dialect: mariadbConversation,
    async open() {
      const server = await startMariadb()
      const plain = openMysql(server)
      const gateway = await startPlanetscaleGateway(server)
      const address = parseSqlAddress('planetscale', gateway.config)
      const changing = openPlanetscale({ address, wayOut: fetch })
      return {
        plain,
        changing,
        async close() {
          await changing.close()
          await gateway.close()
          await plain.close()
          await server.close()
        },
      }
    },
    settings: { 'nothing set': [] },
    unset: [],
  })
})
