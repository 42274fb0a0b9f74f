/**
 * Texts in columns whose collations take different texts for the same: what a filter finds is exact, whatever the
 * collation, and still by the column's index. The order of `<` is the column's, in which only equal texts are equal.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { operatorHolds } from '../property/support/oracle.ts'
import { build } from '../support/data/build.ts'
import { type Item, openItems, type WrittenItems } from '../support/data/items.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

const columns = {
  general: 'varchar(40) character set utf8mb4 collate utf8mb4_general_ci',
  unicode: 'varchar(40) character set utf8mb4 collate utf8mb4_unicode_520_ci',
  nopad: 'varchar(40) character set utf8mb4 collate utf8mb4_unicode_nopad_ci',
  padded: 'varchar(40) character set utf8mb4 collate utf8mb4_bin',
  exact: 'varchar(40) character set utf8mb4 collate utf8mb4_nopad_bin',
  long: 'longtext character set utf8mb4 collate utf8mb4_general_ci',
  latin: 'varchar(40) character set latin1 collate latin1_swedish_ci',
  choice: "enum ('acme', 'Acmé', 'zebra') character set utf8mb4 collate utf8mb4_bin",
} as const

type Column = keyof typeof columns
const names = Object.keys(columns) as Column[]

const texts = ['acme', 'ACME', 'Acme', 'acmé', 'Acmé', 'acme ', 'acme  ', 'acme\t', 'ac', '', ' ', 'ß', 'ss', 'zebra']
const outside = ['aCmE', 'acme   ', 'acm', 'Zebra', 'zebra ', 'SS']

const model = build.model(
  {
    texts: { id: 'int32', ...Object.fromEntries(names.map((name) => [name, 'string?'])) },
    tenants: { code: 'string(40)', name: 'string(40)' },
    orders: { id: 'int32', tenantCode: 'string(40)?', note: 'string(40)?' },
    many: { id: 'int32', tenant: 'string(40)', note: 'string(40)' },
    documents: { id: 'int32', json: 'json?' },
    essays: { id: 'int32', text: 'string', bytes: 'bytes' },
  },
  ['orders.tenant(tenantCode) -> tenants.orders'],
)

let server: TestMariadb
let driver: SqlDriver
let items: WrittenItems

const sql = (text: string, params: readonly (string | null)[] = []) => driver.query({ text, params })

beforeAll(async () => {
  server = await startMariadb()
  driver = openMysql(server)
  items = openItems(model, driver, mariadb)
  const definitions = names.map((name) => `\`${name}\` ${columns[name]}`)
  await sql(`create table texts (id int primary key, ${definitions.join(', ')})`)
  await sql('insert into texts (id) values (0)')
  for (const [index, text] of texts.entries()) {
    const values = names.map((name) => (name === 'choice' && !['acme', 'Acmé', 'zebra'].includes(text) ? null : text))
    await sql(`insert into texts values (${index + 1}, ${names.map(() => '?').join(', ')})`, values)
  }
  await sql('create table essays (id int primary key, text longtext, bytes longblob) collate utf8mb4_general_ci')
  await sql('create table tenants (code varchar(40) primary key, name varchar(40)) collate utf8mb4_general_ci')
  for (let id = 1; id <= 40; id += 1) {
    const text = `${'a'.repeat(1_500)}${id % 2}`
    await sql('insert into essays values (?, ?, ?)', [String(id), text, text])
  }
  await sql(`create table orders (id int primary key, tenantCode varchar(40), note varchar(40), key (note),
    foreign key (tenantCode) references tenants (code)) collate utf8mb4_general_ci`)
  await sql("insert into tenants values ('acme', 'Acme'), ('other', 'Other')")
  await sql("insert into orders values (1, 'acme', 'x'), (2, 'ACME', 'X'), (3, 'acme ', 'x '), (4, 'other', 'y')")
  await sql(`create table many (id int primary key, tenant varchar(40), note varchar(40), key (tenant))
    collate utf8mb4_general_ci`)
  await sql("insert into many select seq, concat('tenant', seq mod 5000), 'x' from seq_1_to_20000")
  await sql('analyze table many')
  await sql('create table documents (id int primary key, json json)')
  await sql(
    `create table folded (id int primary key, json longtext collate utf8mb4_general_ci check (json_valid(json)))`,
  )
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

function search(name: string, operator: string, operand: unknown): string {
  const at = `filter[${name}][${operator}]`
  if (!Array.isArray(operand)) return `${at}=${encodeURIComponent(String(operand))}`
  return operand.map((one, index) => `${at}[${index}]=${encodeURIComponent(String(one))}`).join('&')
}

/** What a column gave back of each text: an enum holds few. */
async function stored(name: Column): Promise<readonly Item[]> {
  return items.list('texts', `fields=id,${name}&limit=1000`)
}

