/**
 * Parses conditions on the inside of a JSON value: containment, and comparisons with the scalar at a path
 * (docs/contract.md#filters).
 */
import { isRawNumber, parseJson } from '../exact-json.ts'
import { exceedsLimits } from '../json-limits.ts'
import { shortName } from '../message-text.ts'
import { decodeJsonValue, decodeString, jsonOrText } from '../model/codec/text.ts'
import { operatorsAtPath } from '../model/vocabulary.ts'
import { type Comparison, type FieldRef, type Filter, type JsonScalar, type JsonStep, none, not } from './filter.ts'
import { queryFault, type RawFilter } from './parse.ts'

/** Limits of a contained value, because each array in it may cost a separate search. */
const CONTAINED = { depth: 10, values: 50 }
const MAX_PATH = 32
const MAX_PLACE = 2_147_483_647

export type JsonReading = {
  readonly form: RawFilter['form']
  readonly maxOperands: number
  /** Called once for each comparison. */
  readonly count: () => void
  /** The value of a variable such as `$CURRENT_USER`; undefined for other operands. */
  readonly variable: (operand: unknown, path: string) => string | readonly string[] | undefined
}

/** Checks the JSON text of a containment test. */
export function requireContainable(text: string, path: string): string {
  const excess = exceedsLimits(parseJson(text), CONTAINED)
  if (excess !== undefined) throw queryFault(path, excess)
  return text
}

/** Parses the name of a member. */
export function memberName(operand: unknown, path: string): string {
  const decoded = decodeString({ length: 'unlimited' }, operand)
  if ('fault' in decoded) throw queryFault(path, decoded.fault)
  return decoded.ok
}

/** Parses `{_path: […], _eq: …}`: one condition for each operator beside the path. */
export function conditionsAtPath(
  reading: JsonReading,
  ref: FieldRef,
  part: Readonly<Record<string, unknown>>,
  path: string,
): readonly Filter[] {
  const { _path, ...tests } = part
  const steps = readSteps(_path, `${path}._path`)
  const named = Object.entries(tests)
  if (named.length === 0) throw queryFault(path, `needs an operator beside _path: ${operatorsAtPath.join(', ')}`)
  return named.map(([name, operand]) => {
    reading.count()
    const at = `${path}.${shortName(name)}`
    const test = (comparison: Comparison | 'in', { type, texts }: Operands): Filter => ({
      kind: 'json',
      ...ref,
      negated: false,
      test: { kind: 'at', path: steps, type, comparison, operands: texts },
    })
    if (!isAtPath(name)) throw queryFault(at, `is not an operator at a path; allowed: ${operatorsAtPath.join(', ')}`)
    switch (name) {
      case '_in':
      case '_nin': {
        const operands = readList(reading, operand, at)
        const isOneOf = operands.texts.length === 0 ? none : test('in', operands)
        return name === '_in' ? isOneOf : not(isOneOf)
      }
      case '_between':
      case '_nbetween': {
        const { type, texts } = ordered(readList(reading, operand, at), at)
        const [low = '', high = ''] = texts
        if (texts.length !== 2) throw queryFault(at, 'must be a list of two values')
        const isBetween: Filter = {
          kind: 'and',
          filters: [test('>=', { type, texts: [low] }), test('<=', { type, texts: [high] })],
        }
        return name === '_between' ? isBetween : not(isBetween)
      }
      case '_eq':
        return test('=', readScalar(reading, operand, at))
      case '_neq':
        return test('<>', readScalar(reading, operand, at))
      default:
        return test(orders[name], ordered(readScalar(reading, operand, at), at))
    }
  })
}

const orders = { _lt: '<', _lte: '<=', _gt: '>', _gte: '>=' } as const

function isAtPath(name: string): name is (typeof operatorsAtPath)[number] {
  return (operatorsAtPath as readonly string[]).includes(name)
}

/** Parses names of members, and integers as indexes of lists. In a query string every step is a name. */
function readSteps(sent: unknown, path: string): readonly JsonStep[] {
  if (!Array.isArray(sent) || sent.length === 0) throw queryFault(path, 'must be a list of names')
  if (sent.length > MAX_PATH) throw queryFault(path, `has more than ${MAX_PATH} names`)
  return sent.map((step: unknown, index) => {
    if (typeof step !== 'number') return memberName(step, `${path}[${index}]`)
    if (Number.isInteger(step) && step >= 0 && step <= MAX_PLACE) return step
    throw queryFault(`${path}[${index}]`, 'must be a name, or the place in a list')
  })
}

/** Operands of one type. */
type Operands = { readonly type: JsonScalar; readonly texts: readonly string[] }

function readScalar(reading: JsonReading, sent: unknown, path: string): Operands {
  const bound = reading.variable(sent, path)
  if (Array.isArray(bound)) throw queryFault(path, 'is a list')
  if (typeof bound === 'string') return { type: 'string', texts: [bound] }
  const value = reading.form === 'text' && typeof sent === 'string' ? jsonOrText(sent) : sent
  const decoded = decodeJsonValue(value)
  if ('fault' in decoded) throw queryFault(path, decoded.fault)
  if (typeof value === 'string') return { type: 'string', texts: [value] }
  if (typeof value === 'number' || isRawNumber(value)) return { type: 'number', texts: [decoded.ok] }
  if (typeof value === 'boolean') return { type: 'boolean', texts: [decoded.ok] }
  throw queryFault(path, 'must be a text, a number, true or false')
}

function readList(reading: JsonReading, sent: unknown, path: string): Operands {
  const bound = reading.variable(sent, path)
  if (Array.isArray(bound)) return { type: 'string', texts: bound }
  if (!Array.isArray(sent)) throw queryFault(path, 'must be a list')
  const { maxOperands } = reading
  if (sent.length > maxOperands) throw queryFault(path, `has more than ${maxOperands} values`)
  const read = sent.map((one, index) => readScalar(reading, one, `${path}[${index}]`))
  const [first] = read
  const other = read.findIndex(({ type }) => type !== first?.type)
  if (other > 0) throw queryFault(`${path}[${other}]`, `must be a ${first?.type}, as the first`)
  return { type: first?.type ?? 'string', texts: read.flatMap(({ texts }) => texts) }
}

function ordered(operands: Operands, path: string): Operands {
  if (operands.type === 'boolean') throw queryFault(path, 'must be a text or a number')
  return operands
}
