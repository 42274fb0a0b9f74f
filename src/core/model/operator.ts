/**
 * The filter operators of each field type (docs/contract.md#filters). `_null` is separate: it depends on nullability.
 */
import type { FieldType, TypeName } from './field-type.ts'
import type { PrimitiveField } from './model.ts'
import { type Operator, operators } from './vocabulary.ts'

/** The operators of a type except `_null`, which exactly the nullable fields have. */
export function operatorsOf(type: FieldType, isList: boolean): ReadonlySet<Operator> {
  const own = operatorsByType[type.name]
  if (!isList) return own
  return own.has('_eq') ? list : none
}

/** Lists all operators of a field, for messages. */
export function knownOperators({ type, isList, isNullable }: PrimitiveField): string {
  const known = [...operatorsOf(type, isList), ...(isNullable ? ['_null'] : [])]
  return known.length === 0 ? 'none' : known.join(', ')
}

/** Types of one family have the same operators. */
type Family = 'equality' | 'identity' | 'ordered' | 'text' | 'json' | 'list'

const familiesByOperator: Readonly<Record<Operator, readonly Family[]>> = {
  _eq: ['equality', 'identity', 'ordered', 'text', 'json'],
  _neq: ['equality', 'identity', 'ordered', 'text', 'json'],
  _lt: ['ordered', 'text'],
  _lte: ['ordered', 'text'],
  _gt: ['ordered', 'text'],
  _gte: ['ordered', 'text'],
  _in: ['identity', 'ordered', 'text'],
  _nin: ['identity', 'ordered', 'text'],
  _between: ['ordered'],
  _nbetween: ['ordered'],
  _contains: ['text', 'json'],
  _icontains: ['text'],
  _ncontains: ['text'],
  _nicontains: ['text'],
  _starts_with: ['text'],
  _nstarts_with: ['text'],
  _ends_with: ['text'],
  _nends_with: ['text'],
  _has: ['list'],
  _has_any: ['list'],
  _has_all: ['list'],
  _empty: ['list'],
  _has_key: ['json'],
  _path: ['json'],
  _null: [],
}

function ofFamily(family: Family): ReadonlySet<Operator> {
  return new Set(operators.filter((operator) => familiesByOperator[operator].includes(family)))
}

const none: ReadonlySet<Operator> = new Set()
const equality = ofFamily('equality')
const identity = ofFamily('identity')
const ordered = ofFamily('ordered')
const text = ofFamily('text')
const json = ofFamily('json')
const list = ofFamily('list')

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
  json,
  bytes: identity,
  geometry: none,
}
