/**
 * The rule on giving and taking rights (src/core/access/delegation.ts) as the routes ask it: whoever acts, under the model
 * of this moment, and what is thrown where they may not.
 */
import {
  canChangeRoles,
  canGrant,
  canGrantRole,
  type Grantor,
  grantorOf,
  type RoleGrant,
} from '../../core/access/delegation.ts'
import type { PolicyContent } from '../../core/access/policy.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import type { SqlDriver } from '../../ports.ts'
import { loadModelVersion, type WorkspaceRow } from '../../store/workspaces.ts'
import { type Caller, rightsNow } from '../caller/callers.ts'
import { notFound } from '../caller/directory.ts'
import type { ModelCache } from '../model/model-cache.ts'

/**
 * The caller as a giver and taker of rights in the workspace: with what they hold at this moment, which may be less than when
 * their request began. Throws 401 and 403 where they may not change its members by now.
 */
export type LoadGrantor = (caller: Caller, workspace: WorkspaceRow) => Promise<Grantor>

export function createLoadGrantor(database: SqlDriver, models: ModelCache): LoadGrantor {
  return async (caller, workspace) => {
    const rights = await rightsNow(database, caller, workspace.id)
    requireEntitlement(rights, 'workspaceMembers:edit')
    return rights.kind === 'all'
      ? { kind: 'everything' }
      : grantorOf(rights, await loadCurrentModel(database, models, workspace))
  }
}

/** The model of this moment, whatever the request has seen on its way in. Throws 404 where the workspace is gone. */
export async function loadCurrentModel(
  database: SqlDriver,
  models: ModelCache,
  workspace: WorkspaceRow,
): Promise<Model> {
  const version = await loadModelVersion(database, workspace.id)
  return version === undefined ? notFound('workspaces') : models.load(workspace, version)
}

type Content = { readonly content: PolicyContent }

/** Throws 403 unless the giver may give all of the policies. */
export function requireGrantable(grantor: Grantor, policies: readonly Content[]): void {
  if (!policies.every(({ content }) => canGrant(grantor, content))) throw grantRefused()
}

/** Throws 403 unless the giver may take the policies away, or change them. */
export function requireRevocable(grantor: Grantor, policies: readonly Content[]): void {
  if (!policies.every(({ content }) => canGrant(grantor, content))) throw revocationRefused()
}

/** Throws 403 unless the giver may give somebody the role. */
export function requireRoleGrantable(grantor: Grantor, role: RoleGrant): void {
  if (canGrantRole(grantor, role)) return
  if (role.kind === 'administrator') {
    throw new ServiceError('forbidden', 'Only an Administrator can assign the role Administrator')
  }
  throw grantRefused()
}

/** Throws 403 unless the giver may take these roles from whoever has them. */
export function requireRolesRevocable(grantor: Grantor, roles: readonly RoleGrant[]): void {
  for (const role of roles) {
    if (canGrantRole(grantor, role)) continue
    if (role.kind !== 'administrator') throw revocationRefused()
    throw new ServiceError('forbidden', 'Only an Administrator can remove, suspend or demote an Administrator')
  }
}

/** Throws 403 unless the giver may change which roles somebody has who has `before`. */
export function requireRolesChangeable(grantor: Grantor, before: readonly Pick<RoleGrant, 'policies'>[]): void {
  const contents = before.flatMap(({ policies }) => policies.map(({ content }) => content))
  if (!canChangeRoles(grantor, contents)) throw grantRefused()
}

export function grantRefused(): ServiceError {
  return new ServiceError('forbidden', 'You cannot grant rights that you do not hold')
}

function revocationRefused(): ServiceError {
  return new ServiceError('forbidden', 'You cannot revoke rights that you do not hold')
}
