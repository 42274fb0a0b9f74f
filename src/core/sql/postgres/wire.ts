/** Columns in the form of answers: as JSON, or as text that needs no escapes. */
import type { FieldType, TypeName } from '../../model/field-type.ts'
import type { ColumnShape } from '../../model/model.ts'
import { empty, integer, type Sql, sql } from '../statement.ts'

export function wire(column: Sql, { type, isList, native }: ColumnShape): Sql {
  const isPlain = !isList && !native
  switch (wireForms[type.name]) {
    case 'own':
      return sql`to_json(${column})`
    case 'word':
      return isPlain ? sql`${column}::text` : sql`to_json(${column})`
    case 'code':
      return isPlain ? quoted(sql`${column}::text`) : sql`to_json(${column})`
    case 'text':
      return isPlain ? quoted(sql`${column}::text`) : sql`to_json(${asText(column, isList)})`
    case 'unfilled':
      return sql`to_json(${isFixed(type) ? asText(column, isList) : column})`
    case 'calendar':
      return isList ? sql`to_json(${column})` : calendarText(column)
    case 'utc':
      return isList ? each(column, utcText) : utcJson(column)
    case 'base64':
      return isList ? each(column, base64) : quoted(base64(column))
  }
}

/**
 * How a value becomes JSON. `to_json` looks up the type of its argument each time; digits and words are JSON as they are, and a
 * text that never needs an escape only needs quotes.
 */
type WireForm = 'own' | 'word' | 'code' | 'text' | 'unfilled' | 'calendar' | 'utc' | 'base64'

/**
 * 64-bit integers and decimals become strings, times UTC, bytes base64 without line breaks, and a `char(n)` loses its padding.
 */
const wireForms: Readonly<Record<TypeName, WireForm>> = {
  int8: 'word',
  int16: 'word',
  int32: 'word',
  int64: 'text',
  uint8: 'word',
  uint16: 'word',
  uint32: 'word',
  uint64: 'text',
  float32: 'own',
  float64: 'own',
  decimal: 'text',
  string: 'unfilled',
  uuid: 'code',
  boolean: 'word',
  date: 'calendar',
  time: 'code',
  dateTime: 'calendar',
  dateTimeWithTimezone: 'utc',
  json: 'own',
  bytes: 'base64',
  geometry: 'own',
}

/** Converts each element of a list. Lists of several dimensions are assembled again from the innermost dimension outwards. */
function each(column: Sql, form: (element: Sql) => Sql): Sql {
  const elements = sql`json_agg(${form(sql`x.e`)} order by n)`
  const all = sql`from unnest(${column}) with ordinality x(e, n)`
  const flat = sql`select ${form(sql`x.e`)} r, n - 1 i ${all}`
  const rows = inner.reduce((below, dimension) => {
    const length = sql`array_length(${column}, ${integer(dimension)})`
    return sql`select case when ${length} is null then json_agg(r) -> 0 else json_agg(r order by i) end r,
      i / coalesce(${length}, 1) i from (${below}) y group by 2`
  }, flat)
  const list = sql`select coalesce(${elements}, '[]'::json) ${all} where ${column} is not null having ${column} is not null`
  return sql`case when array_ndims(${column}) > 1 then (select json_agg(r order by i) from (${rows}) y) else (${list}) end`
}

/** PostgreSQL supports six dimensions. */
const inner = [6, 5, 4, 3, 2]

/** JSON's form of a time does not depend on the session. */
function calendarText(value: Sql): Sql {
  return sql`case when ${isCommon(value, empty)} then to_json(${value}) else to_json(${extended(value, value, empty)}) end`
}

function quoted(text: Sql): Sql {
  return sql`'"' || ${text} || '"'`
}

/** The text as `to_json` quotes it, with the zone before the closing quote. */
function utcJson(value: Sql): Sql {
  const zone = sql`Z`
  const utc = inUtc(value)
  return sql`case when ${isCommon(value, zone)} then rtrim(to_json(${utc})::text, '"') || 'Z"' else ${quoted(extended(value, utc, zone))} end`
}

function utcText(value: Sql): Sql {
  const zone = sql`Z`
  const utc = inUtc(value)
  return sql`case when ${isCommon(value, zone)} then btrim(to_json(${utc})::text, '"') || 'Z' else ${extended(value, utc, zone)} end`
}

function inUtc(value: Sql): Sql {
  return sql`(${value} at time zone 'UTC')`
}

function isCommon(value: Sql, zone: Sql): Sql {
  return sql`${value} >= '0001-01-01${zone}' and ${value} < '10000-01-01${zone}'`
}

/** Years without four digits get a sign and six or more digits (ISO 8601, 1 BC is year 0); an infinite time has a name. */
function extended(value: Sql, utc: Sql, zone: Sql): Sql {
  const year = sql`to_char(extract(year from ${utc}) + (${utc} < '0001-01-01')::int, 'FMSG9000000')`
  const rest = sql`substring(to_json(${utc})::text, '-[0-9][0-9]-[0-9][0-9][^ "]*')`
  return sql`coalesce(${year} || ${rest} || '${zone}', ${value}::text)`
}

function base64(value: Sql): Sql {
  return sql`translate(encode(${value}, 'base64'), E'\\n', '')`
}

export function asText(column: Sql, isList: boolean): Sql {
  return sql`${column}::text${isList ? sql`[]` : empty}`
}

export function isFixed(type: FieldType): boolean {
  return type.name === 'string' && type.params.length === 'fixed'
}
