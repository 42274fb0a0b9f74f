/**
 * Migrations on a real MariaDB: what was applied to the model is what the database then has, and no value is bent.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { applyOperations } from '../../src/core/migration/apply.ts'
import { parseMigration } from '../../src/core/migration/operation.ts'
import { atOnce } from '../../src/core/parts.ts'
import { compileChange } from '../../src/core/sql/ddl/compile-change.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { mariadb, mysql } from '../../src/core/sql/mysql/dialect.ts'
import { compile, param, type Sql, sql } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import {
  autoincrement,
  constant,
  context,
  createCollection,
  deleteCollection,
  deleteField,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  messagesOf,
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
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

type Way = { readonly driver: SqlDriver; close(): Promise<void> }

type MigratedDatabase = {
  readonly dialect: Dialect
  /** Whether a migration can make one. */
  readonly schemas: 'made' | 'refused'
  /** Opens the way on which migrations run. */
  readonly connect: (server: TestMariadb) => Promise<Way>
}

export function describeMysqlDdl({ dialect, schemas, connect }: MigratedDatabase): void {
  let server: TestMariadb
  let driver: SqlDriver
  let changing: Way | undefined
  let records = workspace

  beforeAll(async () => {
    server = await startMariadb()
    driver = openMysql(server)
    changing = await connect(server)
  })

  afterAll(async () => {
    await changing?.driver.close()
    await changing?.close()
    await driver?.close()
    await server?.close()
  })

  beforeEach(async () => {
    records = workspace
    await run(sql`drop schema if exists service_shop_data`)
    await run(sql`create schema service_shop_data character set latin1`)
  })

  async function run(fragment: Sql) {
    return driver.query(compile(fragment, mariadb))
  }

  function applied(operations: readonly Json[], own = dialect) {
    const dialectOf = () => own
    return atOnce(
      applyOperations(records, parseMigration(JSON.stringify({ operations })).operations, { ...context, dialectOf }),
    )
  }

  async function apply(...operations: readonly Json[]): Promise<void> {
    const { changes, records: next } = applied(operations)
    const statements = changes.flatMap(({ change }) => compileChange(change, dialect))
    await changing?.driver.batch(statements.map((statement) => compile(statement, dialect)))
    records = next
  }

  const columns = (table: string) =>
    run(sql`select column_name, column_type, is_nullable, column_default, extra from information_schema.columns
    where table_schema = 'service_shop_data' and table_name = ${param(table)} order by ordinal_position`)
  const indexes = (table: string) =>
    run(sql`select index_name, non_unique, group_concat(column_name order by seq_in_index) from information_schema.statistics
    where table_schema = 'service_shop_data' and table_name = ${param(table)} group by 1, 2 order by 1`)
  const foreignKeys = () =>
    run(sql`select constraint_name, table_name, referenced_table_name, delete_rule, update_rule
    from information_schema.referential_constraints where constraint_schema = 'service_shop_data' order by 1`)

  async function inState(state: string): Promise<boolean> {
    const [row] = await run(sql`select count(*) from information_schema.processlist where state = ${param(state)}`)
    return row?.[0] !== '0'
  }

  const name = (value: number) => ({ name: 'string', params: { length: 'fixed', value } })

  const people = createCollection('people', [
    field('people.id', 'int64', { defaultValue: autoincrement }),
    field('people.email', name(100)),
    index('people_pkey', 'primary', ['people.id']),
    index('people_email', 'unique', ['people.email']),
  ])

  describe('tables', () => {
    it('get their columns, keys, indexes and foreign keys', async () => {
      const articles = createCollection('articles', [
        field('articles.id', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) }),
        field('articles.text', 'string', { isNullable: true }),
        field('articles.at', 'dateTimeWithTimezone'),
        field('articles.author', 'int64', { isNullable: true }),
        index('articles_pkey', 'primary', ['articles.id']),
        index('articles_at', 'normal', ['articles.at', 'articles.id']),
      ])

      await apply(
        people,
        articles,
        relation('a_author', ['articles.author'], ['people.id'], { onDelete: 'setNull', onUpdate: 'cascade' }),
      )

      expect(await columns('people')).toEqual([
        ['id', 'bigint(20)', 'NO', null, 'auto_increment'],
        ['email', 'varchar(100)', 'NO', null, ''],
      ])
      expect(await columns('articles')).toEqual([
        ['id', 'uuid', 'NO', 'uuid()', ''],
        ['text', 'longtext', 'YES', 'NULL', ''],
        ['at', 'timestamp(6)', 'NO', null, ''],
        ['author', 'bigint(20)', 'YES', 'NULL', ''],
      ])
      expect(await foreignKeys()).toEqual([['a_author', 'articles', 'people', 'SET NULL', 'CASCADE']])
      expect(await indexes('articles')).toEqual([
        ['articles_at', '1', 'at,id'],
        ['a_author', '1', 'author'],
        ['PRIMARY', '0', 'id'],
      ])
      expect(await indexes('people')).toEqual([
        ['people_email', '0', 'email'],
        ['PRIMARY', '0', 'id'],
      ])
      expect(
        await run(sql`select table_collation, engine from information_schema.tables where table_name = 'articles'`),
      ).toEqual([[expect.stringMatching(/^utf8mb4_/), 'InnoDB']])
    })

    it('lose the index that a foreign key brought when it goes, and no other', async () => {
      await apply(
        people,
        createCollection('a', [field('a.p', 'int64'), field('a.q', 'int64'), index('a_q', 'normal', ['a.q'])]),
        relation('a_p', ['a.p'], ['people.id']),
        relation('a_to_q', ['a.q'], ['people.id']),
      )
      const brought = await indexes('a')
      for (const name of ['a_p', 'a_to_q']) {
        const data = { firstFieldId: id(`${name}.first`), secondFieldId: id(`${name}.second`) }
        await apply({ kind: 'deleteRelationFieldPair', data })
      }

      expect(brought).toEqual([
        ['a_p', '1', 'p'],
        ['a_q', '1', 'q'],
      ])
      expect(await indexes('a')).toEqual([['a_q', '1', 'q']])
    })

    it('keep an index that another foreign key stands on', async () => {
      await apply(
        people,
        createCollection('a', [field('a.p', 'int64')]),
        relation('a_p', ['a.p'], ['people.id']),
        relation('a_again', ['a.p'], ['people.id']),
      )

      await apply({
        kind: 'deleteRelationFieldPair',
        data: { firstFieldId: id('a_again.first'), secondFieldId: id('a_again.second') },
      })

      expect(await foreignKeys()).toEqual([['a_p', 'a', 'people', 'NO ACTION', 'NO ACTION']])
      expect(await indexes('a')).toEqual([['a_again', '1', 'p']])
    })

    it.each<[string, Json]>([
      ['a relation', relation('a_third', ['a.p'], ['people.id'])],
      ['an index', updateCollection('a', index('a_p_q', 'normal', ['a.p', 'a.q']))],
      ['a key', updateCollection('a', index('a_p_key', 'unique', ['a.p']))],
    ])('keep an imported index that a foreign key brought beside %s of its columns', async (_name, further) => {
      await apply(
        people,
        createCollection('a', [field('a.p', 'int64'), field('a.q', 'int64')]),
        relation('a_p', ['a.p'], ['people.id']),
        relation('a_again', ['a.p'], ['people.id']),
      )
      const again = { firstFieldId: id('a_again.first'), secondFieldId: id('a_again.second') }
      await apply({ kind: 'deleteRelationFieldPair', data: again })
      const found = { id: id('found'), collectionId: id('a'), dbName: 'a_again', fieldIds: [id('a.p')] }
      records = { ...records, indexes: [...records.indexes, { ...found, kind: 'normal' }] }

      await apply(further)

      expect(await indexes('a')).toContainEqual(['a_again', '1', 'p'])
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
        deleteCollection('a'),
      )

      expect(
        await run(sql`select table_name from information_schema.tables where table_schema = 'service_shop_data'`),
      ).toEqual([['persons']])
      expect([await foreignKeys(), await indexes('persons')]).toEqual([[], [['PRIMARY', '0', 'id']]])
    })

    it('change what a relation does, under the same name', async () => {
      await apply(people, createCollection('a', [field('a.p', 'int64')]), relation('a_p', ['a.p'], ['people.id']))

      const operations = [{ kind: 'changeReferentialActions', data: { onDelete: 'cascade', onUpdate: 'restrict' } }]
      const pair = { firstFieldId: id('a_p.first'), secondFieldId: id('a_p.second'), operations }
      await apply({ kind: 'updateRelationFieldPair', data: pair })

      expect(await foreignKeys()).toEqual([['a_p', 'a', 'people', 'CASCADE', 'RESTRICT']])
    })

    it('change whether a relation may be missing', async () => {
      const parent = field('a.p', 'int64', { isNullable: true })
      await apply(people, createCollection('a', [parent]), relation('a_p', ['a.p'], ['people.id']))

      await apply(updateCollection('a', updateField('a.p', toNullable(false))))
      expect((await columns('a'))[0]).toEqual(['p', 'bigint(20)', 'NO', null, ''])
      await apply(updateCollection('a', updateField('a.p', toNullable(true))))
      expect((await columns('a'))[0]).toEqual(['p', 'bigint(20)', 'YES', 'NULL', ''])
    })

    it('count without a primary key', async () => {
      await apply(
        createCollection('a', [field('a.n', 'int32', { defaultValue: autoincrement }), field('a.x', 'int32')]),
      )
      await run(sql`insert into service_shop_data.a (x) values (7), (7)`)

      expect(await run(sql`select n from service_shop_data.a`)).toEqual([['1'], ['2']])
    })

    it('may have any names', async () => {
      const hostile = 'a`; drop schema service_shop_data; -- \'" é.\\'

      await apply(
        createCollection(
          'a',
          [
            field('a.x', 'int32', { dbName: hostile, apiName: 'x' }),
            index('i', 'normal', ['a.x'], { dbName: hostile }),
          ],
          { dbName: `${hostile}t` },
        ),
        updateCollection('a', field('a.y', name(100), { defaultValue: constant(hostile) })),
        updateCollection('a', toDbName(`${hostile}u`)),
        updateCollection('a', updateField('a.x', toNullable(true)), deleteIndex('i')),
      )

      expect(await columns(`${hostile}u`)).toEqual([
        [hostile, 'int(11)', 'YES', 'NULL', ''],
        ['y', 'varchar(100)', 'NO', expect.any(String), ''],
      ])
    })

    it.each(schemas === 'made' ? [schemas] : [])(
      'get a schema of their own, %s, and deleted once it is empty',
      async () => {
        await apply({
          kind: 'createNamespace',
          data: { id: id('n'), sourceId: id('_system'), dbName: 'service_shop_x' },
        })
        await run(sql`create table service_shop_x.kept (id int)`)
        const deletion = { kind: 'deleteNamespace', data: { id: id('n') } }

        await expect(apply(deletion)).rejects.toMatchObject({ message: expect.stringContaining('schemaNotEmpty') })
        await run(sql`drop table service_shop_x.kept`)
        await apply(deletion)

        expect(await run(sql`select 1 from information_schema.schemata where schema_name = 'service_shop_x'`)).toEqual(
          [],
        )
      },
    )
  })

  describe('columns of a table with rows', () => {
    beforeEach(async () => {
      await apply(people)
      await run(sql`insert into service_shop_data.people (email) values ('ada@example.com'), ('bo@example.com')`)
    })

    const instant = 'dateTimeWithTimezone'

    it.each<[string | Json, Json, string]>([
      ['string', { defaultValue: constant("it's \\ fine") }, "it's \\ fine"],
      [name(20), { defaultValue: constant('ü😀 ') }, 'ü😀 '],
      ['int32', { defaultValue: constant(-7) }, '-7'],
      ['boolean', { defaultValue: constant(true) }, '1'],
      [{ name: 'decimal', params: { precision: 5, scale: 2 } }, { defaultValue: constant('1.50') }, '1.50'],
      ['json', { defaultValue: constant({ a: [1, null] }) }, '{"a":[1,null]}'],
      ['bytes', { defaultValue: constant('AAH/') }, '\u0000\u0001\ufffd'],
      [instant, { defaultValue: constant('2024-02-29T12:00:00Z') }, '2024-02-29 12:00:00.000000'],
    ])('are filled with a constant: %j %j', async (type, more, text) => {
      await apply(updateCollection('people', field('people.x', type, more)))
      await run(sql`insert into service_shop_data.people (email) values ('cy@example.com')`)

      expect(await run(sql`select x from service_shop_data.people`)).toEqual([[text], [text], [text]])
      expect((await columns('people')).at(-1)?.slice(2)).toEqual(['NO', expect.any(String), ''])
    })

    it('are filled with a UUID for each row', async () => {
      await apply(updateCollection('people', field('people.x', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) })))

      expect(await run(sql`select count(distinct x) from service_shop_data.people`)).toEqual([['2']])
    })

    it.each(['date', 'time', 'dateTime', instant])('are filled with the current time in UTC: %s', async (type) => {
      await apply(updateCollection('people', field('people.x', type, { defaultValue: onCreate({ kind: 'now' }) })))

      const isNear = type === 'time' ? sql`x is not null` : sql`abs(timestampdiff(hour, x, utc_timestamp())) <= 24`
      expect(await run(sql`select ${isNear} from service_shop_data.people`)).toEqual([['1'], ['1']])
    })

    it('are filled with running numbers', async () => {
      await run(sql`alter table service_shop_data.people modify column id bigint not null`)
      await apply(updateCollection('people', field('people.x', 'int32', { defaultValue: autoincrement })))

      expect(await run(sql`select x from service_shop_data.people order by x`)).toEqual([['1'], ['2']])
    })

    it('stay empty where they may', async () => {
      await apply(
        updateCollection('people', field('people.x', 'int32', { defaultValue: constant(1), isNullable: true })),
      )

      expect(await run(sql`select x from service_shop_data.people`)).toEqual([[null], [null]])
    })

    it('cannot be added empty where they must not, and are not left behind', async () => {
      await expect(apply(updateCollection('people', field('people.x', 'int32')))).rejects.toSatisfy(
        (fault: SqlFault) => mariadb.explain(fault)?.message === 'Null constraint failed',
      )
      expect(await columns('people')).toHaveLength(2)
    })

    it('cannot be made to refuse nulls that they hold', async () => {
      await apply(updateCollection('people', updateField('people.email', toNullable(true))))
      await run(sql`update service_shop_data.people set email = null where id = 1`)

      await expect(
        apply(updateCollection('people', updateField('people.email', toNullable(false)))),
      ).rejects.toBeInstanceOf(SqlFault)
      expect(await run(sql`select email from service_shop_data.people where id = 1`)).toEqual([[null]])
    })

    it('keep what the model does not know of them', async () => {
      await run(sql`alter table service_shop_data.people
      modify column email varchar(100) character set latin1 collate latin1_german1_ci not null
        default 'it''s' comment 'the \"address\"',
      add column at datetime(3) not null default current_timestamp(3) on update current_timestamp(3)`)
      await apply(updateCollection('people', updateField('people.email', toNullable(true))))
      await apply(updateCollection('people', updateField('people.email', toType(name(120)))))
      await apply(updateCollection('people', updateField('people.email', toNullable(false))))

      expect(
        await run(sql`select column_type, collation_name, column_default, is_nullable, column_comment
        from information_schema.columns where table_schema = 'service_shop_data' and column_name = 'email'`),
      ).toEqual([['varchar(120)', 'latin1_german1_ci', "'it''s'", 'NO', 'the "address"']])
    })

    it('keep every attribute of the catalog when they change', async () => {
      await run(sql`alter table service_shop_data.people
        modify column id bigint not null auto_increment comment 'number',
        add column n int invisible not null default 3 comment 'n' check (n > 0 and n <> 9),
        add column t varchar(9) compressed character set latin1 invisible check (t <> 'a''b\\\\\`"'),
        add column at timestamp(3) null invisible on update current_timestamp(3),
        add column p point ref_system_id = 4326,
        add column j json check (json_length(j) > 0)`)
      await run(sql`update service_shop_data.people set p = point(1, 2), j = '[1]'`)
      const types = { n: 'int32', t: name(9), at: instant, p: 'geometry', j: 'json' }
      const known = Object.entries(types).map(([column, type]) =>
        field(`people.${column}`, type, { isNullable: column !== 'n' }),
      )
      records = applied([updateCollection('people', ...known)]).records
      const definition = async () => {
        const [row = []] = await run(sql`show create table service_shop_data.people`)
        return row[1]
      }
      const before = await definition()

      await apply(
        updateCollection('people', updateField('people.n', toNullable(true)), updateField('people.n', toType('int64'))),
      )
      await apply(updateCollection('people', updateField('people.t', toType(name(12)))))
      await apply(updateCollection('people', updateField('people.at', toType('dateTime'))))
      await apply(updateCollection('people', updateField('people.id', toDefault(null))))
      await apply(updateCollection('people', updateField('people.id', toDefault(autoincrement))))
      for (const column of ['p', 'j']) {
        await apply(updateCollection('people', updateField(`people.${column}`, toNullable(false))))
        await apply(updateCollection('people', updateField(`people.${column}`, toNullable(true))))
      }

      const after = (before ?? '')
        .replace('`n` int(11) NOT NULL INVISIBLE', '`n` bigint(20) INVISIBLE')
        .replace('varchar(9)', 'varchar(12)')
        .replace(
          'timestamp(3) NULL INVISIBLE DEFAULT NULL ON UPDATE current_timestamp(3)',
          'datetime(6) INVISIBLE DEFAULT NULL ON UPDATE current_timestamp(6)',
        )
      expect(await definition()).toBe(after)
      expect(after).not.toBe(before)
      expect(
        await run(sql`select srid from information_schema.geometry_columns where g_geometry_column = 'p'`),
      ).toEqual([['4326']])
    })

    it('keep their check after they were renamed', async () => {
      await run(sql`alter table service_shop_data.people add column j json check (json_length(j) > 0)`)
      await run(sql`update service_shop_data.people set j = '[1]'`)
      await run(sql`alter table service_shop_data.people rename column j to k`)
      records = applied([updateCollection('people', field('people.k', 'json', { isNullable: true }))]).records
      await apply(updateCollection('people', updateField('people.k', toNullable(false))))

      const [[, text] = []] = await run(sql`show create table service_shop_data.people`)
      expect(text).toMatch(/`k` .*NOT NULL CHECK \(json_length\(`k`\) > 0\)/)
    })

    it('keep what does not belong to the old type when they are cast', async () => {
      await run(sql`alter table service_shop_data.people add column j json invisible comment 'j'`)
      records = applied([updateCollection('people', field('people.j', 'json', { isNullable: true }))]).records
      await apply(updateCollection('people', updateField('people.j', toType('string'))))

      const [[, text] = []] = await run(sql`show create table service_shop_data.people`)
      expect(text).toMatch(/`j` longtext.* INVISIBLE DEFAULT NULL COMMENT 'j'/)
      expect(text).not.toContain('json_valid')
    })

    it('count on from the highest number, and cease to count', async () => {
      await apply(updateCollection('people', updateField('people.id', toDefault(null))))
      expect((await columns('people'))[0]).toEqual(['id', 'bigint(20)', 'NO', null, ''])
      await run(sql`insert into service_shop_data.people (id, email) values (70, 'cy@example.com')`)
      await apply(updateCollection('people', updateField('people.id', toDefault(autoincrement))))

      expect(
        await run(sql`insert into service_shop_data.people (email) values ('di@example.com') returning id`),
      ).toEqual([['71']])
    })

    it('are renamed and deleted in a safe order', async () => {
      await apply(
        updateCollection(
          'people',
          field('people.new', name(9), { dbName: 'other', apiName: 'new', isNullable: true }),
          updateField('people.email', toDbName('mail')),
          deleteIndex('people_email'),
          index('i', 'unique', ['people.new', 'people.email']),
        ),
      )
      await apply(updateCollection('people', deleteIndex('i'), deleteField('people.new')))

      expect((await columns('people')).map(([column]) => column)).toEqual(['id', 'mail'])
    })
  })

  describe('types', () => {
    const price = { name: 'decimal', params: { precision: 5, scale: 2 } }
    const uuid = '0190a0a0-0000-7000-8000-000000000001'

    async function convert(from: string | Json, to: string | Json, value: Sql) {
      await apply(createCollection('a', [field('a.x', from, { isNullable: true })]))
      await run(sql`insert into service_shop_data.a values (${value}), (null)`)
      await apply(updateCollection('a', updateField('a.x', toType(to))))
      const [row, none] = await run(sql`select x from service_shop_data.a`)
      expect(none).toEqual([null])
      return row?.[0]
    }

    it.each<[string, string | Json, string | Json, Sql, string]>([
      ['wider integer', 'int16', 'int64', sql`7`, '7'],
      ['narrower integer', 'int64', 'int16', sql`7`, '7'],
      ['integer to float', 'int32', 'float64', sql`7`, '7'],
      ['integer to decimal', 'int64', price, sql`7`, '7.00'],
      ['wider float', 'float32', 'float64', sql`0.5`, '0.5'],
      ['longer text', name(5), 'string', sql`'abc '`, 'abc '],
      ['shorter text', 'string', name(5), sql`'abc '`, 'abc '],
      ['UUID to text', 'uuid', 'string', sql`'0190A0A0-0000-7000-8000-000000000001'`, uuid],
      ['text to UUID', 'string', 'uuid', sql`'0190A0A0-0000-7000-8000-000000000001'`, uuid],
      ['number to text', 'int32', 'string', sql`7`, '7'],
      ['float to text', 'float32', 'string', sql`16777217e0`, '16777216'],
      ['text to number', 'string', 'int32', sql`'7'`, '7'],
      ['boolean to text', 'boolean', 'string', sql`1`, 'true'],
      ['boolean to text', 'boolean', 'string', sql`0`, 'false'],
      ['text to boolean', 'string', 'boolean', sql`'true'`, '1'],
      ['text to JSON', 'string', 'json', sql`'{"a": 1}'`, '{"a": 1}'],
      ['JSON to text', 'json', 'string', sql`'{"a": 1}'`, '{"a": 1}'],
      ['date to time', 'date', 'dateTime', sql`'2024-02-29'`, '2024-02-29 00:00:00.000000'],
      ['date to instant', 'date', 'dateTimeWithTimezone', sql`'2024-02-29'`, '2024-02-29 00:00:00.000000'],
      ['time to instant', 'dateTime', 'dateTimeWithTimezone', sql`'2024-02-29 12:00'`, '2024-02-29 12:00:00.000000'],
      ['instant to time', 'dateTimeWithTimezone', 'dateTime', sql`'2024-02-29 12:00'`, '2024-02-29 12:00:00.000000'],
    ])('keep their values: %s', async (_name, from, to, value, text) => {
      expect(await convert(from, to, value)).toBe(text)
    })

    it.each<[string, string | Json, string | Json, Sql]>([
      ['a number that is too large', 'int64', 'int16', sql`70000`],
      ['a number with too many digits', 'int64', price, sql`1000`],
      ['a text that is too long', 'string', name(5), sql`'abcdef'`],
      ['a text that ends in too many spaces', 'string', name(3), sql`'abc '`],
      ['a text that is no integer', 'string', 'int32', sql`'1.5'`],
      ['a text that is no number', 'string', 'int32', sql`''`],
      ['a text that is a number too large', 'string', 'int16', sql`'70000'`],
      ['a text that is no UUID', 'string', 'uuid', sql`'x'`],
      ['a text that is no boolean', 'string', 'boolean', sql`'1'`],
      ['a text that is more than a boolean', 'string', 'boolean', sql`concat('true', char(10))`],
      ['a text that is no JSON', 'string', 'json', sql`'{'`],
      ['a date out of range', 'date', 'dateTimeWithTimezone', sql`'1969-01-01'`],
    ])('fail rather than cut or round: %s', async (_name, from, to, value) => {
      await expect(convert(from, to, value)).rejects.toBeInstanceOf(SqlFault)
    })

    // Vitess knows no such locks.
    if (schemas === 'made') {
      it.each<[string, string | Json]>([
        ['that get shorter', name(3)],
        ['that are read as others', 'boolean'],
      ])('are looked at and changed while nobody writes: texts %s', async (_name, to) => {
        await apply(createCollection('a', [field('a.x', 'string', { isNullable: true })]))
        const gate = openMysql({ ...server, max: 1 })
        const text = (statement: string) => ({ text: statement, params: [] })
        await gate.query(text(`select get_lock('gate', 0)`))
        const [look, ...rest] = applied([updateCollection('a', updateField('a.x', toType(to)))])
          .changes.flatMap(({ change }) => compileChange(change, dialect))
          .map((statement) => compile(statement, dialect))
        const atGate = [text(`select get_lock('gate', 100)`), text(`select release_lock('gate')`)]

        const changed = changing?.driver.batch([look ?? text('do 0'), ...atGate, ...rest])
        await expect.poll(() => inState('User lock')).toBe(true)
        let writer = 'writes'
        const written = run(sql`insert into service_shop_data.a values ('true')`).then(
          () => (writer = 'has written'),
          () => (writer = 'was refused'),
        )
        await expect
          .poll(async () => ((await inState('Waiting for table metadata lock')) ? 'waits' : writer))
          .not.toBe('writes')
        const met = writer === 'writes' ? 'waits' : writer
        await gate.query(text(`select release_lock('gate')`))
        await gate.close()
        await Promise.allSettled([changed, written])

        expect(met).toBe('waits')
        await changed
        expect(writer).toMatch(/^(has written|was refused)$/)
      })

      it('change without the right to lock tables as well', async () => {
        await apply(createCollection('a', [field('a.x', 'string', { isNullable: true })]))
        await run(sql`create or replace user 'limited'@'%' identified by 'limited'`)
        await run(sql`grant select, insert, update, create, alter, drop, index on service_shop_data.* to 'limited'@'%'`)
        const limited = openMysql({ ...server, user: 'limited', password: 'limited', database: 'service_shop_data' })
        const statements = applied([updateCollection('a', updateField('a.x', toType(name(3))))]).changes.flatMap(
          ({ change }) => compileChange(change, dialect),
        )

        await limited.batch(statements.map((statement) => compile(statement, dialect)))
        await limited.close()

        expect((await columns('a')).map(([, type]) => type)).toEqual(['varchar(3)'])
      })
    }

    it('change where the column ceases to count', async () => {
      await apply(
        createCollection('a', [field('a.x', 'int32', { defaultValue: autoincrement }), index('i', 'primary', ['a.x'])]),
      )

      await apply(updateCollection('a', updateField('a.x', toType('float64'), toDefault(null))))

      expect(await columns('a')).toEqual([['x', 'double', 'NO', null, '']])
    })
  })

  describe('what MariaDB and MySQL cannot keep', () => {
    const reason = (...operations: Json[]) => messagesOf(() => applied(operations), 'unfit').slice(1)
    const remedy = '; give it a shorter fixed length'

    it.each<[string, string | Json, string]>([
      ['string', 'string', `string${remedy}`],
      ['a long string', name(769), `string(769)${remedy}`],
      ['json', 'json', 'json'],
      ['bytes', 'bytes', 'bytes'],
    ])('is refused by name: an index of %s', (_name, type, text) => {
      const indexed = createCollection('a', [field('a.x', type), index('i', 'normal', ['a.x'])])

      expect(reason(indexed)).toEqual(['operations[0]', `MariaDB cannot index the field x of type ${text}`])
    })

    it('is refused by name: a foreign key of unlimited texts', () => {
      const a = createCollection('a', [field('a.x', 'string'), field('a.id', name(9)), index('i', 'primary', ['a.id'])])

      expect(reason(a, relation('r', ['a.x'], ['a.id']))).toEqual([
        'operations[1]',
        `MariaDB cannot index the field x of type string${remedy}`,
      ])
    })

    it('is refused by name: an indexed text that becomes unlimited', async () => {
      await apply(people)

      expect(reason(updateCollection('people', updateField('people.email', toType('string'))))).toEqual([
        'operations[0]',
        `MariaDB cannot index the field email of type string${remedy}`,
      ])
    })

    it.each(['onDelete', 'onUpdate'])('is refused by name: the referential action setDefault %s', (occasion) => {
      const a = createCollection('a', [field('a.p', 'int64', { isNullable: true })])

      expect(reason(people, a, relation('a_p', ['a.p'], ['people.id'], { [occasion]: 'setDefault' }))).toEqual([
        'operations[2]',
        'MariaDB does not support the referential action setDefault',
      ])
    })

    it('is refused by name: a type, on MySQL as well', () => {
      const unlimited = createCollection('a', [field('a.x', 'decimal')])

      const [, ...messages] = messagesOf(() => applied([unlimited], mysql), 'unfit')

      expect(messages).toEqual(['operations[0]', 'MySQL cannot store decimal'])
    })
  })
}
