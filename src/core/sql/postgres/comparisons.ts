/** Columns and operands in the form for comparing and ordering. */
import type { NativeType, PrimitiveField } from '../../model/model.ts'
import type { Comparison } from '../../query/filter.ts'
import type { Comparing, Matching } from '../dialect.ts'
import { compareExactly, comparison } from '../operators.ts'
import { join, param, type Sql, sql, type TemplateParam } from '../statement.ts'
import { arrayText, castType, fromText, isXml, nameOf, typed } from './values.ts'
import { asText, isFixed } from './wire.ts'

/**
 * Introspected columns may have types without a field type: these are read-only texts or JSON. A text of fixed length
 * may be a `char(n)`, whose padding is not part of its value. JSON may be stored as `json`, which has no `=`. A cast to
 * a column's own type costs nothing.
 */
export function compared(column: Sql, { type, isList, isReadOnly, native }: PrimitiveField): Sql {
  if (native && type.name !== 'json') {
    if (isList) return column
    return native.isOrdered ? sql`${column}::${nameOf(native)}` : shownText(column, native)
  }
  if (type.name === 'string') return isReadOnly || isFixed(type) ? asText(column, isList) : column
  if (type.name !== 'json' || isList) return column
  return isReadOnly || native ? sql`to_jsonb(${column})` : sql`${column}::jsonb`
}

export function compare(column: Sql, field: PrimitiveField, { operator, operand }: Comparing): Sql {
  const value = comparedValue(field, operand)
  const plain = (how: Comparison) => sql`${column} ${comparison[how]} ${value}`
  if (!isLoose(field)) return plain(operator)
  return compareExactly(operator, plain, sql`${bytes(column, field)} ${comparison[operator]} ${value}`)
}

/**
 * A cast would keep an index from serving a type with an order, unless it is a cast to the own type. A domain over an enum
 * lacks the enum's operators.
 */
export function ranked(column: Sql, field: PrimitiveField): Sql {
  const { native } = field
  return native?.isOrdered === true && native.values === undefined ? column : compared(column, field)
}

export function comparedValue(field: PrimitiveField, operand: TemplateParam): Sql {
  const { type, native } = field
  if (!native) return typed(field, operand)
  if (type.name === 'json') return sql`${param(operand)}::jsonb`
  return native.isOrdered ? typed(field, operand) : shownText(sql`(${typed(field, operand)})`, native)
}

export function isOneOf(
  column: Sql,
  field: PrimitiveField,
  operands: readonly string[],
  mayCount: (operands: number) => boolean,
): Sql {
  const isCounted = isCountable(field, operands) && mayCount(operands.length)
  const among = sql`= any(${isCounted ? countedArray(field, operands) : anyOf(field, arrayText(operands))})`
  return isLoose(field) ? sql`(${column} ${among} and ${bytes(column, field)} ${among})` : sql`${column} ${among}`
}

/**
 * For an array parameter the planner expects ten elements. It estimates that as more expensive than a few, and plans every
 * execution again; so few operands are separate parameters.
 */
function isCountable({ type, native }: PrimitiveField, operands: readonly string[]): boolean {
  return operands.length > 0 && operands.length < 10 && type.name !== 'bytes' && !native
}

function countedArray({ type }: PrimitiveField, operands: readonly string[]): Sql {
  return sql`array[${join(operands.map(param))}]::${castType(type)}[]`
}

/** The operands of a list as an array of the type that the column is compared as. */
function anyOf({ type, native }: PrimitiveField, texts: string): Sql {
  // The type that `compared` converts composite values and `json` to.
  if (native && type.name === 'json') return sql`${param(texts)}::jsonb[]`
  if (native && !native.isOrdered)
    return sql`array(select ${shownText(sql`(${fromText(native, sql`e`)})`, native)} from unnest(${param(texts)}::text[]) e)`
  if (type.name === 'bytes') return sql`array(select decode(e, 'base64') from unnest(${param(texts)}::text[]) e)`
  return sql`${param(texts)}::${native ? nameOf(native) : castType(type)}[]`
}

export function matches(column: Sql, field: PrimitiveField, { pattern, ignoreCase }: Matching): Sql {
  const text = field.native ? shownText(column, field.native) : column
  if (!ignoreCase) {
    return sql`${isLoose(field) ? bytes(column, field) : text} like ${param(pattern)}::text escape '!'`
  }
  // Bytes have no case. The database's default collation has, and is never nondeterministic, which `ilike` does not
  // support.
  const searched = isLoose(field) ? sql`${asText(column, false)} collate "default"` : text
  return sql`${searched} ilike ${param(pattern)}::text escape '!'`
}

/** The text in answers; a cast would add the mask of an address, and the declaration of a document. */
function shownText(value: Sql, native: NativeType): Sql {
  if (native.schema === 'pg_catalog' && native.name === 'inet') return sql`abbrev(${value})`
  if (isXml(native)) return sql`case when ${value} is not null then concat(${value}) end`
  return asText(value, false)
}

/**
 * Different texts may be equal under a nondeterministic collation, and in citext. Only such columns are compared twice, because
 * the planner treats the two conditions as independent, and underestimates the rows.
 */
export function isLoose({ type, isLoose }: PrimitiveField): boolean {
  return type.name === 'string' && isLoose
}

function bytes(column: Sql, { isList }: PrimitiveField): Sql {
  return sql`${asText(column, isList)} collate "C"`
}

export function ordered(
  expression: Sql,
  how: { direction: 'asc' | 'desc'; nulls: 'first' | 'last'; isNullable: boolean },
): Sql {
  const direction = how.direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`
  const isDefault = (how.direction === 'asc') === (how.nulls === 'last')
  if (!how.isNullable || isDefault) return direction
  return how.nulls === 'first' ? sql`${direction} nulls first` : sql`${direction} nulls last`
}
