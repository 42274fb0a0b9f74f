/**
 * Resolves a filter as sent into a Filter: names become fields that the caller may use, operands become database texts. The
 * grammar is in docs/contract.md#filters; requests and policies use the same code with different resolvers.
 */

import { isObject } from '../json-object.ts'
import { bracketed, shortName } from '../message-text.ts'
import type { Decoded } from '../model/codec/decoded.ts'
import { decodeJson, decodeText } from '../model/codec.ts'
import type { FieldType } from '../model/field-type.ts'
import type { Collection, Field, PrimitiveField, RelationField, Through } from '../model/model.ts'
import { knownOperators, operatorsOf } from '../model/operator.ts'
import type { Operator } from '../model/vocabulary.ts'
import { all, and, type FieldRef, type Filter, isSeen, isTrue, none, not, or } from './filter.ts'
import { conditionsAtPath, type JsonReading, memberName, requireContainable } from './json-condition.ts'
import { meanings } from './operator-meaning.ts'
import { type FilterTemplate, MAX_RELATION_DEPTH, queryFault, type RawFilter, tooManyRelations } from './parse.ts'
import { boundText, type Operand } from './placeholder.ts'

const MAX_FILTER_LEAVES = 200
const MAX_IN_OPERANDS = 1_000
const MAX_LONG_OPERANDS = 10_000
const MAX_NESTING = 40

/** Resolves names. Both functions throw for a name that is unknown or hidden. */
export type FieldResolver = {
  /** Returns the field called `name`, and the rows in which it may be used. */
  readonly field: (
    collection: Collection,
    name: string,
    path: string,
  ) => { readonly field: Field; readonly visible: Filter }
  /** Returns the rows of a relation's target that the caller can see. */
  readonly rowsOf: (target: Collection) => Filter
  /** Returns the rows of the junction that a many-to-many field counts for the caller. */
  readonly linksOf: (relation: RelationField) => Filter
  /** Returns the value of a variable such as `$NOW`; undefined if `text` is ordinary text. */
  readonly variable: (text: string, field: PrimitiveField, path: string) => Operand | readonly string[] | undefined
}

/** `path` is the position of the filter, for messages. */
export function resolveFilter(
  raw: RawFilter | undefined,
  context: { readonly resolver: FieldResolver; readonly collection: Collection; readonly path: string },
): Filter {
  if (raw === undefined) return all
  const reading = {
    resolver: context.resolver,
    form: raw.form,
    template: raw.template,
    leaves: 0,
    isLong: raw.isLong === true,
  }
  return group(reading, raw.value, { ...context, relations: 0, nesting: 0, quantified: false })
}

type Reading = {
  readonly resolver: FieldResolver
  readonly form: 'text' | 'json'
  readonly template: FilterTemplate | undefined
  readonly isLong: boolean
  leaves: number
}

type Scope = {
  readonly collection: Collection
  readonly path: string
  readonly relations: number
  readonly nesting: number
  /** Quantifiers are allowed here. */
  readonly quantified: boolean
}

function group(reading: Reading, value: unknown, scope: Scope): Filter {
  if (!isObject(value)) throw queryFault(scope.path, 'must be an object')
  if (scope.nesting > MAX_NESTING) throw queryFault('filter', 'is nested too deeply')
  const members = Object.entries(value)
  // An empty group counts as one condition: on a relation it tests whether a related row exists.
  if (members.length === 0) countLeaf(reading)
  return and(members.map(([name, part]) => member(reading, name, part, scope)))
}

function member(reading: Reading, name: string, part: unknown, scope: Scope): Filter {
  const inner = { ...scope, path: `${scope.path}.${shortName(name)}`, nesting: scope.nesting + 1, quantified: false }
  if (name === '_not') return not(group(reading, part, inner))
  if (name === '_and' || name === '_or') {
    if (!Array.isArray(part)) throw queryFault(inner.path, 'must be a list of filters')
    const filters = part.map((one, index) => group(reading, one, { ...inner, path: `${inner.path}[${index}]` }))
    return name === '_and' ? and(filters) : or(filters)
  }
  if (name.startsWith('_')) {
    const quantified = scope.quantified ? ', _some, _every, _none' : ''
    throw queryFault(inner.path, `is not a logical operator; allowed: _and, _or, _not${quantified}`)
  }
  const { field, visible } = reading.resolver.field(scope.collection, name, inner.path)
  return field.kind === 'relation'
    ? and([isSeen(visible), related(reading, field, part, inner)])
    : condition(reading, { field, visible }, part, inner.path)
}

