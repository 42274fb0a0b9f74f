/**
 * Evaluates a Filter on one row in memory: true, false, or undefined for SQL's unknown. Used for rows that no database can
 * check: those of connectors, and those not yet written.
 */
import { parseJson } from '../exact-json.ts'
import type { ListTexts } from '../model/codec.ts'
import type { PrimitiveField } from '../model/model.ts'
import { comparisons, type FieldRef, type Filter, type Match } from './filter.ts'
import { testJson } from './json-test.ts'
import { boundText } from './placeholder.ts'
import { compareTexts } from './text-order.ts'

/** A field's canonical text; a list's is the text of a JSON array. */
export type Row = (field: PrimitiveField) => string | null

/** The filter must not contain `related`, since a single row has no other rows. */
export function evaluate(filter: Filter, row: Row): boolean | undefined {
  switch (filter.kind) {
    case 'all':
      return true
    case 'none':
      return false
    case 'and':
      return every(filter.filters.map((part) => evaluate(part, row)))
    case 'or':
      return opposite(every(filter.filters.map((part) => opposite(evaluate(part, row)))))
    case 'not':
      return opposite(evaluate(filter.filter, row))
    case 'isTrue':
      return evaluate(filter.filter, row) === true
    case 'related':
      throw new Error(`the relation ${filter.relation.apiName} was not resolved`)
    case 'null':
      return (visibleValue(filter, row) === null) !== filter.negated
    default:
      return onValue(filter, visibleValue(filter, row))
  }
}

/** The value of a field as its reader sees it: null where it is not visible. */
export function visibleValue({ field, visible }: FieldRef, row: Row): string | null {
  return evaluate(visible, row) === true ? row(field) : null
}

/** The fields whose values `evaluate` needs. */
export function filterFields(filter: Filter): readonly PrimitiveField[] {
  switch (filter.kind) {
    case 'all':
    case 'none':
    case 'related':
      return []
    case 'and':
    case 'or':
      return filter.filters.flatMap(filterFields)
    case 'not':
    case 'isTrue':
      return filterFields(filter.filter)
    default:
      return [filter.field, ...filterFields(filter.visible)]
  }
}

type OnValue = Extract<
  Filter,
  { readonly kind: 'compare' | 'match' | 'between' | 'in' | 'elements' | 'empty' | 'json' }
>

function onValue(filter: OnValue, value: string | null): boolean | undefined {
  if (value === null) return undefined
  const { field } = filter
  switch (filter.kind) {
    case 'compare':
      return comparisons[filter.operator](compareTexts(field, value, boundText(filter.operand)))
    case 'match':
      return isMatch(filter.match, value, filter.operand) !== filter.negated
    case 'between':
      return (
        (compareTexts(field, value, boundText(filter.low)) >= 0 &&
          compareTexts(field, value, boundText(filter.high)) <= 0) !== filter.negated
      )
    case 'in':
      return filter.operands.some((operand) => compareTexts(field, value, operand) === 0) !== filter.negated
    case 'elements':
      return hasElements(filter, elementsOf(value)) !== filter.negated
    case 'empty':
      return (elementsOf(value).length === 0) !== filter.negated
    case 'json': {
      const answer = testJson(filter.test, value)
      return filter.negated ? opposite(answer) : answer
    }
  }
}

/** All elements of a list, including those of nested dimensions. */
function elementsOf(value: string): readonly (string | null)[] {
  return flat(parseJson(value) as ListTexts)
}

function flat(texts: ListTexts): readonly (string | null)[] {
  return texts.flatMap((one) => (typeof one === 'string' || one === null ? [one] : flat(one)))
}

function hasElements(
  { field, operands, quantity }: Extract<Filter, { readonly kind: 'elements' }>,
  elements: readonly (string | null)[],
): boolean {
  const isThere = (operand: string) => elements.some((one) => one !== null && compareTexts(field, one, operand) === 0)
  return quantity === 'any' ? operands.some(isThere) : operands.every(isThere)
}

const matches: Readonly<Record<Match['part'], (text: string, wanted: string) => boolean>> = {
  starts: (text, wanted) => text.startsWith(wanted),
  ends: (text, wanted) => text.endsWith(wanted),
  contains: (text, wanted) => text.includes(wanted),
}

function isMatch({ part, ignoreCase }: Match, value: string, operand: string): boolean {
  return ignoreCase ? matches[part](value.toLowerCase(), operand.toLowerCase()) : matches[part](value, operand)
}

function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}

function opposite(answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : !answer
}
