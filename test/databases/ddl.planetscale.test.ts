/** Migrations as a conversation, over PlanetScale's HTTP protocol, by a gateway that refuses what Vitess refuses. */
import { describe } from 'vitest'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import { mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import type { TestMariadb } from '../support/servers/mariadb.ts'
import { startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'
import { describeMysqlDdl } from './ddl-mysql.ts'

describe('behind PlanetScale', () => {
  const connect = async (server: TestMariadb) => {
    const { config, close } = await startPlanetscaleGateway(server)
    return { driver: openPlanetscale({ address: parseSqlAddress('planetscale', config), wayOut: fetch }), close }
  }
  describeMysqlDdl({ dialect: mariadbConversation, schemas: 'refused', connect })
})
