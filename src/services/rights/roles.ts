/** Roles of a workspace (docs/contract.md#policies). */
import type { Giver } from '../../core/access/delegation.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { nested, ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { loadPolicies } from '../../store/policies.ts'
import {
  deleteRole,
  insertRole,
  loadPoliciesBeside,
  loadRoles,
  type NewRole,
  type RoleRow,
  updateRole,
} from '../../store/roles.ts'
import { recordIn } from '../caller/audit.ts'
import type { Entry } from '../caller/callers.ts'
import { type Directory, missing, reachOf, type Sent } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/licensing.ts'
import {
  type LoadGiver,
  requireGivable,
  requireRoleGivable,
  requireRolesChangeable,
  requireTakable,
} from './delegation.ts'
import { changeRights } from './rights-changes.ts'

export type RoleChange = { readonly [Member in keyof NewRole]?: NewRole[Member] | undefined }

/** Answers are JSON texts. What is sent is read only once the caller was found to be entitled. */
export type Roles = {
  list(entry: Entry, query: Sent<ReadQuery>): Promise<ListAnswer>
  read(entry: Entry, id: string, query: Sent<ReadQuery>): Promise<string>
  create(entry: Entry, role: Sent<NewRole>): Promise<string>
  update(entry: Entry, id: string, change: Sent<RoleChange>): Promise<string>
  delete(entry: Entry, id: string): Promise<void>
}

const TAKEN = 'A role of this name exists already'

export type RoleParts = {
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGiver: LoadGiver
}

export function createRoles(ports: Ports, { directory, license, loadGiver }: RoleParts): Roles {
  const { database, ids } = ports

  return {
    async list(entry, query) {
      requireEntitlement(entry.rights, 'workspaceMembers:read')
      return directory.list('roles', reachOf(entry), await query())
    },

    async read(entry, id, query) {
      requireEntitlement(entry.rights, 'workspaceMembers:read')
      return directory.read('roles', reachOf(entry), id, await query())
    },

    async create(entry, sent) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      const role = await sent()
      const id = ids.next()
      await changeRights(ports, workspace.id, {
        load: async () => ({
          known: await loadPolicies(database, workspace.id, role.policies),
          giver: await loadGiver(caller, workspace),
        }),
        decide: ({ known, giver }) => {
          requireKnown('policies', role.policies, known)
          requireGivable(giver, known)
          const payload = { name: role.name, policiesAttached: role.policies }
          return [
            ...license.within(['custom_roles'], workspace.id, insertRole(workspace.id, id, role)),
            recordIn(ids, entry, { action: 'role.create.v1', target: { type: 'role', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return directory.read('roles', reachOf(entry), id)
    },

    async update(entry, id, sent) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      const change = await sent()
      await changeRights(ports, workspace.id, {
        load: async () => ({
          role: await findRole(id, workspace.id),
          known: await loadPolicies(database, workspace.id, change.policies ?? []),
          giver: await loadGiver(caller, workspace),
        }),
        decide: ({ role, known, giver }) => {
          requireChangeable(role, change)
          requireTakable(giver, role.policies)
          requireKnown('policies', change.policies ?? [], known)
          const before = role.policies.map((policy) => policy.id)
          const { name = role.name, description = role.description, policies = before } = change
          const added = known.filter((policy) => !before.includes(policy.id))
          requireGivable(giver, added)
          const payload = {
            name,
            policiesAttached: added.map((policy) => policy.id),
            policiesDetached: before.filter((policy) => !policies.includes(policy)),
          }
          return [
            ...updateRole(id, { name, description, policies }),
            recordIn(ids, entry, { action: 'role.update.v1', target: { type: 'role', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return directory.read('roles', reachOf(entry), id)
    },

    async delete(entry, id) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        load: async () => ({
          role: await findRole(id, workspace.id),
          beside: await loadPoliciesBeside(database, id),
          giver: await loadGiver(caller, workspace),
        }),
        decide: ({ role, beside, giver }) => {
          if (role.kind !== 'custom') throw immutable(role)
          requireTakable(giver, role.policies)
          requireRolesChangeable(giver, [{ policies: beside }])
          const payload = { name: role.name, policiesDetached: role.policies.map((policy) => policy.id) }
          return [
            deleteRole(id),
            recordIn(ids, entry, { action: 'role.delete.v1', target: { type: 'role', id }, payload }),
          ]
        },
      })
    },
  }

  async function findRole(id: string, workspaceId: string): Promise<RoleRow> {
    const [role] = await loadRoles(database, workspaceId, [id])
    return role ?? missing('roles')
  }
}

/** What somebody is about to have: `wanted` as it was sent at `place`, `known` of it, and what they `held` before. */
export type Assignment = {
  readonly place: string
  readonly wanted: readonly string[]
  readonly known: readonly RoleRow[]
  readonly held: readonly string[]
}

/** Throws unless all roles exist, can be assigned, and bring nothing new that the giver lacks. */
export function requireAssignable(giver: Giver, { place, wanted, known, held }: Assignment): void {
  requireKnown(place, wanted, known)
  for (const role of known) {
    if (!held.includes(role.id)) requireGiven(giver, role, `${place}[${wanted.indexOf(role.id)}]`)
  }
}

/** Throws unless the giver may give the role, which was sent at `place`, to somebody else. */
export function requireGiven(giver: Giver, role: RoleRow, place: string): void {
  if (role.kind === 'public') throw sentFault(place, 'is the role Public, which nobody can have')
  requireRoleGivable(giver, role)
}

function requireKnown(place: string, wanted: readonly string[], known: readonly { readonly id: string }[]): void {
  const ids = new Set(known.map(({ id }) => id))
  const index = wanted.findIndex((id) => !ids.has(id))
  if (index >= 0) throw sentFault(`${place}[${index}]`, 'does not exist in this workspace')
}

function requireChangeable(role: RoleRow, { name, description }: RoleChange): void {
  const isLeftAsIs = name === undefined && description === undefined
  if (role.kind === 'administrator' || (role.kind === 'public' && !isLeftAsIs)) throw immutable(role)
}

function immutable({ name }: RoleRow): ServiceError {
  return new ServiceError('forbidden', `The role ${name} is built in and cannot be changed`)
}

export function sentFault(place: string, reason: string): ServiceError {
  return nested('invalid', ['Failed to read the JSON body', place, reason])
}
