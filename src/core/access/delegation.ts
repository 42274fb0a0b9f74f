/**
 * Delegation: decides who may grant and revoke which rights, for every route that changes rights (docs/decisions/042). An
 * account grants at most what it holds, never a condition on fields that it may not read, and may revoke only what it could
 * grant.
 */

import { lazily } from '../lazily.ts'
import type { Collection, Field, Model } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { actions, fieldActions } from './access.ts'
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
  | {
      readonly kind: 'limited'
      readonly rights: Extract<Rights, { kind: 'policies' }>
      readonly model: Model
      /** Its rights on a collection, one for each of its policies. */
      readonly held: (collectionId: string, kind: ActionKind) => readonly Held[]
    }

/** The rights that a role gives. The role Administrator gives everything, whatever its policies. */
export type RoleGrant = {
  readonly kind: 'administrator' | 'public' | 'custom'
  readonly policies: readonly { readonly content: PolicyContent }[]
}

/** Builds the grantor from `rights`. A key's scope over full rights is expressed as policies. */
export function grantorOf(rights: Rights, model: Model): Grantor {
  if (rights.kind === 'all') return { kind: 'everything' }
  const policies = toPolicies(rights, model)
  const known = new Map<string, readonly Held[]>()
  return {
    kind: 'limited',
    rights: policies,
    model,
    held: (collectionId, kind) => {
      const name = `${kind} ${collectionId}`
      const held = known.get(name) ?? actionsOf(policies, collectionId, kind).map((action) => heldBy(action, policies))
      known.set(name, held)
      return held
    },
  }
}

/** Returns true if `grantor` may grant, and therefore revoke, all of each of `contents`. */
export function* canGrant(grantor: Grantor, contents: readonly PolicyContent[]): Parts<boolean> {
  if (grantor.kind === 'everything') return true
  for (const { entitlements, collections } of contents) {
    if (!entitlements.every((entitlement) => grantor.rights.entitlements.has(entitlement))) return false
    for (const [id, actions] of Object.entries(collections)) {
      yield
      const collection = grantor.model.collections.get(id)
      // Checked even without actions: otherwise the result would reveal that the collection exists.
      if (collection === undefined || !knowsCollection(grantor, id)) return false
      for (const [kind, wanted] of Object.entries(actions)) {
        if (wanted !== undefined && !isHeld(grantor, collection, kind as ActionKind, wanted)) return false
      }
    }
  }
  return true
}

export function* canGrantRole(grantor: Grantor, { kind, policies }: RoleGrant): Parts<boolean> {
  if (grantor.kind === 'everything') return true
  if (kind === 'administrator') return false
  return yield* canGrant(
    grantor,
    policies.map(({ content }) => content),
  )
}

/**
 * Returns true if `grantor` may change the roles of an account that has the policies `contents`. A policy that uses
 * `$CURRENT_ROLES` changes its meaning with the roles, so the grantor must be able to grant it.
 */
export function canChangeRoles(grantor: Grantor, contents: readonly PolicyContent[]): Parts<boolean> {
  return canGrant(
    grantor,
    contents.filter(({ collections }) => usesCurrentRoles(collections)),
  )
}

/** Restricts `names` to those that `grantor` knows from its rights. Throws `missing` for all other names, hidden or unknown. */
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

/** What one policy of the grantor allows; rights to be granted are compared with it. */
type Held = {
  readonly isAll: boolean
  /** Undefined for all fields. */
  readonly fields: ReadonlySet<string> | undefined
  readonly filter: Bound
  /** Equal to the filter if the policy has no check. */
  readonly check: Bound
  readonly hasCheck: boolean
  readonly validation: Bound
}

/** For each condition, the texts that are accepted in its place. */
type Bound = readonly (readonly string[])[]

function heldBy(action: PolicyAction, variables: Variables): Held {
  const { fields, filter, check, validation } = detailOf(action)
  const bound = (tree: Tree | undefined) => conditionsOf(tree).map((condition) => equivalentForms(condition, variables))
  const rows = bound(filter)
  return {
    isAll: action === 'all',
    fields: fields === '*' ? undefined : new Set(fields),
    filter: rows,
    check: check === undefined ? rows : bound(check),
    hasCheck: check !== undefined,
    validation: bound(validation),
  }
}

function actionsOf(rights: Limited['rights'], collectionId: string, kind: ActionKind): readonly PolicyAction[] {
  return rights.policies.flatMap((policy) => {
    const action = policy.collections[collectionId]?.[kind]
    return action === undefined || (rights.userId === undefined && usesCurrentUser(policy)) ? [] : [action]
  })
}

