/** Aggregates and grouping of MariaDB and MySQL. */
import type { Collection, PrimitiveField } from '../../model/model.ts'
import type { AggregateFunction } from '../../model/vocabulary.ts'
import type { Truncation } from '../../plan/plan.ts'
import type { AggregateSyntax } from '../dialect.ts'
import { integer, literal, param, type Sql, sql } from '../statement.ts'
import { lacksZone, overflows, UNKNOWN_ZONE, unfitSum } from './explain.ts'
import type { Family } from './family.ts'
import { row } from './rows.ts'
import { castOf } from './values.ts'

export function mysqlAggregates(own: Family): AggregateSyntax {
  const key = (shown: Sql, field: PrimitiveField) => exactKey(shown, field, own)
  return {
    value,
    key,
    truncated,
    call: (called, operand, field) => call(called, operand, { field, key: key(operand, field) }),
    // MariaDB confuses names if it moves a condition into a group that is a scalar query.
    end: sql` limit 18446744073709551615`,
    object: (members) => row({ members }, own),
    lacksZone,
    overflows,
    estimate: {
      guess: (_, collection) => collection && sizeOf(collection),
      read: ([[size] = [null]]) => (size === null || size === undefined ? undefined : Number(size)),
      limit: undefined,
    },
  }
}

/** The estimated number of rows of a table; views have none. */
function sizeOf({ schema, dbName }: Collection): Sql {
  const own = schema === undefined ? sql`database()` : literal(schema)
  return sql`select table_rows from information_schema.tables where table_schema = ${own} and table_name = ${literal(dbName)}`
}

/** Gives values that answers show alike the same form: any number but 0 is true, and there is no negative zero. */
function value(column: Sql, { type }: PrimitiveField): Sql {
  switch (type.name) {
    case 'boolean':
      return sql`(${column} <> 0)`
    case 'float32':
      return sql`cast(${column} + 0 as float)`
    case 'float64':
      return sql`(${column} + 0)`
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'decimal':
    case 'string':
    case 'uuid':
    case 'date':
    case 'time':
    case 'dateTime':
    case 'dateTimeWithTimezone':
    case 'json':
    case 'bytes':
    case 'geometry':
      return column
    default:
      return type satisfies never
  }
}

/**
 * Distinguishes texts by bytes, whatever their collation. An unlimited text, and bytes, need a digest, because rows are sorted
 * by the first 1,024 bytes only.
 */
function exactKey(shown: Sql, { type, native }: PrimitiveField, own: Family): Sql | undefined {
  if (castOf(native) !== undefined) return undefined
  if (type.name === 'bytes') return sql`sha2(${shown}, 256)`
  if (type.name !== 'string') return undefined
  const text = sql`convert(${shown} using utf8mb4)`
  return type.params.length === 'unlimited' ? sql`sha2(${text}, 256)` : sql`${text} collate ${own.collation}`
}

function truncated(column: Sql, { type }: PrimitiveField, { unit, zone }: Truncation): Sql {
  const local = type.name === 'dateTimeWithTimezone' ? inZone(column, zone) : column
  const dated = (format: string) => sql`cast(date_format(${local}, ${literal(format)}) as date)`
  const timed = (format: string) => sql`cast(date_format(${local}, ${literal(format)}) as datetime)`
  switch (unit) {
    case 'year':
      return dated('%Y-01-01')
    case 'quarter':
      return sql`cast(concat(date_format(${local}, '%Y-'), elt(quarter(${local}), '01', '04', '07', '10'), '-01') as date)`
    case 'month':
      return dated('%Y-%m-01')
    case 'week':
      return sql`(date(${local}) - interval weekday(${local}) day)`
    case 'day':
      return sql`date(${local})`
    case 'hour':
      return timed('%Y-%m-%d %H:00:00')
    case 'minute':
      return timed('%Y-%m-%d %H:%i:00')
  }
}

/** Converts to a time zone; a name that the server does not know gives null, for which the statement fails. */
function inZone(column: Sql, zone: Truncation['zone']): Sql {
  if (zone.kind === 'offset') {
    return zone.minutes === 0 ? column : sql`(${column} + interval ${param(String(zone.minutes))} minute)`
  }
  const converted = sql`convert_tz(${column}, '+00:00', ${param(zone.name)})`
  return sql`case when ${column} is not null then ifnull(${converted}, ${UNKNOWN_ZONE}) end`
}

function call(
  called: AggregateFunction,
  operand: Sql,
  { field, key }: { readonly field: PrimitiveField; readonly key: Sql | undefined },
): Sql {
  switch (called) {
    case 'count':
      return sql`count(${operand})`
    case 'countDistinct':
      return sql`count(distinct ${key ?? operand})`
    case 'sum':
      return isDouble(field) ? sql`(sum(${operand}) + 0e0)` : exactSum(operand, field)
    case 'avg':
      return isDouble(field)
        ? sql`((sum(${operand}) + 0e0) / count(${operand}))`
        : sql`(cast(${exactSum(operand, field)} as double) / count(${operand}))`
    case 'min':
      return ofType(sql`min(${operand})`, field)
    case 'max':
      return ofType(sql`max(${operand})`, field)
  }
}

/** The database returns an overflowing sum of doubles as 0, and fails only if the sum is used in a calculation. */
function isDouble({ type }: PrimitiveField): boolean {
  return type.name === 'float32' || type.name === 'float64'
}

/**
 * A sum of decimals silently saturates at 65 nines, at each row. The sum of absolute values only grows, so if it stays below
 * the limit, the sum did not saturate either. Shorter decimals would need more rows than can exist.
 */
function exactSum(operand: Sql, { type }: PrimitiveField): Sql {
  const { precision, scale } =
    type.name === 'decimal' && type.params.kind === 'constrained' ? type.params : { precision: 0, scale: 0 }
  if (precision + ROW_DIGITS <= MAX_DIGITS) return sql`sum(${operand})`
  const end = literal('9'.repeat(MAX_DIGITS - scale))
  const decimal = sql`decimal(${integer(MAX_DIGITS)}, ${integer(scale)})`
  const amounts = sql`sum(abs(${operand}))`
  return sql`if(${amounts} >= cast(${end} as ${decimal}), cast(${unfitSum(amounts)} as ${decimal}), sum(${operand}))`
}

const MAX_DIGITS = 65
const ROW_DIGITS = 20

/** A conditional value would otherwise be a double. */
function ofType(extreme: Sql, { type }: PrimitiveField): Sql {
  return type.name === 'float32' ? sql`cast(${extreme} as float)` : extreme
}
