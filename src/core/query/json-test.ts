/** Tests a JSON value in memory. Containment is that of PostgreSQL's jsonb. */
import { parseJson } from '../exact-json.ts'
import { isObject } from '../json-object.ts'
import { comparisons, type JsonStep, type JsonTest } from './filter.ts'
import { textOrder } from './text-order.ts'

/** Returns undefined for SQL's unknown. `text` is the JSON text of a value that is not null. */
export function testJson(test: JsonTest, text: string): boolean | undefined {
  const value = parseJson(text)
  switch (test.kind) {
    case 'contains':
      return contains(value, parseJson(test.operand), 'top')
    case 'key':
      return hasMember(value, test.operand)
    case 'at':
      return compareAt(test, value)
  }
}

/** Kinds must be equal at each level, except at the top, where an array may contain a scalar. */
export function contains(value: unknown, wanted: unknown, level: 'top' | 'inner' = 'inner'): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && wanted.every((one) => value.some((element) => contains(element, one)))
  }
  if (isObject(wanted)) {
    return (
      isObject(value) &&
      Object.entries(wanted).every(([name, one]) => Object.hasOwn(value, name) && contains(value[name], one))
    )
  }
  return value === wanted || (level === 'top' && Array.isArray(value) && value.includes(wanted))
}

export function hasMember(value: unknown, name: string): value is Readonly<Record<string, unknown>> {
  return isObject(value) && Object.hasOwn(value, name)
}

/** The value at the end of the path; undefined if the path does not exist. */
export function valueAt(value: unknown, path: readonly JsonStep[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof step === 'number') found = Array.isArray(found) ? found[step] : undefined
    else found = hasMember(found, step) ? found[step] : undefined
  }
  return found
}

function compareAt(
  { path, type, comparison, operands }: Extract<JsonTest, { readonly kind: 'at' }>,
  value: unknown,
): boolean | undefined {
  const found = valueAt(value, path)
  if (typeof found !== type) return undefined
  const orders = operands.map((operand) => order(found, type === 'string' ? operand : parseJson(operand)))
  if (comparison === 'in') return orders.includes(0)
  const [one = 0] = orders
  return comparisons[comparison](one)
}

/** Orders strings by code points, as databases do. */
function order(one: unknown, other: unknown): number {
  if (typeof one === 'string' && typeof other === 'string') return textOrder(one, other)
  return Number(one) - Number(other)
}
