/**
 * Service accounts (docs/contract.md#accounts): accounts of programs, which sign in by API key. Every user may own
 * some. Their rights are those of their roles, and nobody can grant them more than they hold. A service account is
 * suspended and deleted with its owner (docs/decisions/015).
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import type { AuditAction } from '../../core/audit.ts'
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { deleteAccount, loadAccount } from '../../store/accounts.ts'
import { deleteKeysOf, keysOf } from '../../store/api-keys.ts'
import { assignRoles, deleteMember, insertMember, loadMember, unassignRoles } from '../../store/members.ts'
import { loadPrincipalState } from '../../store/principal-state.ts'
import { loadRoles } from '../../store/roles.ts'
import {
  insertServiceAccount,
  loadServiceAccount,
  type ServiceAccountRow,
  updateServiceAccount,
} from '../../store/service-accounts.ts'
import { findWorkspace, type WorkspaceRow } from '../../store/workspaces.ts'
import { type AuditEvent, actorOf, recordEvent } from '../caller/audit.ts'
import {
  type Caller,
  callerNow,
  isAdministrator,
  requestCredentialOf,
  requireAnothers,
  requireUser,
  rightsOfPrincipal,
} from '../caller/callers.ts'
import { type Directory, type LazyBody, notFound, rowScopeOfUser } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/licensing.ts'
import { type LoadGrantor, requireRolesChangeable, requireRolesRevocable } from '../rights/delegation.ts'
import { requireProven } from '../rights/proof.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { bodyFault, requireRoleForUser } from '../rights/roles.ts'

/** A role in the workspace of that API name. */
export type Grant = { readonly workspace: string; readonly roleId: string }

export type ServiceAccountInput = {
  readonly name: string
  readonly description?: string | null | undefined
  readonly roles?: readonly Grant[] | undefined
  /** The caller by default. */
  readonly owner?: string | undefined
}

export type ServiceAccountChange = {
  readonly [Member in keyof ServiceAccountInput]?: ServiceAccountInput[Member] | undefined
}

/** Answers are JSON texts. Bodies are parsed only after the caller was identified. */
export type ServiceAccounts = {
  /** The caller's own accounts; all for administrators of the instance. */
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** Throws 404 like `update`. */
  read(caller: Caller, id: string, query: LazyBody<ReadQuery>): Promise<string>
  /**
   * Throws 403 for roles beyond the caller's rights, and for another owner unless the caller is administrator of the
   * instance.
   */
  create(caller: Caller, input: LazyBody<ServiceAccountInput>): Promise<string>
  /** Throws 404 for an account that the caller does not own, unless the caller is administrator of the instance. */
  update(caller: Caller, id: string, change: LazyBody<ServiceAccountChange>): Promise<string>
  /** Throws 404 like `update`. */
  delete(caller: Caller, id: string): Promise<void>
}

type Record = (event: Pick<AuditEvent, 'action' | 'payload' | 'workspaceId'>) => Statement

export type ServiceAccountDeps = {
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGiver: LoadGrantor
}

