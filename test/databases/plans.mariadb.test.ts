/** Plans of MariaDB: a filter could take the index, and a sort takes it. */
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { mariadbIntrospection } from '../../src/core/sql/mysql/introspect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { mariadbTypeDatabase } from '../property/support/types/source.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { describePlans } from './plans.ts'

/** The columns of `explain`. */
const POSSIBLE_KEYS = 4
const KEY = 5
const EXTRA = 9

describePlans({
  title: 'MariaDB',
  types: mariadbTypeDatabase.types,
  quote: mariadbTypeDatabase.quote,
  dialect: mariadb,
  catalog: mariadbIntrospection,
  async start() {
    const server = await startMariadb()
    const driver = openMysql(server)
    return { driver, close: () => driver.close().then(server.close) }
  },
  async unserved(driver, { text, params }) {
    const rows = await driver.query({ text: `explain ${text}`, params })
    return rows.flatMap((row) => {
      const isServed = row[2] === null || `${row[POSSIBLE_KEYS]}${row[KEY]}`.includes('v')
      const isFound = /impossible|no matching/i.test(row[EXTRA] ?? '')
      return (isServed && !row[EXTRA]?.includes('filesort')) || isFound || /union/i.test(row[2] ?? '')
        ? []
        : [row.join(' | ')]
    })
  },
})
