/**
 * Who may give and take which rights, for every route that changes any (docs/decisions/042): nobody gives more than they
 * hold, nor conditions that would tell them what they may not read; and what they may not give, they may not take.
 */
import type { Collection, Field, Model } from '../model/model.ts'
import {
  type Condition,
  conditionsOf,
  equivalentForms,
  type Tree,
  usesCurrentRoles,
  type Variables,
} from './condition.ts'
import {
  fieldById,
  type PolicyAction,
  type PolicyActions,
  type PolicyContent,
  type PolicyNames,
  usesCurrentUser,
} from './policy.ts'
import type { Rights } from './principal.ts'
import { toPolicies } from './scope.ts'

/** Whoever gives or takes; the model is that of the workspace. */
export type Grantor =
  | { readonly kind: 'everything' }
  | { readonly kind: 'limited'; readonly rights: Extract<Rights, { kind: 'policies' }>; readonly model: Model }

/** What a role brings: an Administrator's is everything, whatever its policies. */
export type RoleGrant = {
  readonly kind: 'administrator' | 'public' | 'custom'
  readonly policies: readonly { readonly content: PolicyContent }[]
}

/** Whoever has `rights`, by a key or not: what a scope leaves of everything is as if policies said it. */
export function grantorOf(rights: Rights, model: Model): Grantor {
  return rights.kind === 'all' ? { kind: 'everything' } : { kind: 'limited', rights: toPolicies(rights, model), model }
}

/** Whether `giver` may give, and so take away, all of `content`. */
export function canGrant(grantor: Grantor, content: PolicyContent): boolean {
  if (grantor.kind === 'everything') return true
  if (!content.entitlements.every((entitlement) => grantor.rights.entitlements.has(entitlement))) return false
  return Object.entries(content.collections).every(([id, actions]) => {
    const collection = grantor.model.collections.get(id)
    // Where nothing is given, an answer would still tell that there is such a collection.
    if (collection === undefined || !knowsCollection(grantor, id)) return false
    const held = heldRights(grantor, collection)
    return Object.entries(actions).every(
      ([kind, wanted]) => wanted === undefined || isHeld(held, kind as ActionKind, wanted),
    )
  })
}

export function canGrantRole(grantor: Grantor, { kind, policies }: RoleGrant): boolean {
  if (grantor.kind === 'everything') return true
  return kind !== 'administrator' && policies.every(({ content }) => canGrant(grantor, content))
}

/**
 * Whether `giver` may change which roles somebody has who holds `contents`: those that name `$CURRENT_ROLES` say
 * something else with every change, so that the giver must hold whatever they can say.
 */
export function canChangeRoles(grantor: Grantor, contents: readonly PolicyContent[]): boolean {
  return contents.every((content) => !usesCurrentRoles(content.collections) || canGrant(grantor, content))
}

/** The names that `giver` knows from what they hold; `missing` is thrown for all others, hidden and unknown alike. */
export function namesVisibleTo(grantor: Grantor, names: PolicyNames, missing: PolicyNames['missing']): PolicyNames {
  if (grantor.kind === 'everything') return names
  return {
    collection(name) {
      const found = names.collection(name)
      return found !== undefined && knowsCollection(grantor, found.id) ? found : undefined
    },
    field(of, name) {
      const found = names.field(of, name)
      return found !== undefined && knowsField(grantor, of, found) ? found : undefined
    },
    missing,
  }
}

type Limited = Extract<Grantor, { kind: 'limited' }>
type ActionKind = keyof PolicyActions
type Detail = { readonly fields: '*' | readonly string[]; readonly filter?: Tree; readonly validation?: Tree }

/** What is held of one collection, by which that which is to be given is measured. */
type HeldRights = {
  readonly collection: Collection
  readonly detailsOf: (of: Collection, kind: ActionKind) => readonly (Detail & { readonly isAll: boolean })[]
  readonly variables: Variables
}

function heldRights({ rights }: Limited, collection: Collection): HeldRights {
  return {
    collection,
    variables: rights,
    detailsOf: (of, kind) =>
      actionsOf(rights, of.id, kind).map((action) => ({ ...detailOf(action), isAll: action === 'all' })),
  }
}

