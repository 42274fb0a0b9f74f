/**
 * Defaults of fields as defaults of columns: whoever inserts a row without a value, in whatever session, stores what the
 * service would.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { applyOperations } from '../../src/core/migration/apply.ts'
import { parseMigration } from '../../src/core/migration/operation.ts'
import { decodeJson } from '../../src/core/model/codec.ts'
import { atOnce } from '../../src/core/parts.ts'
import { compileChange } from '../../src/core/sql/ddl/compile-change.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import type { Introspection } from '../../src/core/sql/introspect.ts'
import { compile, ident, join, type Sql, sql } from '../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import {
  constant,
  context,
  createCollection,
  field,
  id,
  index,
  type Json,
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
import { introspect } from '../support/data/imported.ts'
import { casesOr } from '../support/run/cases.ts'

type Opened = { readonly plain: SqlDriver; readonly changing: SqlDriver; close(): Promise<void> }

type DefaultingDatabase = {
  readonly dialect: Dialect
  readonly catalog: Introspection
  readonly open: () => Promise<Opened>
  /** By name: what another writer's, or the migration's, session has set. */
  readonly settings: Readonly<Record<string, readonly Sql[]>>
  /** Ends the settings of a session. */
  readonly unset: readonly Sql[]
  readonly ending: Sql
  /** Makes a table with an enum, and changes the character set of a key. */
  readonly words: readonly Sql[]
  readonly latin: readonly Sql[]
  /** Types that only some databases have, with a constant. */
  readonly more: readonly [Json, unknown][]
}

