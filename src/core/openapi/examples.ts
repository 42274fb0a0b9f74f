/**
 * Examples of requests to a collection, built from the fields that the caller may use, so that they work as they are:
 * reads match rows, writes of many match none.
 */

import type { Interner } from '../manifest/interner.ts'
import { sortable } from '../manifest/query-schema.ts'
import { type Limits, limitsOf } from '../model/checks.ts'
import type { FieldType, TypeName } from '../model/field-type.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'

/** Maximum number of fields of one collection in an example. */
const MOST_FIELDS = 3

/** An example of `fields`: some fields, and one of a related collection. */
export function fieldsExample(interner: Interner, collection: Collection): readonly string[] {
  const own = names(interner, collection, MOST_FIELDS)
  const relation = exampleRelation(interner, collection)
  const far =
    relation === undefined ? [] : names(interner, relation.target, 1).map((name) => `${relation.apiName}.${name}`)
  return [...own, ...far]
}

/** A filter that most rows meet; `{}` where the collection declares its own operators, or has no simple field. */
export function filterExample(interner: Interner, collection: Collection): object {
  if (interner.view.declared(collection) !== undefined) return {}
  for (const field of interner.primitives(collection, 'read')) {
    const condition = field.isList ? undefined : conditions[field.type.name]
    if (condition !== undefined) return { [field.apiName]: condition }
  }
  return {}
}

const conditions: Readonly<Record<TypeName, object | undefined>> = {
  int8: undefined,
  int16: { _gte: 0 },
  int32: { _gte: 0 },
  int64: { _gte: 0 },
  uint8: undefined,
  uint16: undefined,
  uint32: undefined,
  uint64: undefined,
  float32: undefined,
  float64: { _gte: 0 },
  decimal: { _gte: 0 },
  string: { _neq: '' },
  uuid: undefined,
  boolean: undefined,
  date: { _gte: '1970-01-01' },
  time: undefined,
  dateTime: { _gte: '1970-01-01T00:00:00' },
  dateTimeWithTimezone: { _gte: '1970-01-01T00:00:00Z' },
  json: undefined,
  bytes: undefined,
  geometry: undefined,
}

/** A filter that no row meets, so that an example of a write of many changes nothing. */
export function noRowsExample(interner: Interner, collection: Collection): object {
  const readable = interner.primitives(collection, 'read')
  const isDeclared = interner.view.declared(collection) !== undefined
  const key = isDeclared ? undefined : collection.key.find((field) => readable.includes(field))
  return key === undefined ? {} : { [key.apiName]: { _in: [] } }
}

export function sortExample(interner: Interner, collection: Collection): readonly object[] {
  return sortable(interner, collection)
    .slice(0, 1)
    .map(({ apiName }) => ({ [apiName]: { direction: 'asc' } }))
}

/** Arguments for the relation in `fieldsExample`. */
export function deepExample(interner: Interner, collection: Collection): object {
  const relation = exampleRelation(interner, collection)
  return relation?.isList === true ? { [relation.apiName]: { _limit: 3 } } : {}
}

/** A new item or a change: the required fields, or else the first optional one. */
export function itemExample(interner: Interner, collection: Collection, action: 'create' | 'update'): object {
  const writable = interner.primitives(collection, action).filter(({ isReadOnly }) => !isReadOnly)
  const isPlain = (field: PrimitiveField) =>
    !field.isList && field.type.name !== 'geometry' && !collection.primaryKey.includes(field)
  const required = writable.filter(({ isNullable, defaultValue }) => !isNullable && defaultValue === null)
  const chosen = action === 'create' && required.length > 0 ? required : writable.filter(isPlain).slice(0, 1)
  return Object.fromEntries(chosen.map((field) => [field.apiName, valueExample(field)]))
}

function valueExample(field: PrimitiveField): unknown {
  const { type, isList } = field
  const limits = limitsOf(field)
  const value = limits.values?.[0] ?? within(limits, sampleOf(type))
  return isList ? [value] : value
}

/** The sample, or the nearest to it that the limits allow, but for a pattern. */
function within(limits: Limits, sample: unknown): unknown {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength = 0, maxLength } = limits
  if (typeof sample === 'string' && !/^\d/.test(sample)) return sample.padEnd(minLength, 't').slice(0, maxLength)
  const lowest = minimum ?? (exclusiveMinimum === undefined ? undefined : Number(exclusiveMinimum) + 1)
  const highest = maximum ?? (exclusiveMaximum === undefined ? undefined : Number(exclusiveMaximum) - 1)
  const nearest = Number(lowest) > Number(sample) ? lowest : Number(highest) < Number(sample) ? highest : sample
  return typeof sample === 'number' ? Number(nearest) : nearest === sample ? sample : String(nearest)
}

function sampleOf(type: FieldType): unknown {
  if (type.name !== 'string') return values[type.name]
  return type.params.length === 'fixed' ? 'text'.slice(0, type.params.value) : 'text'
}

const values: Readonly<Record<Exclude<TypeName, 'string'>, unknown>> = {
  int8: 1,
  int16: 1,
  int32: 1,
  int64: '1',
  uint8: 1,
  uint16: 1,
  uint32: 1,
  uint64: '1',
  float32: 1.5,
  float64: 1.5,
  decimal: '1',
  uuid: '00000000-0000-4000-8000-000000000000',
  boolean: true,
  date: '2026-01-31',
  time: '12:30:00',
  dateTime: '2026-01-31T12:30:00',
  dateTimeWithTimezone: '2026-01-31T12:30:00Z',
  json: { any: 'JSON' },
  bytes: 'AA==',
  geometry: { type: 'Point', coordinates: [0, 0] },
}

/** Prefers a to-many relation, since it has arguments. */
function exampleRelation(interner: Interner, collection: Collection): RelationField | undefined {
  const relations = interner
    .relations(collection, 'read')
    .filter(({ target }) => names(interner, target, 1).length > 0 && target.sourceId === collection.sourceId)
  return relations.find(({ isList }) => isList) ?? relations[0]
}

function names(interner: Interner, collection: Collection, most: number): readonly string[] {
  return interner
    .primitives(collection, 'read')
    .slice(0, most)
    .map(({ apiName }) => apiName)
}
