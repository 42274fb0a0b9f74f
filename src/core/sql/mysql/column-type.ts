/** The column type of each field type; undefined if a value would be rounded or truncated. */
import type { FieldType } from '../../model/field-type.ts'
import { integer, type Sql, sql } from '../statement.ts'
import type { Family } from './family.ts'

export function columnType(type: FieldType, own: Family): Sql | undefined {
  const text = (name: Sql) => sql`${name} character set utf8mb4 collate ${own.collation}`
  switch (type.name) {
    case 'int8':
      return sql`tinyint`
    case 'int16':
      return sql`smallint`
    case 'int32':
      return sql`int`
    case 'int64':
      return sql`bigint`
    case 'uint8':
      return sql`tinyint unsigned`
    case 'uint16':
      return sql`smallint unsigned`
    case 'uint32':
      return sql`int unsigned`
    case 'uint64':
      return sql`bigint unsigned`
    case 'float32':
      return sql`float`
    case 'float64':
      return sql`double`
    case 'decimal': {
      // An unconstrained decimal would be rounded to some scale, and values are never rounded.
      if (type.params.kind === 'unconstrained') return undefined
      const { precision, scale } = type.params
      return precision > MAX_PRECISION || scale > own.maxScale
        ? undefined
        : sql`decimal(${integer(precision)}, ${integer(scale)})`
    }
    case 'string':
      if (type.params.length === 'unlimited') return text(sql`longtext`)
      return type.params.value > MAX_VARCHAR ? undefined : text(sql`varchar(${integer(type.params.value)})`)
    case 'uuid':
      return own.uuidType
    case 'boolean':
      return sql`tinyint(1)`
    case 'date':
      return sql`date`
    case 'time':
      return sql`time(6)`
    case 'dateTime':
      return sql`datetime(6)`
    case 'dateTimeWithTimezone':
      return sql`timestamp(6)`
    case 'json':
      return sql`json`
    case 'bytes':
      return sql`longblob`
    case 'geometry':
      return sql`geometry`
    default:
      return type satisfies never
  }
}

/** Maximum characters of four bytes in a row of 65,535 bytes. */
const MAX_VARCHAR = 16_383
const MAX_PRECISION = 65
