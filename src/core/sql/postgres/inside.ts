/** Tests of the content of lists and JSON values. */
import type { PrimitiveField } from '../../model/model.ts'
import type { JsonTest } from '../../query/filter.ts'
import type { Elements } from '../dialect.ts'
import { comparison, jsonPath } from '../operators.ts'
import { empty, join, param, type Sql, sql } from '../statement.ts'
import { compared, isLoose, isOneOf } from './comparisons.ts'
import { arrayText, castType, typed } from './values.ts'

/** Uses array operators, which an index may serve, if the array's own equality is that of filters. */
export function elements(column: Sql, field: PrimitiveField, { quantity, operands }: Elements): Sql {
  if (!field.native && field.type.name !== 'json' && !isLoose(field)) {
    const wanted = typed(field, JSON.stringify(operands))
    // Lists of a domain have no operators; a cast to the column's own type costs nothing.
    const list = sql`${column}::${castType(field.type)}[]`
    return quantity === 'any' ? sql`${list} && ${wanted}` : sql`${list} @> ${wanted}`
  }
  const element = { ...field, isList: false }
  // `unnest` would expand composite values into columns, and `e` could be a column of the table.
  const values =
    field.native && field.type.name === 'json' ? sql`(select unnest(${column})) x(e)` : sql`unnest(${column}) e`
  const has = (some: readonly string[]) =>
    sql`exists (select 1 from ${values} where ${isOneOf(compared(sql`e`, element), element, some, inArray)})`
  const each = quantity === 'any' ? [has(operands)] : operands.map((one) => has([one]))
  return sql`case when ${column} is not null then ${each.length === 0 ? sql`true` : join(each, sql` and `)} end`
}

/** Keeps operands in one array, whatever their number. */
const inArray = () => false

export function isEmpty(column: Sql): Sql {
  return sql`cardinality(${column}) = 0`
}

/** `column` is of type jsonb. */
export function testJson(column: Sql, test: JsonTest): Sql {
  switch (test.kind) {
    case 'contains':
      return sql`${column} @> ${param(test.operand)}::jsonb`
    case 'key':
      return sql`(${column} ? ${param(test.operand)}::text and jsonb_typeof(${column}) = 'object')`
    case 'at':
      return compareAt(column, test)
  }
}

/** In strict mode a name only matches objects, and an index only lists; anything else gives null, because errors are silent. */
function compareAt(
  column: Sql,
  { path, type, comparison: how, operands }: Extract<JsonTest, { readonly kind: 'at' }>,
): Sql {
  const place = sql`jsonb_path_query_first(${column}, ${param(`strict ${jsonPath(path)}`)}::jsonpath, '{}', true)`
  const { value, cast, order } = scalars[type]
  const found = sql`(case when jsonb_typeof(${place}) = ${typeName[type]} then ${value(sql`(${place})`)} end)${order}`
  return how === 'in'
    ? sql`${found} = any(${param(arrayText(operands))}::${cast}[])`
    : sql`${found} ${comparison[how]} ${param(operands[0] ?? null)}::${cast}`
}

const typeName = { string: sql`'string'`, number: sql`'number'`, boolean: sql`'boolean'` } as const

/** Strings are compared by code points, as other databases compare strings in JSON. */
const scalars = {
  string: { value: (place: Sql) => sql`${place} #>> '{}'`, cast: sql`text`, order: sql` collate "C"` },
  number: { value: (place: Sql) => sql`${place}::numeric`, cast: sql`numeric`, order: empty },
  boolean: { value: (place: Sql) => sql`${place}::boolean`, cast: sql`boolean`, order: empty },
} as const
