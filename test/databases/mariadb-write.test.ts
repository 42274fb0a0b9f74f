/**
 * Items written to a real MariaDB, once as MariaDB does it and once without `returning`, as MySQL has to: what is written
 * is what comes back and what is there.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildModel, type DefaultValue, type IndexRecord, type Model } from '../../src/core/model/model.ts'
import { mariadb, mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { createTables, errorMessages, NOW, openItems, type WrittenItems } from '../support/data/items.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

const types = {
  small: 'int8',
  large: 'int64',
  ularge: 'uint64',
  single: 'float32',
  double: 'float64',
  price: 'decimal(30,10)',
  code: 'string(80)',
  text: 'string',
  token: 'uuid',
  flag: 'boolean',
  day: 'date',
  clock: 'time',
  local: 'dateTime',
  instant: 'dateTimeWithTimezone',
  json: 'json',
  blob: 'bytes',
  place: 'geometry',
}
const nullable = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, `${type}?`]))

const defaults: Readonly<Record<string, DefaultValue>> = {
  'counted.id': { source: 'connectorManaged', isAutoincrement: true },
  'people.id': { source: 'connectorManaged', isAutoincrement: true },
  'people.changedAt': { source: 'engineManaged', onCreate: { kind: 'now' }, onUpdate: { kind: 'now' } },
  'generated.id': { source: 'connectorManaged' },
}

const model = inSchema(
  'shop',
  build.model(
    {
      values: { id: 'int32', ...nullable },
      counted: { id: 'uint64', n: 'int32' },
      people: { id: 'int64', name: 'string(80)', bossId: 'int64?', changedAt: 'dateTimeWithTimezone?' },
      codes: { code: 'string(80)', n: 'int32?' },
      tokens: { id: 'bytes', n: 'int32?', ownerId: 'bytes?' },
      stamps: { at: 'dateTimeWithTimezone', n: 'int32?' },
      singles: { x: 'float32', n: 'int32?' },
      flags: { flag: 'boolean', n: 'int32?' },
      k: { id: 'int32', n: 'int32?' },
      pairs: { a: 'int32', b: 'string(700)', n: 'int32?' },
      logs: { line: 'string(80)?' },
      generated: { id: 'uuid', n: 'int32', bossId: 'int64?', wholeId: 'uuid?' },
    },
    [
      'people.boss(bossId) -> people.staff',
      'tokens.owner(ownerId) -> tokens.owned',
      'generated.boss(bossId) -> people.generated',
      'generated.whole(wholeId) -> generated.parts',
    ],
  ),
)

let server: TestMariadb
let driver: SqlDriver

beforeAll(async () => {
  server = await startMariadb()
  driver = openMysql(server)
  await createTables(
    only(model, ['values', 'counted', 'people', 'pairs', 'logs', 'flags', 'k', 'stamps', 'singles']),
    driver,
    mariadb,
  )
  // As other people make tables: what compares as equal is not always the same.
  await run('create table codes (code varchar(80) collate utf8mb4_general_ci primary key, n int)')
  await run(`create table tokens (id binary(4) primary key, n int, ownerId binary(4))`)
  await run(
    'create table generated (id uuid default uuid() primary key, n int not null check (n > 0), bossId bigint, wholeId uuid)',
  )
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

describe.each([
  ['with returning', mariadb],
  ['without returning', mariadbConversation],
])('%s', (_title, dialect) => {
  let items: WrittenItems

  beforeAll(() => {
    items = openItems(model, driver, dialect)
  })

  beforeEach(async () => {
    await run('update people set bossId = null')
    for (const name of model.byName.keys()) await run(`delete from \`${name}\``)
  })

  const person = async (name: string) => (await items.create('people', [{ name }]))[0]?.id as string

  it('tells that a counter has no number left, which is not the fault of other writes', async () => {
    await items.create('counted', [{ id: '18446744073709551615', n: 1 }])

    expect(await errorMessages(items.create('counted', [{ n: 2 }]))).toEqual(['Query failed', 'Value out of range'])
  })

  describe('values', () => {
    it.each([
      ['small', [-128, 127]],
      ['large', ['-9223372036854775808', '9223372036854775807']],
      ['ularge', ['18446744073709551615']],
      ['single', [0.1, -2.5, 1.5e-38]],
      ['double', [0.1, 1e300, 5e-324]],
      ['price', ['12345678901234567890.1234567891']],
      ['code', ['', 'trailing ', '\u0001\t"\\/\u2028é😀', "' or 1=1 -- ", 'null', '=']],
      ['text', ['ä'.repeat(100_000)]],
      ['token', ['019a0000-0000-7000-8000-0123456789ab']],
      ['flag', [true, false]],
      ['day', ['2024-02-29']],
      ['clock', ['23:59:59.999999', '10:10:10.5']],
      ['local', ['2024-01-01T09:00:00.120001', '9999-12-31T23:59:59.9']],
      ['instant', ['2024-10-27T00:30:00.000001Z', '1970-01-01T00:00:01Z']],
      ['json', [{ a: [1, 2.5, null, { b: 'x"\\' }] }, 'text', false, []]],
      ['blob', ['', 'AAEC/w==']],
      ['place', [{ type: 'Point', coordinates: [1.5, -2] }]],
    ])('come back as they were sent: %s', async (name, values) => {
      const rows = [null, ...values].map((value, id) => ({ id, [name]: value }))

      expect(await items.create('values', rows, `fields=id,${name}`)).toEqual(rows)
      await items.updateMany('values', { [name]: null }, 'filter[id][_gte]=0')
      const changed = rows.map(({ id }) =>
        items.updateOne('values', id, { [name]: rows[id]?.[name] }, `fields=id,${name}`),
      )
      expect((await Promise.all(changed)).flat()).toEqual(rows)
      expect(await items.deleteMany('values', `fields=id,${name}&filter[id][_gte]=0`)).toEqual(rows)
    })
  })

  describe('new items', () => {
    it('are counted and come back in the order sent', async () => {
      const sent = Array.from({ length: 1000 }, (_, index) => ({ name: `p${index % 7} ${index}` }))

      const created = await items.create('people', sent, 'fields=id,name')

      const [first] = created
      expect(created).toEqual(sent.map(({ name }, index) => ({ id: String(Number(first?.id) + index), name })))
    })

    it('may bring some of their numbers', async () => {
      const base = Number(await person('0'))
      const [high, low] = [String(base + 2000), String(base + 1000)]

      const created = await items.create('people', [
        { name: 'a' },
        { name: 'b' },
        { id: high, name: 'c' },
        { name: 'd' },
        { id: low, name: 'e' },
        { id: '0', name: 'f' },
        { name: 'g' },
      ])

      const numbers = [base + 1, base + 2, high, base + 2001, low, 0, base + 2002].map(String)
      expect(created.map(({ id, name }) => [name, id])).toEqual(numbers.map((id, index) => ['abcdefg'[index], id]))
      expect(await items.list('people', 'sort[0][name][direction]=asc&offset=1')).toEqual(created)
    })

    it('may leave everything to the database', async () => {
      expect(await items.create('logs', [{}, { line: 'x' }, {}], 'fields=line').catch(storyOfError)).toEqual(
        dialect === mariadb
          ? [{ line: null }, { line: 'x' }, { line: null }]
          : [
              'Failed to execute query',
              'body',
              'cannot be written: logs has neither a primary key nor a unique index of required fields, so what was written is not known',
            ],
      )
    })

    it('get what the service gives them', async () => {
      expect(await items.create('people', [{ name: 'a' }], 'fields=changedAt')).toEqual([{ changedAt: NOW }])
    })

    it('bring their relations along', async () => {
      const bossId = await person('boss')

      const created = await items.create('people', [{ name: 'a', bossId }], 'fields=name,boss.name')

      expect(created).toEqual([{ name: 'a', boss: { name: 'boss' } }])
    })

    it('are answered without a field where none is asked for', async () => {
      expect(await items.create('codes', [{ code: 'a' }, { code: 'b' }], 'fields=n')).toEqual([
        { n: null },
        { n: null },
      ])
      expect(await items.create('codes', [])).toEqual([])
    })

    it('get a key of the database, which their relations find', async () => {
      const created = await items.create('generated', [{ n: 1 }, { n: 2 }], 'fields=n')
      const nested = await items.create(
        'generated',
        [
          { n: 3, boss: { _create: { data: { name: 'boss' } } }, parts: [{ _create: { data: [{ n: 1 }, { n: 2 }] } }] },
          { n: 4, parts: [{ _create: { data: [{ n: 3, parts: [{ _create: { data: [{ n: 9 }] } }] }] } }] },
        ],
        'fields=n,boss.name,parts.n,parts.parts.n',
      )

      expect(created).toEqual([{ n: 1 }, { n: 2 }])
      expect(nested).toEqual([
        { n: 3, boss: { name: 'boss' }, parts: { data: [part(1), part(2)] } },
        { n: 4, boss: null, parts: { data: [part(3, [{ n: 9 }])] } },
      ])
    })
  })

  describe('changes', () => {
    it('are made to one', async () => {
      const id = await person('a')
      await person('b')

      const changed = await items.updateOne('people', id, { name: 'x' }, 'fields=id,name,changedAt')

      expect(changed).toEqual([{ id, name: 'x', changedAt: NOW }])
      expect(await items.list('people', 'fields=name')).toEqual([{ name: 'x' }, { name: 'b' }])
    })

    it('are made to many, those matched through themselves among them', async () => {
      const bossId = await person('boss')
      await items.create('people', [{ name: 'a', bossId }, { name: 'b', bossId }, { name: 'c' }])

      const search = 'fields=name,boss.name&filter[boss][staff][_some][name][_eq]=a'
      expect(await items.updateMany('people', { name: 'x' }, search)).toEqual([
        { name: 'x', boss: { name: 'boss' } },
        { name: 'x', boss: { name: 'boss' } },
      ])
      expect(await items.updateMany('people', { name: 'y' }, 'filter[name][_eq]=nobody')).toEqual([])
    })

    it('may renew a key', async () => {
      await items.create('codes', [{ code: 'old' }])

      expect(await items.updateOne('codes', 'old', { code: 'new', n: 1 })).toEqual([{ code: 'new', n: 1 }])
    })

    it('may be none', async () => {
      await items.create('codes', [{ code: 'a', n: 1 }])

      expect(await items.updateOne('codes', 'a', {})).toEqual([{ code: 'a', n: 1 }])
      expect(await items.updateOne('codes', 'z', { n: 2 })).toEqual([])
    })

    it('find their rows by keys of any type', async () => {
      await items.create('pairs', [
        { a: 1, b: 'x ', n: 1 },
        { a: 1, b: 'x', n: 2 },
      ])
      await items.create('flags', [{ flag: true }, { flag: false }])
      await items.create('stamps', [{ at: '2024-02-29T12:00:00.5Z' }, { at: '2024-02-29T12:00:00Z' }])
      await items.create('singles', [{ x: 16777216 }, { x: 0.1 }])
      await items.create('tokens', [{ id: 'AAEC/w==' }, { id: 'AAECAA==', ownerId: 'AAEC/w==' }])

      expect(await items.updateMany('pairs', { n: 3 }, 'filter[b][_eq]=x')).toEqual([{ a: 1, b: 'x', n: 3 }])
      expect(await items.updateOne('flags', true, { n: 1 })).toEqual([{ flag: true, n: 1 }])
      expect(await items.updateOne('stamps', '2024-02-29T12:00:00.5Z', { n: 1 }, 'fields=n')).toEqual([{ n: 1 }])
      expect(await items.updateMany('singles', { n: 1 }, 'filter[x][_gt]=1')).toEqual([{ x: 16777216, n: 1 }])
      expect(await items.updateMany('tokens', { n: 1 }, 'filter[owner][n][_null]=true&fields=id,owned.id')).toEqual([
        { id: 'AAECAA==', owned: { data: [] } },
      ])
    })

    it.each(['null', '"', '\\', 'ß', 'Ä 😀', "it's", '{"c0":"=a"}', ' '])(
      'find their rows by a text as a key: %s',
      async (code) => {
        await items.create('codes', [{ code }, { code: 'other' }])

        expect(await items.updateOne('codes', code, { n: 1 })).toEqual([{ code, n: 1 }])
        expect(await items.deleteOne('codes', code, 'fields=n')).toEqual([{ n: 1 }])
      },
    )

    it('read no more rows than they change', async () => {
      const session = openMysql({ ...server, max: 1 })
      await run(`insert into codes select concat('k', seq), seq from seq_1_to_5000`)
      const text = "show session status where variable_name in ('Handler_read_rnd_next', 'Handler_read_next')"
      const read = async () => (await session.query({ text, params: [] })).reduce((sum, row) => sum + Number(row[1]), 0)
      const before = await read()

      await openItems(model, session, dialect).updateOne('codes', 'k77', { n: 0 })

      const after = await read()
      await session.close()
      expect(after - before).toBeLessThan(1000)
    })

    it('of more rows than can be remembered are refused as a whole', async () => {
      await run(`insert into pairs select seq, repeat('x', 700), 0 from seq_1_to_30000`)

      const story = await errorMessages(items.updateMany('pairs', { n: 1 }, 'filter[n][_eq]=0'))

      expect(story).toEqual(['Query failed', 'The answer is too large: ask for fewer items or fields'])
      expect(await items.list('pairs', 'fields=a&filter[n][_eq]=1&limit=1')).toEqual([])
    })
  })

  describe('deletions', () => {
    it('are of one or many, and answer what is asked for', async () => {
      const bossId = await person('boss')
      await items.create('people', [
        { name: 'a', bossId },
        { name: 'b', bossId },
        { name: 'c', bossId },
      ])

      expect(await items.deleteMany('people', 'filter[boss][staff][_some][name][_eq]=a&filter[name][_neq]=c')).toEqual([
        {},
        {},
      ])
      expect(await items.deleteMany('people', 'filter[name][_eq]=c&fields=name,boss.name')).toEqual([
        { name: 'c', boss: { name: 'boss' } },
      ])
      expect(await items.deleteOne('people', bossId, 'fields=id')).toEqual([{ id: bossId }])
      expect(await items.deleteOne('people', bossId)).toEqual([])
      expect(await items.list('people')).toEqual([])
    })
  })

  it('delete from a table with the name that kept rows have', async () => {
    await items.create('k', [{ id: 1 }, { id: 2 }])

    expect(await items.deleteMany('k', 'filter[id][_gt]=1&fields=id')).toEqual([{ id: 2 }])
    expect(await items.list('k')).toEqual([{ id: 1, n: null }])
  })

  it('change by a truth value those that are shown with it', async () => {
    const ids = async (operator: string) => {
      const found = await items.list('values', `fields=id&filter[flag]${operator}`)
      return found.map(({ id }) => id).sort()
    }
    await run('insert into `values` (id, flag) values (0, 0), (1, 1), (2, 9), (3, -1), (4, null)')

    expect(await ids('[_eq]=true')).toEqual([1, 2, 3])
    expect(await ids('[_neq]=true')).toEqual([0])
    expect(await ids('[_eq]=false')).toEqual([0])
    expect(await ids('[_neq]=false')).toEqual([1, 2, 3])
    expect(await ids('[_null]=true')).toEqual([4])
    await items.updateMany('values', { small: 7 }, 'filter[flag][_neq]=true')
    expect(await items.list('values', 'fields=id&filter[small][_eq]=7')).toEqual([{ id: 0 }])
    expect(await items.deleteMany('values', 'filter[flag][_eq]=true')).toHaveLength(3)
  })

  describe('refusals', () => {
    it('name the reason and leave nothing behind', async () => {
      const bossId = await person('boss')
      await items.create('people', [{ name: 'a', bossId }])
      await items.create('codes', [{ code: 'a' }])

      expect(await errorMessages(items.create('codes', [{ code: 'b' }, { code: 'A' }]))).toEqual([
        'Query failed',
        'Unique constraint failed',
      ])
      expect(await errorMessages(items.create('people', [{ name: 'x' }, { name: 'y', bossId: '999' }]))).toEqual([
        'Query failed',
        'Foreign key constraint failed',
      ])
      expect(await errorMessages(items.deleteOne('people', bossId))).toEqual([
        'Query failed',
        'Foreign key constraint failed',
      ])
      const rows = [{ id: '019a0000-0000-7000-8000-000000000001', n: 0 }]
      expect(await errorMessages(items.create('generated', rows))).toEqual(['Query failed', 'Check constraint failed'])
      expect(await items.list('codes', 'fields=code')).toEqual([{ code: 'a' }])
      expect(await items.list('people', 'fields=name')).toEqual([{ name: 'boss' }, { name: 'a' }])
    })

    it('undo what came before them', async () => {
      await items.create('codes', [{ code: 'a' }, { code: 'b' }])

      expect(await errorMessages(items.updateMany('codes', { code: 'c' }, 'filter[n][_null]=true'))).toEqual([
        'Query failed',
        'Unique constraint failed',
      ])
      expect(await items.list('codes', 'fields=code')).toEqual([{ code: 'a' }, { code: 'b' }])
    })
  })
})

function run(text: string) {
  return driver.query({ text, params: [] })
}

function part(n: number, parts: readonly unknown[] = []) {
  return { n, parts: { data: parts } }
}

function storyOfError(error: unknown): Promise<readonly string[]> {
  return errorMessages(Promise.reject(error))
}

/** The model with its tables in a schema, more keys, and defaults. */
function inSchema(dbName: string, { records }: Model): Model {
  const index = (collectionId: string, ...names: string[]): IndexRecord => {
    const id = [collectionId, ...names].join('_')
    return { id, collectionId, dbName: id, kind: 'primary', fieldIds: names.map((name) => `${collectionId}.${name}`) }
  }
  return buildModel(1, {
    ...records,
    namespaces: [{ id: 'schema', sourceId: 'main', dbName, isSystem: false }],
    collections: records.collections.map((collection) => ({ ...collection, namespaceId: 'schema' })),
    primitiveFields: records.primitiveFields.map((field) => ({ ...field, defaultValue: defaults[field.id] ?? null })),
    indexes: [
      ...records.indexes.filter(({ collectionId }) => collectionId !== 'pairs' && collectionId !== 'logs'),
      index('pairs', 'a', 'b'),
    ],
  })
}

function only(whole: Model, names: readonly string[]): Model {
  return { ...whole, byName: new Map([...whole.byName].filter(([name]) => names.includes(name))) }
}
