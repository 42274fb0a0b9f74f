/**
 * Delegation: decides who may grant and revoke which rights, for every route that changes rights (docs/decisions/042).
 * An account grants at most what it holds, never a condition on fields that it may not read, and may revoke only what
 * it could grant.
 */

import type { Collection, Field, Model } from '../model/model.ts'
import { actions } from './access.ts'
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

/** The account that grants or revokes rights. `model` is that of the workspace. */
export type Grantor =
  | { readonly kind: 'everything' }
  | { readonly kind: 'limited'; readonly rights: Extract<Rights, { kind: 'policies' }>; readonly model: Model }

/** The rights that a role gives. The role Administrator gives everything, whatever its policies. */
export type RoleGrant = {
  readonly kind: 'administrator' | 'public' | 'custom'
  readonly policies: readonly { readonly content: PolicyContent }[]
}

/** Builds the grantor from `rights`. A key's scope over full rights is expressed as policies. */
export function grantorOf(rights: Rights, model: Model): Grantor {
  return rights.kind === 'all' ? { kind: 'everything' } : { kind: 'limited', rights: toPolicies(rights, model), model }
}

/** Returns true if `grantor` may grant, and therefore revoke, all of `content`. */
export function canGrant(grantor: Grantor, content: PolicyContent): boolean {
  if (grantor.kind === 'everything') return true
  if (!content.entitlements.every((entitlement) => grantor.rights.entitlements.has(entitlement))) return false
  return Object.entries(content.collections).every(([id, actions]) => {
    const collection = grantor.model.collections.get(id)
    // Checked even without actions: otherwise the result would reveal that the collection exists.
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
 * Returns true if `grantor` may change the roles of an account that has the policies `contents`. A policy that uses
 * `$CURRENT_ROLES` changes its meaning with the roles, so the grantor must be able to grant it.
 */
export function canChangeRoles(grantor: Grantor, contents: readonly PolicyContent[]): boolean {
  return contents.every((content) => !usesCurrentRoles(content.collections) || canGrant(grantor, content))
}

/**
 * Restricts `names` to those that `grantor` knows from its rights. `missing` is thrown for all others, whether hidden
 * or unknown.
 */
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
type Detail = {
  readonly fields: '*' | readonly string[]
  readonly filter?: Tree
  readonly check?: Tree
  readonly validation?: Tree
}

/** The grantor's rights on one collection, against which the rights to be granted are compared. */
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

function knowsCollection({ rights }: Limited, id: string): boolean {
  return actions.some((kind) => actionsOf(rights, id, kind).length > 0)
}

function knowsField({ rights }: Limited, of: Collection, field: Field): boolean {
  const isListed = (action: PolicyAction) => hasField(detailOf(action), field.id)
  return actions.some((kind) => kind !== 'delete' && actionsOf(rights, of.id, kind).some(isListed))
}

/** A single policy of the grantor must cover `wanted`: two policies combined could allow what neither allows. */
function isHeld(held: HeldRights, kind: ActionKind, wanted: PolicyAction): boolean {
  return held.detailsOf(held.collection, kind).some((action) => {
    if (wanted === 'all') return action.isAll
    const { fields, filter, check, validation } = detailOf(wanted)
    const hasFields = action.fields === '*' || (fields !== '*' && fields.every((id) => hasField(action, id)))
    // Rows pass between those of policies without a check: leaving one out gives more than its holder has.
    const isUnbound = action.check !== undefined && check === undefined
    if (!hasFields || isUnbound) return false
    const rows = conditionsOf(filter)
    const valid = conditionsOf(validation)
    // A new item has no previous row: only its validation is known to hold.
    const within = kind === 'create' ? valid : rows
    return (
      narrows(held, rows, action.filter, within) &&
      narrows(held, conditionsOf(check ?? filter), action.check ?? action.filter, within) &&
      narrows(held, valid, action.validation, within)
    )
  })
}

/**
 * Returns true if `conditions` contain all of `of`, and the grantor may read the fields of every additional condition
 * in all rows that meet `within`.
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

/** Returns true if the grantor may read the field in every row that meets the conditions. */
function isSeenWithin(held: HeldRights, field: Field, within: readonly Condition[]): boolean {
  return held
    .detailsOf(held.collection, 'read')
    .some(
      (action) =>
        hasField(action, field.id) &&
        conditionsOf(action.filter).every((condition) => isAmong(within, equivalentForms(condition, held.variables))),
    )
}

/**
 * Returns true if the grantor may read all fields of a condition. Behind a relation they must be readable in all rows.
 */
function isReadable(held: HeldRights, collection: Collection, tree: Tree, sees: (field: Field) => boolean): boolean {
  return Object.entries(tree).every(([name, value]) => {
    if (name === '_and' || name === '_or')
      return (value as readonly Tree[]).every((part) => isReadable(held, collection, part, sees))
    if (name === '_not') return isReadable(held, collection, value as Tree, sees)
    const field = fieldById(collection, name)
    if (field === undefined || !sees(field)) return false
    if (field.kind === 'primitive') return true
    const far = field.through?.far
    const isLinked = far === undefined || isReadableThrough(held, far.collection, { [far.id]: {} })
    return isLinked && isReadableThrough(held, field.target, value as Tree)
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
