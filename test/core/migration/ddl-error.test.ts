/** What the author of a migration is told of the database's errors. */
import { expect, it } from 'vitest'
import { ddlError } from '../../../src/core/migration/ddl-error.ts'
import { BUSY, SqlFault } from '../../../src/core/sql/fault.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'

const ended = { kind: 'unavailable', code: '5005', meta: { retryAfter: 1 } }

it.each(['40P01', '40001', '55P03'])('is that it may be sent again, where PostgreSQL ended it: %s', (state) => {
  expect(ddlError(new SqlFault('deadlock detected', { state }), postgres)).toMatchObject(ended)
})

it('is that it may be sent again, where no connection was free', () => {
  const fault = new SqlFault('no connection became free in time', { state: BUSY })
  const busy = { kind: 'unavailable', code: '5007', meta: { retryAfter: 1 } }

  expect([postgres, mysql, mariadb].map((dialect) => ddlError(fault, dialect))).toMatchObject([busy, busy, busy])
})

it.each([1205, 1213])('is that it may be sent again, where MySQL or MariaDB ended it: %i', (errno) => {
  const fault = new SqlFault('Deadlock found when trying to get lock', { state: '40001', errno })

  expect([mysql, mariadb].map((dialect) => ddlError(fault, dialect))).toMatchObject([ended, ended])
})

it.each([
  [postgres, { state: '54011' }, 'The database has no tables, and no indexes, of so many columns'],
  [mariadb, { state: 'HY000', errno: 1117 }, 'The database has no tables, and no indexes, of so many columns'],
  [mariadb, { state: '42000', errno: 1070 }, 'The database has no tables, and no indexes, of so many columns'],
  [mysql, { state: '42000', errno: 1118 }, 'The database has no tables whose rows are so long'],
  [mysql, { state: '42000', errno: 1074 }, 'The database does not support this'],
])('of a table that is too wide is one of the change', (dialect, fault, message) => {
  expect(ddlError(new SqlFault('', fault), dialect)).toMatchObject({ kind: 'unfit', code: '3010', message })
})