export function createServiceAccounts(ports: Ports, parts: ServiceAccountDeps): ServiceAccounts {
  const { directory, license, loadGiver } = parts
  const { database, ids } = ports

  function recorder(caller: Caller, id: string): Record {
    const target = { type: 'serviceAccount', id } as const
    return (event) => recordEvent(ids, { ...event, actor: actorOf(caller), target })
  }

  /**
   * Returns an account that the caller may change; throws 403 for a service account that changes itself, its owner or
   * another account of that owner.
   */
  async function find(caller: Caller, id: string): Promise<ServiceAccountRow> {
    const account = await loadServiceAccount(database, id)
    const isTheirs = account !== undefined && (isAdministrator(caller) || account.ownerId === requireUser(caller))
    if (!isTheirs) return notFound('serviceAccounts')
    requireAnothers(caller, { id, ownerId: account.ownerId })
    return account
  }

  /** Throws unless `ownerId` is a person to whom this caller may assign the account. */
  async function requireOwner(caller: Caller, ownerId: string, before: string | undefined): Promise<void> {
    const isGiven = ownerId !== (before ?? requireUser(caller))
    if (isGiven && !isAdministrator(caller)) {
      throw new ServiceError(
        'forbidden',
        'Only an administrator of the instance can change the owner of a service account',
      )
    }
    const owner = await loadAccount(database, ownerId)
    if (owner !== undefined && !owner.isService) {
      if (isGiven) requireProven(owner)
      return requireAnothers(caller, { id: ownerId })
    }
    if (ownerId === requireUser(caller)) throw new ServiceError('forbidden', 'A service account cannot own another')
    throw bodyFault('owner', owner === undefined ? 'does not exist' : 'is a service account, which cannot own another')
  }

  /** Statements that change the account's roles from `held` to `wanted`. */
  async function assignment(caller: Caller, { id, held, wanted }: Assignment): Promise<readonly Statement[]> {
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
      statements.push(...(await assignmentIn(caller, name, { id, own, added, removed, wanted })))
    }
    return statements
  }

  /** Returns the workspace of that name. Throws unless the caller may change its members. */
  async function enter(caller: Caller, name: string, wanted: readonly Grant[]): Promise<WorkspaceRow> {
    const workspace = await findWorkspace(database, name)
    if (workspace === undefined && isAdministrator(caller)) {
      throw bodyFault(`roles[${wanted.findIndex((grant) => grant.workspace === name)}].workspace`, 'does not exist')
    }
    const standing = workspace && (await loadPrincipalState(database, requestCredentialOf(caller), workspace.id))
    const rights = standing === undefined ? 'suspended' : rightsOfPrincipal(standing)
    // Without rights there, the error is that of an unknown workspace.
    if (workspace === undefined || rights === 'suspended') {
      throw new ServiceError('forbidden', 'Requires the entitlement workspaceMembers:edit')
    }
    requireEntitlement(rights, 'workspaceMembers:edit')
    return workspace
  }

  /** Statements that delete all keys of the account. */
  async function keysEnded(caller: Caller, id: string): Promise<readonly Statement[]> {
    const keys = await keysOf(database, id)
    return [
      ...keys.map(({ id: keyId, name }) =>
        recordEvent(ids, {
          action: 'api_key.delete.v1',
          actor: actorOf(caller),
          target: { type: 'apiKey', id: keyId },
          payload: { name, userId: id },
        }),
      ),
      deleteKeysOf(id),
    ]
  }

  async function assignmentIn(caller: Caller, name: string, change: AssignmentIn): Promise<readonly Statement[]> {
    const { id, own, added, removed, wanted } = change
    const workspace = await enter(caller, name, wanted)
    const addedIds = added.map(({ roleId }) => roleId)
    const known = await loadRoles(database, workspace.id, addedIds)
    const grantor = await loadGiver(caller, workspace)
    for (const grant of added) {
      const path = `roles[${wanted.indexOf(grant)}].roleId`
      const role = known.find((candidate) => candidate.id === grant.roleId)
      if (role === undefined) throw bodyFault(path, 'does not exist in this workspace')
      requireRoleForUser(grantor, role, path)
    }
    const member = await loadMember(database, workspace.id, id)
    const before = member?.roles ?? []
    requireRolesRevocable(
      grantor,
      before.filter((role) => removed.some((gone) => gone.id === role.id)),
    )
    requireRolesChangeable(grantor, before)
    const record = (action: AuditAction, payload = {}) =>
      recorder(caller, id)({ action, workspaceId: workspace.id, payload })
    const nameOf = (role: { readonly id: string; readonly name: string }) => ({ roleId: role.id, roleName: role.name })
    const isLeaving = own.length === removed.length && added.length === 0
    return [
      insertMember(workspace.id, id),
      ...(member === undefined ? [record('user.join_workspace.v1')] : []),
      unassignRoles(
        workspace.id,
        id,
        removed.map((role) => role.id),
      ),
      assignRoles(workspace.id, id, addedIds),
      ...known.map((role) => record('role.assign.v1', nameOf(role))),
      ...removed.map((role) => record('role.unassign.v1', nameOf(role))),
      ...(isLeaving ? [deleteMember(workspace.id, id), record('user.remove_workspace.v1')] : []),
    ]
  }

  return {
    async list(caller, query) {
      return directory.list('serviceAccounts', rowScopeOfUser(caller), await query())
    },

    async read(caller, id, query) {
      return directory.read('serviceAccounts', rowScopeOfUser(caller), id, await query())
    },

    async create(caller, sent) {
      const self = requireUser(caller)
      const { name, description = null, roles = [], owner = self } = await sent()
      const id = ids.next()
      await changeRights(ports, id, {
        load: async () => requireOwner(await callerNow(database, caller), owner, undefined),
        decide: async () => [
          ...license.within(['service_accounts'], undefined, [
            insertServiceAccount(id, { name, description, ownerId: owner }),
          ]),
          recorder(caller, id)({ action: 'service_account.create.v1', payload: { name, owner, roles } }),
          ...(await assignment(caller, { id, held: [], wanted: roles })),
        ],
      })
      return directory.read('serviceAccounts', { kind: 'everything' }, id)
    },

    async update(caller, id, sent) {
      requireUser(caller)
      const change = await sent()
      await changeRights(ports, id, {
        load: async () => {
          const current = await callerNow(database, caller)
          return { current, before: await find(current, id) }
        },
        decide: async ({ current, before }) => {
          const { name = before.name, description = before.description, owner = before.ownerId } = change
          if (owner !== before.ownerId) await requireOwner(current, owner, before.ownerId)
          const { roles } = change
          const isHandedOn = owner !== before.ownerId
          // An owner may grant its own rights to it; what others grant counts only for a proven owner.
          if (roles !== undefined && owner !== requireUser(caller)) requireProven(before)
          return [
            updateServiceAccount(id, { name, description, ownerId: owner }),
            // The former owner may still have its keys.
            ...(isHandedOn ? await keysEnded(caller, id) : []),
            recorder(caller, id)({ action: 'service_account.update.v1', payload: change }),
            ...(roles === undefined ? [] : await assignment(caller, { id, held: before.roles, wanted: roles })),
          ]
        },
      })
      return directory.read('serviceAccounts', { kind: 'everything' }, id)
    },

    async delete(caller, id) {
      requireUser(caller)
      await changeRights(ports, id, {
        load: () => find(caller, id),
        decide: ({ name }) => [
          recorder(caller, id)({ action: 'service_account.delete.v1', payload: { name } }),
          deleteAccount(id),
        ],
      })
    },
  }
}

type Held = ServiceAccountRow['roles']
type Assignment = { readonly id: string; readonly held: Held; readonly wanted: readonly Grant[] }
type AssignmentIn = {
  readonly id: string
  readonly own: Held
  readonly added: readonly Grant[]
  readonly removed: Held
  /** All roles as sent, so that an error can name the path. */
  readonly wanted: readonly Grant[]
}
