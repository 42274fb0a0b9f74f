/** Plans of PostgreSQL, with what it does without an index made as dear as it can be. */
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { postgresIntrospection } from '../../src/core/sql/postgres/introspect.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { postgresSetup } from '../property/support/types/postgres.ts'
import { postgresTypeDatabase } from '../property/support/types/source.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { describePlans } from './plans.ts'

describePlans({
  title: 'PostgreSQL',
  types: postgresTypeDatabase.types,
  quote: postgresTypeDatabase.quote,
  dialect: postgres,
  catalog: postgresIntrospection,
  async start() {
    const server = await startPostgres()
    const driver = openPostgres({ connectionString: server.url })
    for (const text of postgresSetup) await driver.query({ text, params: [] })
    return { driver, close: () => driver.close().then(server.close) }
  },
  async unserved(driver, { text, params }) {
    const settings = 'set local enable_seqscan = off; set local enable_sort = off'
    const [, , rows = []] = await driver.batch([
      ...settings.split('; ').map((one) => ({ text: one, params: [] })),
      { text: `explain ${text}`, params },
    ])
    return rows.flat().filter((line) => /Seq Scan|^\s*(->\s+)?Sort\s+\(/.test(line ?? '')) as string[]
  },
})
