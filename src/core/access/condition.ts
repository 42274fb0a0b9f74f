/**
 * Splits the stored filter of a policy into conditions joined by `and`, so that two filters can be compared: a filter
 * that contains all conditions of another admits no row that the other does not.
 */

import { canonicalJson, isObject } from '../json-object.ts'
import { type Operator, operators } from '../model/vocabulary.ts'

/** A filter as JSON: operators and field ids. */
export type Tree = Readonly<Record<string, unknown>>

/** `text` is canonical: equivalent conditions have the same text, whatever the order of their members. */
export type Condition = { readonly text: string; readonly tree: Tree }

/** Values of a filter's variables for one account. */
export type Variables = { readonly userId: string | undefined; readonly roleIds: readonly string[] }

const CURRENT_USER = '$CURRENT_USER'
const CURRENT_ROLES = '$CURRENT_ROLES'
const PATH: Operator = '_path'

/** Returns an empty list for a filter that every row meets. */
export function conditionsOf(filter: Tree | undefined): readonly Condition[] {
  return Object.entries(filter ?? {}).flatMap(([name, value]): readonly Condition[] => {
    if (name === '_and') return (value as readonly Tree[]).flatMap(conditionsOf)
    if (name.startsWith('_')) return [condition(name, value)]
    if (!isObject(value)) return [condition(name, Array.isArray(value) ? value : { _eq: value })]
    const names = Object.keys(value)
    // A path applies to each operator in the same object.
    const isTest = names.length > 0 && names.every((operator) => tests.has(operator)) && !names.includes(PATH)
    return isTest ? names.map((operator) => condition(name, { [operator]: value[operator] })) : [condition(name, value)]
  })
}

/**
 * Returns the texts of all conditions that a holder of `held` may grant without giving anybody more rows than the holder has:
 * `held` with its variables replaced by the holder's values, and also `held` itself if it means the same for every account or
 * limits every account to its own rows.
 */
export function equivalentForms(held: Condition, { userId, roleIds }: Variables): readonly string[] {
  const bound = mapOperands(held.tree, (operand) => {
    if (operand === CURRENT_USER && userId !== undefined) return userId
    return operand === CURRENT_ROLES ? roleIds : operand
  })
  const text = canonicalJson(bound)
  if (text === held.text) return [text]
  return givesOwn(held.tree, 'more') ? [text, held.text] : [text]
}

/** Returns true if a part of a policy uses `$CURRENT_ROLES`. */
export function usesCurrentRoles(part: unknown): boolean {
  return JSON.stringify(part)?.includes(`"${CURRENT_ROLES}"`) === true
}

const tests: ReadonlySet<string> = new Set(operators)
/** Operators that admit only rows that contain an operand. */
const equalities: ReadonlySet<string> = new Set<Operator>(['_eq', '_in', '_has', '_has_any', '_has_all'])
/** Operators that take a list of operands; for other operators a list is one value, or a path. */
const listed: ReadonlySet<string> = new Set<Operator>(['_in', '_nin', '_between', '_nbetween', '_has_any', '_has_all'])

function condition(name: string, value: unknown): Condition {
  const tree = { [name]: value }
  return { text: canonicalJson(tree), tree }
}

/**
 * Returns true if `$CURRENT_USER` only admits rows that name the caller, so that an account that no row names gets no rows.
 * `admits` says whether rows that meet the tree add to or reduce the admitted rows (negation swaps the two).
 */
function givesOwn(tree: Tree, admits: 'more' | 'fewer'): boolean {
  const other = admits === 'more' ? 'fewer' : 'more'
  return Object.entries(tree).every(([name, value]) => {
    if (name === '_and' || name === '_or') return (value as readonly Tree[]).every((part) => givesOwn(part, admits))
    if (name === '_not' || name === '_none') return givesOwn(value as Tree, other)
    if (name === '_some' || name === '_every') return givesOwn(value as Tree, admits)
    if (!tests.has(name) && isObject(value)) return givesOwn(value, admits)
    const operands: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (operands.includes(CURRENT_ROLES)) return false
    const isEquality = !tests.has(name) || equalities.has(name)
    return !operands.includes(CURRENT_USER) || (isEquality && admits === 'more')
  })
}

/** Returns the tree with its operands mapped, wherever an operand may be a variable. */
function mapOperands(tree: Tree, change: (operand: unknown) => unknown): Tree {
  const parts = Object.entries(tree).map(([name, value]): readonly [string, unknown] => {
    if (tests.has(name) || !isObject(value)) {
      if (!Array.isArray(value)) return [name, change(value)]
      if (tests.has(name)) return [name, listed.has(name) ? value.flatMap(change) : value]
      return [name, value.map((part) => (isObject(part) ? mapOperands(part, change) : part))]
    }
    return [name, mapOperands(value, change)]
  })
  return Object.fromEntries(parts)
}