function related(reading: Reading, relation: RelationField, part: unknown, scope: Scope): Filter {
  if (scope.relations >= MAX_RELATION_DEPTH) throw tooManyRelations(scope.path)
  const rows = reading.resolver.rowsOf(relation.target)
  const target = { ...scope, collection: relation.target, relations: scope.relations + 1 }
  if (!isObject(part)) {
    throw queryFault(scope.path, `must be an object${part === null ? absenceHint(reading, relation, scope) : ''}`)
  }
  if (Object.hasOwn(part, '_null')) {
    throw queryFault(`${scope.path}._null`, `is not an operator of relations${absenceHint(reading, relation, scope)}`)
  }
  const links = relation.through && reading.resolver.linksOf(relation)
  const exists = (quantifier: Quantifier, value: unknown, path: string, quantified = false): Filter => {
    const filter = group(reading, value, { ...target, path, nesting: scope.nesting + 1, quantified })
    if (filter.kind === certain[quantifier]) return quantifier === 'some' ? none : all
    return relation.through === undefined
      ? { kind: 'related', relation, target: relation.target, quantifier, rows, filter }
      : linked(relation.through, quantifier, { links: links ?? all, rows, filter })
  }
  if (!relation.isList) return exists('some', part, scope.path)
  const filters: Filter[] = []
  const unquantified: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(part)) {
    if (name === '_some' || name === '_every' || name === '_none') {
      filters.push(exists(quantifiers[name], value, `${scope.path}.${name}`))
    } else unquantified[name] = value
  }
  if (filters.length === 0 || Object.keys(unquantified).length > 0) {
    filters.push(exists('some', unquantified, scope.path, true))
  }
  return and(filters)
}

/** Suggests how to find items without a related item: by the foreign key field, if the caller may use it. */
function absenceHint({ form, resolver }: Reading, relation: RelationField, { path }: Scope): string {
  const own = relation.isForward ? relation.joins[0]?.own.apiName : undefined
  const isUsable = own !== undefined && isKnown(() => resolver.field(relation.collection, own, path))
  const none = isUsable ? { [own]: { _null: true } } : { _not: { [relation.apiName]: {} } }
  const beside = path.slice(0, path.lastIndexOf('.'))
  const example = form === 'text' && isUsable ? `${bracketed(`${beside}.${own}._null`)}=true` : JSON.stringify(none)
  return `; where there is none: ${example}`
}

function isKnown(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch {
    return false
  }
}

type Quantifier = 'some' | 'every' | 'none'

/** Converts a condition on a many-to-many field to one on the junction table. */
function linked(
  { near, far }: Through,
  quantifier: Quantifier,
  { links, rows, filter }: { readonly links: Filter; readonly rows: Filter; readonly filter: Filter },
): Filter {
  const some = (relation: RelationField, of: Filter, inner: Filter): Filter => ({
    kind: 'related',
    relation,
    target: relation.target,
    quantifier: 'some',
    rows: of,
    filter: inner,
  })
  const linkedFilter = quantifier === 'every' ? not(isTrue(filter)) : filter
  const exists = some(near, links, some(far, rows, linkedFilter))
  return quantifier === 'some' ? exists : not(exists)
}

/** The filter that makes a quantifier true for any rows. */
const certain = { some: 'none', every: 'all', none: 'none' } as const

const quantifiers = { _some: 'some', _every: 'every', _none: 'none' } as const

