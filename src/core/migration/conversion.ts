/**
 * Decides which type changes of a field are allowed: those that keep every value exactly or fail. Others are refused; the
 * alternative is a new field.
 */
import type { FieldType, TypeName } from '../model/field-type.ts'
import type { Conversion } from '../sql/ddl/change.ts'

export function conversionOf(from: FieldType, to: FieldType, isList: boolean): Conversion | undefined {
  if (from.name === 'string' && to.name === 'string') return 'assign'
  if (to.name === 'string') return to.params.length === 'unlimited' && traits[from.name].isWritable ? 'cast' : undefined
  if (from.name === 'string') return traits[to.name].isReadable || isAnyDecimal(to) ? 'cast' : undefined
  if (from.name === 'decimal') return keepsScale(from, to) ? 'assign' : undefined
  if (to.name === 'decimal') return traits[from.name].integer === undefined ? undefined : 'assign'
  if (traits[from.name].otherZone?.includes(to.name)) return isList ? undefined : 'zone'
  return isWideEnough(from, to) || (from.name === 'date' && to.name === 'dateTime') ? 'assign' : undefined
}

/** Compares by member, because stored types list members in any order. */
export function isSameType(one: FieldType, other: FieldType): boolean {
  if (one.name === 'string' && other.name === 'string') return lengthOf(one) === lengthOf(other)
  if (one.name === 'decimal' && other.name === 'decimal') return boundsOf(one) === boundsOf(other)
  return one.name === other.name
}

function lengthOf({ params }: Extract<FieldType, { readonly name: 'string' }>): number | undefined {
  return params.length === 'fixed' ? params.value : undefined
}

function boundsOf({ params }: Extract<FieldType, { readonly name: 'decimal' }>): string | undefined {
  return params.kind === 'constrained' ? `${params.precision},${params.scale}` : undefined
}

/** True if both types have the same kind of limits on their values. */
export function isLimitedAlike(one: FieldType, other: FieldType): boolean {
  const isExact = ({ name }: FieldType) => traits[name].integer !== undefined || name === 'decimal'
  return one.name === other.name || (isExact(one) && isExact(other))
}

type Traits = {
  /** All values can be written as text. */
  readonly isWritable: boolean
  /** A text can be parsed without loss. Texts of times cannot: their zone, date or trailing digits would be dropped silently. */
  readonly isReadable: boolean
  /** The bits of an integer. */
  readonly integer?: number
  /** The bits of a float, and of the largest integers that it represents exactly. */
  readonly float?: { readonly own: number; readonly integers: number }
  /** Types that differ by their zone. */
  readonly otherZone?: readonly TypeName[]
}

const readable = { isWritable: true, isReadable: true }
const writable = { isWritable: true, isReadable: false }
const opaque = { isWritable: false, isReadable: false }

const traits: Readonly<Record<TypeName, Traits>> = {
  int8: { ...readable, integer: 8 },
  int16: { ...readable, integer: 16 },
  int32: { ...readable, integer: 32 },
  int64: { ...readable, integer: 64 },
  uint8: { ...readable, integer: 8 },
  uint16: { ...readable, integer: 16 },
  uint32: { ...readable, integer: 32 },
  uint64: { ...readable, integer: 64 },
  float32: { ...writable, float: { own: 32, integers: 24 } },
  float64: { ...writable, float: { own: 64, integers: 53 } },
  decimal: writable,
  string: readable,
  uuid: readable,
  boolean: readable,
  date: { ...writable, otherZone: ['dateTimeWithTimezone'] },
  time: writable,
  dateTime: { ...writable, otherZone: ['dateTimeWithTimezone'] },
  dateTimeWithTimezone: { ...writable, otherZone: ['dateTime'] },
  json: readable,
  bytes: opaque,
  geometry: opaque,
}

function isAnyDecimal(type: FieldType): boolean {
  return type.name === 'decimal' && type.params.kind === 'unconstrained'
}

function keepsScale(from: FieldType, to: FieldType): boolean {
  if (from.name !== 'decimal' || to.name !== 'decimal') return false
  if (to.params.kind === 'unconstrained') return true
  return from.params.kind === 'constrained' && to.params.scale >= from.params.scale
}

/** Integers that do not fit into another integer type make the change fail; floats would be rounded. */
function isWideEnough(from: FieldType, to: FieldType): boolean {
  const { integer, float } = traits[from.name]
  const target = traits[to.name]
  if (integer !== undefined) {
    return target.float === undefined ? target.integer !== undefined : integer <= target.float.integers
  }
  return float !== undefined && target.float !== undefined && float.own <= target.float.own
}
