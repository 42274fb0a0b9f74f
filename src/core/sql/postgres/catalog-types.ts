/**
 * The field type of a catalog type. A type without a field type becomes a text (an enum with the length of its longest value)
 * or JSON; the model stores the native type as well.
 */
import type { FieldType } from '../../model/field-type.ts'
import type { Member, NativeType } from '../../model/model.ts'
import { type CatalogNames, typesByCatalogName } from '../introspect.ts'
import type { TypeRow } from './catalog.ts'

type Known = { readonly type: FieldType; readonly isReadOnly: boolean; readonly native?: NativeType }

const unlimited: FieldType = { name: 'string', params: { length: 'unlimited' } }
const readOnlyText: Known = { type: unlimited, isReadOnly: true }

export type Types = ReadonlyMap<string, TypeRow>

/** The type of a column, or of the elements of its list. */
export function fieldTypeOf(type: TypeRow | undefined, mod: number, types: Types): Known {
  if (type === undefined) return readOnlyText
  const { schema, name, form, values, isOrdered } = type
  const native = { schema, name, isOrdered }
  if (schema === 'pg_catalog') {
    const known = builtIn(name, mod)
    return known ?? (ambiguous.test(name) ? readOnlyText : { type: unlimited, isReadOnly: false, native })
  }
  if (name === 'geometry') return { type: { name: 'geometry' }, isReadOnly: true }
  if (form === 'e' && values !== null) {
    const longest = Math.max(1, ...values.map((value) => [...value].length))
    return { type: text(longest), isReadOnly: false, native: { ...native, values } }
  }
  if (form !== 'c' && !type.isJson) return { type: unlimited, isReadOnly: false, native }
  const members = membersOf(type, types)
  if (members === undefined && name !== 'hstore') return { type: { name: 'json' }, isReadOnly: true }
  return { type: { name: 'json' }, isReadOnly: false, native: { ...native, ...(members && { members }) } }
}

/**
 * Undefined if the type is not composite, or if a member has a form that the database cannot parse within a composite value,
 * such as the object of an extension's type.
 */
function membersOf({ members }: TypeRow, types: Types): readonly Member[] | undefined {
  if (members === null) return undefined
  const known: Member[] = []
  for (const [name, id] of members) {
    const type = innermost(id, types)
    const inner = type && membersOf(type, types)
    if (inner === undefined && type?.isJson && type.schema !== 'pg_catalog') return undefined
    if (inner === undefined && type?.form === 'c') return undefined
    known.push(inner ? [name, inner] : [name])
  }
  return known
}

/** The element type of a list, or the base type of a domain. */
function innermost(id: string, types: Types): TypeRow | undefined {
  const type = types.get(id)
  if (type?.element != null) return innermost(type.element, types)
  return type?.form === 'd' ? innermost(type.base, types) : type
}

/** The text of these types may be the name of several functions or operators, and is then refused. */
const ambiguous = /^reg(proc|oper)$/

function text(length: number): FieldType {
  return { name: 'string', params: { length: 'fixed', value: length } }
}

const catalogNames: CatalogNames = {
  int8: [],
  int16: ['int2'],
  int32: ['int4'],
  int64: ['int8'],
  uint8: [],
  uint16: [],
  uint32: [],
  uint64: [],
  float32: ['float4'],
  float64: ['float8'],
  uuid: ['uuid'],
  boolean: ['bool'],
  date: ['date'],
  time: ['time'],
  dateTime: ['timestamp'],
  dateTimeWithTimezone: ['timestamptz'],
  json: ['json', 'jsonb'],
  bytes: ['bytea'],
  // Part of an extension, so not built in.
  geometry: [],
}

const plain = typesByCatalogName(catalogNames)

/** The catalog names of types with a field type; not domains, enums and extension types. */
export const plainTypes: ReadonlySet<string> = new Set([...plain.keys(), 'numeric', 'bpchar', 'varchar', 'text'])

/** Undefined for types without a field type. */
function builtIn(name: string, mod: number): Known | undefined {
  const plainName = plain.get(name)
  // Unlike `jsonb`, `json` keeps its text, and cannot be compared.
  if (name === 'json')
    return { type: { name }, isReadOnly: false, native: { schema: 'pg_catalog', name, isOrdered: false } }
  if (plainName !== undefined) return { type: { name: plainName }, isReadOnly: false }
  if (name === 'numeric') return decimal(mod)
  const type = mod < 0 ? unlimited : text(mod - HEADER)
  // A padded text is found in its index only if it is compared as its own type.
  if (name === 'bpchar') return { type, isReadOnly: false, native: { schema: 'pg_catalog', name, isOrdered: true } }
  if (name === 'varchar') return { type, isReadOnly: false }
  return name === 'text' ? { type: unlimited, isReadOnly: false } : undefined
}

/** The constant that type modifiers include. */
const HEADER = 4

function decimal(mod: number): Known {
  if (mod < 0) return { type: { name: 'decimal', params: { kind: 'unconstrained' } }, isReadOnly: false }
  const precision = ((mod - HEADER) >> 16) & 0xffff
  const scale = (((mod - HEADER) & 0x7ff) ^ 1024) - 1024
  return { type: { name: 'decimal', params: { kind: 'constrained', precision, scale } }, isReadOnly: false }
}
