/**
 * Evaluates requests on records in memory, for connectors that hold all items of a collection, such as those over
 * files. A comparison with null is neither true nor false, as in the protocol; values of a `type` compare as the service
 * compares them.
 */
import { readValue, type ValueField } from '../core/connector/value.ts'
import { contains, hasMember, valueAt } from '../core/query/json-test.ts'
import { compareTexts, textOrder } from '../core/query/text-order.ts'
import type { ComparedType, Comparison, Filter, Item, Operator, QueryAnswer, QueryRequest, Sort } from './connector.ts'

type Read = Extract<QueryRequest, { readonly operation: 'readMany' | 'readOne' }>

/** Answers a `readMany` or `readOne` from all records of a collection: filters, sorts, pages and selects fields. */
export function answerRead(request: Read, records: readonly Item[]): QueryAnswer {
  const { fields } = request
  if (request.operation === 'readOne') {
    const { key } = request
    const found = records.find((record) =>
      Object.entries(key).every(([name, value]) => isSame(valueIn(record, name), value, undefined)),
    )
    return { record: found === undefined ? null : only(found, fields) }
  }
  const { filter, sort = [], limit, offset = 0, after, count } = request
  const matching = filter === undefined ? [...records] : records.filter((record) => matches(filter, record) === true)
  const inOrder = byAll(sort)
  const page = sort.length === 0 ? matching : matching.sort(inOrder)
  const rest = after === undefined ? page : page.filter((record) => inOrder(record, after) > 0)
  const answered = rest.slice(offset, offset + limit).map((record) => only(record, fields))
  return { records: answered, ...(count === true && { count: matching.length }) }
}

/** Whether a record satisfies a filter; undefined if a null makes that unknown. */
export function matches(filter: Filter, record: Item): boolean | undefined {
  if ('and' in filter) return every(filter.and.map((part) => matches(part, record)))
  if ('or' in filter) return opposite(every(filter.or.map((part) => opposite(matches(part, record)))))
  if ('not' in filter) return opposite(matches(filter.not, record))
  return compare(filter, valueIn(record, filter.field))
}

function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}

function opposite(answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : !answer
}

/** A value that is none of its type, and which the service would refuse to show, is unknown like null. */
function compare({ operator, value, type }: Comparison, own: unknown): boolean | undefined {
  if (operator === 'null') return (own === null) === value
  if (own === null) return undefined
  if (type === undefined || type === 'json') return test(operator, own, value, type)
  const known = canonical(type, own)
  return known === undefined ? undefined : test(operator, known, canonical(type, value), type)
}

function test(
  operator: Exclude<Operator, 'null'>,
  own: unknown,
  value: unknown,
  type?: ComparedType,
): boolean | undefined {
  switch (operator) {
    case 'eq':
      return isSame(own, value, type)
    case 'neq':
      return !isSame(own, value, type)
    case 'lt':
      return order(own, value, type) < 0
    case 'lte':
      return order(own, value, type) <= 0
    case 'gt':
      return order(own, value, type) > 0
    case 'gte':
      return order(own, value, type) >= 0
    case 'in':
      return isOneOf(own, value, type)
    case 'nin':
      return !isOneOf(own, value, type)
    case 'between':
      return isBetween(own, value, type)
    case 'nbetween':
      return !isBetween(own, value, type)
    case 'contains':
      return type === 'json' || typeof own === 'object'
        ? contains(own, value, 'top')
        : String(own).includes(String(value))
    case 'ncontains':
      return !String(own).includes(String(value))
    case 'icontains':
      return containsIgnoringCase(own, value)
    case 'nicontains':
      return !containsIgnoringCase(own, value)
    case 'starts_with':
      return String(own).startsWith(String(value))
    case 'nstarts_with':
      return !String(own).startsWith(String(value))
    case 'ends_with':
      return String(own).endsWith(String(value))
    case 'nends_with':
      return !String(own).endsWith(String(value))
    case 'has':
      return listOf(own).some((one) => isSame(one, value, type))
    case 'has_any':
      return listOf(value).some((wanted) => listOf(own).some((one) => isSame(one, wanted, type)))
    case 'has_all':
      return listOf(value).every((wanted) => listOf(own).some((one) => isSame(one, wanted, type)))
    case 'empty':
      return (listOf(own).length === 0) === value
    case 'has_key':
      return hasMember(own, String(value))
    case 'path':
      return testAt(own, value as AtPath)
    default:
      throw new Error(`the operator ${operator satisfies never} is not known`)
  }
}

