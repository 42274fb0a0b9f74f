/** Migrations of a MariaDB over TCP. */
import { describe } from 'vitest'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { TestMariadb } from '../support/servers/mariadb.ts'
import { describeMysqlDdl } from './ddl-mysql.ts'

describe('on MariaDB', () => {
  const connect = async (server: TestMariadb) => ({ driver: openMysql(server), async close() {} })
  describeMysqlDdl({ dialect: mariadb, schemas: 'made', connect })
})