function actionsOf(rights: Limited['rights'], collectionId: string, kind: ActionKind): readonly PolicyAction[] {
  return rights.policies.flatMap((policy) => {
    const action = policy.collections[collectionId]?.[kind]
    return action === undefined || (rights.userId === undefined && usesCurrentUser(policy)) ? [] : [action]
  })
}

const kinds: readonly ActionKind[] = ['read', 'create', 'update', 'delete']

function knowsCollection({ rights }: Limited, id: string): boolean {
  return kinds.some((kind) => actionsOf(rights, id, kind).length > 0)
}

function knowsField({ rights }: Limited, of: Collection, field: Field): boolean {
  const isListed = (action: PolicyAction) => hasField(detailOf(action), field.id)
  return kinds.some((kind) => kind !== 'delete' && actionsOf(rights, of.id, kind).some(isListed))
}

/** One policy of the giver must reach as far as what is wanted: two together allow what neither allows. */
function isHeld(held: HeldRights, kind: ActionKind, wanted: PolicyAction): boolean {
  return held.detailsOf(held.collection, kind).some((action) => {
    if (wanted === 'all') return action.isAll
    const { fields, filter, validation } = detailOf(wanted)
    const hasFields = action.fields === '*' || (fields !== '*' && fields.every((id) => hasField(action, id)))
    if (!hasFields) return false
    const rows = conditionsOf(filter)
    const valid = conditionsOf(validation)
    // A new item has no rows before it: all that is known of it is what it has to be.
    const within = kind === 'create' ? valid : rows
    return narrows(held, rows, action.filter, within) && narrows(held, valid, action.validation, within)
  })
}

/**
 * Whether `conditions` are those of `of` and more, and the giver sees whether each of the others holds, in all rows that
 * meet `within`.
 */
function narrows(
  held: HeldRights,
  conditions: readonly Condition[],
  of: Tree | undefined,
  within: readonly Condition[],
): boolean {
  const forms = conditionsOf(of).map((condition) => equivalentForms(condition, held.variables))
  if (!forms.every((accepted) => isAmong(conditions, accepted))) return false
  const known = new Set(forms.flat())
  return conditions.every(
    ({ text, tree }) =>
      known.has(text) || isReadable(held, held.collection, tree, (field) => isSeenWithin(held, field, within)),
  )
}

/** Whether the giver sees the field in every row that meets the conditions. */
function isSeenWithin(held: HeldRights, field: Field, within: readonly Condition[]): boolean {
  return held
    .detailsOf(held.collection, 'read')
    .some(
      (action) =>
        hasField(action, field.id) &&
        conditionsOf(action.filter).every((condition) => isAmong(within, equivalentForms(condition, held.variables))),
    )
}

/** Whether all fields of a condition are seen; beyond a relation all rows count, so that all have to be seen there. */
function isReadable(held: HeldRights, collection: Collection, tree: Tree, sees: (field: Field) => boolean): boolean {
  return Object.entries(tree).every(([name, value]) => {
    if (name === '_and' || name === '_or')
      return (value as readonly Tree[]).every((part) => isReadable(held, collection, part, sees))
    if (name === '_not') return isReadable(held, collection, value as Tree, sees)
    const field = fieldById(collection, name)
    if (field === undefined || !sees(field)) return false
    return field.kind === 'primitive' || isReadableThrough(held, field.target, value as Tree)
  })
}

function isReadableThrough(held: HeldRights, target: Collection, tree: Tree): boolean {
  const unlimited = held.detailsOf(target, 'read').filter(({ filter }) => conditionsOf(filter).length === 0)
  if (unlimited.length === 0) return false
  const sees = (field: Field) => unlimited.some((action) => hasField(action, field.id))
  return Object.entries(tree).every(([name, value]) =>
    name === '_some' || name === '_every' || name === '_none'
      ? isReadable(held, target, value as Tree, sees)
      : isReadable(held, target, { [name]: value }, sees),
  )
}

function isAmong(conditions: readonly Condition[], accepted: readonly string[]): boolean {
  return conditions.some(({ text }) => accepted.includes(text))
}

function hasField({ fields }: Detail, id: string): boolean {
  return fields === '*' || fields.includes(id)
}

function detailOf(action: PolicyAction): Detail {
  if (action === 'all') return { fields: '*' }
  return { fields: '*', ...action }
}
