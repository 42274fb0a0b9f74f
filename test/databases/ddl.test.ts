/** Migrations on a real Postgres: what was applied to the model is what the database then has. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileChange } from '../../src/core/sql/ddl/compile-change.ts'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { compile, param, type Sql, sql } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import {
  autoincrement,
  constant,
  createCollection,
  deleteCollection,
  deleteField,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  migrate,
  onCreate,
  relation,
  toDbName,
  toDefault,
  toNullable,
  toType,
  updateCollection,
  updateField,
  workspace,
} from '../core/migration/build.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver
let records = workspace

beforeAll(async () => {
  server = await startPostgres()
  driver = openPostgres({ connectionString: server.url })
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

beforeEach(async () => {
  records = workspace
  await run(sql`drop schema if exists service_shop_data cascade`)
  await run(sql`create schema service_shop_data`)
})

async function run(fragment: Sql) {
  const [rows = []] = await driver.batch([compile(fragment, postgres)])
  return rows
}

/** As the service does it: all changes of a migration in one transaction. */
async function apply(...operations: readonly Json[]): Promise<void> {
  const applied = migrate(records, ...operations)
  const statements = applied.changes.flatMap(({ change }) => compileChange(change, postgres))
  await driver.batch(statements.map((statement) => compile(statement, postgres)))
  records = applied.records
}

const columns = (table: string) =>
  run(sql`select column_name, udt_name, is_nullable, column_default, is_identity from information_schema.columns
    where table_schema = 'service_shop_data' and table_name = ${param(table)}::text order by ordinal_position`)
const constraints = (table: string) =>
  run(sql`select conname, pg_get_constraintdef(oid) from pg_constraint
    where conrelid = ('service_shop_data.' || quote_ident(${param(table)}::text))::regclass and contype <> 'n' order by conname`)
const indexes = () =>
  run(sql`select indexname, indexdef from pg_indexes where schemaname = 'service_shop_data' order by indexname`)

const people = createCollection('people', [
  field('people.id', 'int64', { defaultValue: autoincrement }),
  field('people.email', 'string'),
  index('people_pkey', 'primary', ['people.id']),
  index('people_email', 'unique', ['people.email']),
])