async function found(name: string, operator: string, operand: unknown): Promise<readonly unknown[]> {
  const list = await items.list('texts', `fields=id,${name}&limit=1000&${search(name, operator, operand)}`)
  return list.map(({ id }) => id)
}

/** Latin-1 has no texts of all scripts, which is a fault of the operand, so that only its own are asked for. */
const operands = [...texts, ...outside]
const parts = ['acme', 'CM', 'é', 'E ', ' ', 'ac', 'S', '']

describe.each(names)('a column %s', (name) => {
  it.each([
    ['whole texts', ['_eq', '_neq'], operands],
    ['lists', ['_in', '_nin'], operands.map((_, start) => operands.slice(start, start + 3))],
    ['parts', ['_contains', '_ncontains', '_starts_with', '_nstarts_with', '_ends_with', '_nends_with'], parts],
  ] as const)('is compared exactly with %s', async (_, operators, asked) => {
    const rows = await stored(name)
    for (const operator of operators) {
      for (const operand of asked) {
        const expected = rows.filter((row) => operatorHolds(stringType, operator, operand, row[name]) === true)

        expect
          .soft(await found(name, operator, operand), `${operator} ${operand}`)
          .toEqual(expected.map(({ id }) => id))
      }
    }
  })

  it('is in one order, by which only equal texts are equal', async () => {
    const rows = (await stored(name)).filter((row) => row[name] !== null)
    for (const { [name]: operand } of rows) {
      const ids = (operator: string) => found(name, operator, operand)
      const [less, atMost, more, atLeast] = await Promise.all(['_lt', '_lte', '_gt', '_gte'].map(ids))
      const equal = rows.filter((row) => row[name] === operand).map(({ id }) => id)

      expect(new Set([...(less ?? []), ...equal, ...(more ?? [])]).size).toBe(rows.length)
      expect((less?.length ?? 0) + equal.length + (more?.length ?? 0)).toBe(rows.length)
      expect(new Set(atMost)).toEqual(new Set([...(less ?? []), ...equal]))
      expect(new Set(atLeast)).toEqual(new Set([...(more ?? []), ...equal]))
    }
  })
})

/** An enum is sorted by the places of its values in its definition. */
const sorted = names.filter((name) => name !== 'choice')

describe('the order of a list', () => {
  it.each(sorted)('is that of comparisons, but for texts that its collation takes for equal: %s', async (name) => {
    const list = await items.list('texts', `fields=id,${name}&limit=1000&sort[0][${name}][direction]=asc`)
    const values = list.flatMap((row) => (row[name] === null ? [] : [row[name]]))
    for (const [place, operand] of values.entries()) {
      const less = await found(name, '_lt', operand)
      const before = list.slice(0, place).map(({ id }) => id)
      const equalish = await sql(`select id from texts where \`${name}\` = ?`, [String(operand)])
      const tied = new Set(equalish.map(([id]) => Number(id)))

      expect(new Set(less.filter((id) => !tied.has(Number(id))))).toEqual(
        new Set(before.filter((id) => !tied.has(Number(id)))),
      )
    }
  })
})

const stringType = { name: 'string' as const, sizes: [], isList: false, isNullable: true }

describe('groups', () => {
  it('are of one text each, and as many are counted', async () => {
    const groups = await items.aggregate('orders', 'group[0]=note&aggregate[n][count]=*')
    const [all] = await items.aggregate('orders', 'aggregate[n][countDistinct]=note')

    expect(new Map(groups.map(({ group, n }) => [(group as Item).note, n]))).toEqual(
      new Map(['x', 'X', 'x ', 'y'].map((note) => [note, 1])),
    )
    expect(all).toMatchObject({ n: 4 })
  })
})

describe('groups of what is longer than these databases sort by', () => {
  it.each(['text', 'bytes'])('are of one value each, and as many are counted: %s', async (name) => {
    // Beside distinct values groups are made by sorting.
    const groups = await items.aggregate('essays', `group[0]=${name}&aggregate[n][countDistinct]=id`)
    const [all] = await items.aggregate('essays', `aggregate[n][countDistinct]=${name}`)

    expect(groups.map(({ n }) => n)).toEqual([20, 20])
    expect(all).toMatchObject({ n: 2 })
  })
})

