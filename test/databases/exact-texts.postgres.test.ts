/**
 * Texts in columns of PostgreSQL that take different texts for equal: which columns these are, how long the model may
 * take one for such, and that a column's index serves them and plain ones as before.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildModel, type Model, type ModelRecords } from '../../src/core/model/model.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { postgresIntrospection } from '../../src/core/sql/postgres/introspect.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { installSchema, WORKSPACE_SCHEMA_NUMBER, workspaceSchema } from '../../src/store/installation.ts'
import { loadModel, saveModel } from '../../src/store/models.ts'
import { createCollection, field, id, migrate, workspace } from '../core/migration/build.ts'
import { build } from '../support/data/build.ts'
import { introspect } from '../support/data/imported.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver

const run = (text: string, params: readonly (string | null)[] = []) => driver.query({ text, params })

beforeAll(async () => {
  server = await startPostgres()
  driver = openPostgres({ connectionString: server.url })
  await run(`create collation cases (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
  await run(`create table many (id int primary key, plain text, cases text collate cases,
    ordered text collate "C", number int)`)
  await run(`insert into many select n, 'tenant' || n % 5000, 'tenant' || n % 5000, 'x', n
    from generate_series(1, 20000) n`)
  for (const column of ['plain', 'cases']) await run(`create index on many (${column})`)
  await run('analyze many')
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

const crm = id('crm')
const untouched: ModelRecords = { ...workspace, namespaces: workspace.namespaces.filter((one) => one.sourceId !== crm) }

function imported(records: ModelRecords = untouched) {
  const database = { driver, dialect: postgres, catalog: postgresIntrospection }
  return introspect(database, records, { sourceId: crm, scope: { kind: 'all' } })
}

function looseIn({ primitiveFields }: ModelRecords): readonly string[] {
  return primitiveFields.filter(({ isLoose }) => isLoose).map(({ dbName }) => dbName)
}

function statementOf(model: Model, name: string, operator: string, operand: string | readonly string[]) {
  const at = `filter[${name}][${operator}]`
  const filter =
    typeof operand === 'string' ? `${at}=${operand}` : operand.map((one, n) => `${at}[${n}]=${one}`).join('&')
  return build.statement(build.read(model, 'many', `fields=id&limit=1000&${filter}`), postgres)
}

describe('an import', () => {
  it('marks the columns that take different texts for equal, and no others', async () => {
    expect(looseIn((await imported()).records)).toEqual(['cases'])
  })

  it('follows a column that comes to be such, or is no longer, and says nothing of it', async () => {
    const before = (await imported()).records
    await run('alter table many alter ordered type text collate cases')

    const after = await imported(before)

    expect(after.operations).toEqual([])
    expect(looseIn(after.records)).toEqual(['cases', 'ordered'])
    await run('alter table many alter ordered type text collate "C"')
    const again = await imported(after.records)
    expect(again.operations).toEqual([])
    expect(looseIn(again.records)).toEqual(['cases'])
    expect((await imported(again.records)).records).toBe(again.records)
  })
})

describe('the index of a column', () => {
  it.each(
    ['plain', 'cases'].flatMap((name) => [
      { name, operator: '_eq', operand: 'tenant77', count: 4 },
      { name, operator: '_in', operand: ['tenant77', 'tenant78', 'TENANT79'], count: 8 },
      { name, operator: '_gt', operand: 'tenant998', count: 4 },
    ]),
  )('serves $operator of $name', async ({ name, operator, operand, count }) => {
    const statement = statementOf(buildModel(1, (await imported()).records), name, operator, operand)

    const plan = await run(`explain ${statement.text}`, statement.params)

    expect(plan.flat().join('\n')).toContain(`many_${name}_idx`)
    const { data } = postgres.answerList(await driver.query(statement), false)
    expect(JSON.parse(data)).toHaveLength(count)
  })
})

describe('the stored model of a workspace', () => {
  const shop = { id: id('shop'), apiName: 'shop' }
  const none: ModelRecords = {
    sources: [],
    namespaces: [],
    collections: [],
    primitiveFields: [],
    relationFields: [],
    constraints: [],
    indexes: [],
  }
  let system: Awaited<ReturnType<typeof startPostgres>>
  let database: SqlDriver
  let records: ModelRecords

  beforeAll(async () => {
    system = await startPostgres()
    database = openPostgres({ connectionString: system.url })
    await installSchema(database)
    await ask(
      `insert into service.workspace (id, api_name, schema_number) values ('${shop.id}', 'shop', ${WORKSPACE_SCHEMA_NUMBER})`,
    )
    const own = createCollection('own', [field('own.id', 'int64'), field('own.name', 'string')])
    records = migrate((await imported()).records, own).records
    await database.batch([...workspaceSchema('shop'), ...saveModel('shop', none, records, 1)])
  })

  afterAll(async () => {
    await database?.close()
    await system?.close()
  })

  const ask = (text: string) => database.query({ text, params: [] })

  async function load(): Promise<ModelRecords> {
    return (await loadModel(database, shop))?.records ?? none
  }

  it('keeps the marks, and the SQL of columns that have none is what it was', async () => {
    const loaded = await load()

    expect(looseIn(loaded)).toEqual(['cases'])
    for (const one of [records, loaded]) {
      expect(statementOf(buildModel(1, one), 'plain', '_eq', 'x').text).toMatch(
        / where "t0"\."plain" = \$1::text order by /,
      )
    }
    expect((await imported(loaded)).operations).toEqual([])
  })
})