describe('tables', () => {
  it('get their columns, keys, indexes and foreign keys', async () => {
    const articles = createCollection('articles', [
      field('articles.id', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) }),
      field(
        'articles.tags',
        { name: 'string', params: { length: 'fixed', value: 20 } },
        { isList: true, isNullable: true },
      ),
      field('articles.author', 'int64', { isNullable: true }),
      index('articles_pkey', 'primary', ['articles.id']),
      index('articles_tags', 'normal', ['articles.tags', 'articles.id']),
    ])

    await apply(
      people,
      articles,
      relation('a_author', ['articles.author'], ['people.id'], { onDelete: 'setNull', onUpdate: 'cascade' }),
    )

    expect(await columns('people')).toEqual([
      ['id', 'int8', 'NO', null, 'YES'],
      ['email', 'text', 'NO', null, 'NO'],
    ])
    expect(await columns('articles')).toEqual([
      ['id', 'uuid', 'NO', 'gen_random_uuid()', 'NO'],
      ['tags', '_varchar', 'YES', null, 'NO'],
      ['author', 'int8', 'YES', null, 'NO'],
    ])
    expect(await constraints('articles')).toEqual([
      ['a_author', 'FOREIGN KEY (author) REFERENCES service_shop_data.people(id) ON UPDATE CASCADE ON DELETE SET NULL'],
      ['articles_pkey', 'PRIMARY KEY (id)'],
    ])
    expect((await indexes()).map(([, definition]) => definition)).toEqual([
      'CREATE UNIQUE INDEX articles_pkey ON service_shop_data.articles USING btree (id)',
      'CREATE INDEX articles_tags ON service_shop_data.articles USING btree (tags, id)',
      'CREATE UNIQUE INDEX people_email ON service_shop_data.people USING btree (email)',
      'CREATE UNIQUE INDEX people_pkey ON service_shop_data.people USING btree (id)',
    ])
  })

  it('are renamed and deleted, their indexes and relations with them', async () => {
    await apply(
      people,
      createCollection('a', [field('a.p', 'int64')]),
      relation('a_p', ['a.p'], ['people.id']),
      updateCollection('people', toDbName('persons'), deleteIndex('people_email')),
    )
    await apply(
      { kind: 'deleteRelationFieldPair', data: { firstFieldId: id('a_p.first'), secondFieldId: id('a_p.second') } },
      updateCollection('people', deleteIndex('people_pkey')),
      deleteCollection('a'),
    )

    expect(
      await run(sql`select table_name from information_schema.tables where table_schema = 'service_shop_data'`),
    ).toEqual([['persons']])
    expect([await constraints('persons'), await indexes()]).toEqual([[], []])
  })

  it('lose a unique index that a constraint owns', async () => {
    await apply(people)
    await run(sql`drop index service_shop_data.people_email`)
    await run(sql`alter table service_shop_data.people add constraint people_email unique (email)`)

    await apply(updateCollection('people', deleteIndex('people_email')))

    expect((await indexes()).map(([name]) => name)).toEqual(['people_pkey'])
  })

  it('may have any names', async () => {
    const hostile = `a"; drop schema service_shop_data cascade; -- '\\ é`

    await apply(
      createCollection(
        'a',
        [field('a.x', 'int32', { dbName: hostile, apiName: 'x' }), index('i', 'primary', ['a.x'], { dbName: hostile })],
        {
          dbName: `${hostile}t`,
        },
      ),
      updateCollection(
        'a',
        updateField('a.x', toDefault(autoincrement)),
        field('a.y', 'string', { defaultValue: constant(hostile) }),
      ),
    )

    expect(await columns(`${hostile}t`)).toEqual([
      [hostile, 'int4', 'NO', null, 'YES'],
      ['y', 'text', 'NO', expect.any(String), 'NO'],
    ])
  })

  it('get a schema of their own and lose it', async () => {
    await apply({ kind: 'createNamespace', data: { id: id('n'), sourceId: id('_system'), dbName: 'service_shop_x' } })
    const schemas = sql`select 1 from information_schema.schemata where schema_name = 'service_shop_x'`
    expect(await run(schemas)).toHaveLength(1)

    await apply({ kind: 'deleteNamespace', data: { id: id('n') } })
    expect(await run(schemas)).toHaveLength(0)
  })
})

