/**
 * Parses the expression of a check constraint on one column, as the database prints it: comparisons with constants, `between`,
 * lists, lengths, regular expressions, and `and` between them. Undefined for anything else.
 */

import { joinLimits, type Limits } from '../../model/checks.ts'
import { withoutTrailing } from '../../trailing.ts'

export type ReadCheck = typeof readCheck

/** The syntax in which a database prints expressions. */
export type Writing = {
  /** Pattern of a quoted text, as one alternative of a regular expression. */
  readonly text: string
  readonly unquoted: (text: string) => string
  /** True if `length` counts bytes. */
  readonly countsBytes: boolean
  readonly hasPatterns: boolean
}

export type ColumnCheck = { readonly column: string; readonly limits: Limits }

type Node =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'length'; readonly name: string; readonly isInBytes: boolean }
  | { readonly kind: 'number' | 'text'; readonly value: string }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'check'; readonly check: ColumnCheck }

export function readCheck(expression: string, writing: Writing): ColumnCheck | undefined {
  const token = new RegExp(
    `\\s+|${writing.text}|[\`"](?:[^\`"])+[\`"]|\\d+(?:\\.\\d+)?|[a-z_]\\w*|::|<>|!=|<=|>=|[\\s\\S]`,
    'gi',
  )
  const tokens = (expression.match(token) ?? []).filter((part) => part.trim() !== '')
  try {
    const node = readAll(tokens, writing)
    return node.kind === 'check' ? node.check : undefined
  } catch (error) {
    if (error === UNKNOWN) return undefined
    throw error
  }
}

const UNKNOWN = new Error('an expression of another form')

function unknown(): never {
  throw UNKNOWN
}

