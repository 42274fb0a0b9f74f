/**
 * Which changes of a field's type keep every value or fail: nothing is rounded, cut or guessed. What is missing here
 * is refused; the way round is a new field.
 */
import type { FieldType } from '../model/field-type.ts'
import type { Conversion } from '../sql/change.ts'

export function conversionOf(from: FieldType, to: FieldType, isList: boolean): Conversion | undefined {
  if (from.name === 'string' && to.name === 'string') return 'assign'
  if (to.name === 'string') return to.params.length === 'unlimited' && !opaque.has(from.name) ? 'cast' : undefined
  if (from.name === 'string') return readable.has(to.name) || isAnyDecimal(to) ? 'cast' : undefined
  if (from.name === 'decimal') return keepsScale(from, to) ? 'assign' : undefined
  if (to.name === 'decimal') return integerSizes.has(from.name) ? 'assign' : undefined
  if (zoned.get(from.name)?.has(to.name)) return isList ? undefined : 'zone'
  return isWideEnough(from, to) || (from.name === 'date' && to.name === 'dateTime') ? 'assign' : undefined
}

const opaque: ReadonlySet<FieldType['name']> = new Set(['bytes', 'geometry'])
const integerNames = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'] as const
/** Texts of times are missing: reading one drops its zone, its time or its last digits without a word. */
const readable: ReadonlySet<FieldType['name']> = new Set([...integerNames, 'uuid', 'boolean', 'json'])
const integerSizes: ReadonlyMap<FieldType['name'], number> = new Map([
  ['int8', 8],
  ['uint8', 8],
  ['int16', 16],
  ['uint16', 16],
  ['int32', 32],
  ['uint32', 32],
  ['int64', 64],
  ['uint64', 64],
])
const floatSizes: ReadonlyMap<FieldType['name'], { readonly own: number; readonly integers: number }> = new Map([
  ['float32', { own: 32, integers: 24 }],
  ['float64', { own: 64, integers: 53 }],
])
const zoned: ReadonlyMap<FieldType['name'], ReadonlySet<FieldType['name']>> = new Map([
  ['date', new Set<FieldType['name']>(['dateTimeWithTimezone'])],
  ['dateTime', new Set<FieldType['name']>(['dateTimeWithTimezone'])],
  ['dateTimeWithTimezone', new Set<FieldType['name']>(['dateTime'])],
])

function isAnyDecimal(type: FieldType): boolean {
  return type.name === 'decimal' && type.params.kind === 'unconstrained'
}

function keepsScale(from: FieldType, to: FieldType): boolean {
  if (from.name !== 'decimal' || to.name !== 'decimal') return false
  if (to.params.kind === 'unconstrained') return true
  return from.params.kind === 'constrained' && to.params.scale >= from.params.scale
}

/** Integers that do not fit into another integer type fail by themselves; floats would round. */
function isWideEnough(from: FieldType, to: FieldType): boolean {
  const size = integerSizes.get(from.name)
  const float = floatSizes.get(to.name)
  if (size !== undefined) return float === undefined ? integerSizes.has(to.name) : size <= float.integers
  const fromFloat = floatSizes.get(from.name)
  return fromFloat !== undefined && float !== undefined && fromFloat.own <= float.own
}
