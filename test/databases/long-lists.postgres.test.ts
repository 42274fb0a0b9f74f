/** Rows that come as they are taken: of the Postgres driver, and of a list that is sent in pieces. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openPool } from '../../src/platform/drivers/postgres/pool.ts'
import { streamText } from '../../src/platform/drivers/postgres/text-stream.ts'
import type { SqlDriver, SqlRow } from '../../src/ports/database.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { build } from '../support/data/build.ts'
import type { Drawing } from '../support/data/model-sketch.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const numbers = { text: 'select n::text from generate_series(1, $1::int) n', params: ['1000'] }

async function rest(rows: AsyncIterator<SqlRow>): Promise<number> {
  let count = 0
  while ((await rows.next()).done !== true) count += 1
  return count
}

describe('the rows of a stream', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  let driver: SqlDriver

  beforeAll(async () => {
    server = await startPostgres()
  })

  beforeEach(() => {
    driver = openPostgres({ connectionString: server.url })
  })

  afterEach(() => driver.close())
  afterAll(() => server?.close())

  const stream = async (statement = numbers) => {
    if (driver.stream === undefined) throw new Error('the driver has no streams')
    return driver.stream(statement)
  }

  it('come one after the other', async () => {
    const rows = await stream()

    expect(await rows.next()).toEqual({ done: false, value: ['1'] })
    expect(await rows.next()).toEqual({ done: false, value: ['2'] })
    expect(await rest(rows)).toBe(998)
  })

  it('may be none', async () => {
    expect(await (await stream({ ...numbers, params: ['0'] })).next()).toEqual({ done: true, value: undefined })
  })

  it('are not there where the statement fails at first', async () => {
    await expect(stream({ text: 'select 1 / $1::int', params: ['0'] })).rejects.toMatchObject({ state: '22012' })
  })

  it('end with a fault where the statement fails later', async () => {
    const rows = await stream({ text: 'select (10 / (3 - n))::text from generate_series(1, $1::int) n', params: ['5'] })

    await rows.next()
    await rows.next()
    await expect(rows.next()).rejects.toBeInstanceOf(SqlFault)
    expect(await rest(await stream())).toBe(1_000)
  })

  it('make others wait, who go on as soon as somebody has enough', async () => {
    const [one, other] = [await stream(), await stream()]
    const third = stream()

    await one.return?.()

    expect(await rest(await third)).toBe(1_000)
    await other.return?.()
  })

  it('are read to the end for a caller who takes them slowly, and the connection serves others', async () => {
    const pool = openPool({ connectionString: server.url, max: 1, pipeline: false })
    const rows = await streamText(await pool.connect(), numbers, 50)

    const client = await pool.connect()
    client.release()

    expect(await rest(rows)).toBe(1_000)
    await pool.end()
  })
})

const library: Drawing = {
  collections: { notes: { id: 'int32 = counted', text: 'string' } },
  keys: {},
  relations: [],
}

describe('a list of more than 64 MiB', () => {
  it('is read no further than that', async () => {
    const server = await startPostgres()
    const driver = openPostgres({ connectionString: server.url })
    const texts = `create view texts as
      select id, case when id < 200 then repeat('x', 1000000) else (1 / (id - id))::text end as detail from ids`
    await driver.batch(
      ['create table ids (id int primary key)', 'insert into ids select n from generate_series(1, 300) n', texts].map(
        (text) => ({ text, params: [] }),
      ),
    )
    // In the order of the index, so that no row is made before it is read.
    await driver.query({ text: 'alter role current_user set enable_sort = off', params: [] })
    await driver.close()
    const other = openPostgres({ connectionString: server.url })
    const model = build.model({ texts: { id: 'int32', detail: 'string' } })
    const plan = build.read(model, 'texts', 'limit=2000&filter[id][_gt]=0')
    const list = openSqlSource({ driver: other, dialect: postgres }).prepareLong?.(plan)

    await expect(list?.(() => null)).rejects.toMatchObject({ cause: { code: '1006' } })

    await other.close()
    await server.close()
  })
})

describe('a list of more than 1,000 items', () => {
  let service: NodeService

  beforeAll(async () => {
    service = await startService('library', library)
    const database = new pg.Client({ connectionString: service.databaseUrl })
    await database.connect()
    await database.query(
      `insert into "${service.schema}".notes (text) select 'ünïcödé ' || n from generate_series(1, 2345) n`,
    )
    await database.end()
  })

  afterAll(() => service?.close())

  it('is answered as any other', async () => {
    const { status, body } = await service.send('GET', 'notes?limit=-1&sort[0][id][direction]=desc')

    expect(status).toBe(200)
    expect(body).toEqual({
      data: Array.from({ length: 2_345 }, (_, index) => ({ id: 2_345 - index, text: `ünïcödé ${2_345 - index}` })),
    })
  })

  it('may be empty', async () => {
    expect(await service.send('GET', 'notes?limit=-1&filter[id][_lt]=0')).toEqual({ status: 200, body: { data: [] } })
  })

  it('has its total where it is asked for', async () => {
    const { body } = await service.send('GET', 'notes?limit=-1&filter[id][_lt]=3&meta=totalCount')

    expect(body).toMatchObject({ data: [{ id: 1 }, { id: 2 }], meta: { totalCount: 2 } })
  })
})
