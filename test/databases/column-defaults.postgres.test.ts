/** Defaults of columns on PostgreSQL. */
import { describe } from 'vitest'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { postgresIntrospection } from '../../src/core/sql/postgres/introspect.ts'
import { sql } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { describeColumnDefaults } from './column-defaults.ts'

describe('on PostgreSQL', () => {
  describeColumnDefaults({
    dialect: postgres,
    catalog: postgresIntrospection,
    async open() {
      const server = await startPostgres()
      const plain = openPostgres({ connectionString: server.url })
      return {
        plain,
        changing: plain,
        async close() {
          await plain.close()
          await server.close()
        },
      }
    },
    // Both end with the transaction.
    settings: {
      'nothing set': [],
      'escapes by backslash and another zone': [
        sql`set local standard_conforming_strings = off`,
        sql`set local escape_string_warning = off`,
        sql`set local time zone 'Asia/Tokyo'`,
      ],
    },
    unset: [],
    ending: sql` cascade`,
    words: [
      sql`create type service_shop_data.mood as enum ('it''s', 'ok')`,
      sql`create table service_shop_data.t (id int primary key, x service_shop_data.mood not null)`,
    ],
    latin: [],
    more: [
      [{ name: 'decimal' }, '1.500000000000000000000000000000000000000000000000001'],
      [{ name: 'dateTimeWithTimezone' }, '0001-01-01T00:00:00Z'],
      [{ name: 'float64' }, 'NaN'],
    ],
  })
})
