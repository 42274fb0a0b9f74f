/**
 * Tests of the content of JSON values, whose numbers are compared as 64-bit floating point. There are no lists.
 */
import { nested } from '../../error.ts'
import { QUERY_FAILED } from '../../error-codes.ts'
import { parseJson } from '../../exact-json.ts'
import { isObject } from '../../json-object.ts'
import type { Comparison, JsonScalar, JsonStep, JsonTest } from '../../query/filter.ts'
import { comparison, jsonPath } from '../operators.ts'
import { ident, join, param, type Sql, sql } from '../statement.ts'
import type { Family } from './family.ts'

export function testJson(column: Sql, test: JsonTest, own: Family): Sql {
  switch (test.kind) {
    case 'contains': {
      const wanted = parseJson(test.operand)
      const scope = { own, place: test.place, depth: 0 }
      const answer = isScalar(wanted)
        ? sql`(${isSame(column, wanted, own)} or ${hasElement(column, wanted, scope)})`
        : contains(column, wanted, scope)
      return known(column, answer)
    }
    case 'key':
      return known(
        column,
        sql`json_type(${column}) = 'OBJECT' and json_contains_path(${column}, 'one', ${param(jsonPath([test.operand]))})`,
      )
    case 'at':
      return compareAt(column, test, own)
  }
}

/** Unknown only for a null column, whatever is missing inside. */
function known(column: Sql, answer: Sql): Sql {
  return sql`case when ${column} is not null then (${answer}) is true end`
}

/** The path of a containment in the request, and the number of enclosing arrays. */
type Scope = { readonly own: Family; readonly place: string; readonly depth: number }

type Scalar = string | number | boolean | null

/** Kinds must be equal at each level. The databases' own functions would treat a scalar and an array of it alike. */
function contains(value: Sql, wanted: unknown, scope: Scope): Sql {
  if (isScalar(wanted)) return isSame(value, wanted, scope.own)
  if (Array.isArray(wanted)) {
    return all(
      sql`json_type(${value}) = 'ARRAY'`,
      wanted.map((one: unknown) => hasElement(value, one, scope)),
    )
  }
  const members = isObject(wanted) ? Object.entries(wanted) : []
  return all(
    sql`json_type(${value}) = 'OBJECT'`,
    members.map(([name, one]) => contains(sql`json_extract(${value}, ${param(jsonPath([name]))})`, one, scope)),
  )
}

function all(first: Sql, rest: readonly Sql[]): Sql {
  return sql`(${join([first, ...rest], sql` and `)})`
}

/** A count instead of `exists`, which the optimizer could convert to a join; a join has at most 61 tables. */
function hasElement(array: Sql, wanted: unknown, scope: Scope): Sql {
  const { own, place, depth } = scope
  const isArray = sql`json_type(${array}) = 'ARRAY'`
  if (!own.isBehindVitess) {
    const rows = ident(`j${depth}`)
    const element = ident(`j${depth}`, 'v')
    const found = contains(element, wanted, { ...scope, depth: depth + 1 })
    // A value that is not an array would count as an array of itself.
    return sql`(${isArray} and (select count(*) from json_table(${array}, '$[*]' columns (v json path '$')) ${rows} where ${found}) > 0)`
  }
  if (isScalar(wanted)) return sql`(${isArray} and json_overlaps(${array}, ${param(JSON.stringify([wanted]))}))`
  throw nested('invalid', [QUERY_FAILED, place, 'the data source cannot look for lists and objects inside of lists'], {
    code: '4010',
  })
}

function isScalar(value: unknown): value is Scalar {
  return typeof value !== 'object' || value === null
}

function isSame(value: Sql, wanted: Scalar, own: Family): Sql {
  if (wanted === null) return sql`json_type(${value}) = 'NULL'`
  const text = typeof wanted === 'string' ? wanted : JSON.stringify(wanted)
  return compareScalar(value, typeof wanted as JsonScalar, { comparison: '=', operands: [text], own })
}

/** Checks types: with a list index, the functions accept any value as if it were a list of itself. */
function compareAt(
  column: Sql,
  { path, type, comparison: how, operands }: Extract<JsonTest, { kind: 'at' }>,
  own: Family,
): Sql {
  const extract = (steps: readonly JsonStep[]) =>
    steps.length === 0 ? column : sql`json_extract(${column}, ${param(jsonPath(steps))})`
  const lists = path.flatMap((step, index) =>
    typeof step === 'number' ? [sql`json_type(${extract(path.slice(0, index))}) = 'ARRAY'`] : [],
  )
  const value = extract(path)
  const found = lists.length === 0 ? value : sql`(case when ${join(lists, sql` and `)} then ${value} end)`
  return compareScalar(found, type, { comparison: how, operands, own })
}

type How = { readonly comparison: Comparison | 'in'; readonly operands: readonly string[]; readonly own: Family }

/** Unknown if the value is of another type. */
function compareScalar(value: Sql, type: JsonScalar, { comparison: how, operands, own }: How): Sql {
  const found = sql`case when json_type(${value}) in (${types[type]}) then ${scalars[type].of(sql`json_unquote(${value})`, own)} end`
  const texts = operands.map((operand) => scalars[type].of(param(operand), own))
  if (how !== 'in') return sql`(${found}) ${comparison[how]} ${join(texts)}`
  return operands.length === 0
    ? sql`case when ${found} is not null then 1 = 0 end`
    : sql`(${found}) in (${join(texts)})`
}

const types = {
  string: sql`'STRING'`,
  number: sql`'INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'`,
  boolean: sql`'BOOLEAN'`,
} as const

const text = { of: (value: Sql, own: Family) => sql`convert(${value} using utf8mb4) collate ${own.collation}` }
const scalars = { string: text, number: { of: (value: Sql) => sql`cast(${value} as double)` }, boolean: text } as const
