/**
 * Workspaces (docs/contract.md#data-model): created by administrators of the instance; members see theirs and change
 * them as their entitlements allow.
 */

import type { Entitlement } from '../../core/access/entitlement.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports/ports.ts'
import { ofShare } from '../../sources/of-share.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { workspacesOf } from '../../store/members.ts'
import { loadPrincipalState } from '../../store/principal-state.ts'
import { lockWorkspace } from '../../store/rights.ts'
import {
  beginDeletion,
  deleteWorkspace,
  findWorkspaceById,
  insertWorkspace,
  setDisplayName,
  type WorkspaceRow,
  waitForName,
} from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import { type Caller, requireAdministrator, requireUser } from '../caller/caller.ts'
import { callerNow, type ForgetWorkspace, rightsOfPrincipal } from '../caller/callers.ts'
import { type Directory, everything, type LazyBody, notFound, type RowScope } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import { changeRights } from '../rights/rights-changes.ts'

export type NewWorkspace = { readonly apiName: string; readonly displayName?: string | null | undefined }

/**
 * Lists and single rows are JSON texts. Bodies are parsed only after authorization. Administrators of the instance may
 * do everything; others need the entitlement in the workspace (403).
 */
export type Workspaces = {
  /**
   * Creates a workspace with the caller as Administrator. Throws 403 unless the caller is administrator of the
   * instance, 409 for a name that is taken, 402 over the license limit.
   */
  create(caller: Caller, input: LazyBody<NewWorkspace>): Promise<WorkspaceRow>
  /** The workspaces that the caller is a member of; all for administrators of the instance. */
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** Requires workspace:read. */
  read(caller: Caller, id: string, query: LazyBody<ReadQuery>): Promise<string>
  /** Requires workspace:edit. */
  update(caller: Caller, id: string, change: LazyBody<{ readonly displayName: string | null }>): Promise<string>
  /**
   * Requires workspace:delete. Deletes the workspace with its data in the system database, under the migration lock.
   */
  delete(caller: Caller, id: string): Promise<void>
}

export type WorkspacesDeps = {
  readonly ports: Pick<Ports, 'database' | 'ids' | 'workspaces'>
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly forget: ForgetWorkspace
}

export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const { ports, directory, license, forget } = deps
  const { database, ids, workspaces } = ports
  /** Throws 403 for a caller that is no member, whether the workspace exists or not. */
  async function requireIn(caller: Caller, workspaceId: string, entitlement: Entitlement): Promise<void> {
    const userId = requireUser(caller)
    if (caller.kind !== 'user' || caller.isAdministrator) return
    const state = await loadPrincipalState(database, { ...caller.credential, userId }, workspaceId)
    const rights = state === undefined ? 'suspended' : rightsOfPrincipal(state)
    if (rights === 'suspended') throw new ServiceError('forbidden', `Requires the entitlement ${entitlement}`)
    requireEntitlement(rights, entitlement)
  }

  return {
    async create(caller, sent) {
      requireAdministrator(caller)
      const { apiName, displayName } = await sent()
      const workspace = { id: ids.next(), apiName, displayName: displayName ?? null }
      const creatorId = requireUser(caller)
      const roleIds = { administrator: ids.next(), public: ids.next() }
      const creator = { type: 'user', id: creatorId } as const
      const role = { roleId: roleIds.administrator, roleName: 'Administrator' }
      const record = (event: Parameters<typeof recordWorkspaceEvent>[2]) =>
        recordWorkspaceEvent(ids, { workspace, caller }, event)
      const writes = [
        ...insertWorkspace({
          workspace,
          creatorId,
          roleIds,
          sourceId: ids.next(),
          namespaceIds: { meta: ids.next(), data: ids.next() },
        }),
        record({ action: 'workspace.create.v1', target: targetOf(workspace.id), payload: { apiName } }),
        record({ action: 'user.join_workspace.v1', target: creator }),
        record({ action: 'role.assign.v1', target: creator, payload: role }),
      ]
      const wait = waitForName(apiName)
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'instance',
        load: async () => {
          await database.query(wait)
          requireAdministrator(await callerNow(database, caller))
        },
        decide: () => [wait, ...license.within(['workspaces', 'seats'], workspace.id, writes)],
        // Names are unique; a schema of that name that belongs to no workspace conflicts as well.
        taken: 'A workspace of this name already exists',
      })
      return workspace
    },

    async list(caller, query) {
      const userId = requireUser(caller)
      const isAdministrator = caller.kind === 'user' && caller.isAdministrator
      const own: RowScope = isAdministrator ? everything : { kind: 'ids', ids: await workspacesOf(database, userId) }
      return directory.list('workspaces', own, await query())
    },

    async read(caller, id, query) {
      await requireIn(caller, id, 'workspace:read')
      return directory.read('workspaces', everything, id, await query())
    },

    async update(caller, id, sent) {
      await requireIn(caller, id, 'workspace:edit')
      const { displayName } = await sent()
      await changeRights(ports, id, {
        caller,
        reach: 'workspace',
        load: async () => {
          await requireIn(await callerNow(database, caller), id, 'workspace:edit')
          return (await findWorkspaceById(database, id)) ?? notFound('workspaces')
        },
        decide: (workspace) => {
          const event = { action: 'workspace.update.v1', target: targetOf(id), payload: { displayName } } as const
          return [
            lockWorkspace(id),
            setDisplayName(id, displayName),
            recordWorkspaceEvent(ids, { workspace, caller }, event),
          ]
        },
      })
      return directory.read('workspaces', everything, id)
    },

    async delete(caller, id) {
      await requireIn(caller, id, 'workspace:delete')
      const find = async () => (await findWorkspaceById(database, id)) ?? notFound('workspaces')
      await find()
      await workspaces.withMigrationLock(id, async () => {
        await changeRights(ports, id, {
          caller,
          reach: 'instance',
          load: async () => requireIn(await callerNow(database, caller), id, 'workspace:delete'),
          decide: () => [beginDeletion(id)],
        })
        const workspace = await find()
        const payload = { apiName: workspace.apiName }
        const event = { action: 'workspace.delete.v1', target: targetOf(id), payload } as const
        return deleteWorkspace(
          ofShare(database, id),
          workspace,
          recordWorkspaceEvent(ids, { workspace, caller }, event),
        )
      })
      await workspaces.changed(id)
      forget(id)
    },
  }
}

function targetOf(id: string) {
  return { type: 'workspace', id } as const
}