describe('keys and relations', () => {
  it('names an item by its exact key', async () => {
    expect(await keyed('tenants', 'acme')).toHaveLength(1)
    expect(await keyed('tenants', 'ACME')).toHaveLength(0)
    expect(await keyed('tenants', 'acme ')).toHaveLength(0)
  })

  it('changes and deletes what is exactly meant', async () => {
    expect(await items.updateOne('tenants', 'ACME', { name: 'changed' })).toEqual([])
    expect(await items.deleteOne('tenants', 'other ')).toEqual([])
    expect(await items.updateMany('orders', { note: 'x' }, 'filter[note][_eq]=x&fields=id')).toEqual([{ id: 1 }])
    expect(await items.deleteMany('orders', 'filter[note][_eq]=X%20&fields=id')).toEqual([])
  })

  it('connects what is exactly named', async () => {
    const connect = (code: string) => items.create('orders', [{ id: 9, tenant: { _connect: { key: { code } } } }])

    await expect(connect('OTHER')).rejects.toThrow('Query failed')
    await expect(connect('other ')).rejects.toThrow('Query failed')
    expect(await connect('other')).toMatchObject([{ tenantCode: 'other' }])
    await items.deleteOne('orders', 9)
  })

  it('follows the relations that the database keeps, and compares exactly beyond them', async () => {
    const orders = await items.list('orders', 'fields=id,tenant.code&filter[tenant][code][_eq]=acme')
    expect(orders.map(({ id, tenant }) => [id, tenant])).toEqual([1, 2, 3].map((id) => [id, { code: 'acme' }]))
    expect(await items.list('orders', 'filter[tenant][code][_eq]=ACME')).toEqual([])
    expect(await items.list('tenants', 'filter[orders][note][_eq]=X&fields=code')).toEqual([{ code: 'acme' }])
    expect(await items.list('tenants', 'filter[orders][note][_eq]=Y&fields=code')).toEqual([])
  })
})

async function keyed(name: string, key: string): Promise<readonly Item[]> {
  return items.list(name, `filter[code][_eq]=${encodeURIComponent(key)}`)
}

describe('JSON', () => {
  it('is compared exactly', async () => {
    await items.create('documents', [
      { id: 1, json: { a: 'x' } },
      { id: 2, json: { a: 'X' } },
      { id: 3, json: { a: 'x ' } },
      { id: 4, json: 'é' },
      { id: 5, json: 'e' },
    ])
    const ids = async (operand: string) => {
      const list = await items.list('documents', `filter[json][_eq]=${encodeURIComponent(operand)}`)
      return list.map(({ id }) => id)
    }

    expect(await ids('{"a":"x"}')).toEqual([1])
    expect(await ids('{"A":"x"}')).toEqual([])
    expect(await ids('{"a":"X"}')).toEqual([2])
    expect(await ids('e')).toEqual([5])
  })

  it('is the same value when it is written back, whose characters others have escaped', async () => {
    await sql(String.raw`insert into documents values (6, '{"n":"\\u00e9","p":"a\\/b"}')`)
    const [read] = await items.list('documents', 'filter[id]=6')
    await items.updateOne('documents', 6, { json: read?.json })

    expect(read?.json).toEqual({ n: 'é', p: 'a/b' })
    expect(await items.list('documents', 'filter[id]=6')).toEqual([read])
    expect(await sql('select json from documents where id = 6')).toEqual([['{"n":"é","p":"a/b"}']])
  })

  it('is compared exactly where its column is a text that ignores case', async () => {
    await sql(`insert into folded values (1, '{"a":"x"}'), (2, '{"a":"X"}'), (3, '"é"')`)
    const folded = openItems(build.model({ folded: { id: 'int32', json: 'json?' } }), driver, mariadb)
    const ids = async (operand: string) => {
      const list = await folded.list('folded', `filter[json][_eq]=${encodeURIComponent(operand)}`)
      return list.map(({ id }) => id)
    }

    expect(await ids('{"a":"x"}')).toEqual([1])
    expect(await ids('{"A":"X"}')).toEqual([])
    expect(await ids('e')).toEqual([])
  })
})

describe('the index of a column', () => {
  it.each([
    ['_eq', 'tenant77', 4],
    ['_in', ['tenant77', 'tenant78', 'TENANT79'], 8],
    ['_gt', 'tenant998', 4],
  ])('serves %s', async (operator, operand, count) => {
    const plan = build.read(model, 'many', `fields=id&limit=1000&${search('tenant', operator, operand)}`)
    const statement = build.statement(plan, mariadb)

    const [[text] = []] = await sql(`explain format=json ${statement.text}`, statement.params)

    const { table } = tableOf(JSON.parse(text ?? ''))
    expect(table).toMatchObject({ key: 'tenant' })
    expect(table.rows).toBeLessThanOrEqual(3 * count)
    expect(await driver.query(statement)).toHaveLength(count)
  })
})

type Explained = { readonly table: { readonly key?: string; readonly rows: number } }

/** The one table of a plan, however deep it stands. */
function tableOf(plan: unknown): Explained {
  const found = JSON.stringify(plan, (_name, value) => value).match(/"table":(\{[^{}]*\})/)
  return { table: JSON.parse(found?.[1]?.replace(/"(key_parts|ref|used_key_parts)":\[[^\]]*\],?/g, '') ?? '{}') }
}
