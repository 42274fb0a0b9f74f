/**
 * A filter as sent → Filter: names become fields that the asker may use, operands become database texts. The grammar is
 * that of docs/contract.md#filters; requests and policies are read by the same lines and differ only in what they see.
 */
import { type Decoded, decodeJson, decodeText } from '../model/codec.ts'
import type { FieldType } from '../model/field-type.ts'
import type { Collection, Field, PrimitiveField, RelationField } from '../model/model.ts'
import { knownOperators, type Operator, operatorsOf } from '../model/operator.ts'
import { all, and, type Comparison, type FieldRef, type Filter, isTrue, type Match, none, not, or } from './filter.ts'
import { holeName, isHole } from './hole.ts'
import { MAX_RELATION_DEPTH, queryFault, type RawFilter, shown, tooManyRelations } from './parse.ts'
import type { Blanks } from './question.ts'

export const MAX_FILTER_LEAVES = 200
export const MAX_IN_OPERANDS = 1000
const MAX_NESTING = 40

/** What an asker knows of the model. Both throw where there is nothing that the asker may know of. */
export type Sight = {
  /** The field called `name`, and in which rows it may be used. */
  readonly field: (
    collection: Collection,
    name: string,
    place: string,
  ) => { readonly field: Field; readonly visible: Filter }
  /** Which rows exist at the far end of a relation. */
  readonly rowsOf: (target: Collection) => Filter
  /** The operand that a variable such as `$NOW` stands for; undefined where `text` is no variable but a text. */
  readonly variable: (text: string, field: PrimitiveField, place: string) => string | readonly string[] | undefined
}

/** `place` is where the filter stands, for messages. */
export function resolveFilter(
  raw: RawFilter | undefined,
  context: { readonly sight: Sight; readonly collection: Collection; readonly place: string },
): Filter {
  if (raw === undefined) return all
  const reading = { sight: context.sight, form: raw.form, blanks: raw.blanks, leaves: 0 }
  return group(reading, raw.value, { ...context, relations: 0, nesting: 0, quantified: false })
}

type Reading = {
  readonly sight: Sight
  readonly form: 'text' | 'json'
  readonly blanks: Blanks | undefined
  leaves: number
}

type Scope = {
  readonly collection: Collection
  readonly place: string
  readonly relations: number
  readonly nesting: number
  /** Whether quantifiers stand here too. */
  readonly quantified: boolean
}

function group(reading: Reading, value: unknown, scope: Scope): Filter {
  if (!isObject(value)) throw queryFault(scope.place, 'must be an object')
  if (scope.nesting > MAX_NESTING) throw queryFault('filter', 'is nested too deeply')
  const members = Object.entries(value)
  // A group of nothing asks about as much as one condition: of a relation, whether there is anything at its end.
  if (members.length === 0) countLeaf(reading)
  return and(members.map(([name, part]) => member(reading, name, part, scope)))
}

function member(reading: Reading, name: string, part: unknown, scope: Scope): Filter {
  const inner = { ...scope, place: `${scope.place}.${shown(name)}`, nesting: scope.nesting + 1, quantified: false }
  if (name === '_not') return not(group(reading, part, inner))
  if (name === '_and' || name === '_or') {
    if (!Array.isArray(part)) throw queryFault(inner.place, 'must be a list of filters')
    const filters = part.map((one, index) => group(reading, one, { ...inner, place: `${inner.place}[${index}]` }))
    return name === '_and' ? and(filters) : or(filters)
  }
  if (name.startsWith('_')) {
    const quantified = scope.quantified ? ', nor one of _some, _every, _none' : ''
    throw queryFault(inner.place, `is not a logical operator, as _and, _or and _not are${quantified}`)
  }
  const { field, visible } = reading.sight.field(scope.collection, name, inner.place)
  return field.kind === 'relation'
    ? and([isTrue(visible), related(reading, field, part, inner)])
    : condition(reading, { field, visible }, part, inner.place)
}

