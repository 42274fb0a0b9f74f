/** Which filter operators a field has (docs/contract.md#filters). `_null` is apart: nullability decides it. */
import type { FieldType, TypeName } from './field-type.ts'
import type { PrimitiveField } from './model.ts'

export const operators = [
  '_eq',
  '_neq',
  '_lt',
  '_lte',
  '_gt',
  '_gte',
  '_in',
  '_nin',
  '_between',
  '_nbetween',
  '_contains',
  '_icontains',
  '_ncontains',
  '_nicontains',
  '_starts_with',
  '_nstarts_with',
  '_ends_with',
  '_nends_with',
  '_null',
] as const

export type Operator = (typeof operators)[number]

/** The operators of a type without `_null`, which every nullable field has and no other. */
export function operatorsOf(type: FieldType, isList: boolean): ReadonlySet<Operator> {
  return isList ? none : operatorsByType[type.name]
}

/** All operators of a field, as messages tell them. */
export function knownOperators({ type, isList, isNullable }: PrimitiveField): string {
  const known = [...operatorsOf(type, isList), ...(isNullable ? ['_null'] : [])]
  return known.length === 0 ? 'none' : known.join(', ')
}

const none: ReadonlySet<Operator> = new Set()
const equality: ReadonlySet<Operator> = new Set(['_eq', '_neq'])
const identity: ReadonlySet<Operator> = new Set(['_eq', '_neq', '_in', '_nin'])
const comparison: Operator[] = ['_eq', '_neq', '_lt', '_lte', '_gt', '_gte', '_in', '_nin']
const ordered: ReadonlySet<Operator> = new Set([...comparison, '_between', '_nbetween'])
const text: ReadonlySet<Operator> = new Set([
  ...comparison,
  '_contains',
  '_icontains',
  '_ncontains',
  '_nicontains',
  '_starts_with',
  '_nstarts_with',
  '_ends_with',
  '_nends_with',
])

const operatorsByType: Readonly<Record<TypeName, ReadonlySet<Operator>>> = {
  int8: ordered,
  int16: ordered,
  int32: ordered,
  int64: ordered,
  uint8: ordered,
  uint16: ordered,
  uint32: ordered,
  uint64: ordered,
  float32: ordered,
  float64: ordered,
  decimal: ordered,
  string: text,
  uuid: identity,
  boolean: equality,
  date: ordered,
  time: ordered,
  dateTime: ordered,
  dateTimeWithTimezone: ordered,
  json: equality,
  bytes: none,
  geometry: none,
}
