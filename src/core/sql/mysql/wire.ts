/** Columns as JSON texts; null becomes a JSON null. */
import type { FieldType } from '../../model/field-type.ts'
import { type Sql, sql } from '../statement.ts'
import type { Family } from './family.ts'

export function wire(column: Sql, type: FieldType, own: Family): Sql {
  switch (type.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return unfilled(column)
    case 'json':
      return own.jsonText(column)
    case 'float64':
      return numberText(column)
    case 'float32':
      // As text a float has six digits; if these are not exact, it is converted to double first.
      return sql`case when cast(concat(${column}) as float) = ${column} then ${numberText(column)} else ${numberText(sql`cast(${column} as double)`)} end`
    case 'int64':
    case 'uint64':
      return sql`concat('"', ${unfilled(column)}, '"')`
    case 'decimal':
    case 'uuid':
      return sql`concat('"', ${column}, '"')`
    case 'string':
      return sql`json_quote(${column})`
    case 'boolean':
      return sql`elt(1 + (${column} <> 0), 'false', 'true')`
    case 'date':
      return sql`date_format(${column}, '"%Y-%m-%d"')`
    case 'time':
      return sql`concat('"', ${withoutZeros(sql`time_format(${column}, '%H:%i:%s.%f')`)}, '"')`
    case 'dateTime':
      return sql`concat('"', ${withoutZeros(sql`date_format(${column}, '%Y-%m-%dT%H:%i:%s.%f')`)}, '"')`
    case 'dateTimeWithTimezone':
      return sql`concat('"', ${withoutZeros(sql`date_format(${column}, '%Y-%m-%dT%H:%i:%s.%f')`)}, 'Z"')`
    case 'bytes': {
      const text = sql`concat('"', replace(to_base64(${column}), char(10 using utf8mb4), ''), '"')`
      return sql`case when ${column} is not null then ifnull(${text}, ${own.overflow}) end`
    }
    case 'geometry':
      return sql`st_asgeojson(${column})`
    default:
      return type satisfies never
  }
}

/** Integers may be shown with leading zeros (`zerofill`, `year`), which JSON does not allow. */
function unfilled(column: Sql): Sql {
  return sql`${column} + 0`
}

/**
 * MariaDB assumes 22 characters for a double and 12 for a float, and truncates rows of temporary tables (a union, a
 * group_concat) to the sum of such widths. The text can have 34: a sign, `0.`, fourteen zeros and 17 digits.
 */
function numberText(value: Sql): Sql {
  return sql`rtrim(rpad(${value}, 40, ' '))`
}

/** Drops trailing zeros of a text with six fraction digits. */
function withoutZeros(text: Sql): Sql {
  return sql`trim(trailing '.' from trim(trailing '0' from ${text}))`
}
