/** What an introspection costs a database, as that counts it: in proportion to the tables, analysed or not. */
import { expect, it } from 'vitest'
import { mariadbIntrospection } from '../../src/core/sql/mysql/introspect.ts'
import { postgresIntrospection } from '../../src/core/sql/postgres/introspect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { LINEAR } from '../support/run/work.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPostgres } from '../support/servers/postgres.ts'

const FEW = 30

it('reads pages of PostgreSQL in proportion to its tables, analysed or not', async () => {
  const server = await startPostgres()
  const driver = openPostgres({ connectionString: server.url })
  try {
    await createTables(driver, 0, FEW)
    const few = await pagesRead(driver)
    await createTables(driver, FEW, 4 * FEW)
    const many = await pagesRead(driver)
    await driver.query({ text: 'analyze', params: [] })
    const analysed = await pagesRead(driver)

    expect(many / few).toBeLessThan(LINEAR)
    expect(many / analysed).toBeLessThan(2)
    expect(analysed / many).toBeLessThan(2)
  } finally {
    await driver.close()
    await server.close()
  }
})

it('reads the types of PostgreSQL that are used, and not all others with them', async () => {
  const server = await startPostgres()
  const driver = openPostgres({ connectionString: server.url })
  try {
    await createTables(driver, 0, FEW)
    const before = await pagesRead(driver)
    await driver.query({ text: 'create type pair as (one int, other text)', params: [] })
    await driver.query({ text: 'create table typed (id bigint primary key, pair pair)', params: [] })

    expect((await pagesRead(driver)) / before).toBeLessThan(2)
  } finally {
    await driver.close()
    await server.close()
  }
})

it('makes about one temporary table of MariaDB for each part of its catalog, however many tables there are', async () => {
  const server = await startMariadb()
  const driver = openMysql(server)
  try {
    await createTables(driver, 0, FEW)
    const few = await temporaryTables(driver)
    await createTables(driver, FEW, 4 * FEW)

    expect(few).toBeLessThan(2 * PARTS)
    expect(await temporaryTables(driver)).toBeLessThan(2 * PARTS)
  } finally {
    await driver.close()
    await server.close()
  }
})

/** Of the union that reads the catalog; a join of its views took ten times as many. */
const PARTS = 8

async function createTables(driver: SqlDriver, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) {
    const targets = [Math.max(0, index - 1), (index * 7) % Math.max(1, index)]
    const keys = targets.map((target, key) => `, foreign key (ref${key}) references t${target} (id)`).join('')
    const text = `create table t${index} (id bigint primary key, ref0 bigint, ref1 bigint${keys})`
    await driver.query({ text, params: [] })
  }
}

async function pagesRead(driver: SqlDriver): Promise<number> {
  const { text, params } = postgresIntrospection.statement({ kind: 'all' })
  const [[plan] = []] = await driver.query({ text: `explain (analyze, buffers, format json) ${text}`, params })
  const [{ Plan }] = JSON.parse(plan ?? '') as [{ Plan: Record<string, number> }]
  return (Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0)
}

async function temporaryTables(driver: SqlDriver): Promise<number> {
  const status = { text: `show session status like 'Created_tmp_tables'`, params: [] }
  const [before, , after] = await driver.batch([status, mariadbIntrospection.statement({ kind: 'all' }), status])
  return Number(after?.[0]?.[1]) - Number(before?.[0]?.[1])
}
