/** docs/contract.md#introspection: which tables are imported. */
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/core/parts.ts'
import { NO_NAMESPACE, type SourceSchema } from '../../../src/core/sql/source-schema.ts'
import { chooseTables, missingTable, type TableChoice } from '../../../src/core/sql/table-choice.ts'

function schema(...names: readonly string[]): SourceSchema {
  return {
    defaultNamespace: 'public',
    namespaces: [],
    knowsRelations: true,
    skipped: [{ table: 'public.secret', reason: 'the database user may not read it' }],
    tables: names.map((name) => {
      const [dbName = '', space = NO_NAMESPACE] = name.split('.').reverse()
      return { schema: space, dbName, isReadOnly: false, isView: false, columns: [], indexes: [], foreignKeys: [] }
    }),
  }
}

const shop = schema('public.orders', 'public.tmp_a', 'sales.orders', 'sales.items', 'plain')

function chosen(choice: TableChoice) {
  return atOnce(chooseTables(shop, choice)).tables.map((table) =>
    [table.schema, table.dbName].filter(Boolean).join('.'),
  )
}

describe('a choice of tables', () => {
  it.each<[string, TableChoice, readonly string[]]>([
    ['everything', {}, ['public.orders', 'public.tmp_a', 'sales.orders', 'sales.items', 'plain']],
    ['nothing', { include: [] }, []],
    ['a table of any schema', { include: ['orders'] }, ['public.orders', 'sales.orders']],
    ['a table of one schema', { include: ['sales.orders'] }, ['sales.orders']],
    ['a schema', { include: ['sales.*'] }, ['sales.orders', 'sales.items']],
    ['all but some', { exclude: ['tmp_*', 'sales.*'] }, ['public.orders', 'plain']],
    ['both', { include: ['*orders', 'plain'], exclude: ['sales.*'] }, ['public.orders', 'plain']],
    ['stars inside', { include: ['*a*.*e*s'] }, ['sales.orders', 'sales.items']],
    ['exact letters', { include: ['Orders', 'plai', 'lain', 'p.ain'] }, []],
  ])('takes %s', (_, choice, tables) => {
    expect(chosen(choice)).toEqual(tables)
  })

  it('says what it leaves out, and why, beside what the database left out', () => {
    expect(atOnce(chooseTables(shop, { include: ['public.*'], exclude: ['tmp_*'] })).skipped).toEqual([
      { table: 'public.secret', reason: 'the database user may not read it' },
      { table: 'public.tmp_a', reason: 'is excluded' },
      { table: 'sales.orders', reason: 'is not included' },
      { table: 'sales.items', reason: 'is not included' },
      { table: 'plain', reason: 'is not included' },
    ])
  })

  it('costs no more for many stars', () => {
    const long = schema('a'.repeat(200))

    expect(atOnce(chooseTables(long, { include: [`${'*a'.repeat(100)}*b`] })).tables).toEqual([])
  })

  it('knows which name is no table', () => {
    expect(missingTable(shop, { include: ['orders', 'secret', 'none_*', 'public.items'] })).toBe(3)
    expect(missingTable(shop, {})).toBe(-1)
  })
})