/** Parses all of `tokens`, by functions that each consume what they understand. */
function readAll(tokens: readonly string[], writing: Writing): Node {
  let at = 0

  function all(): Node {
    let node = comparison()
    while (take('and')) node = both(node, comparison())
    return node
  }

  function take(...words: readonly string[]): boolean {
    const isHere = words.every((word, index) => tokens[at + index]?.toLowerCase() === word)
    if (isHere) at += words.length
    return isHere
  }

  function require(word: string): void {
    if (!take(word)) unknown()
  }

  function comparison(): Node {
    const left = operand()
    const operator = operators.find((one) => take(one))
    if (operator === '=' && take('any', '(')) {
      const list = operand()
      require(')')
      return among(left, list)
    }
    if (operator !== undefined) return compared(operator, left, operand())
    if (take('between')) {
      const from = compared('>=', left, operand())
      require('and')
      return both(from, compared('<=', left, operand()))
    }
    if (take('in', '(')) return among(left, list(')'))
    if (take('~')) return matching(left, operand())
    return left
  }

  function matching(left: Node, right: Node): Node {
    if (!writing.hasPatterns || left.kind !== 'column' || right.kind !== 'text') return unknown()
    return isPortable(right.value) ? check(left.name, { pattern: right.value }) : unknown()
  }

  function operand(): Node {
    let node = primary()
    while (take('::')) node = converted(node, typeName())
    return node
  }

  function typeName(): string {
    const name = take('character', 'varying')
      ? 'text'
      : take('double', 'precision')
        ? 'numeric'
        : (types.get(tokens[at++]?.toLowerCase() ?? '') ?? unknown())
    return take('[', ']') ? `${name}[]` : name
  }

  function list(end: string): Node {
    const items = [operand()]
    while (take(',')) items.push(operand())
    require(end)
    return { kind: 'list', items }
  }

  function primary(): Node {
    if (take('(')) {
      const node = all()
      require(')')
      return node
    }
    if (take('array', '[')) return list(']')
    const sign = take('-') ? '-' : ''
    const part = tokens[at++] ?? unknown()
    if (/^\d/.test(part)) return { kind: 'number', value: sign + plain(part) }
    if (sign !== '') return unknown()
    if (new RegExp(`^${writing.text}$`).test(part)) return { kind: 'text', value: writing.unquoted(part) }
    if (/^[`"]/.test(part)) return { kind: 'column', name: part.slice(1, -1) }
    if (!/^[a-z_]/i.test(part)) return unknown()
    if (!take('(')) return { kind: 'column', name: part }
    const length = lengths.get(part.toLowerCase()) ?? unknown()
    const of = operand()
    require(')')
    if (of.kind !== 'column') return unknown()
    const isInBytes = length === 'bytes' || (length === 'either' && writing.countsBytes)
    return { kind: 'length', name: of.name, isInBytes }
  }

  const node = all()
  return at === tokens.length ? node : unknown()
}

const operators = ['<=', '>=', '<>', '!=', '=', '<', '>'] as const
type Operator = (typeof operators)[number]

const lengths = new Map<string, 'characters' | 'bytes' | 'either'>([
  ['length', 'either'],
  ['char_length', 'characters'],
  ['character_length', 'characters'],
  ['octet_length', 'bytes'],
])

/** Conversions that do not change the compared value. */
const types = new Map([
  ['text', 'text'],
  ['numeric', 'numeric'],
  ['integer', 'integer'],
  ['bigint', 'integer'],
  ['smallint', 'integer'],
])

function converted(node: Node, type: string): Node {
  if (type === 'text' || type === 'text[]') return node.kind === 'number' ? unknown() : node
  if (node.kind !== 'number' && node.kind !== 'text') return unknown()
  const form = type === 'numeric' ? /^-?\d+(\.\d+)?$/ : /^-?\d+$/
  return form.test(node.value) ? { kind: 'number', value: plain(node.value) } : unknown()
}

/** Removes trailing zeros of a fraction. */
function plain(number: string): string {
  return number.includes('.') ? withoutTrailing(withoutTrailing(number, '0'), '.') : number
}

function check(column: string, limits: Limits): Node {
  return { kind: 'check', check: { column, limits } }
}

function both(one: Node, other: Node): Node {
  if (one.kind !== 'check' || other.kind !== 'check' || one.check.column !== other.check.column) return unknown()
  return check(one.check.column, joinLimits([one.check.limits, other.check.limits]))
}

function among(column: Node, list: Node): Node {
  if (column.kind !== 'column' || list.kind !== 'list') return unknown()
  const { items } = list
  const values = items.flatMap((item) => (item.kind === 'text' || item.kind === 'number' ? [item.value] : unknown()))
  if (items.every(({ kind }) => kind === 'text')) return check(column.name, { values })
  if (!items.every(({ kind }) => kind === 'number')) return unknown()
  const sorted = [...values].sort((one, other) => Number(one) - Number(other))
  return check(column.name, { minimum: sorted[0] ?? '', maximum: sorted.at(-1) ?? '' })
}

const mirrored: Readonly<Record<Operator, Operator>> = {
  '<=': '>=',
  '>=': '<=',
  '<': '>',
  '>': '<',
  '=': '=',
  '<>': '<>',
  '!=': '!=',
}

function compared(operator: Operator, left: Node, right: Node): Node {
  if (left.kind === 'number' || left.kind === 'text') {
    if (right.kind !== 'column' && right.kind !== 'length') return unknown()
    return compared(mirrored[operator], right, left)
  }
  if (left.kind === 'length') return right.kind === 'number' ? ofLength(operator, left, right.value) : unknown()
  if (left.kind !== 'column') return unknown()
  if (right.kind === 'number') return check(left.name, bounds[operator]?.(right.value) ?? unknown())
  if (right.kind !== 'text') return unknown()
  if (operator === '=') return check(left.name, { values: [right.value] })
  const isOther = operator === '<>' || operator === '!='
  return isOther && right.value === '' ? check(left.name, { minLength: 1 }) : unknown()
}

const bounds: Readonly<Partial<Record<Operator, (value: string) => Limits>>> = {
  '<=': (maximum) => ({ maximum }),
  '>=': (minimum) => ({ minimum }),
  '<': (exclusiveMaximum) => ({ exclusiveMaximum }),
  '>': (exclusiveMinimum) => ({ exclusiveMinimum }),
  '=': (value) => ({ minimum: value, maximum: value }),
}

/** Converts a length in bytes: n bytes are at most n characters, and at least one if n is not zero. */
function ofLength(operator: Operator, { name, isInBytes }: Node & { readonly kind: 'length' }, text: string): Node {
  const length = Number(text)
  if (!Number.isSafeInteger(length) || length < 0) return unknown()
  const fewest = (minLength: number) => (isInBytes ? { minLength: Math.min(1, minLength) } : { minLength })
  const limits: Readonly<Partial<Record<Operator, Limits>>> = {
    '<=': { maxLength: length },
    '<': { maxLength: Math.max(0, length - 1) },
    '>=': fewest(length),
    '>': fewest(length + 1),
    '=': { ...fewest(length), maxLength: length },
  }
  return check(name, limits[operator] ?? unknown())
}

/** True if a regular expression means the same in PostgreSQL and in JSON Schema: plain characters, lists, groups, counts. */
function isPortable(pattern: string): boolean {
  if (
    !/^(?:[\w @%#&,;:!"'<>=~`/-]|\\[$^.*+?()[\]{}|/]|\[\^?[\w @%#&,;:!"'<>=~`/.$*+?(){}|-]+\]|\((?!\?)|\(\?:|[)^$|*+?]|\{\d+(?:,\d*)?\})*$/.test(
      pattern,
    )
  )
    return false
  try {
    return new RegExp(pattern, 'u').source !== ''
  } catch {
    return false
  }
}