function related(reading: Reading, relation: RelationField, part: unknown, scope: Scope): Filter {
  if (scope.relations >= MAX_RELATION_DEPTH) throw tooManyRelations(scope.place)
  const rows = reading.sight.rowsOf(relation.target)
  const beyond = { ...scope, collection: relation.target, relations: scope.relations + 1 }
  if (!isObject(part)) throw queryFault(scope.place, 'must be an object')
  const exists = (
    quantifier: 'some' | 'every' | 'none',
    value: unknown,
    place: string,
    quantified = false,
  ): Filter => ({
    kind: 'related',
    relation,
    target: relation.target,
    quantifier,
    rows,
    filter: group(reading, value, { ...beyond, place, nesting: scope.nesting + 1, quantified }),
  })
  if (!relation.isList) return exists('some', part, scope.place)
  const filters: Filter[] = []
  const unquantified: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(part)) {
    if (name === '_some' || name === '_every' || name === '_none') {
      filters.push(exists(quantifiers[name], value, `${scope.place}.${name}`))
    } else unquantified[name] = value
  }
  if (filters.length === 0 || Object.keys(unquantified).length > 0) {
    filters.push(exists('some', unquantified, scope.place, true))
  }
  return and(filters)
}

const quantifiers = { _some: 'some', _every: 'every', _none: 'none' } as const

function condition(reading: Reading, ref: FieldRef, part: unknown, place: string): Filter {
  const isJson = ref.field.type.name === 'json' && !ref.field.isList
  const isOperators = isObject(part) && Object.keys(part).every((name) => name.startsWith('_'))
  if (isObject(part) && isOperators) {
    const filters = Object.entries(part).map(([name, operand]) =>
      operation(reading, ref, name, operand, `${place}.${shown(name)}`),
    )
    return and(filters)
  }
  if (isJson) {
    throw queryFault(place, `a filter on a JSON field needs an explicit operator: ${knownOperators(ref.field)}`)
  }
  if (isObject(part)) {
    const name = Object.keys(part).find((key) => !key.startsWith('_')) ?? ''
    throw queryFault(`${place}.${shown(name)}`, `is not an operator, as ${knownOperators(ref.field)} are`)
  }
  return operation(reading, ref, '_eq', part, place)
}

function operation(reading: Reading, ref: FieldRef, name: string, operand: unknown, place: string): Filter {
  const { field } = ref
  countLeaf(reading)
  if (name === '_null') return nullTest(reading, ref, operand, place)
  const operators: ReadonlySet<string> = operatorsOf(field.type, field.isList)
  if (!operators.has(name)) {
    const type = field.isList ? 'lists' : field.type.name
    throw queryFault(place, `is not an operator of ${type}, which knows ${knownOperators(field)}`)
  }
  return build(reading, ref, name as Exclude<Operator, '_null'>, operand, place)
}

function countLeaf(reading: Reading): void {
  reading.leaves += 1
  if (reading.leaves > MAX_FILTER_LEAVES) throw queryFault('filter', `has more than ${MAX_FILTER_LEAVES} conditions`)
}

function nullTest(reading: Reading, ref: FieldRef, operand: unknown, place: string): Filter {
  if (!ref.field.isNullable) throw queryFault(place, 'is only for nullable fields')
  const value =
    reading.form === 'text' ? ({ true: true, false: false } as Record<string, unknown>)[String(operand)] : operand
  if (typeof value !== 'boolean') throw queryFault(place, 'must be true or false')
  return { kind: 'null', ...ref, negated: !value }
}

const comparisons: Partial<Record<Operator, Comparison>> = {
  _eq: '=',
  _neq: '<>',
  _lt: '<',
  _lte: '<=',
  _gt: '>',
  _gte: '>=',
}

const matches: Partial<Record<Operator, Match & { readonly negated: boolean }>> = {
  _contains: { part: 'contains', ignoreCase: false, negated: false },
  _icontains: { part: 'contains', ignoreCase: true, negated: false },
  _ncontains: { part: 'contains', ignoreCase: false, negated: true },
  _nicontains: { part: 'contains', ignoreCase: true, negated: true },
  _starts_with: { part: 'starts', ignoreCase: false, negated: false },
  _nstarts_with: { part: 'starts', ignoreCase: false, negated: true },
  _ends_with: { part: 'ends', ignoreCase: false, negated: false },
  _nends_with: { part: 'ends', ignoreCase: false, negated: true },
}

