/**
 * Applies the delegation rule (src/core/access/delegation.ts) for routes: loads the grantor's current rights and model, and
 * throws if a grant or revocation is not allowed.
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
import { hasEntitlement, type Rights, requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { InvitationRow } from '../../store/invitations.ts'
import { loadPrincipalState } from '../../store/principal-state.ts'
import { loadRoles } from '../../store/roles.ts'
import { findWorkspaceById, loadModelVersion, type WorkspaceRow } from '../../store/workspaces.ts'
import type { Caller } from '../caller/caller.ts'
import { rightsNow, rightsOfPrincipal } from '../caller/callers.ts'
import { notFound } from '../caller/directory.ts'
import type { ModelCache } from '../model/model-cache.ts'

/**
 * Loads the caller as grantor in the workspace with its current rights, which may have shrunk since the request began. Throws
 * 401 or 403 if the caller may no longer change members.
 */
export type LoadGrantor = (caller: Caller, workspace: WorkspaceRow) => Promise<Grantor>

export type LoadGrantorDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly models: ModelCache
}

export function createLoadGrantor(deps: LoadGrantorDeps): LoadGrantor {
  const { database } = deps.ports

  return async (caller, workspace) => {
    const rights = await rightsNow(database, caller, workspace.id)
    requireEntitlement(rights, 'workspaceMembers:edit')
    return grantorWith(rights, workspace, deps)
  }
}

async function grantorWith(
  rights: Rights,
  workspace: WorkspaceRow,
  { ports, models }: LoadGrantorDeps,
): Promise<Grantor> {
  if (rights.kind === 'all') return { kind: 'everything' }
  return grantorOf(rights, await loadCurrentModel(ports.database, models, workspace))
}

/** True if the account that made an invitation could make the same invitation now. */
export type IsStillGiven = (invitation: InvitationRow) => Promise<boolean>

export type IsStillGivenDeps = LoadGrantorDeps

export function createIsStillGiven(deps: IsStillGivenDeps): IsStillGiven {
  const { database } = deps.ports

  return async ({ workspaceId, invitedBy, roles }) => {
    const workspace = await findWorkspaceById(database, workspaceId)
    if (invitedBy === null || workspace === undefined) return false
    const state = await loadPrincipalState(database, { kind: 'user', userId: invitedBy.id }, workspaceId)
    const rights = state && rightsOfPrincipal(state)
    if (rights === undefined || rights === 'suspended' || !hasEntitlement(rights, 'workspaceMembers:edit')) return false
    const grantor = await grantorWith(rights, workspace, deps)
    const ids = roles.map(({ id }) => id)
    for (const role of await loadRoles(database, workspaceId, ids)) {
      if (!(await inParts(canGrantRole(grantor, role)))) return false
    }
    return true
  }
}

/** Loads the current model, independent of the version the request started with. Throws 404 for a deleted workspace. */
export async function loadCurrentModel(
  database: SqlDriver,
  models: ModelCache,
  workspace: WorkspaceRow,
): Promise<Model> {
  const version = await loadModelVersion(database, workspace.id)
  return version === undefined ? notFound('workspaces') : models.load(workspace, version)
}

type Content = { readonly content: PolicyContent }

const contentsOf = (policies: readonly Content[]) => policies.map(({ content }) => content)

/** Throws 403 unless the grantor may grant all of the policies. */
export async function requireGrantable(grantor: Grantor, policies: readonly Content[]): Promise<void> {
  if (!(await inParts(canGrant(grantor, contentsOf(policies))))) throw grantRefused()
}

/** Throws 403 unless the grantor may revoke or change the policies. */
export async function requireRevocable(grantor: Grantor, policies: readonly Content[]): Promise<void> {
  if (!(await inParts(canGrant(grantor, contentsOf(policies))))) throw revocationRefused()
}

/** Throws 403 unless the grantor may assign the role. */
export async function requireRoleGrantable(grantor: Grantor, role: RoleGrant): Promise<void> {
  if (await inParts(canGrantRole(grantor, role))) return
  if (role.kind === 'administrator') {
    throw new ServiceError('forbidden', 'Only an Administrator can assign the role Administrator')
  }
  throw grantRefused()
}

/** Throws 403 unless the grantor may remove these roles from a member. */
export async function requireRolesRevocable(grantor: Grantor, roles: readonly RoleGrant[]): Promise<void> {
  for (const role of roles) {
    if (await inParts(canGrantRole(grantor, role))) continue
    if (role.kind !== 'administrator') throw revocationRefused()
    throw new ServiceError('forbidden', 'Only an Administrator can remove, suspend or demote an Administrator')
  }
}

/** Throws 403 unless the grantor may change the roles of a member that now has `before`. */
export async function requireRolesChangeable(
  grantor: Grantor,
  before: readonly Pick<RoleGrant, 'policies'>[],
): Promise<void> {
  const contents = before.flatMap(({ policies }) => contentsOf(policies))
  if (!(await inParts(canChangeRoles(grantor, contents)))) throw grantRefused()
}

/** The 403 of a grant beyond the caller's rights. */
export function grantRefused(): ServiceError {
  return new ServiceError('forbidden', 'You cannot grant rights that you do not hold')
}

function revocationRefused(): ServiceError {
  return new ServiceError('forbidden', 'You cannot revoke rights that you do not hold')
}
