/** Who acts in a workspace, and what the workspace's entitlements let them do. */
import { ServiceError } from '../error.ts'
import type { Action } from './access.ts'
import type { Entitlement } from './entitlement.ts'
import type { PolicyContent } from './policy.ts'

/**
 * Rights within one workspace. One object stands for one caller until their rights change, so that whatever was derived
 * from it can be kept beside it.
 */
export type Rights =
  | { readonly kind: 'all' }
  | ScopedRights
  | {
      readonly kind: 'policies'
      /** Undefined for the anonymous caller. */
      readonly userId: string | undefined
      readonly roleIds: readonly string[]
      readonly policies: readonly PolicyContent[]
      readonly entitlements: ReadonlySet<Entitlement>
    }

/** What an API key leaves of its user's rights (scope.ts): an undefined member limits nothing. */
export type ScopedRights = {
  readonly kind: 'scoped'
  readonly rights: Rights
  readonly entitlements: ReadonlySet<Entitlement> | undefined
  /** Actions by a collection's id. */
  readonly collections: ReadonlyMap<string, ReadonlySet<Action>> | undefined
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

/** Whether the scope leaves this action on this collection to whoever has it. */
export function scopeAllows({ collections }: ScopedRights, collectionId: string, action: Action): boolean {
  return collections?.get(collectionId)?.has(action) ?? collections === undefined
}

export function requireEntitlement(rights: Rights, entitlement: Entitlement): void {
  if (!hasEntitlement(rights, entitlement))
    throw new ServiceError('forbidden', `This needs the entitlement ${entitlement}`)
}
