/** Parameter texts as values of a column's type, which may be a native type without a field type. */
import { parseJson } from '../../exact-json.ts'
import { hex } from '../../hex.ts'
import type { ListTexts } from '../../model/codec.ts'
import type { FieldType } from '../../model/field-type.ts'
import type { ColumnShape, NativeType, PrimitiveField } from '../../model/model.ts'
import { boundText } from '../../query/placeholder.ts'
import { ident, join, param, type Sql, type SqlParam, sql, type TemplateParam } from '../statement.ts'
import { baseType } from './column-type.ts'

export function typed(shape: ColumnShape, value: TemplateParam): Sql {
  const { type, isList, native } = shape
  if (native) return nativeValue(shape, native, value)
  if (isList) {
    return type.name === 'bytes'
      ? sql`${param(listText(value, (one) => `\\x${hex(Uint8Array.from(atob(one), (byte) => byte.charCodeAt(0)))}`))}::bytea[]`
      : sql`${param(listText(value))}::${castType(type)}[]`
  }
  return type.name === 'bytes' ? sql`decode(${param(value)}::text, 'base64')` : sql`${param(value)}::${castType(type)}`
}

/** Texts stay untyped: the server converts a parameter to an enum only if it is not declared as text. */
export function assigned(shape: ColumnShape, value: TemplateParam): Sql {
  const { type, isList, native } = shape
  if (native || type.name !== 'string') return typed(shape, value)
  return param(isList ? listText(value) : value)
}

/** One array per column: parsing thousands of parameters takes longer than writing their rows. */
export function rowsOfTexts(
  fields: readonly PrimitiveField[],
  rows: readonly (readonly SqlParam[])[],
): Sql | undefined {
  if (fields.some(({ isList, native }) => isList || native !== null)) return undefined
  const arrays = fields.map(({ type }, index) => {
    const elements = type.name === 'bytes' ? sql`text` : castType(type)
    return sql`${param(arrayText(rows.map((row) => row[index] ?? null)))}::${elements}[]`
  })
  const names = fields.map((_, index) => ident(`c${index}`))
  const values = fields.map(({ type }, index) => {
    const name = ident(`c${index}`)
    return type.name === 'bytes' ? sql`decode(${name}, 'base64')` : name
  })
  return sql`select ${join(values)} from unnest(${join(arrays)}) u(${join(names)})`
}

/** Builds a list's text from its elements, so its value must be known here. */
function listText(value: TemplateParam, form?: (element: string) => string): SqlParam {
  return value === null ? null : arrayText(parseJson(boundText(value)) as ListTexts, form)
}

/** A cast to a type with limits silently truncates or rounds. */
export function castType(type: FieldType): Sql {
  if (type.name === 'string') return sql`text`
  return type.name === 'decimal' ? sql`numeric` : baseType(type)
}

/** The text form of an array; elements are always quoted, so that none has a special meaning. */
export function arrayText(elements: ListTexts, form = (element: string) => element): string {
  const texts = elements.map((element) => {
    if (element === null) return 'NULL'
    if (typeof element !== 'string') return arrayText(element, form)
    return `"${form(element).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  })
  return `{${texts.join(',')}}`
}

export function nameOf({ schema, name }: NativeType): Sql {
  return schema === undefined ? ident(name) : ident(schema, name)
}

/** The type without limits, which a cast would apply silently: qualified by a schema, `bit` and `bpchar` have none. */
export function ownType({ type, native }: ColumnShape): Sql {
  return native ? nameOf(native) : baseType(type)
}

/** The database's input function parses a text, and its JSON functions parse an object. */
function nativeValue({ type, isList }: ColumnShape, native: NativeType, value: TemplateParam): Sql {
  const own = nameOf(native)
  const isPlain = type.name !== 'json' || native.name === 'json'
  if (!isList) return isPlain ? fromText(native, param(value)) : fromJson(native, param(value))
  const texts = param(listText(value))
  if (isPlain && !isXml(native)) return sql`${texts}::${own}[]`
  const element = isPlain ? fromText(native, sql`e`) : fromJson(native, sql`e`)
  const elements = sql`array(select ${element} from unnest(l) with ordinality x(e, n) order by n)`
  return sql`(select case when l is not null then ${elements} end from (select ${texts}::text[]) y(l))`
}

/** A column's XML may be more than a single document, which the server's cast requires under some settings. */
export function fromText(native: NativeType, text: Sql): Sql {
  return isXml(native) ? sql`xmlparse(content ${text}::text)` : sql`${text}::${nameOf(native)}`
}

export function isXml({ schema, name }: NativeType): boolean {
  return schema === 'pg_catalog' && name === 'xml'
}

function fromJson(native: NativeType, text: Sql): Sql {
  return sql`(select case when jsonb_typeof(j) = 'string' then (j #>> '{}')::${nameOf(native)} else ${fromObject(native)} end from (select ${text}::jsonb) v(j) where j is not null)`
}

function fromObject(native: NativeType): Sql {
  if (native.name !== 'hstore') return sql`jsonb_populate_record(null::${nameOf(native)}, j)`
  const { schema = 'public' } = native
  return sql`coalesce((select ${ident(schema, 'hstore')}(array_agg(key), array_agg(value)) from jsonb_each_text(j)), ''::${nameOf(native)})`
}