export function describeColumnDefaults(own: DefaultingDatabase): void {
  const { dialect, catalog, open, settings, unset, more } = own
  let database: Opened
  let records = workspace

  beforeAll(async () => {
    database = await open()
  })

  afterAll(() => database?.close())

  beforeEach(async () => {
    records = workspace
    await run(sql`drop schema if exists service_shop_data${own.ending}`)
    await run(sql`create schema service_shop_data`)
  })

  async function run(...fragments: readonly Sql[]) {
    const answers = await database.plain.batch(fragments.map((fragment) => compile(fragment, dialect)))
    return answers.at(-1) ?? []
  }

  async function apply(operations: readonly Json[], within: readonly Sql[] = []): Promise<void> {
    const applied = atOnce(
      applyOperations(records, parseMigration(JSON.stringify({ operations })).operations, {
        ...context,
        dialectOf: () => dialect,
      }),
    )
    const statements = applied.changes.flatMap(({ change }) => compileChange(change, dialect))
    const all = within.length === 0 ? statements : [...within, ...statements, ...unset]
    await (within.length === 0 ? database.changing : database.plain).batch(
      all.map((statement) => compile(statement, dialect)),
    )
    records = applied.records
  }

  const table = sql`service_shop_data.t`
  const varchar = (value: number) => ({ name: 'string', params: { length: 'fixed', value } })
  const create = (...fields: readonly Json[]) =>
    createCollection('t', [field('t.id', 'int32'), ...fields, index('t_pkey', 'primary', ['t.id'])])

  /** The values of a row that another writer inserts, and of one that has all that the service sends. */
  async function bothRows(
    sent: readonly { readonly name: string; readonly type: string | Json; readonly value: unknown }[],
    session: readonly Sql[] = [],
  ) {
    const shapes = sent.map(({ name, value }) => {
      const found = records.primitiveFields.find(({ dbName }) => dbName === name)
      if (found === undefined) throw new TypeError(`no field ${name}`)
      const decoded = decodeJson(found.type, false, value)
      if (!('ok' in decoded)) throw new TypeError(`no value: ${decoded.fault}`)
      return dialect.assigned({ type: found.type, isList: false }, decoded.ok)
    })
    const names = join(sent.map(({ name }) => ident(name)))
    await run(...session, sql`insert into ${table} (id) values (1)`, ...(session.length === 0 ? [] : unset))
    await run(sql`insert into ${table} (id, ${names}) values (2, ${join(shapes)})`)
    return run(sql`select ${names} from ${table} order by id`)
  }

  const sessions = Object.entries(settings)

  it.each(sessions)('are exact for any text, in a session with %s', async (_name, session) => {
    const odd = fc.constantFrom(
      "'",
      '\\',
      '"',
      '`',
      '\\0',
      "\\'",
      '%',
      '?',
      '$1',
      ':x',
      '\n',
      '😀',
      'ü',
      '\u{2028}',
      ' ',
    )
    const text = fc
      .array(fc.oneof(odd, fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 12 })
      .map((parts) => parts.join('').replaceAll('\0', ''))
    const texts = fc.array(text, { minLength: 12, maxLength: 12 })

    await fc.assert(
      fc.asyncProperty(texts, async (values) => {
        await run(sql`drop table if exists ${table}`)
        records = workspace
        const sent = values.map((one, at) => ({
          name: `c${at}`,
          type: at % 3 === 0 ? 'string' : at % 3 === 1 ? varchar(200) : 'json',
          value: at % 3 === 2 ? { [one]: [one, 1.5] } : one,
        }))
        const fields = sent.map(({ name, type, value }) => field(`t.${name}`, type, { defaultValue: constant(value) }))
        await apply([create(...fields)], session)

        const [byOthers, byService] = await bothRows(sent, session)

        expect(byOthers).toEqual(byService)
        expect(byOthers?.filter((_, at) => at % 3 !== 2)).toEqual(values.filter((_, at) => at % 3 !== 2))
      }),
      { numRuns: casesOr(8) },
    )
  })

  const constants: readonly [string | Json, unknown][] = [
    ['int16', -32_768],
    ['int64', '-9223372036854775808'],
    [{ name: 'decimal', params: { precision: 30, scale: 10 } }, '12345678901234567890.0123456789'],
    ['float32', 0.1],
    ['float64', 5e-324],
    ['float64', 0.1],
    ['boolean', false],
    ['boolean', true],
    ['uuid', '0190a0a0-0000-7000-8000-000000000001'],
    ['date', '2024-02-29'],
    ['time', '23:59:59.123456'],
    ['dateTime', '2024-02-29T12:00:00.123456'],
    ['dateTimeWithTimezone', '2024-02-29T12:00:00.123456Z'],
    ['dateTimeWithTimezone', '2024-03-31T01:30:00Z'],
    ['json', { a: [1, null, 'ü\\"\''], b: 1e30 }],
    ['json', 'text'],
    ['bytes', 'AAH/'],
    [varchar(3), ''],
    ...more,
  ]

  it.each(constants)('store what the service sends: %j %j', async (type, value) => {
    await apply([create(field('t.x', type, { defaultValue: constant(value) }))])

    const [byOthers, byService] = await bothRows([{ name: 'x', type, value }], sessions.at(-1)?.[1])

    expect(byOthers).toEqual(byService)
  })

  it.each(constants)('are given to new fields and survive changes of nulls: %j %j', async (type, value) => {
    await apply([create()])
    await run(sql`insert into ${table} (id) values (0)`)
    await apply([updateCollection('t', field('t.x', type, { isNullable: true, defaultValue: constant(value) }))])
    const before = await run(sql`select x from ${table}`)
    await run(sql`delete from ${table}`)
    await apply([updateCollection('t', updateField('t.x', toNullable(false)))])
    await apply([updateCollection('t', updateField('t.x', toNullable(true), toDbName('y')))])

    const [byOthers, byService] = await bothRows([{ name: 'y', type, value }])

    expect(before).toEqual([[null]])
    expect(byOthers).toEqual(byService)
  })

  it.each(['date', 'time', 'dateTime', 'dateTimeWithTimezone'])('are the current time in UTC: %s', async (type) => {
    await apply([create(field('t.x', type, { defaultValue: onCreate({ kind: 'now' }) }))])
    const session = sessions.at(-1)?.[1] ?? []
    await run(...session, sql`insert into ${table} (id) values (1)`, ...unset)

    const [[found] = []] = await run(sql`select x from ${table}`)

    const day = type === 'time' ? `${new Date().toISOString().slice(0, 10)} ` : ''
    const time = Date.parse(`${day}${found?.replace(/\+00$/, '')}${type === 'date' ? '' : 'Z'}`)
    const distance = Math.abs(Date.now() - time) % 86_400_000
    expect(type === 'date' || Math.min(distance, 86_400_000 - distance) < 600_000).toBe(true)
  })

  it.each<string | Json>(['uuid', 'string', varchar(36)] as (string | Json)[])('are new UUIDs: %j', async (type) => {
    await apply([create(field('t.x', type, { defaultValue: onCreate({ kind: 'uuid' }) }))])
    await run(sql`insert into ${table} (id) values (1), (2)`)

    const found = await run(sql`select distinct x from ${table}`)

    expect(found).toEqual([[expect.stringMatching(/^[0-9a-f-]{36}$/)], [expect.stringMatching(/^[0-9a-f-]{36}$/)]])
  })

  async function inserted() {
    await run(sql`delete from ${table}`)
    await run(sql`insert into ${table} (id) values (1)`)
    return (await run(sql`select x from ${table}`))[0]?.[0]
  }

  it('are replaced and deleted with those of the model', async () => {
    await apply([create(field('t.x', 'string', { isNullable: true, defaultValue: constant('a') }))])
    const first = await inserted()
    await apply([updateCollection('t', updateField('t.x', toDefault(constant("b'\\"))))])
    const second = await inserted()
    await apply([updateCollection('t', updateField('t.x', toDefault(null)))])

    expect([first, second, await inserted()]).toEqual(['a', "b'\\", null])
  })

  it('of a field that must have a value are deleted', async () => {
    await apply([create(field('t.x', 'int32', { defaultValue: constant(7) }))])
    const first = await inserted()
    await apply([updateCollection('t', updateField('t.x', toDefault(null)))])

    expect(first).toBe('7')
    await expect(inserted()).rejects.toThrow()
  })

  it.each<[string | Json, unknown, string | Json, unknown, string]>([
    ['int32', 7, 'int64', 7, '7'],
    ['int32', 7, 'string', 'seven', 'seven'],
    ['string', '7', 'int32', 8, '8'],
    ['string', "it's \\", varchar(9), "it's \\", "it's \\"],
    ['boolean', true, 'string', 'yes', 'yes'],
  ])('follow the type: %j %j to %j %j', async (from, before, to, after, text) => {
    await apply([create(field('t.x', from, { defaultValue: constant(before) }))])
    await apply([updateCollection('t', updateField('t.x', toType(to), toDefault(constant(after))))])

    expect(await inserted()).toBe(text)
  })

  it('of the database alone stay', async () => {
    await apply([create(field('t.x', 'int32'), field('t.y', 'int32'))])
    await run(sql`alter table ${table} alter column x set default 5`)
    await run(sql`alter table ${table} alter column y set default 6`)
    await apply([updateCollection('t', updateField('t.x', toNullable(true)))])
    await apply([updateCollection('t', updateField('t.x', toType('int64')))])
    await apply([updateCollection('t', updateField('t.y', toDbName('z')))])

    expect(await inserted()).toBe('5')
    expect(await run(sql`select z from ${table}`)).toEqual([['6']])
  })

  it('stay with a column that takes the collation of a key', async () => {
    const key = index('k_pkey', 'primary', ['k.id'])
    await apply([createCollection('k', [field('k.id', varchar(20)), key])])
    await run(...own.latin, sql`insert into service_shop_data.k values ('it''s ü')`)
    await apply([
      create(field('t.x', varchar(20), { defaultValue: constant("it's ü") })),
      relation('t_k', ['t.x'], ['k.id']),
    ])

    expect(await inserted()).toBe("it's ü")
  })

  it('that are too long stay with the service', async () => {
    const long = '😀'.repeat(3_000)
    await apply([create()])
    await run(sql`insert into ${table} (id) values (1)`)
    await apply([
      updateCollection(
        't',
        field('t.x', 'string', { defaultValue: constant(long) }),
        field('t.y', 'string', { defaultValue: constant(long.slice(0, 4_000)) }),
      ),
    ])

    expect(await run(sql`select x, y from ${table}`)).toEqual([[long, long.slice(0, 4_000)]])
    await expect(run(sql`insert into ${table} (id) values (2)`)).rejects.toThrow()
  })

  it('leave nothing to import', async () => {
    await apply([
      create(
        ...constants.map(([type, value], at) => field(`t.c${at}`, type, { defaultValue: constant(value) })),
        field('t.u', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) }),
        field('t.n', 'dateTimeWithTimezone', { defaultValue: onCreate({ kind: 'now' }), isNullable: true }),
      ),
    ])

    const from = { driver: database.plain, dialect, catalog }
    const scope = { kind: 'schemas', names: ['service_shop_data'] } as const
    const found = await introspect(from, records, { sourceId: id('_system'), scope })

    expect(found.operations).toEqual([])
  })

  describe('of a column with words of its own', () => {
    it('are words of its own', async () => {
      await run(...own.words)
      const from = { driver: database.plain, dialect, catalog }
      const scope = { kind: 'schemas', names: ['service_shop_data'] } as const
      const found = await introspect(from, workspace, { sourceId: id('_system'), scope })
      const [collection] = found.records.collections
      const x = found.records.primitiveFields.find(({ dbName }) => dbName === 'x')
      records = found.records
      const operations = [toDefault(constant("it's"))]
      const update = { kind: 'updatePrimitiveField', data: { id: x?.id, operations } }
      await apply([{ kind: 'updateCollection', data: { id: collection?.id, operations: [update] } }])

      expect(await inserted()).toBe("it's")
    })
  })
}
