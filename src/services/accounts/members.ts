/** Members of a workspace: their roles and status (docs/contract.md#policies). They join by invitation. */
import { isAdministrator, isLastAdministrator } from '../../core/access/last-administrator.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import {
  assignRoles,
  deleteMember,
  loadMember,
  type MemberRow,
  type MemberStatus,
  unassignRoles,
  updateMemberStatus,
} from '../../store/members.ts'
import { loadRoles } from '../../store/roles.ts'
import { type AuditEvent, recordWorkspaceEvent } from '../caller/audit.ts'
import { requireAnothers } from '../caller/caller.ts'
import type { RequestScope } from '../caller/callers.ts'
import { type Directory, type LazyBody, notFound, rowScopeOf } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import type { AccessTests, TestsIn } from '../rights/access-tests.ts'
import { type LoadGrantor, requireRolesChangeable, requireRolesRevocable } from '../rights/delegation.ts'
import { requireProven } from '../rights/proof.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { requireAssignable } from '../rights/roles.ts'

export type MemberChange = {
  readonly roles?: readonly string[] | undefined
  readonly status?: MemberStatus | undefined
}

/**
 * Answers are JSON texts. Bodies are parsed only after authorization. Reads require the entitlement
 * workspaceMembers:read, changes workspaceMembers:edit (403); an unknown member throws 404.
 */
export type Members = {
  list(scope: RequestScope, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /**
   * Throws 403 for roles that the caller may not grant or revoke; 409 for the last Administrator, for an account without proven
   * address, or if an access test would fail; 422 for an unknown role; 402 over the license limit.
   */
  update(scope: RequestScope, userId: string, change: LazyBody<MemberChange>, tests: TestsIn): Promise<string>
  /** Throws 403 for roles that the caller may not revoke, unless the caller removes itself; 409 for the last Administrator. */
  delete(scope: RequestScope, userId: string, tests: TestsIn): Promise<void>
}

export type MembersDeps = {
  readonly ports: Ports
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
  readonly accessTests: Pick<AccessTests, 'keep'>
}

export function createMembers(deps: MembersDeps): Members {
  const { ports, directory, license, loadGrantor, accessTests } = deps
  const { database, ids } = ports

  /**
   * Returns a member that the caller may change; throws 403 for a service account that changes itself, its owner or
   * another account of that owner.
   */
  async function findMember(scope: RequestScope, userId: string): Promise<MemberRow> {
    const member = (await loadMember(database, scope.workspace.id, userId)) ?? notFound('members')
    requireAnothers(scope.caller, { id: userId, ownerId: member.ownerId })
    return member
  }

  return {
    async list(scope, query) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      return directory.list('members', rowScopeOf(scope), await query())
    },

    async update(scope, userId, sent, tests) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      const change = await sent()
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({
          member: await findMember(scope, userId),
          known: await loadRoles(database, workspace.id, change.roles ?? []),
          grantor: await loadGrantor(caller, workspace),
        }),
        decide: async ({ member, known, grantor }) => {
          const before = member.roles.map(({ id }) => id)
          const { roles = before, status = member.status } = change
          const added = known.filter(({ id }) => !before.includes(id))
          const removed = member.roles.filter(({ id }) => !roles.includes(id))
          await requireAssignable(grantor, { path: 'roles', wanted: change.roles ?? [], known, held: before })
          // Suspending takes all roles from a member, and activating gives them back, so all roles must be revocable.
          await requireRolesRevocable(grantor, status === member.status ? removed : member.roles)
          if (added.length + removed.length > 0) await requireRolesChangeable(grantor, member.roles)
          if (added.length > 0 || (status === 'active' && member.status === 'suspended')) requireProven(member)
          const staysAdministrator = status === 'active' && !removed.some(isAdministrator)
          if (!staysAdministrator) requireAnotherAdministrator(member)
          await accessTests.keep(scope, { members: { [userId]: status === 'active' ? { roles } : null } }, tests)

          const record = (event: Pick<AuditEvent, 'action' | 'payload'>) =>
            recordWorkspaceEvent(ids, scope, { ...event, target: { type: 'user', id: userId } })
          const assignment = (role: { readonly id: string; readonly name: string }) => ({
            payload: { roleId: role.id, roleName: role.name },
          })
          const statements: Statement[] = [
            ...added.map((role) => record({ action: 'role.assign.v1', ...assignment(role) })),
            ...removed.map((role) => record({ action: 'role.unassign.v1', ...assignment(role) })),
            unassignRoles(
              workspace.id,
              userId,
              removed.map(({ id }) => id),
            ),
            assignRoles(
              workspace.id,
              userId,
              added.map(({ id }) => id),
            ),
          ]
          if (status === member.status) return statements
          const action = status === 'suspended' ? 'user.suspend.v1' : 'user.update.v1'
          return [
            ...statements,
            ...license.within(['seats'], workspace.id, [updateMemberStatus(workspace.id, userId, status)]),
            record({ action, payload: { status } }),
          ]
        },
      })
      return directory.read('members', rowScopeOf(scope), userId)
    },

    async delete(scope, userId, tests) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({ member: await findMember(scope, userId), grantor: await loadGrantor(caller, workspace) }),
        decide: async ({ member, grantor }) => {
          const isLeaving = caller.kind === 'user' && caller.userId === userId
          if (!isLeaving) await requireRolesRevocable(grantor, member.roles)
          requireAnotherAdministrator(member)
          await accessTests.keep(scope, { members: { [userId]: null } }, tests)
          const target = { type: 'user', id: userId } as const
          const payload = { roles: member.roles.map(({ id }) => id) }
          return [
            deleteMember(workspace.id, userId),
            recordWorkspaceEvent(ids, scope, { action: 'user.remove_workspace.v1', target, payload }),
          ]
        },
      })
    },
  }
}

/** Throws 409 if this member is the last Administrator. */
export function requireAnotherAdministrator(member: MemberRow): void {
  if (!isLastAdministrator(member)) return
  throw new ServiceError('conflict', 'The last Administrator cannot be removed, suspended or demoted')
}