function knowsCollection({ held }: Limited, id: string): boolean {
  return actions.some((kind) => held(id, kind).length > 0)
}

function knowsField({ held }: Limited, of: Collection, field: Field): boolean {
  return fieldActions.some((kind) => held(of.id, kind).some((action) => hasField(action, field.id)))
}

/** A single policy of the grantor must cover `wanted`: two policies combined could allow what neither allows. */
function isHeld(grantor: Limited, collection: Collection, kind: ActionKind, wanted: PolicyAction): boolean {
  const held = grantor.held(collection.id, kind)
  if (wanted === 'all') return held.some(({ isAll }) => isAll)
  const { fields, filter, check, validation } = detailOf(wanted)
  const [rows, checked, valid] = [conditionsOf(filter), conditionsOf(check ?? filter), conditionsOf(validation)]
  // A new item has no previous row: only its validation is known to hold.
  const within = textsOf(kind === 'create' ? valid : rows)
  const reads = grantor.held(collection.id, 'read')
  const sees = (field: Field) => reads.some((action) => hasField(action, field.id) && contains(within, action.filter))
  const limit = (conditions: readonly Condition[]) =>
    limitOf(conditions, (tree) => isReadable(grantor, collection, tree, sees))
  const [rowLimit, checkLimit, validLimit] = [limit(rows), limit(checked), limit(valid)]
  return held.some((action) => {
    const hasFields = action.fields === undefined || (fields !== '*' && fields.every((id) => hasField(action, id)))
    // Rows may pass between policies without a check, so omitting the check would grant more than the holder has.
    const isUnbound = action.hasCheck && check === undefined
    return (
      !isUnbound &&
      hasFields &&
      narrows(rowLimit, action.filter) &&
      narrows(checkLimit, action.check) &&
      narrows(validLimit, action.validation)
    )
  })
}

/** The conditions, and those whose fields the grantor may not read. */
type Limit = { readonly texts: ReadonlySet<string>; readonly unreadable: () => readonly string[] }

function limitOf(conditions: readonly Condition[], isReadable: (tree: Tree) => boolean): Limit {
  const unreadable = () => conditions.flatMap(({ text, tree }) => (isReadable(tree) ? [] : [text]))
  return { texts: textsOf(conditions), unreadable: lazily(unreadable) }
}

function textsOf(conditions: readonly Condition[]): ReadonlySet<string> {
  return new Set(conditions.map(({ text }) => text))
}

/** Returns true if a limit contains all conditions of `held`, and the grantor may read the fields of every additional one. */
function narrows({ texts, unreadable }: Limit, held: Bound): boolean {
  return contains(texts, held) && unreadable().every((text) => held.some((forms) => forms.includes(text)))
}

function contains(texts: ReadonlySet<string>, bound: Bound): boolean {
  return bound.every((forms) => forms.some((text) => texts.has(text)))
}

/** Returns true if the grantor may read all fields of a condition. Fields behind a relation must be readable in all rows. */
function isReadable(grantor: Limited, collection: Collection, tree: Tree, sees: (field: Field) => boolean): boolean {
  return Object.entries(tree).every(([name, value]) => {
    if (name === '_and' || name === '_or')
      return (value as readonly Tree[]).every((part) => isReadable(grantor, collection, part, sees))
    if (name === '_not') return isReadable(grantor, collection, value as Tree, sees)
    const field = fieldById(collection, name)
    if (field === undefined || !sees(field)) return false
    if (field.kind === 'primitive') return true
    const far = field.through?.far
    const isLinked = far === undefined || isReadableThrough(grantor, far.collection, { [far.id]: {} })
    return isLinked && isReadableThrough(grantor, field.target, value as Tree)
  })
}

function isReadableThrough(grantor: Limited, target: Collection, tree: Tree): boolean {
  const unlimited = grantor.held(target.id, 'read').filter(({ filter }) => filter.length === 0)
  if (unlimited.length === 0) return false
  const sees = (field: Field) => unlimited.some((action) => hasField(action, field.id))
  return Object.entries(tree).every(([name, value]) =>
    name === '_some' || name === '_every' || name === '_none'
      ? isReadable(grantor, target, value as Tree, sees)
      : isReadable(grantor, target, { [name]: value }, sees),
  )
}

function hasField({ fields }: Held, id: string): boolean {
  return fields === undefined || fields.has(id)
}

type Detail = {
  readonly fields: '*' | readonly string[]
  readonly filter?: Tree
  readonly check?: Tree
  readonly validation?: Tree
}

function detailOf(action: PolicyAction): Detail {
  if (action === 'all') return { fields: '*' }
  return { fields: '*', ...action }
}
