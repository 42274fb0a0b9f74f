/**
 * Members of a workspace: their roles and whether they may act (docs/contract.md#policies). They join by invitation.
 */
import { isAdministrator, isLastAdministrator } from '../../core/access/last-administrator.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
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
import { type Happening, recordIn } from '../caller/audit.ts'
import { type Entry, requireAnothers } from '../caller/callers.ts'
import { type Directory, missing, reachOf, type Sent } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/licensing.ts'
import { type LoadGiver, requireRolesChangeable, requireRolesTakable } from '../rights/delegation.ts'
import { requireProven } from '../rights/proof.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { requireAssignable } from '../rights/roles.ts'

export type MemberChange = {
  readonly roles?: readonly string[] | undefined
  readonly status?: MemberStatus | undefined
}

/** Answers are JSON texts. What is sent is read only once the caller was found to be entitled. */
export type Members = {
  list(entry: Entry, query: Sent<ReadQuery>): Promise<ListAnswer>
  update(entry: Entry, userId: string, change: Sent<MemberChange>): Promise<string>
  delete(entry: Entry, userId: string): Promise<void>
}

export type MemberParts = {
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGiver: LoadGiver
}

export function createMembers(ports: Ports, { directory, license, loadGiver }: MemberParts): Members {
  const { database, ids } = ports

  /** A member whom the caller may change: throws 403 for a service account's own people. */
  async function findMember(entry: Entry, userId: string): Promise<MemberRow> {
    const member = (await loadMember(database, entry.workspace.id, userId)) ?? missing('members')
    requireAnothers(entry.caller, { id: userId, ownerId: member.ownerId })
    return member
  }

  return {
    async list(entry, query) {
      requireEntitlement(entry.rights, 'workspaceMembers:read')
      return directory.list('members', reachOf(entry), await query())
    },

    async update(entry, userId, sent) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      const change = await sent()
      await changeRights(ports, workspace.id, {
        load: async () => ({
          member: await findMember(entry, userId),
          known: await loadRoles(database, workspace.id, change.roles ?? []),
          giver: await loadGiver(caller, workspace),
        }),
        decide: ({ member, known, giver }) => {
          const before = member.roles.map(({ id }) => id)
          const { roles = before, status = member.status } = change
          const added = known.filter(({ id }) => !before.includes(id))
          const removed = member.roles.filter(({ id }) => !roles.includes(id))
          requireAssignable(giver, { place: 'roles', wanted: change.roles ?? [], known, held: before })
          // Whoever is suspended loses all roles, and gets all of them back when that ends.
          requireRolesTakable(giver, status === member.status ? removed : member.roles)
          if (added.length + removed.length > 0) requireRolesChangeable(giver, member.roles)
          if (added.length > 0 || (status === 'active' && member.status === 'suspended')) requireProven(member)
          const staysAdministrator = status === 'active' && !removed.some(isAdministrator)
          if (!staysAdministrator) requireAnotherAdministrator(member)

          const record = (happening: Pick<Happening, 'action' | 'payload'>) =>
            recordIn(ids, entry, { ...happening, target: { type: 'user', id: userId } })
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
      return directory.read('members', reachOf(entry), userId)
    },

    async delete(entry, userId) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        load: async () => ({ member: await findMember(entry, userId), giver: await loadGiver(caller, workspace) }),
        decide: ({ member, giver }) => {
          const isLeaving = caller.kind === 'user' && caller.userId === userId
          if (!isLeaving) requireRolesTakable(giver, member.roles)
          requireAnotherAdministrator(member)
          const target = { type: 'user', id: userId } as const
          const payload = { roles: member.roles.map(({ id }) => id) }
          return [
            deleteMember(workspace.id, userId),
            recordIn(ids, entry, { action: 'user.remove_workspace.v1', target, payload }),
          ]
        },
      })
    },
  }
}

/** Throws 409 if this member is the one Administrator who is left. */
export function requireAnotherAdministrator(member: MemberRow): void {
  if (!isLastAdministrator(member)) return
  throw new ServiceError('conflict', 'The last Administrator cannot be removed, suspended or demoted')
}
