/**
 * docs/contract.md#migrations: a dry run lists exactly the statements that then run. What runs is what the driver is
 * given.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ModelRecords } from '../../src/core/model/model.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { anyThrows, applyThrows } from '../support/data/random-operations.ts'
import { casesOr } from '../support/run/cases.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { openInProcess } from '../support/service/in-process.ts'
import { type Client, migrate, signIn, storedModel, type Workspace } from './support/client.ts'
import { randomOptions } from './support/random.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let client: Client
let workspace: Workspace
/** The texts of each transaction that the service has run. */
const transactions: (readonly string[])[] = []

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  client = await openService()
  workspace = await client.workspace('dry')
})

afterAll(async () => {
  await database?.close()
  await server?.close()
})

it('lists the statements that then run, for tables, indexes, relations and changes of them', async () => {
  const seed = Number(process.env.SERVICE_TEST_SEED)
  console.log(`dry runs: SERVICE_TEST_SEED=${seed}`)
  const all: string[] = []

  for (const throws of fc.sample(anyThrows({ minLength: 10, maxLength: 40 }), {
    numRuns: casesOr(25, { least: 8 }),
    seed,
  })) {
    const before = await storedModel(database, workspace)
    const { operations } = applyThrows(before.records, throws, randomOptions(workspace, before.records))
    const preview = await client.send('POST', `/api/dry/schema/migrate?dryRun=true`, { operations })
    const untouched = await storedModel(database, workspace)
    transactions.length = 0
    const answer = await migrate(client, workspace, ...operations)
    const after = await storedModel(database, workspace)
    // Names come from a small pool; one that another collection or field gives up is refused by both.
    if (JSON.stringify(preview.body).includes('is given up by')) {
      expect(answer).toEqual({ status: preview.status, body: preview.body })
      expect(after).toEqual(before)
      continue
    }

    const { data } = preview.body as { data: { statements: { sourceId: string; sql: string }[]; model: ModelRecords } }
    const ran = transactions.flat().filter((text) => !isBookkeeping(text))
    expect(preview.status).toBe(200)
    expect(untouched).toEqual(before)
    expect(data.statements).toEqual(ran.map((sql) => ({ sourceId: workspace.sourceId, sql })))
    if (answer.status === 200) expect(data.model).toEqual(after.records)
    all.push(...ran)
  }

  const parts = ['create table', 'alter table', 'create index', 'foreign key', 'drop constraint', 'drop table']
  expect(parts.filter((part) => !all.some((sql) => sql.includes(part)))).toEqual([])
})

/** Of the service's own tables: turn, model, audit log and policies. */
function isBookkeeping(text: string): boolean {
  return /\bservice\.|"service"\.|"service_dry_meta"/.test(text)
}

/** The service over a driver that notes what it is given. */
async function openService(): Promise<Client> {
  const noting: SqlDriver = {
    ...database,
    batch(statements) {
      transactions.push(statements.map(({ text }) => text))
      return database.batch(statements)
    },
  }
  const { administrator, request } = await openInProcess({ database: noting, databaseUrl: server.url })
  return signIn(administrator, 'http://localhost', request)
}
