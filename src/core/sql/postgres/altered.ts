/** The altered value of a column, by an operator of a change. */
import { parseJson } from '../../exact-json.ts'
import type { Alteration } from '../../plan/plan.ts'
import { param, type Sql, sql } from '../statement.ts'
import { compared, isOneOf } from './comparisons.ts'
import { failing } from './rows.ts'
import { typed } from './values.ts'

export function altered(column: Sql, { field, operator, text }: Alteration, marker: string): Sql {
  switch (operator) {
    case '_increment':
      return sql`${column} + ${amount(field, text)}`
    case '_append':
      return flat(column, sql`${column} || ${typed(field, text)}`, marker)
    case '_remove': {
      const element = { ...field, isList: false }
      const elements = parseJson(text) as readonly (string | null)[]
      const values = elements.filter((one) => one !== null)
      const isGiven = isOneOf(compared(sql`x.e`, element), element, values, inArray)
      const isNull = sql`x.e is not distinct from null`
      const isRemoved = values.length === elements.length ? isGiven : sql`(${isNull} or ${isGiven})`
      const kept = sql`array(select x.e from ${numbered(column, field)} where ${isRemoved} is not true order by x.n)`
      return flat(column, kept, marker)
    }
  }
}

/** The elements of a list with their positions. `unnest` would expand composite values into columns. */
function numbered(column: Sql, { native, type }: Alteration['field']): Sql {
  if (!native || type.name !== 'json') return sql`unnest(${column}) with ordinality x(e, n)`
  return sql`(select (${column})[i] e, i n from generate_subscripts(${column}, 1) i) x`
}

/** Uses a wider type than the column, so that the column's own type checks the sum. */
function amount({ type }: Alteration['field'], text: string): Sql {
  if (type.name === 'decimal') return sql`${param(text)}::numeric`
  return type.name.startsWith('float') ? sql`${param(text)}::float8` : sql`${param(text)}::int8`
}

const inArray = () => false

/** Refuses to append to a list of several dimensions, which would add another dimension. */
function flat(column: Sql, value: Sql, marker: string): Sql {
  const isFlat = sql`coalesce(array_ndims(${column}), 1) = 1`
  return sql`case when ${column} is not null and (${isFlat} or ${failing(marker)} = 0) then ${value} end`
}
