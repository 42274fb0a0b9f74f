/**
 * The rule on giving and taking rights (src/core/access/delegation.ts) as the routes ask it: whoever acts, under the model
 * of this moment, and what is thrown where they may not.
 */
import {
  type GivenRole,
  type Giver,
  giverOf,
  mayChangeRoles,
  mayGive,
  mayGiveRole,
} from '../../core/access/delegation.ts'
import type { PolicyContent } from '../../core/access/policy.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import type { SqlDriver } from '../../ports.ts'
import { loadModelVersion, type WorkspaceRow } from '../../store/workspaces.ts'
import { type Caller, rightsNow } from '../caller/callers.ts'
import { missing } from '../caller/directory.ts'
import type { ModelCache } from '../model/model-cache.ts'

/**
 * The caller as a giver and taker of rights in the workspace: with what they hold at this moment, which may be less than when
 * their request began. Throws 401 and 403 where they may not change its members by now.
 */
export type LoadGiver = (caller: Caller, workspace: WorkspaceRow) => Promise<Giver>

export function createLoadGiver(database: SqlDriver, models: ModelCache): LoadGiver {
  return async (caller, workspace) => {
    const rights = await rightsNow(database, caller, workspace.id)
    requireEntitlement(rights, 'workspaceMembers:edit')
    return rights.kind === 'all'
      ? { kind: 'everything' }
      : giverOf(rights, await loadCurrentModel(database, models, workspace))
  }
}

/** The model of this moment, whatever the request has seen on its way in. Throws 404 where the workspace is gone. */
export async function loadCurrentModel(
  database: SqlDriver,
  models: ModelCache,
  workspace: WorkspaceRow,
): Promise<Model> {
  const version = await loadModelVersion(database, workspace.id)
  return version === undefined ? missing('workspaces') : models.load(workspace, version)
}

type Content = { readonly content: PolicyContent }

/** Throws 403 unless the giver may give all of the policies. */
export function requireGivable(giver: Giver, policies: readonly Content[]): void {
  if (!policies.every(({ content }) => mayGive(giver, content))) throw beyondRights()
}

/** Throws 403 unless the giver may take the policies away, or change them. */
export function requireTakable(giver: Giver, policies: readonly Content[]): void {
  if (!policies.every(({ content }) => mayGive(giver, content))) throw beyondReach()
}

/** Throws 403 unless the giver may give somebody the role. */
export function requireRoleGivable(giver: Giver, role: GivenRole): void {
  if (mayGiveRole(giver, role)) return
  if (role.kind === 'administrator') {
    throw new ServiceError('forbidden', 'Only an Administrator makes an Administrator')
  }
  throw beyondRights()
}

/** Throws 403 unless the giver may take these roles from whoever has them. */
export function requireRolesTakable(giver: Giver, roles: readonly GivenRole[]): void {
  for (const role of roles) {
    if (mayGiveRole(giver, role)) continue
    if (role.kind !== 'administrator') throw beyondReach()
    throw new ServiceError('forbidden', 'Only an Administrator removes, suspends or demotes an Administrator')
  }
}

/** Throws 403 unless the giver may change which roles somebody has who has `before`. */
export function requireRolesChangeable(giver: Giver, before: readonly Pick<GivenRole, 'policies'>[]): void {
  const contents = before.flatMap(({ policies }) => policies.map(({ content }) => content))
  if (!mayChangeRoles(giver, contents)) throw beyondRights()
}

export function beyondRights(): ServiceError {
  return new ServiceError('forbidden', 'Nobody can give away more rights than they hold')
}

function beyondReach(): ServiceError {
  return new ServiceError('forbidden', 'Nobody can take away more rights than they hold')
}
