/** The column type of each field type. */
import type { FieldType } from '../../model/field-type.ts'
import { integer, type Sql, sql } from '../statement.ts'

export function columnType(type: FieldType, isList: boolean): Sql | undefined {
  const base = isStorable[type.name] ? baseType(type) : undefined
  return base === undefined || !isList ? base : sql`${base}[]`
}

/** Whether a column can have the type; PostgreSQL lacks the others, which only introspected sources have. */
const isStorable: Readonly<Record<FieldType['name'], boolean>> = {
  int8: false,
  int16: true,
  int32: true,
  int64: true,
  uint8: false,
  uint16: false,
  uint32: false,
  uint64: false,
  float32: true,
  float64: true,
  decimal: true,
  string: true,
  uuid: true,
  boolean: true,
  date: true,
  time: true,
  dateTime: true,
  dateTimeWithTimezone: true,
  json: true,
  bytes: true,
  geometry: false,
}

/** Types that PostgreSQL lacks (of introspected sources) are read as the next larger one. */
export function baseType(type: FieldType): Sql {
  switch (type.name) {
    case 'int8':
    case 'uint8':
    case 'int16':
      return sql`smallint`
    case 'uint16':
    case 'int32':
      return sql`integer`
    case 'uint32':
    case 'int64':
      return sql`bigint`
    case 'uint64':
      return sql`numeric(20)`
    case 'float32':
      return sql`real`
    case 'float64':
      return sql`double precision`
    case 'decimal':
      return type.params.kind === 'unconstrained'
        ? sql`numeric`
        : sql`numeric(${integer(type.params.precision)}, ${integer(type.params.scale)})`
    case 'string':
      return type.params.length === 'unlimited' ? sql`text` : sql`varchar(${integer(type.params.value)})`
    case 'uuid':
      return sql`uuid`
    case 'boolean':
      return sql`boolean`
    case 'date':
      return sql`date`
    case 'time':
      return sql`time`
    case 'dateTime':
      return sql`timestamp`
    case 'dateTimeWithTimezone':
      return sql`timestamptz`
    case 'json':
      return sql`jsonb`
    case 'bytes':
      return sql`bytea`
    case 'geometry':
      return sql`geometry`
    default:
      return type satisfies never
  }
}
