/**
 * Parameter texts as values of a column's type. `dateTimeWithTimezone` is a timestamp(6), with a range from 1970 to 2038.
 */
import type { ColumnShape } from '../../model/model.ts'
import { integer, param, type Sql, sql, type TemplateParam } from '../statement.ts'
import type { Family } from './family.ts'

/** The cast targets of native types without a field type. */
const nativeTypes: Readonly<Record<string, Sql>> = { inet4: sql`inet4`, inet6: sql`inet6`, bit: sql`unsigned` }

/** Undefined for a column that is compared like its field's type, such as an enum. */
export function castOf(native: ColumnShape['native']): Sql | undefined {
  return native ? nativeTypes[native.name] : undefined
}

/** Special numbers that the database cannot store become null; unconverted they would count as zero. */
export function typed(shape: ColumnShape, value: TemplateParam, own: Family): Sql {
  switch (shape.type.name) {
    case 'float32':
    case 'float64':
    case 'decimal':
      return cast(shape, sql`nullif(nullif(nullif(${param(value)}, 'NaN'), 'Infinity'), '-Infinity')`, own)
    default:
      return assigned(shape, value, own)
  }
}

export function assigned(shape: ColumnShape, value: TemplateParam, own: Family): Sql {
  switch (shape.type.name) {
    case 'boolean':
      return sql`(${param(value)} = 'true')`
    case 'dateTimeWithTimezone':
      // The session runs in UTC; MariaDB does not understand the suffix Z.
      return cast(shape, sql`replace(${param(value)}, 'Z', '')`, own)
    case 'bytes': {
      const bytes = sql`from_base64(${param(value)})`
      return shape.native ? cast(shape, sql`conv(hex(${bytes}), 16, 10)`, own) : bytes
    }
    default:
      return cast(shape, param(value), own)
  }
}

/** The amount to add to a column; signed, even if the column is unsigned. */
export function amount(shape: ColumnShape, text: string, own: Family): Sql {
  const { name } = shape.type
  if (name === 'decimal') return cast(shape, param(text), own)
  return name.startsWith('float') ? sql`cast(${param(text)} as double)` : sql`cast(${param(text)} as signed)`
}

/** Casts a text in the database's own form to the type. */
export function cast({ type, native }: ColumnShape, text: Sql, own: Family): Sql {
  const target = castOf(native)
  if (target !== undefined) return sql`cast(${text} as ${target})`
  switch (type.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'boolean':
      return sql`cast(${text} as signed)`
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
      return sql`cast(${text} as unsigned)`
    case 'float32':
      return sql`cast(${text} as float)`
    case 'float64':
      return sql`cast(${text} as double)`
    case 'decimal':
      return type.params.kind === 'unconstrained'
        ? sql`cast(${text} as decimal(65, 30))`
        : sql`cast(${text} as decimal(${integer(type.params.precision)}, ${integer(type.params.scale)}))`
    case 'string':
      return text
    case 'uuid':
      return own.uuid(text)
    case 'date':
      return sql`cast(${text} as date)`
    case 'time':
      return sql`cast(${text} as time(6))`
    case 'dateTime':
    case 'dateTimeWithTimezone':
      return sql`cast(${text} as datetime(6))`
    case 'json':
      return own.json(text)
    case 'bytes':
      return sql`from_base64(${text})`
    case 'geometry':
      return sql`st_geomfromgeojson(${text})`
    default:
      return type satisfies never
  }
}