describe('columns of a table with rows', () => {
  beforeEach(async () => {
    await apply(people)
    await run(sql`insert into service_shop_data.people (email) values ('ada@example.com'), ('bo@example.com')`)
  })

  const instant = 'dateTimeWithTimezone'

  it.each<[string, Json, string]>([
    ['string', { defaultValue: constant("it's \\ fine") }, "it's \\ fine"],
    ['int32', { defaultValue: constant(-7) }, '-7'],
    ['boolean', { defaultValue: constant(true) }, 'true'],
    ['decimal', { defaultValue: constant('1.50') }, '1.50'],
    ['json', { defaultValue: constant({ a: [1, null] }) }, '{"a": [1, null]}'],
    ['bytes', { defaultValue: constant('AAH/') }, '\\x0001ff'],
    [instant, { defaultValue: constant('2024-02-29T12:00:00Z') }, '2024-02-29 12:00:00+00'],
    ['string', { defaultValue: constant(['a"', null, '']), isList: true }, '{"a\\"",NULL,""}'],
    ['int64', { defaultValue: constant([]), isList: true }, '{}'],
    ['bytes', { defaultValue: constant(['AA==']), isList: true }, '{"\\\\x00"}'],
  ])('are filled with a constant: %s %j', async (type, more, text) => {
    await apply(updateCollection('people', field('people.x', type, more)))
    await run(sql`insert into service_shop_data.people (email) values ('cy@example.com')`)

    expect(await run(sql`select x::text from service_shop_data.people`)).toEqual([[text], [text], [text]])
    expect((await columns('people')).at(-1)?.slice(2)).toEqual(['NO', expect.any(String), 'NO'])
  })

  it('are filled with a UUID for each row', async () => {
    await apply(updateCollection('people', field('people.x', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) })))

    expect(await run(sql`select count(distinct x)::text from service_shop_data.people`)).toEqual([['2']])
  })

  it.each(['date', 'time', 'dateTime', instant])('are filled with the current time in UTC: %s', async (type) => {
    await apply(updateCollection('people', field('people.x', type, { defaultValue: onCreate({ kind: 'now' }) })))

    const now = type === instant ? sql`now()` : sql`(now() at time zone 'UTC')`
    const distance = type === 'time' ? sql`interval '0'` : sql`${now} - x`
    expect(await run(sql`select abs(extract(day from ${distance})) <= 1 from service_shop_data.people`)).toEqual([
      ['t'],
      ['t'],
    ])
  })

  it('are filled with running numbers', async () => {
    await apply(updateCollection('people', field('people.x', 'int32', { defaultValue: autoincrement })))

    expect(await run(sql`select x::text from service_shop_data.people order by x`)).toEqual([['1'], ['2']])
  })

  it('stay empty where they may', async () => {
    await apply(updateCollection('people', field('people.x', 'int32', { defaultValue: constant(1), isNullable: true })))

    expect(await run(sql`select x::text from service_shop_data.people`)).toEqual([[null], [null]])
  })

  it('cannot be added empty where they must not', async () => {
    await expect(apply(updateCollection('people', field('people.x', 'int32')))).rejects.toMatchObject({
      state: '23502',
    })
  })

  it('cannot be made to refuse nulls that they hold', async () => {
    await apply(updateCollection('people', updateField('people.email', toNullable(true))))
    await run(sql`update service_shop_data.people set email = null where id = 1`)

    await expect(
      apply(updateCollection('people', updateField('people.email', toNullable(false)))),
    ).rejects.toBeInstanceOf(SqlFault)
  })

  it('count on from the highest number, and cease to count', async () => {
    await apply(updateCollection('people', updateField('people.id', toDefault(null))))
    await run(sql`insert into service_shop_data.people (id, email) values (70, 'cy@example.com')`)
    await apply(updateCollection('people', updateField('people.id', toDefault(autoincrement))))

    expect(
      await run(sql`insert into service_shop_data.people (email) values ('di@example.com') returning id::text`),
    ).toEqual([['71']])
  })

  it('are renamed and deleted in a safe order', async () => {
    await apply(
      updateCollection(
        'people',
        field('people.new', 'string', { dbName: 'other', apiName: 'new', isNullable: true }),
        updateField('people.email', toDbName('mail')),
        deleteIndex('people_email'),
        index('i', 'unique', ['people.new', 'people.email']),
      ),
    )
    await apply(updateCollection('people', deleteIndex('i'), deleteField('people.new')))

    expect((await columns('people')).map(([name]) => name)).toEqual(['id', 'mail'])
  })
})

