/** What lists and JSON values hold: operands drawn from values that are stored, and what filters on them mean, naively. */
import { isDeepStrictEqual } from 'node:util'
import fc, { type Arbitrary } from 'fast-check'
import type { Operand } from './rows.ts'

/** What filters on the inside of a field are given. */
export type Inside =
  | { readonly kind: 'list'; readonly elements: readonly Operand[] }
  | {
      readonly kind: 'json'
      readonly contained: readonly Operand[]
      readonly names: readonly Operand[]
      readonly paths: readonly (readonly Step[])[]
      /** Of one type each, since a statement depends on it. */
      readonly scalars: readonly (readonly Operand[])[]
    }

type Step = string | number

export function insideOfJson(stored: readonly unknown[], seed: number): Inside {
  const places = stored.flatMap((value) => [...placesOf(value, [])])
  const pruned = fc.sample(fc.constantFrom(...stored).chain(anyPruned), { seed, numRuns: 40 })
  const leaves = [...new Set(places.map(({ value }) => value))]
  const paths = places.map(({ path }) => path).filter((path) => path.length > 0)
  return {
    kind: 'json',
    contained: [...pruned, ...leaves.slice(0, 20), [], {}, null, [null], { a: {} }, [[]]].map(asJson),
    names: [...new Set([...paths.flat().map(String), '', 'a', '0', '_eq', 'é"\\', '😀', 'none'])]
      .slice(0, 20)
      .map(plain),
    paths: [...paths.slice(0, 60), ['a'], ['0'], [0], ['a', 0], ['é"\\'], ['😀', 'a'], ['a', 'b', 'c']],
    scalars: (['string', 'number', 'boolean'] as const).map((type) =>
      [...leaves.filter((leaf) => typeof leaf === type).slice(0, 30), ...others[type]].map(asJson),
    ),
  }
}

const others = { string: ['', 'null', 'A', '5', '\uffff', '😀', ' '], number: [0, 1, -1.5, 5], boolean: [true, false] }

function plain(text: string): Operand {
  return { value: text, sent: text, text }
}

function asJson(value: unknown): Operand {
  return { value, sent: value, text: JSON.stringify(value) }
}

function* placesOf(value: unknown, path: readonly Step[]): Generator<{ path: readonly Step[]; value: unknown }> {
  if (typeof value !== 'object' || value === null) yield { path, value }
  else if (Array.isArray(value)) for (const [index, one] of value.entries()) yield* placesOf(one, [...path, index])
  else for (const [name, one] of Object.entries(value)) yield* placesOf(one, [...path, name])
}

/** Some of what the value holds, or nearly. */
function anyPruned(value: unknown): Arbitrary<unknown> {
  if (Array.isArray(value)) {
    const inner = fc.subarray([...value]).chain((some) => fc.tuple(...some.map(anyPruned)))
    return value.length === 0 ? fc.constant(value) : fc.oneof(inner, ...value.map(anyPruned))
  }
  if (typeof value !== 'object' || value === null) return fc.constant(value)
  return fc
    .subarray(Object.entries(value))
    .chain((some) => fc.tuple(...some.map(([name, one]) => anyPruned(one).map((less) => [name, less] as const))))
    .map((entries) => Object.fromEntries(entries))
}

/** Null is unknown, as everywhere in the oracle. */
type Truth = boolean | null

/** Of a list that is there; `same` compares its elements. */
export function listHolds(
  operator: '_has' | '_has_any' | '_has_all',
  list: readonly unknown[],
  operand: unknown,
  same: (one: unknown, other: unknown) => boolean,
): boolean {
  const has = (wanted: unknown) => list.some((one) => one !== null && same(one, wanted))
  if (operator === '_has') return has(operand)
  const wanted = operand as readonly unknown[]
  return operator === '_has_any' ? wanted.some(has) : wanted.every(has)
}

export function jsonContains(value: unknown, wanted: unknown): boolean {
  const isScalar = typeof wanted !== 'object' || wanted === null
  return isScalar && Array.isArray(value) ? value.includes(wanted) : isInside(value, wanted)
}

function isInside(value: unknown, wanted: unknown): boolean {
  if (isDeepStrictEqual(value, wanted)) return true
  if (typeof value !== 'object' || typeof wanted !== 'object' || value === null || wanted === null) return false
  if (Array.isArray(value) !== Array.isArray(wanted)) return false
  if (Array.isArray(value)) {
    return (wanted as readonly unknown[]).every((one) => value.some((element) => isInside(element, one)))
  }
  const own = new Map(Object.entries(value))
  return Object.entries(wanted).every(([name, one]) => own.has(name) && isInside(own.get(name), one))
}

export function hasKey(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).includes(name)
}

export function pathHolds(value: unknown, { _path, ...tests }: { readonly [name: string]: unknown }): Truth {
  let found = value
  for (const step of _path as readonly Step[]) {
    const isList = Array.isArray(found)
    const isObject = typeof found === 'object' && found !== null && !isList
    if (typeof step === 'number' ? !isList : !isObject) found = undefined
    else found = new Map<unknown, unknown>(Object.entries(found as object)).get(String(step))
  }
  return allOf(Object.entries(tests).map(([operator, operand]) => scalarHolds(operator, found, operand)))
}

function allOf(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function scalarHolds(operator: string, found: unknown, operand: unknown): Truth {
  const operands = Array.isArray(operand) ? (operand as readonly unknown[]) : [operand]
  if (operands.length === 0) return operator === '_nin'
  if (typeof found !== typeof operands[0] || found === null || typeof found === 'object') return null
  const [one = 0, other = 0] = operands.map((wanted) => compareScalars(found, wanted))
  switch (operator) {
    case '_eq':
      return one === 0
    case '_neq':
      return one !== 0
    case '_lt':
      return one < 0
    case '_lte':
      return one <= 0
    case '_gt':
      return one > 0
    case '_gte':
      return one >= 0
    case '_in':
      return operands.includes(found)
    case '_nin':
      return !operands.includes(found)
    case '_between':
      return one >= 0 && other <= 0
    case '_nbetween':
      return !(one >= 0 && other <= 0)
    default:
      throw new Error(`the oracle does not know ${operator} at a path`)
  }
}

function compareScalars(one: unknown, other: unknown): number {
  if (typeof one === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(String(other)))
  return Number(one) - Number(other)
}
