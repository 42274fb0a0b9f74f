/** Nested writes on a real Postgres. */
import { describe } from 'vitest'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { describeNestedWrites } from './nested-writes.ts'

describe('on Postgres', () => {
  describeNestedWrites(postgres, async () => {
    const server = await startPostgres()
    const driver = openPostgres({ connectionString: server.url })
    return { driver, close: () => driver.close().then(() => server.close()) }
  })
})
