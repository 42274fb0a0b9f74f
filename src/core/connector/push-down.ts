/**
 * Translates filter and order of a plan into a connector request, by what the collection declares; anything undeclared
 * is refused before the connector is called (docs/contract.md#what-a-connector-declares). SQL's unknown is resolved
 * here: the filter that is sent matches exactly the rows in which the condition is true, so connectors need no
 * three-valued logic.
 */
import { nested, type ServiceError } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'
import { parseJson } from '../exact-json.ts'
import type { Collection, PrimitiveField } from '../model/model.ts'
import { type ConnectorOperation, type ConnectorOperator, connectorOperator } from '../model/vocabulary.ts'
import { wireValue } from '../model/wire.ts'
import type { Order } from '../plan/plan.ts'
import { all, and, type Comparison, type FieldRef, type Filter, type JsonTest, none, or } from '../query/filter.ts'
import { negation, operatorOf } from '../query/operator-meaning.ts'
import { queryFault } from '../query/parse.ts'
import { boundText } from '../query/placeholder.ts'
import { lookupOperator, operatorSupport } from './item-capabilities.ts'
import { type ConnectorFilter, type QueryRequest, typed } from './protocol.ts'
import type { Capabilities } from './schema.ts'

/** A collection and its declaration. */
export type DeclaredCollection = { readonly collection: Collection; readonly capabilities: Capabilities }

function declaresOperation({ capabilities }: DeclaredCollection, operation: ConnectorOperation): boolean {
  return capabilities.operations.includes(operation)
}

/** Throws 422, code 4010, where none of the operations is declared. */
export function requireOperation(
  declared: DeclaredCollection,
  ...operations: readonly [ConnectorOperation, ...ConnectorOperation[]]
): ConnectorOperation {
  const found = operations.find((operation) => declaresOperation(declared, operation))
  if (found === undefined) throw unsupported(declared.collection, `does not declare ${operations.join(' or ')}`)
  return found
}

export function unsupported({ apiName }: Collection, reason: string): ServiceError {
  const messages = [QUERY_FAILED, 'Output validation failed', 'Operation not supported'] as const
  return nested('invalid', [...messages, `${apiName} ${reason}`], { code: '4010' })
}

/** The pushed-down filter; `everything` or `nothing` where no condition is left. */
export type PushDown =
  | { readonly kind: 'everything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'filter'; readonly filter: ConnectorFilter }

/**
 * Throws 422 for a condition that the collection does not declare. Placeholders must be bound, and relations resolved.
 */
export function pushFilter(declared: DeclaredCollection, filter: Filter): PushDown {
  const plain = where(filter, 'true')
  if (plain.kind === 'all') return { kind: 'everything' }
  if (plain.kind === 'none') return { kind: 'nothing' }
  return { kind: 'filter', filter: compile(declared, plain) }
}

/**
 * Look-ups by key fields are always served (docs/contract.md#what-a-connector-declares); others by `in`, or by `eq`
 * where only that is declared.
 */
export function pushKeys(
  { collection, capabilities }: DeclaredCollection,
  field: PrimitiveField,
  texts: readonly string[],
): ConnectorFilter {
  const values = texts.map((text) => wireValue({ type: field.type, isList: false }, text))
  const operator = lookupOperator(capabilities, field)
  if (operator === undefined) throw unsupported(collection, `cannot be looked up by ${field.apiName}`)
  if (operator === 'in') return { ...typed(field), operator, value: values }
  return anyOf(values.map((value) => ({ ...typed(field), operator, value })))
}

export function allOf(filters: readonly ConnectorFilter[]): ConnectorFilter | undefined {
  return filters.length > 1 ? { and: filters } : filters[0]
}

function anyOf(filters: readonly ConnectorFilter[]): ConnectorFilter {
  const [first] = filters
  return filters.length === 1 && first !== undefined ? first : { or: filters }
}

/**
 * A requested order must be declared. The order that is added to make it total is left out where it is not declared.
 */
export function pushOrder({ capabilities }: DeclaredCollection, order: readonly Order[]): QueryRequest['sort'] {
  const sort: NonNullable<QueryRequest['sort']>[number][] = []
  for (const { field, visible, direction, nulls, origin } of order) {
    const isSortable = capabilities.sort.includes(field.dbName) && visible.kind === 'all'
    if (isSortable) sort.push({ ...typed(field), direction, ...(field.isNullable && { nulls }) })
    else if (origin === 'requested') throw queryFault(`sort.${field.apiName}`, 'cannot be sorted by', '4010')
    // Dropping only this part would sort by the parts after it.
    else break
  }
  return sort.length === 0 ? undefined : sort
}

type Truth = 'true' | 'false' | 'notTrue' | 'notFalse'

const opposites: Readonly<Record<Truth, Truth>> = {
  true: 'false',
  false: 'true',
  notTrue: 'notFalse',
  notFalse: 'notTrue',
}

/** Returns a filter of plain comparisons that is true exactly where `filter` has the given truth value. */
function where(filter: Filter, truth: Truth): Filter {
  switch (filter.kind) {
    case 'all':
    case 'none':
      return (filter.kind === 'all') === (truth === 'true' || truth === 'notFalse') ? all : none
    case 'not':
      return where(filter.filter, opposites[truth])
    case 'isTrue':
      return where(filter.filter, truth === 'true' || truth === 'notFalse' ? 'true' : 'notTrue')
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => where(part, truth))
      return (filter.kind === 'and') === (truth === 'true' || truth === 'notFalse') ? and(parts) : or(parts)
    }
    case 'null':
      return nullTest(filter, truth)
    case 'related':
      throw queryFault('filter', `cannot follow ${filter.relation.apiName} here`)
    default:
      return comparison(filter, truth)
  }
}

