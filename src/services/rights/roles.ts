/** Roles of a workspace (docs/contract.md#policies). */
import type { Grantor } from '../../core/access/delegation.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { auditChanges } from '../../core/audit-changes.ts'
import { nested, ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports/ports.ts'
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
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { type Directory, type LazyBody, notFound, rowScopeOf } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import type { AccessTests, TestsIn } from './access-tests.ts'
import {
  type LoadGrantor,
  requireGrantable,
  requireRevocable,
  requireRoleGrantable,
  requireRolesChangeable,
} from './delegation.ts'
import { changeRights } from './rights-changes.ts'

export type RoleChange = { readonly [Member in keyof NewRole]?: NewRole[Member] | undefined }

/**
 * Answers are JSON texts. Bodies are parsed only after authorization. Reads require the entitlement
 * workspaceMembers:read, changes workspaceMembers:edit (403); an unknown id throws 404 (docs/contract.md#policies).
 */
export type Roles = {
  list(scope: RequestScope, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  read(scope: RequestScope, id: string, query: LazyBody<ReadQuery>): Promise<string>
  /**
   * Throws 403 for policies beyond the caller's rights, 409 for a name that is taken, 422 for an unknown policy, 402
   * over the license limit.
   */
  create(scope: RequestScope, role: LazyBody<NewRole>): Promise<string>
  /** Throws like `create`, 403 for a built-in role or policies that the caller could not revoke, 409 for failing tests. */
  update(scope: RequestScope, id: string, change: LazyBody<RoleChange>, tests: TestsIn): Promise<string>
  /** Throws 403 for a built-in role, or if the caller could not revoke its policies. */
  delete(scope: RequestScope, id: string, tests: TestsIn): Promise<void>
}

const TAKEN = 'A role of this name already exists'

export type RolesDeps = {
  readonly ports: Ports
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
  readonly accessTests: Pick<AccessTests, 'keep'>
}

export function createRoles(deps: RolesDeps): Roles {
  const { ports, directory, license, loadGrantor, accessTests } = deps
  const { database, ids } = ports

  return {
    async list(scope, query) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      return directory.list('roles', rowScopeOf(scope), await query())
    },

    async read(scope, id, query) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      return directory.read('roles', rowScopeOf(scope), id, await query())
    },

    async create(scope, sent) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      const role = await sent()
      const id = ids.next()
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({
          known: await loadPolicies(database, workspace.id, role.policies),
          grantor: await loadGrantor(caller, workspace),
        }),
        decide: async ({ known, grantor }) => {
          requireKnown('policies', role.policies, known)
          await requireGrantable(grantor, known)
          const changes = auditedChanges(
            { name: role.name, description: null, policies: [] },
            { ...role, policies: known },
          )
          const payload = { name: role.name, policiesAttached: role.policies, ...changes }
          return [
            ...license.within(['custom_roles'], workspace.id, insertRole(workspace.id, id, role)),
            recordWorkspaceEvent(ids, scope, { action: 'role.create.v1', target: { type: 'role', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return directory.read('roles', rowScopeOf(scope), id)
    },

    async update(scope, id, sent, tests) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      const change = await sent()
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({
          role: await findRole(id, workspace.id),
          known: await loadPolicies(database, workspace.id, change.policies ?? []),
          grantor: await loadGrantor(caller, workspace),
        }),
        decide: async ({ role, known, grantor }) => {
          requireChangeable(role, change)
          await requireRevocable(grantor, role.policies)
          requireKnown('policies', change.policies ?? [], known)
          const before = role.policies.map((policy) => policy.id)
          const { name = role.name, description = role.description, policies = before } = change
          const added = known.filter((policy) => !before.includes(policy.id))
          await requireGrantable(grantor, added)
          await accessTests.keep(scope, { roles: { [id]: { policies } } }, tests)
          const payload = {
            name,
            policiesAttached: added.map((policy) => policy.id),
            policiesDetached: before.filter((policy) => !policies.includes(policy)),
            ...auditedChanges(role, {
              name,
              description,
              policies: change.policies === undefined ? role.policies : known,
            }),
          }
          return [
            ...updateRole(id, { name, description, policies }),
            recordWorkspaceEvent(ids, scope, { action: 'role.update.v1', target: { type: 'role', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return directory.read('roles', rowScopeOf(scope), id)
    },

    async delete(scope, id, tests) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({
          role: await findRole(id, workspace.id),
          beside: await loadPoliciesBeside(database, id),
          grantor: await loadGrantor(caller, workspace),
        }),
        decide: async ({ role, beside, grantor }) => {
          if (role.kind !== 'custom') throw immutable(role)
          await requireRevocable(grantor, role.policies)
          await requireRolesChangeable(grantor, [{ policies: beside }])
          await accessTests.keep(scope, { roles: { [id]: null } }, tests)
          const payload = {
            name: role.name,
            policiesDetached: role.policies.map((policy) => policy.id),
            ...auditedChanges(role, { name: role.name, description: null, policies: [] }),
          }
          return [
            deleteRole(id),
            recordWorkspaceEvent(ids, scope, { action: 'role.delete.v1', target: { type: 'role', id }, payload }),
          ]
        },
      })
    },
  }

  async function findRole(id: string, workspaceId: string): Promise<RoleRow> {
    const [role] = await loadRoles(database, workspaceId, [id])
    return role ?? notFound('roles')
  }
}

type AuditedRole = Pick<RoleRow, 'name' | 'description'> & { readonly policies: readonly { readonly name: string }[] }

/** The changes that an audit entry names: policies by their names. */
function auditedChanges(before: AuditedRole, after: AuditedRole) {
  const named = ({ name, description, policies }: AuditedRole) => ({
    name,
    description,
    policies: policies.map((policy) => policy.name),
  })
  return auditChanges(named(before), named(after))
}

/** An assignment of roles: `wanted` as sent at `path`, the existing roles `known` among them, and `held` before. */
export type Assignment = {
  readonly path: string
  readonly wanted: readonly string[]
  readonly known: readonly RoleRow[]
  readonly held: readonly string[]
}

/** Throws unless all roles exist, can be assigned, and give no new right that the grantor lacks. */
export async function requireAssignable(grantor: Grantor, { path, wanted, known, held }: Assignment): Promise<void> {
  requireKnown(path, wanted, known)
  for (const role of known) {
    if (!held.includes(role.id)) await requireRoleForUser(grantor, role, `${path}[${wanted.indexOf(role.id)}]`)
  }
}

/** Throws unless the grantor may give the role, sent at `path`, to another account. */
export async function requireRoleForUser(grantor: Grantor, role: RoleRow, path: string): Promise<void> {
  if (role.kind === 'public') throw bodyFault(path, 'is the role Public, which cannot be assigned')
  await requireRoleGrantable(grantor, role)
}

/** Throws 422 for an id at `path` that does not exist in the workspace. */
export function requireKnown(path: string, wanted: readonly string[], known: readonly { readonly id: string }[]): void {
  const ids = new Set(known.map(({ id }) => id))
  const index = wanted.findIndex((id) => !ids.has(id))
  if (index >= 0) throw bodyFault(`${path}[${index}]`, 'does not exist in this workspace')
}

function requireChangeable(role: RoleRow, { name, description }: RoleChange): void {
  const isLeftAsIs = name === undefined && description === undefined
  if (role.kind === 'administrator' || (role.kind === 'public' && !isLeftAsIs)) throw immutable(role)
}

function immutable({ name }: RoleRow): ServiceError {
  return new ServiceError('forbidden', `The role ${name} is built in and cannot be changed`)
}

/** Returns the 422 for a fault at `path` of a JSON body. */
export function bodyFault(path: string, reason: string): ServiceError {
  return nested('invalid', ['Failed to read the JSON body', path, reason])
}