/** The value of `path`: a comparison with the scalar at a place. */
type AtPath = { readonly path: readonly (string | number)[]; readonly operator: Operator; readonly value: unknown }

/** Unknown where there is no scalar of the same type. */
function testAt(own: unknown, { path, operator, value }: AtPath): boolean | undefined {
  const found = valueAt(own, path)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (typeof found !== typeof values[0] || typeof found === 'object') return undefined
  const orders = values.map((one) =>
    typeof found === 'string' ? textOrder(found, String(one)) : Number(found) - Number(one),
  )
  if (operator === 'in') return orders.includes(0)
  const holds = comparisons[operator]
  if (holds === undefined) throw new Error(`a path has no operator ${operator}`)
  return holds(orders[0] ?? 0)
}

const comparisons: { readonly [Name in Operator]?: (order: number) => boolean } = {
  eq: (one) => one === 0,
  neq: (one) => one !== 0,
  lt: (one) => one < 0,
  lte: (one) => one <= 0,
  gt: (one) => one > 0,
  gte: (one) => one >= 0,
}

function isOneOf(own: unknown, values: unknown, type: ComparedType | undefined): boolean {
  return listOf(values).some((one) => isSame(own, one, type))
}

function isBetween(own: unknown, bounds: unknown, type: ComparedType | undefined): boolean {
  const [low, high] = listOf(bounds)
  return order(own, low, type) >= 0 && order(own, high, type) <= 0
}

function containsIgnoringCase(own: unknown, value: unknown): boolean {
  return String(own).toLowerCase().includes(String(value).toLowerCase())
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Without a type a number may be a text on one side, since those too large for JSON are. */
function isSame(one: unknown, other: unknown, type: ComparedType | undefined): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  const isNumber = isNumeric(one) && isNumeric(other)
  return type !== undefined || isNumber ? order(one, other, type) === 0 : deepText(one) === deepText(other)
}

function deepText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function isNumeric(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
}

/** Values of a type are canonical texts here. */
function order(one: unknown, other: unknown, type: ComparedType | undefined): number {
  if (type === 'json') return compareTexts(fieldOf(type), JSON.stringify(one), JSON.stringify(other))
  if (type !== undefined) return compareTexts(fieldOf(type), String(one), String(other))
  if (isNumeric(one) && isNumeric(other) && (typeof one === 'number' || typeof other === 'number')) {
    return Number(one) - Number(other)
  }
  return textOrder(String(one), String(other))
}

function fieldOf(name: ComparedType): ValueField {
  const type = name === 'decimal' ? ({ name, params: { kind: 'unconstrained' } } as const) : { name }
  return { type, isList: false, isNullable: true }
}

/** The one text of a value in which the service compares it, of a list those of its elements; undefined where it is none of the type. */
function canonical(type: ComparedType, value: unknown): unknown {
  if (Array.isArray(value)) {
    const elements = value.map((one) => canonical(type, one))
    return elements.includes(undefined) ? undefined : elements
  }
  const read = readValue(fieldOf(type), value)
  return 'fault' in read ? undefined : read.text
}

function byAll(sort: readonly Sort[]): (one: Item, other: Item) => number {
  return (one, other) => {
    for (const { field, direction, type, nulls = direction === 'asc' ? 'last' : 'first' } of sort) {
      const known = (item: Item) => {
        const value = valueIn(item, field)
        return type === undefined ? value : (canonical(type, value) ?? null)
      }
      const [first, second] = [known(one), known(other)]
      if (first === null && second === null) continue
      if (first === null || second === null) return (first === null) === (nulls === 'first') ? -1 : 1
      const difference = order(first, second, type)
      if (difference !== 0) return direction === 'asc' ? difference : -difference
    }
    return 0
  }
}

/** Null where the record has none, also of a field that is called `constructor`. */
function valueIn(record: Item, name: string): unknown {
  return Object.hasOwn(record, name) ? (record[name] ?? null) : null
}

function only(record: Item, fields: readonly string[]): Item {
  return Object.fromEntries(fields.map((name) => [name, valueIn(record, name)]))
}