type Condition = Extract<Filter, FieldRef>
type Comparing = Exclude<Condition, { readonly kind: 'null' }>

/** A comparison is unknown where its field is null or not visible. */
function comparison(filter: Comparing, truth: Truth): Filter {
  const { field, visible } = filter
  const isWanted = truth === 'true' || truth === 'notFalse'
  const plain = { ...(isWanted ? filter : negation(filter)), visible: all }
  if (truth === 'true' || truth === 'false') return and([where(visible, 'true'), plain])
  const isUnknown = or([
    where(visible, 'notTrue'),
    field.isNullable ? { kind: 'null', field, visible: all, negated: false } : none,
  ])
  return or([plain, isUnknown])
}

/** A null test is never unknown; a value that is not visible counts as null. */
function nullTest(filter: Extract<Filter, { readonly kind: 'null' }>, truth: Truth): Filter {
  const { field, visible } = filter
  const isWanted = truth === 'true' || truth === 'notFalse'
  const asksForNull = filter.negated !== isWanted
  const plain = (negated: boolean): Filter =>
    field.isNullable ? { kind: 'null', field, visible: all, negated } : negated ? all : none
  return asksForNull ? or([where(visible, 'notTrue'), plain(false)]) : and([where(visible, 'true'), plain(true)])
}

function compile(declared: DeclaredCollection, filter: Filter): ConnectorFilter {
  switch (filter.kind) {
    case 'and':
      return { and: filter.filters.map((part) => compile(declared, part)) }
    case 'or':
      return { or: filter.filters.map((part) => compile(declared, part)) }
    case 'null':
      return leaf(declared, filter, !filter.negated)
    case 'compare':
      return leaf(declared, filter, wireOperand(filter.field, boundText(filter.operand)))
    case 'between':
      return leaf(
        declared,
        filter,
        [filter.low, filter.high].map((bound) => wireOperand(filter.field, boundText(bound))),
      )
    case 'in':
      return leaf(
        declared,
        filter,
        filter.operands.map((operand) => wireOperand(filter.field, operand)),
      )
    case 'match':
      return leaf(declared, filter, filter.operand)
    case 'empty':
      return leaf(declared, filter, !filter.negated)
    case 'elements': {
      const values = filter.operands.map((operand) => wireOperand(filter.field, operand))
      return orNot(filter, leaf(declared, filter, filter.quantity === 'one' ? values[0] : values))
    }
    case 'json':
      return orNot(filter, leaf(declared, filter, jsonOperand(filter.test)))
    default:
      throw new Error(`a ${filter.kind} was left in a filter`)
  }
}

/** An operator without an opposite, where it is negated. */
function orNot({ negated }: { readonly negated: boolean }, filter: ConnectorFilter): ConnectorFilter {
  return negated ? { not: filter } : filter
}

function jsonOperand(test: JsonTest): unknown {
  if (test.kind === 'key') return test.operand
  if (test.kind === 'contains') return parseJson(test.operand)
  const { path, type, comparison } = test
  const values = test.operands.map((operand) => (type === 'string' ? operand : parseJson(operand)))
  const isList = comparison === 'in'
  return { path, operator: isList ? 'in' : comparisonOperator(comparison), value: isList ? values : values[0] }
}

function comparisonOperator(operator: Comparison): ConnectorOperator {
  return connectorOperator(operatorOf({ kind: 'compare', operator }))
}

function wireOperand({ type }: PrimitiveField, text: string): unknown {
  return wireValue({ type, isList: false }, text)
}

/** Where only the opposite is declared, its negation is used. */
function leaf({ capabilities }: DeclaredCollection, condition: Condition, value: unknown): ConnectorFilter {
  const { field } = condition
  const operator = connectorOperator(operatorOf(condition))
  const support = operatorSupport(capabilities, field, operator)
  if (support === undefined)
    throw queryFault(`filter.${field.apiName}._${operator}`, 'is not declared by the data source', '4010')
  const at = condition.kind === 'null' || condition.kind === 'empty' ? { field: field.dbName } : typed(field)
  if (support.kind === 'plain') return { ...at, operator, value }
  return { not: { ...at, operator: support.operator, value } }
}
