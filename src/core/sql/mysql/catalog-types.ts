/** The field type of a catalog's column. Enums and sets are texts, and the database refuses invalid values. */
import type { FieldType } from '../../model/field-type.ts'
import type { NativeType } from '../../model/model.ts'
import { type CatalogNames, typesByCatalogName } from '../introspect.ts'
import type { ColumnRow } from './catalog.ts'

export type Known = { readonly type: FieldType; readonly isReadOnly: boolean; readonly native?: NativeType }

export function fieldTypeOf(row: ColumnRow): Known {
  const { data, full } = row
  const known = (type: FieldType): Known => ({ type, isReadOnly: false })
  const isInteger = integers.has(data)
  const bit = { name: data, isOrdered: true }
  if (full === TRUTH) return known({ name: 'boolean' })
  if (full === 'bit(1)') return { ...known({ name: 'boolean' }), native: bit }
  const name = plain.get(isInteger && full.includes('unsigned') ? `unsigned ${data}` : data)
  if (name !== undefined && floats.has(data) && row.scale !== null) {
    const { precision, scale } = row
    return {
      ...known({ name }),
      native: { name: data, isOrdered: true, ...(precision !== null && { precision }), scale },
    }
  }
  if (name !== undefined) return known({ name })
  if (data === 'decimal') return known(decimal(row.precision ?? 10, row.scale ?? 0))
  if (data === 'char' || data === 'varchar') return known(text(row.length ?? 0))
  if (data === 'enum') return { ...known(text(0)), native: { name: data, isOrdered: true, values: labelsOf(full) } }
  if (texts.has(data)) return known(text(0))
  if (addresses.has(data)) return { ...known(text(0)), native: { name: data, isOrdered: true } }
  if (data === 'bit') return { ...known({ name: 'bytes' }), native: bit }
  return { type: data === 'vector' ? { name: 'bytes' } : text(0), isReadOnly: true }
}

/** The query puts `unsigned` before the name. */
const catalogNames: CatalogNames = {
  int8: ['tinyint'],
  int16: ['smallint', 'year'],
  int32: ['mediumint', 'int'],
  int64: ['bigint'],
  uint8: ['unsigned tinyint'],
  uint16: ['unsigned smallint'],
  uint32: ['unsigned mediumint', 'unsigned int'],
  uint64: ['unsigned bigint'],
  float32: ['float'],
  float64: ['double'],
  // Recognized by the type that this dialect uses for UUIDs.
  uuid: [],
  // Recognized by its length.
  boolean: [],
  date: ['date'],
  time: ['time'],
  dateTime: ['datetime'],
  dateTimeWithTimezone: ['timestamp'],
  json: ['json'],
  bytes: ['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'],
  geometry: [
    ...['geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon'],
    ...['geometrycollection', 'geomcollection'],
  ],
}

const plain = typesByCatalogName(catalogNames)
const integers: ReadonlySet<string> = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint'])
const floats: ReadonlySet<string> = new Set(['float', 'double'])
const texts: ReadonlySet<string> = new Set(['tinytext', 'text', 'mediumtext', 'longtext', 'set'])

/** The values that `enum('a','it''s')` lists, unescaped. */
function labelsOf(full: string): readonly string[] {
  return [...full.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) =>
    label.replace(/''|\\(.)/gs, (sent, escaped: string | undefined) =>
      escaped === undefined ? "'" : (ESCAPED[escaped] ?? sent),
    ),
  )
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\', 0: '\0', n: '\n', r: '\r' }

/** Network types of MariaDB. */
const addresses: ReadonlySet<string> = new Set(['inet4', 'inet6'])
export const TRUTH = 'tinyint(1)'

function decimal(precision: number, scale: number): FieldType {
  return { name: 'decimal', params: { kind: 'constrained', precision, scale } }
}

/** A length of zero means unlimited. */
function text(length: number): FieldType {
  return {
    name: 'string',
    params: length === 0 ? { length: 'unlimited' } : { length: 'fixed', value: length },
  }
}