describe('types', () => {
  const short = { name: 'string', params: { length: 'fixed', value: 5 } }
  const long = { name: 'string', params: { length: 'fixed', value: 9 } }
  const price = { name: 'decimal', params: { precision: 5, scale: 2 } }

  async function convert(from: string | Json, to: string | Json, literal: Sql, more: Json = {}) {
    await apply(createCollection('a', [field('a.x', from, { ...more, isNullable: true })]))
    await run(sql`insert into service_shop_data.a values (${literal}), (null)`)
    await apply(updateCollection('a', updateField('a.x', toType(to))))
    const [row, none] = await run(sql`select x::text from service_shop_data.a`)
    expect(none).toEqual([null])
    return row?.[0]
  }

  it.each<[string, string | Json, string | Json, Sql, string]>([
    ['wider integer', 'int16', 'int64', sql`7`, '7'],
    ['narrower integer', 'int64', 'int16', sql`7`, '7'],
    ['integer to float', 'int32', 'float64', sql`7`, '7'],
    ['integer to decimal', 'int64', price, sql`7`, '7.00'],
    ['wider float', 'float32', 'float64', sql`0.5`, '0.5'],
    ['decimal without bounds', price, 'decimal', sql`7.25`, '7.25'],
    ['longer text', short, 'string', sql`'abc'`, 'abc'],
    ['shorter text', 'string', short, sql`'abc  '`, 'abc  '],
    ['shorter text with bounds', long, short, sql`'abc  '`, 'abc  '],
    [
      'UUID to text',
      'uuid',
      'string',
      sql`'0190A0A0-0000-7000-8000-000000000001'`,
      '0190a0a0-0000-7000-8000-000000000001',
    ],
    ['number to text', 'int32', 'string', sql`7`, '7'],
    ['text to number', 'string', 'int32', sql`'7'`, '7'],
    ['text to JSON', 'string', 'json', sql`'{"a": 1}'`, '{"a": 1}'],
    ['date to time', 'date', 'dateTime', sql`'2024-02-29'`, '2024-02-29 00:00:00'],
    ['date to instant', 'date', 'dateTimeWithTimezone', sql`'2024-02-29'`, '2024-02-29 00:00:00+00'],
    ['time to instant', 'dateTime', 'dateTimeWithTimezone', sql`'2024-02-29 12:00'`, '2024-02-29 12:00:00+00'],
    ['instant to time', 'dateTimeWithTimezone', 'dateTime', sql`'2024-02-29 12:00+09'`, '2024-02-29 03:00:00'],
  ])('keep their values: %s', async (_name, from, to, literal, text) => {
    expect(await convert(from, to, literal)).toBe(text)
  })

  it.each<[string, string | Json, string | Json, Sql, string]>([
    ['integers', 'int16', 'int64', sql`'{7}'`, '{7}'],
    ['texts', 'string', short, sql`'{{abc,null},{"abc  ",""}}'`, '{{abc,NULL},{"abc  ",""}}'],
    ['numbers to texts', 'int32', 'string', sql`'{7}'`, '{7}'],
    ['dates to times', 'date', 'dateTime', sql`'{2024-02-29}'`, '{"2024-02-29 00:00:00"}'],
  ])('keep their values in lists: %s', async (_name, from, to, literal, text) => {
    expect(await convert(from, to, literal, { isList: true })).toBe(text)
  })

  it.each<[string, string | Json, string | Json, Sql]>([
    ['a number that is too large', 'int64', 'int16', sql`70000`],
    ['a number with too many digits', 'int64', price, sql`1000`],
    ['a text that is too long', 'string', short, sql`'abcdef'`],
    ['a text that ends in too many spaces', 'string', short, sql`'abc   '`],
    ['a bounded text that ends in too many spaces', long, short, sql`'abc   '`],
    ['a text that is no number', 'string', 'int32', sql`'1.5'`],
  ])('fail rather than cut or round: %s', async (_name, from, to, literal) => {
    await expect(convert(from, to, literal)).rejects.toMatchObject({ state: expect.stringMatching(/^22/) })
  })

  it.each<[string, string | Json, string | Json, Sql]>([
    ['a number that is too large', 'int64', 'int16', sql`'{7,70000}'`],
    ['a text that is too long', 'string', short, sql`'{abc,abcdef}'`],
    ['a text that ends in too many spaces', 'string', short, sql`'{{abc},{"abc   "}}'`],
  ])('fail rather than cut or round in lists: %s', async (_name, from, to, literal) => {
    await expect(convert(from, to, literal, { isList: true })).rejects.toMatchObject({
      state: expect.stringMatching(/^22/),
    })
  })

  it('change where the column ceases to count', async () => {
    await apply(createCollection('a', [field('a.x', 'int32', { defaultValue: autoincrement })]))

    await apply(updateCollection('a', updateField('a.x', toType('string'), toNullable(true), toDefault(null))))

    expect(await columns('a')).toEqual([['x', 'text', 'YES', null, 'NO']])
  })
})
