/** The principal's rights in a workspace, and checks of the entitlements. */
import { ServiceError } from '../error.ts'
import type { Action } from './access.ts'
import type { Entitlement } from './entitlement.ts'
import type { PolicyContent } from './policy.ts'

/** Rights within one workspace. The same object is used until the caller's rights change, so that it can be a cache key. */
export type Rights =
  | {
      readonly kind: 'all'
      /** The owner of private views. */
      readonly userId?: string
    }
  | ScopedRights
  | {
      readonly kind: 'policies'
      /** Undefined for the anonymous caller. */
      readonly userId: string | undefined
      readonly roleIds: readonly string[]
      readonly policies: readonly PolicyContent[]
      readonly entitlements: ReadonlySet<Entitlement>
    }

/** The rights of an API key: those of its user, limited by its scope (scope.ts). An undefined member limits nothing. */
export type ScopedRights = {
  readonly kind: 'scoped'
  readonly rights: Rights
  readonly entitlements: ReadonlySet<Entitlement> | undefined
  /** Actions by collection id. */
  readonly collections: ReadonlyMap<string, ReadonlySet<Action>> | undefined
  /** For reading as another principal: the caller's rights, which limit these rights to reads of both. */
  readonly within?: Rights
}

export type HeldPolicy = { readonly id: string; readonly name: string; readonly content: PolicyContent }

/** The subject of an explanation or test: rights, and the policies behind them without duplicates. */
export type Principal = {
  readonly rights: Rights
  readonly roleIds: readonly string[]
  readonly policies: readonly HeldPolicy[]
  /** Set for roles without a particular user: the value of `$CURRENT_USER` is unknown. */
  readonly isAnybody?: true
}

export const noRights: Extract<Rights, { kind: 'policies' }> = {
  kind: 'policies',
  userId: undefined,
  roleIds: [],
  policies: [],
  entitlements: new Set(),
}

export function hasEntitlement(rights: Rights, entitlement: Entitlement): boolean {
  if (rights.kind === 'scoped') {
    return (rights.entitlements?.has(entitlement) ?? true) && hasEntitlement(rights.rights, entitlement)
  }
  return rights.kind === 'all' || rights.entitlements.has(entitlement)
}

/** Returns true if the scope permits this action on this collection. */
export function scopeAllows({ collections }: ScopedRights, collectionId: string, action: Action): boolean {
  return collections?.get(collectionId)?.has(action) ?? collections === undefined
}

/** Returns true if the caller may see names and contents of policies. */
export function readsPolicies(rights: Rights): boolean {
  return hasEntitlement(rights, 'workspaceMembers:read') || hasEntitlement(rights, 'workspaceMembers:edit')
}

export function requireEntitlement(rights: Rights, entitlement: Entitlement): void {
  if (!hasEntitlement(rights, entitlement))
    throw new ServiceError('forbidden', `Requires the entitlement ${entitlement}`)
}
