/** Nested writes on a real MariaDB, where every table has to be named with its database. */
import { describe } from 'vitest'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { describeNestedWrites } from './nested-writes.ts'

describe('on MariaDB, by a connection without a database', () => {
  const start = async () => {
    const server = await startMariadb()
    const driver = openMysql({ ...server, database: undefined })
    return { driver, close: () => driver.close().then(() => server.close()) }
  }
  describeNestedWrites(mariadb, start, 'shop')
})