function condition(reading: Reading, ref: FieldRef, part: unknown, path: string): Filter {
  const isJson = ref.field.type.name === 'json' && !ref.field.isList
  const isOperators = isObject(part) && Object.keys(part).every((name) => name.startsWith('_'))
  if (isObject(part) && isJson && Object.hasOwn(part, '_path')) {
    return and(conditionsAtPath(jsonReading(reading, ref.field), ref, part, path))
  }
  if (isObject(part) && isOperators) {
    const filters = Object.entries(part).map(([name, operand]) =>
      operation(reading, ref, name, operand, `${path}.${shortName(name)}`),
    )
    return and(filters)
  }
  if (isJson) {
    throw queryFault(path, `a filter on a JSON field needs an explicit operator: ${knownOperators(ref.field)}`)
  }
  if (isObject(part)) {
    const name = Object.keys(part).find((key) => !key.startsWith('_')) ?? ''
    throw queryFault(`${path}.${shortName(name)}`, `is not an operator; allowed: ${knownOperators(ref.field)}`)
  }
  return operation(reading, ref, '_eq', part, path)
}

function jsonReading(reading: Reading, field: PrimitiveField): JsonReading {
  const text: PrimitiveField = { ...field, type: unlimited }
  return {
    form: reading.form,
    maxOperands: maxOperands(reading),
    count: () => countLeaf(reading),
    variable(operand, path) {
      // The kind of comparison depends on the value.
      if (typeof operand === 'symbol') reading.template?.refuse()
      if (typeof operand === 'symbol') return ''
      const value = variable(reading, text, operand, path)
      return typeof value === 'object' && 'kind' in value ? undefined : value
    },
  }
}

function operation(reading: Reading, ref: FieldRef, name: string, operand: unknown, path: string): Filter {
  const { field } = ref
  countLeaf(reading)
  if (name === '_null') return nullTest(reading, ref, operand, path)
  const operators: ReadonlySet<string> = operatorsOf(field.type, field.isList)
  if (!operators.has(name)) {
    const type = field.isList ? 'lists' : field.type.name
    throw queryFault(path, `is not an operator of ${type}; allowed: ${knownOperators(field)}`)
  }
  return build(reading, ref, name as Exclude<Operator, '_null'>, operand, path)
}

function countLeaf(reading: Reading): void {
  reading.leaves += 1
  if (reading.leaves > MAX_FILTER_LEAVES) throw queryFault('filter', `has more than ${MAX_FILTER_LEAVES} conditions`)
}

function nullTest(reading: Reading, ref: FieldRef, operand: unknown, path: string): Filter {
  if (!ref.field.isNullable) throw queryFault(path, 'is only for nullable fields')
  return { kind: 'null', ...ref, negated: !truthOf(reading, operand, path) }
}

function truthOf({ form }: Reading, operand: unknown, path: string): boolean {
  const isText = form === 'text'
  if (operand === (isText ? 'true' : true)) return true
  if (operand === (isText ? 'false' : false)) return false
  throw queryFault(path, 'must be true or false')
}

function build(
  reading: Reading,
  ref: FieldRef,
  operator: Exclude<Operator, '_null'>,
  operand: unknown,
  path: string,
): Filter {
  const { field } = ref
  const meaning = meanings[operator]
  switch (meaning.kind) {
    case 'compare': {
      if (operand !== null) {
        return { kind: 'compare', ...ref, operator: meaning.operator, operand: decoded(reading, field, operand, path) }
      }
      if (meaning.operator !== '=' && meaning.operator !== '<>') throw queryFault(path, 'must not be null')
      requireNullable(field, path)
      return { kind: 'null', ...ref, negated: meaning.operator === '<>' }
    }
    case 'match': {
      if (field.type.name === 'json') {
        const text = requireContainable(boundText(decoded(reading, field, operand, path)), path)
        return { kind: 'json', ...ref, negated: false, test: { kind: 'contains', operand: text, place: path } }
      }
      const { match, negated } = meaning
      const text = boundText(decoded(reading, field, operand, path))
      return { kind: 'match', ...ref, match, negated, operand: text }
    }
    case 'in':
      return inList(reading, ref, meaning.negated, operand, path)
    case 'between': {
      if (!Array.isArray(operand)) throw queryFault(path, listHint(reading, path))
      if (operand.length !== 2) throw queryFault(path, 'must be a list of two values')
      const [low = '', high = ''] = operand.map((one, index) => decoded(reading, field, one, `${path}[${index}]`))
      return { kind: 'between', ...ref, negated: meaning.negated, low, high }
    }
    case 'elements': {
      const { quantity } = meaning
      const operands =
        quantity === 'one'
          ? [boundText(decoded(reading, field, operand, path))]
          : listOperands(reading, field, operand, path)
      return { kind: 'elements', ...ref, quantity, negated: false, operands }
    }
    case 'empty':
      return { kind: 'empty', ...ref, negated: !truthOf(reading, operand, path) }
    case 'json': {
      const key = memberName(operand, path)
      return { kind: 'json', ...ref, negated: false, test: { kind: 'key', operand: key } }
    }
  }
}

