/** The meaning of each filter operator as a condition of a Filter, and the reverse. */
import { type Operator, operators } from '../model/vocabulary.ts'
import type { Comparison, JsonTest, Match } from './filter.ts'

/** A condition without its field and its operands. */
export type Meaning =
  | { readonly kind: 'compare'; readonly operator: Comparison }
  | { readonly kind: 'match'; readonly match: Match; readonly negated: boolean }
  | { readonly kind: 'in' | 'between' | 'null' | 'empty'; readonly negated: boolean }
  | { readonly kind: 'elements'; readonly quantity: 'one' | 'any' | 'all'; readonly negated: boolean }
  | { readonly kind: 'json'; readonly test: Pick<JsonTest, 'kind'>; readonly negated: boolean }

export const meanings = {
  _eq: { kind: 'compare', operator: '=' },
  _neq: { kind: 'compare', operator: '<>' },
  _lt: { kind: 'compare', operator: '<' },
  _lte: { kind: 'compare', operator: '<=' },
  _gt: { kind: 'compare', operator: '>' },
  _gte: { kind: 'compare', operator: '>=' },
  _in: { kind: 'in', negated: false },
  _nin: { kind: 'in', negated: true },
  _between: { kind: 'between', negated: false },
  _nbetween: { kind: 'between', negated: true },
  _contains: { kind: 'match', match: { part: 'contains', ignoreCase: false }, negated: false },
  _icontains: { kind: 'match', match: { part: 'contains', ignoreCase: true }, negated: false },
  _ncontains: { kind: 'match', match: { part: 'contains', ignoreCase: false }, negated: true },
  _nicontains: { kind: 'match', match: { part: 'contains', ignoreCase: true }, negated: true },
  _starts_with: { kind: 'match', match: { part: 'starts', ignoreCase: false }, negated: false },
  _nstarts_with: { kind: 'match', match: { part: 'starts', ignoreCase: false }, negated: true },
  _ends_with: { kind: 'match', match: { part: 'ends', ignoreCase: false }, negated: false },
  _nends_with: { kind: 'match', match: { part: 'ends', ignoreCase: false }, negated: true },
  _has: { kind: 'elements', quantity: 'one', negated: false },
  _has_any: { kind: 'elements', quantity: 'any', negated: false },
  _has_all: { kind: 'elements', quantity: 'all', negated: false },
  _has_key: { kind: 'json', test: { kind: 'key' }, negated: false },
  _path: { kind: 'json', test: { kind: 'at' }, negated: false },
  // The operand determines whether these are negated.
  _empty: { kind: 'empty', negated: false },
  _null: { kind: 'null', negated: false },
} as const satisfies Readonly<Record<Operator, Meaning>>

const operatorsByMeaning = new Map<string, Operator>([
  ...operators.map((operator) => [keyOf(meanings[operator]), operator] as const),
  // `_contains` has another meaning for JSON than for strings.
  ['json contains', '_contains'],
])

export function operatorOf(meaning: Meaning): Operator {
  const operator = operatorsByMeaning.get(keyOf(meaning))
  if (operator === undefined) throw new Error(`no operator asks for ${keyOf(meaning)}`)
  return operator
}

function keyOf(meaning: Meaning): string {
  switch (meaning.kind) {
    case 'compare':
      return meaning.operator
    case 'match':
      return `${meaning.negated} ${meaning.match.ignoreCase} ${meaning.match.part}`
    case 'in':
    case 'between':
      return `${meaning.negated} ${meaning.kind}`
    case 'null':
    case 'empty':
      return meaning.kind
    // These have no opposite.
    case 'elements':
      return `elements ${meaning.quantity}`
    case 'json':
      return `json ${meaning.test.kind}`
  }
}

const negatedComparisons: Readonly<Record<Comparison, Comparison>> = {
  '=': '<>',
  '<>': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/** The condition that is true for exactly the other values, except null. */
export function negation<Condition extends Meaning>(condition: Condition): Condition {
  return condition.kind === 'compare'
    ? { ...condition, operator: negatedComparisons[condition.operator] }
    : { ...condition, negated: !condition.negated }
}