function build(
  reading: Reading,
  ref: FieldRef,
  operator: Exclude<Operator, '_null'>,
  operand: unknown,
  place: string,
): Filter {
  const { field } = ref
  const comparison = comparisons[operator]
  if (comparison !== undefined) {
    if (operand !== null) {
      return { kind: 'compare', ...ref, operator: comparison, operand: decoded(reading, field, operand, place) }
    }
    if (operator !== '_eq' && operator !== '_neq') throw queryFault(place, 'must not be null')
    requireNullable(field, place)
    return { kind: 'null', ...ref, negated: operator === '_neq' }
  }
  const match = matches[operator]
  if (match !== undefined) {
    const { negated, ...how } = match
    return { kind: 'match', ...ref, match: how, negated, operand: decoded(reading, field, operand, place) }
  }
  if (operator === '_in' || operator === '_nin') return inList(reading, ref, operator === '_nin', operand, place)
  if (!Array.isArray(operand)) throw queryFault(place, 'must be a list')
  if (operator === '_between' || operator === '_nbetween') {
    if (operand.length !== 2) throw queryFault(place, 'must be a list of two values')
    const [low = '', high = ''] = operand.map((one, index) => decoded(reading, field, one, `${place}[${index}]`))
    return { kind: 'between', ...ref, negated: operator === '_nbetween', low, high }
  }
  throw queryFault(place, 'is not an operator')
}

/** A null in `_in` matches null rows, in `_nin` it excludes them; the empty lists match nothing and everything. */
function inList(reading: Reading, ref: FieldRef, negated: boolean, list: unknown, place: string): Filter {
  const elements = Array.isArray(list) ? (list as readonly unknown[]) : [list]
  const operands: string[] = []
  let hasNull = false
  if (!Array.isArray(list) && variable(reading, ref.field, list, place) === undefined)
    throw queryFault(place, 'must be a list')
  if (elements.length > MAX_IN_OPERANDS) throw queryFault(place, `has more than ${MAX_IN_OPERANDS} values`)
  elements.forEach((one, index) => {
    const at = `${place}[${index}]`
    if (one === null) {
      requireNullable(ref.field, at)
      hasNull = true
      return
    }
    const value = variable(reading, ref.field, one, at) ?? decoded(reading, ref.field, one, at)
    if (typeof value === 'string' && isHole(value)) throw queryFault(at, 'cannot stand in a list')
    operands.push(...(typeof value === 'string' ? [value] : value))
  })
  if (operands.length === 0 && !hasNull) return negated ? all : none
  const values: Filter[] = operands.length === 0 ? [] : [{ kind: 'in', ...ref, negated, operands }]
  if (!hasNull) return and(values)
  const isNull: Filter = { kind: 'null', ...ref, negated }
  return negated ? and([...values, isNull]) : or([...values, isNull])
}

function requireNullable(field: PrimitiveField, place: string): void {
  if (!field.isNullable) throw queryFault(place, 'must not be null: the field is not nullable')
}

function variable(reading: Reading, field: PrimitiveField, operand: unknown, place: string) {
  return typeof operand === 'string' && operand.startsWith('$')
    ? reading.sight.variable(operand, field, place)
    : undefined
}

function decoded(reading: Reading, field: PrimitiveField, operand: unknown, place: string): string {
  const value = variable(reading, field, operand, place)
  if (typeof value === 'string') return value
  if (value !== undefined) throw queryFault(place, 'is a list')
  const { blanks } = reading
  if (blanks !== undefined && typeof operand === 'string' && isHole(operand)) {
    return leftBlank(blanks, field, operand, place)
  }
  return read(reading, field.type, operand, place)
}

/** The value comes when the statement runs, and is read then as it would be now. */
function leftBlank(blanks: Blanks, field: PrimitiveField, blank: string, place: string): string {
  // JSON is compared by what it holds, and a list's text depends on the dialect.
  if (field.isList || field.type.name === 'json') blanks.isUnfit = true
  blanks.readers.set(holeName(blank), (text) => read({ form: 'text' }, field.type, text, place))
  return blank
}

function read({ form }: Pick<Reading, 'form'>, fieldType: FieldType, operand: unknown, place: string): string {
  const type = operandType(fieldType)
  const result: Decoded =
    form === 'text' && typeof operand === 'string' ? decodeText(type, operand) : decodeJson(type, false, operand)
  if ('fault' in result) throw queryFault(place, result.fault)
  return result.ok
}

/** A text longer than its column is a fair question with the answer no. */
export function operandType(type: FieldType): FieldType {
  return type.name === 'string' ? { name: 'string', params: { length: 'unlimited' } } : type
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