/**
 * A null in `_in` matches null rows, in `_nin` it excludes them. An empty `_in` matches nothing, an empty `_nin`
 * everything.
 */
function inList(reading: Reading, ref: FieldRef, negated: boolean, list: unknown, path: string): Filter {
  let hasNull = false
  const operands = listOperands(reading, ref.field, list, path, (at) => {
    requireNullable(ref.field, at)
    hasNull = true
  })
  if (operands.length === 0 && !hasNull) return negated ? all : none
  const values: Filter[] = operands.length === 0 ? [] : [{ kind: 'in', ...ref, negated, operands }]
  if (!hasNull) return and(values)
  const isNull: Filter = { kind: 'null', ...ref, negated }
  return negated ? and([...values, isNull]) : or([...values, isNull])
}

/** Parses a list of operands, or a variable with a list; `onNull` accepts a null, which is otherwise refused. */
function listOperands(
  reading: Reading,
  field: PrimitiveField,
  list: unknown,
  path: string,
  onNull?: (at: string) => void,
): readonly string[] {
  if (!Array.isArray(list) && variable(reading, field, list, path) === undefined)
    throw queryFault(path, listHint(reading, path))
  const elements = Array.isArray(list) ? (list as readonly unknown[]) : [list]
  const most = maxOperands(reading)
  if (elements.length > most) throw queryFault(path, `has more than ${most} values`)
  return elements.flatMap((one, index) => {
    const at = `${path}[${index}]`
    if (one === null && onNull !== undefined) {
      onNull(at)
      return []
    }
    const value = variable(reading, field, one, at) ?? decoded(reading, field, one, at)
    if (typeof value === 'string') return [value]
    if ('kind' in value) throw queryFault(at, 'cannot stand in a list')
    return value
  })
}

function listHint({ form }: Reading, path: string): string {
  if (form === 'json') return 'must be a list, such as ["x", "y"]'
  return `must be a list, such as ${[0, 1].map((index) => `${bracketed(path)}[${index}]=${'xy'[index]}`).join('&')}`
}

function maxOperands({ isLong }: Reading): number {
  return isLong ? MAX_LONG_OPERANDS : MAX_IN_OPERANDS
}

function requireNullable(field: PrimitiveField, path: string): void {
  if (!field.isNullable) throw queryFault(path, 'must not be null: the field is not nullable')
}

function variable(reading: Reading, field: PrimitiveField, operand: unknown, path: string) {
  return typeof operand === 'string' && operand.startsWith('$')
    ? reading.resolver.variable(operand, field, path)
    : undefined
}

function decoded(reading: Reading, field: PrimitiveField, operand: unknown, path: string): Operand {
  const value = variable(reading, field, operand, path)
  if (Array.isArray(value)) throw queryFault(path, 'is a list')
  if (value !== undefined) return value as Operand
  const { template, form } = reading
  if (template === undefined || typeof operand !== 'symbol') return readOperand(field.type, operand, { form, path })
  // JSON is compared by content, and the text of a list depends on the dialect.
  if (field.isList || field.type.name === 'json') template.refuse()
  return { kind: 'queryValue', index: template.indexOf(operand), type: field.type, path }
}

/** The database text of an operand as sent; throws for an invalid operand. */
export function readOperand(
  fieldType: FieldType,
  operand: unknown,
  { form, path }: { readonly form: RawFilter['form']; readonly path: string },
): string {
  const type = operandType(fieldType)
  const result: Decoded =
    form === 'text' && typeof operand === 'string' ? decodeText(type, operand) : decodeJson(type, false, operand)
  if ('fault' in result) throw queryFault(path, result.fault)
  return result.ok
}

/** A text longer than its column is a valid operand that equals nothing. */
export function operandType(type: FieldType): FieldType {
  return type.name === 'string' ? unlimited : type
}

export const unlimited: FieldType = { name: 'string', params: { length: 'unlimited' } }
