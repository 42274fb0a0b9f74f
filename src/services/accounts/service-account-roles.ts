/**
 * Changes the roles of a service account in all workspaces. In each workspace the caller needs the right to edit members, and
 * cannot grant or revoke more than the caller holds.
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import type { AuditAction } from '../../core/audit.ts'
import { ServiceError } from '../../core/error.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports/ports.ts'
import { assignRoles, deleteMember, insertMember, loadMember, unassignRoles } from '../../store/members.ts'
import { loadPrincipalState } from '../../store/principal-state.ts'
import { countRightsIn, loadRightsVersion, type RightsVersion, stillSame } from '../../store/rights.ts'
import { loadRoles } from '../../store/roles.ts'
import type { ServiceAccountRow } from '../../store/service-accounts.ts'
import { findWorkspace, type WorkspaceRow } from '../../store/workspaces.ts'
import type { AuditEvent } from '../caller/audit.ts'
import { type Caller, isAdministrator, requestCredentialOf } from '../caller/caller.ts'
import { rightsOfPrincipal } from '../caller/callers.ts'
import { type LoadGrantor, requireRolesChangeable, requireRolesRevocable } from '../rights/delegation.ts'
import { bodyFault, requireRoleForUser } from '../rights/roles.ts'

/** A role in the workspace of that API name. */
export type Grant = { readonly workspace: string; readonly roleId: string }

export type RolesChange = {
  readonly accountId: string
  readonly held: ServiceAccountRow['roles']
  /** All roles as sent, so that an error can name the path. */
  readonly wanted: readonly Grant[]
  readonly record: RecordOfAccount
}

/** Makes the statement of an audit event whose target is the account. */
export type RecordOfAccount = (event: Pick<AuditEvent, 'action' | 'payload' | 'workspaceId'>) => Statement

export type ServiceAccountRoles = {
  /**
   * Returns the statements that change the account's roles from `held` to `wanted`. Throws 403 for roles that the caller may
   * not change, and 422 for an unknown workspace or role.
   */
  change(caller: Caller, change: RolesChange): Promise<readonly Statement[]>
}

export type ServiceAccountRolesDeps = { readonly ports: Pick<Ports, 'database'>; readonly loadGrantor: LoadGrantor }

export function createServiceAccountRoles(deps: ServiceAccountRolesDeps): ServiceAccountRoles {
  const { ports, loadGrantor } = deps
  const { database } = ports

  /** Returns the workspace of that name and its current rights version. Throws unless the caller may change its members. */
  async function authorizeIn(
    caller: Caller,
    name: string,
    wanted: readonly Grant[],
  ): Promise<{ readonly workspace: WorkspaceRow; readonly version: RightsVersion }> {
    const workspace = await findWorkspace(database, name)
    if (workspace === undefined && isAdministrator(caller)) {
      throw bodyFault(`roles[${wanted.findIndex((grant) => grant.workspace === name)}].workspace`, 'does not exist')
    }
    const version = await loadRightsVersion(database, { workspaceId: workspace?.id })
    const state = workspace && (await loadPrincipalState(database, requestCredentialOf(caller), workspace.id))
    const rights = state === undefined ? 'suspended' : rightsOfPrincipal(state)
    // A caller without rights in the workspace gets the same error as for an unknown workspace.
    if (workspace === undefined || rights === 'suspended') {
      throw new ServiceError('forbidden', 'Requires the entitlement workspaceMembers:edit')
    }
    requireEntitlement(rights, 'workspaceMembers:edit')
    return { workspace, version }
  }

  async function changeIn(caller: Caller, name: string, change: ChangeInWorkspace): Promise<readonly Statement[]> {
    const { accountId, own, added, removed, wanted } = change
    const { workspace, version } = await authorizeIn(caller, name, wanted)
    const addedIds = added.map(({ roleId }) => roleId)
    const known = await loadRoles(database, workspace.id, addedIds)
    const grantor = await loadGrantor(caller, workspace)
    for (const grant of added) {
      const path = `roles[${wanted.indexOf(grant)}].roleId`
      const role = known.find((candidate) => candidate.id === grant.roleId)
      if (role === undefined) throw bodyFault(path, 'does not exist in this workspace')
      await requireRoleForUser(grantor, role, path)
    }
    const member = await loadMember(database, workspace.id, accountId)
    const before = member?.roles ?? []
    await requireRolesRevocable(
      grantor,
      before.filter((role) => removed.some((gone) => gone.id === role.id)),
    )
    await requireRolesChangeable(grantor, before)
    const record = (action: AuditAction, payload = {}) => change.record({ action, workspaceId: workspace.id, payload })
    const nameOf = (role: { readonly id: string; readonly name: string }) => ({ roleId: role.id, roleName: role.name })
    const isLeaving = own.length === removed.length && added.length === 0
    return [
      stillSame(version, { workspaceId: workspace.id }),
      insertMember(workspace.id, accountId),
      countRightsIn(workspace.id),
      ...(member === undefined ? [record('user.join_workspace.v1')] : []),
      unassignRoles(
        workspace.id,
        accountId,
        removed.map((role) => role.id),
      ),
      assignRoles(workspace.id, accountId, addedIds),
      ...known.map((role) => record('role.assign.v1', nameOf(role))),
      ...removed.map((role) => record('role.unassign.v1', nameOf(role))),
      ...(isLeaving ? [deleteMember(workspace.id, accountId), record('user.remove_workspace.v1')] : []),
    ]
  }

  return {
    async change(caller, change) {
      const { held, wanted } = change
      const names = new Set([...held, ...wanted].map(({ workspace }) => workspace))
      const statements: Statement[] = []
      for (const name of names) {
        const own = held.filter(({ workspace }) => workspace === name)
        const added = wanted.filter(
          ({ workspace, roleId }) => workspace === name && !own.some((role) => role.id === roleId),
        )
        const removed = own.filter(
          (role) => !wanted.some(({ workspace, roleId }) => workspace === name && roleId === role.id),
        )
        if (added.length + removed.length === 0) continue
        statements.push(...(await changeIn(caller, name, { ...change, own, added, removed })))
      }
      return statements
    },
  }
}

/** `own` are the roles held in that workspace before. */
type ChangeInWorkspace = RolesChange & {
  readonly own: ServiceAccountRow['roles']
  readonly added: readonly Grant[]
  readonly removed: ServiceAccountRow['roles']
}
