/** What an introspection costs a database, as that counts it: in proportion to the tables, analysed or not. */
import { expect, it } from 'vitest'
import type { IntrospectionScope } from '../../src/core/sql/introspect.ts'
import { mariadbIntrospection } from '../../src/core/sql/mysql/introspect.ts'
import { postgresIntrospection } from '../../src/core/sql/postgres/introspect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
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

it('reads of the tables of other schemas of PostgreSQL that they are there', async () => {
  const server = await startPostgres()
  const driver = openPostgres({ connectionString: server.url })
  try {
    await createTables(driver, 0, FEW)
    const before = await rowsRead(driver, 'public')
    const entriesBefore = await entriesOfTables(driver)
    await driver.query({ text: 'create schema other', params: [] })
    await createTables(driver, 0, 4 * FEW, 'other.')

    const more = (await rowsRead(driver, 'public')) - before
    expect(more).toBeLessThan(1.1 * ((await entriesOfTables(driver)) - entriesBefore))
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

async function createTables(driver: SqlDriver, from: number, to: number, schema = ''): Promise<void> {
  for (let index = from; index < to; index += 1) {
    const targets = [Math.max(0, index - 1), (index * 7) % Math.max(1, index)]
    const keys = targets.map((target, key) => `, foreign key (ref${key}) references ${schema}t${target} (id)`).join('')
    const text = `create table ${schema}t${index} (id bigint primary key, ref0 bigint, ref1 bigint${keys})`
    await driver.query({ text, params: [] })
  }
}

async function pagesRead(driver: SqlDriver): Promise<number> {
  const plan = await explained(driver, { kind: 'all' })
  return numberOf(plan, 'Shared Hit Blocks') + numberOf(plan, 'Shared Read Blocks')
}

/** Those that scans of the catalog read, whether they are of use or not. */
async function rowsRead(driver: SqlDriver, schema: string): Promise<number> {
  const scanned = (plan: Plan): number => {
    const ofOne = numberOf(plan, 'Actual Rows') + numberOf(plan, 'Rows Removed by Filter')
    const own = 'Relation Name' in plan ? ofOne * numberOf(plan, 'Actual Loops') : 0
    return (plan.Plans ?? []).reduce((sum, part) => sum + scanned(part), own)
  }
  return scanned(await explained(driver, { kind: 'schemas', names: [schema] }))
}

async function entriesOfTables(driver: SqlDriver): Promise<number> {
  const [[count] = []] = await driver.query({ text: 'select count(*)::text from pg_class', params: [] })
  return Number(count)
}

type Plan = { readonly [member: string]: unknown; readonly Plans?: readonly Plan[] }

async function explained(driver: SqlDriver, scope: IntrospectionScope): Promise<Plan> {
  const { text, params } = postgresIntrospection.statement(scope)
  const [[answer] = []] = await driver.query({ text: `explain (analyze, buffers, format json) ${text}`, params })
  const [{ Plan }] = JSON.parse(answer ?? '') as [{ Plan: Plan }]
  return Plan
}

function numberOf(plan: Plan, member: string): number {
  return Number(plan[member] ?? 0)
}

async function temporaryTables(driver: SqlDriver): Promise<number> {
  const status = { text: `show session status like 'Created_tmp_tables'`, params: [] }
  const [before, , after] = await driver.batch([status, mariadbIntrospection.statement({ kind: 'all' }), status])
  return Number(after?.[0]?.[1]) - Number(before?.[0]?.[1])
}
