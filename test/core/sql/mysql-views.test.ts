import { describe, expect, it } from 'vitest'
import type { ColumnRow, ViewRow } from '../../../src/core/sql/mysql/catalog.ts'
import { readViews } from '../../../src/core/sql/mysql/views.ts'

function column(table: string, name: string): ColumnRow {
  return {
    kind: 'column',
    schema: 'shop',
    table,
    position: 1,
    name,
    data: 'int',
    full: 'int(11)',
    length: null,
    precision: 10,
    scale: 0,
    collation: null,
    nullable: 'YES',
    default: null,
    extra: '',
    privileges: '',
  }
}

function view(table: string, definition: string, isUpdatable = 'YES'): ViewRow {
  return { kind: 'view', schema: 'shop', table, definition, isUpdatable }
}

const base = [column('article', 'id'), column('article', 'the `name`, from')]
const plain =
  "select `shop`.`article`.`id` AS `key`,`shop`.`article`.`the ``name``, from` AS `n`,ucase('from ,`') AS `x` from `shop`.`article` where `shop`.`article`.`id` > 0"

describe('the columns that a view writes', () => {
  it('are those of one table, by their names in it', () => {
    const views = readViews([view('v', plain)], base)

    expect(views.isWritable({ schema: 'shop', table: 'v' })).toBe(true)
    expect(['key', 'n', 'x'].map((name) => views.behind(column('v', name))?.name)).toEqual([
      'id',
      'the `name`, from',
      undefined,
    ])
  })

  it('go through views of views', () => {
    const outer = view('w', 'select `v`.`key` AS `a`,`v`.`x` AS `b` from `shop`.`v`')
    const columns = [...base, column('v', 'key'), column('v', 'x')]
    const views = readViews([view('v', plain), outer], columns)

    expect(['a', 'b'].map((name) => views.behind(column('w', name))?.table)).toEqual(['article', undefined])
  })

  it('are those of an aliased table', () => {
    const views = readViews([view('v', 'select `a`.`id` AS `id` from `shop`.`article` `a` limit 3')], base)

    expect(views.behind(column('v', 'id'))?.table).toBe('article')
  })

  it.each([
    ['of a join', 'select `a`.`id` AS `id` from (`shop`.`article` `a` join `shop`.`b` on(1 = 1))', 'YES'],
    ['of two tables', 'select `a`.`id` AS `id` from `shop`.`article` `a` join `shop`.`b`', 'YES'],
    ['that is hidden', '', 'YES'],
    ['that the database does not write', plain, 'NO'],
  ])('are none of a view %s', (_, definition, isUpdatable) => {
    const views = readViews([view('v', definition, isUpdatable)], base)

    expect(views.isWritable({ schema: 'shop', table: 'v' })).toBe(false)
    expect(views.behind(column('v', 'id'))).toBeUndefined()
  })

  it('of a table are its own', () => {
    const [own = column('', '')] = base

    expect(readViews([], base).behind(own)).toBe(own)
  })
})
