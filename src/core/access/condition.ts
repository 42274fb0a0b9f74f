/**
 * The filter of a policy, as stored, taken apart into the conditions that must all hold, so that two filters can be
 * compared: one that has all conditions of another and more admits no more rows.
 */
import { operators } from '../model/operator.ts'

/** A filter as JSON: operators, and the ids of fields. */
export type Tree = Readonly<Record<string, unknown>>

/** `text` is the same for conditions that say the same, whatever the order of their members. */
export type Condition = { readonly text: string; readonly tree: Tree }

/** Whom the variables of a filter stand for. */
export type Variables = { readonly userId: string | undefined; readonly roleIds: readonly string[] }

const CURRENT_USER = '$CURRENT_USER'
const CURRENT_ROLES = '$CURRENT_ROLES'

/** None for a filter that every row meets. */
export function conditionsOf(filter: Tree | undefined): readonly Condition[] {
  return Object.entries(filter ?? {}).flatMap(([name, value]): readonly Condition[] => {
    if (name === '_and') return (value as readonly Tree[]).flatMap(conditionsOf)
    if (name.startsWith('_')) return [condition(name, value)]
    if (!isTree(value)) return [condition(name, Array.isArray(value) ? value : { _eq: value })]
    const names = Object.keys(value)
    const isTest = names.length > 0 && names.every((operator) => tests.has(operator))
    return isTest ? names.map((operator) => condition(name, { [operator]: value[operator] })) : [condition(name, value)]
  })
}

/**
 * The texts of conditions that admit nobody else to more than `held` admits its holder to: with the holder in place of
 * the variables, and as it is where it says the same for everybody or gives everybody their own rows only.
 */
export function equivalentForms(held: Condition, { userId, roleIds }: Variables): readonly string[] {
  const bound = mapOperands(held.tree, (operand) => {
    if (operand === CURRENT_USER && userId !== undefined) return userId
    return operand === CURRENT_ROLES ? roleIds : operand
  })
  const text = canonical(bound)
  if (text === held.text) return [text]
  return givesOwn(held.tree, 'more') ? [text, held.text] : [text]
}

/** Whether a part of a policy names `$CURRENT_ROLES`. */
export function usesCurrentRoles(part: unknown): boolean {
  return JSON.stringify(part)?.includes(`"${CURRENT_ROLES}"`) === true
}

const tests: ReadonlySet<string> = new Set(operators)

function condition(name: string, value: unknown): Condition {
  const tree = { [name]: value }
  return { text: canonical(tree), tree }
}

/**
 * Whether whoever asks gets, through `$CURRENT_USER`, only rows that name them, so that an account that no row names gets
 * less than anybody. `admits` says whether rows that meet the tree are more or fewer of those that are admitted.
 */
function givesOwn(tree: Tree, admits: 'more' | 'fewer'): boolean {
  const other = admits === 'more' ? 'fewer' : 'more'
  return Object.entries(tree).every(([name, value]) => {
    if (name === '_and' || name === '_or') return (value as readonly Tree[]).every((part) => givesOwn(part, admits))
    if (name === '_not' || name === '_none') return givesOwn(value as Tree, other)
    if (name === '_some' || name === '_every') return givesOwn(value as Tree, admits)
    if (!tests.has(name) && isTree(value)) return givesOwn(value, admits)
    const operands: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (operands.includes(CURRENT_ROLES)) return false
    const isEquality = !tests.has(name) || name === '_eq' || name === '_in'
    return !operands.includes(CURRENT_USER) || (isEquality && admits === 'more')
  })
}

/** The same tree with other operands, in the places where a text may be a variable. */
function mapOperands(tree: Tree, change: (operand: unknown) => unknown): Tree {
  const parts = Object.entries(tree).map(([name, value]): readonly [string, unknown] => {
    if (tests.has(name) || !isTree(value)) {
      if (!Array.isArray(value)) return [name, change(value)]
      if (tests.has(name)) return [name, value.flatMap(change)]
      return [name, value.map((part) => (isTree(part) ? mapOperands(part, change) : part))]
    }
    return [name, mapOperands(value, change)]
  })
  return Object.fromEntries(parts)
}

/** The database keeps the members of a JSON object in an order of its own. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isTree(part) ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))) : part,
  )
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
