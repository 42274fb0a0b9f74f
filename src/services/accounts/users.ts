/** Accounts of the instance, for its administrators; every user may read its own (docs/contract.md#accounts). */
import { isLastInstanceAdministrator } from '../../core/access/last-administrator.ts'
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { type AccountRow, deleteAccount, loadAccount, setFullName, updateAccount } from '../../store/accounts.ts'
import { soleAdministratorOf } from '../../store/members.ts'
import { deleteResets } from '../../store/passwords.ts'
import { ownedServiceAccounts } from '../../store/service-accounts.ts'
import { endSessions } from '../../store/sessions.ts'
import { actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, requireAdministrator, requireAnothers, requirePerson, requireUser } from '../caller/caller.ts'
import { callerNow } from '../caller/callers.ts'
import { type Directory, everything, type LazyBody, notFound } from '../caller/directory.ts'
import { requireProven } from '../rights/proof.ts'
import { changeRights } from '../rights/rights-changes.ts'

export type UserChange = {
  readonly fullName?: string | null | undefined
  readonly status?: 'active' | 'suspended' | undefined
  readonly isAdministrator?: boolean | undefined
}

export type OwnChange = { readonly fullName: string | null }

/**
 * Answers are JSON texts. Bodies are parsed only after authorization. All methods except for the caller's own account require
 * an administrator of the instance (403); an unknown id throws 404.
 */
export type Users = {
  /** The caller's own account; 403 for the anonymous caller. */
  me(caller: Caller, query: LazyBody<ReadQuery>): Promise<string>
  /** Changes the caller's own account; 403 for the anonymous caller and for service accounts, which their owners change. */
  updateMe(caller: Caller, change: LazyBody<OwnChange>): Promise<string>
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  read(caller: Caller, id: string, query: LazyBody<ReadQuery>): Promise<string>
  /**
   * Throws 409 for the last administrator of the instance or of a workspace, and for a new administrator without proven
   * address. Suspending ends all sessions.
   */
  update(caller: Caller, id: string, change: LazyBody<UserChange>): Promise<string>
  /**
   * Also deletes the account's service accounts. Throws 409 for the last administrator of the instance or of a
   * workspace.
   */
  delete(caller: Caller, id: string): Promise<void>
}

export type UsersDeps = {
  readonly ports: Ports
  readonly directory: Directory
}

export function createUsers(deps: UsersDeps): Users {
  const { ports, directory } = deps
  const { database, ids } = ports

  /**
   * Returns a current account that the caller may change; throws 403 for a service account that changes itself, its
   * owner or another account of that owner.
   */
  async function findAccount(caller: Caller, id: string): Promise<AccountRow> {
    requireAdministrator(await callerNow(database, caller))
    const account = (await loadAccount(database, id)) ?? notFound('users')
    requireAnothers(caller, { id, ownerId: account.ownerId })
    return account
  }

  return {
    async me(caller, query) {
      const userId = requireUser(caller)
      return directory.read('users', everything, userId, await query())
    },

    async updateMe(caller, sent) {
      const userId = requirePerson(caller)
      const change = await sent()
      await callerNow(database, caller)
      await database.batch([
        setFullName(userId, change.fullName),
        recordEvent(ids, {
          action: 'user.update.v1',
          actor: actorOf(caller),
          target: { type: 'user', id: userId },
          payload: change,
        }),
      ])
      return directory.read('users', everything, userId)
    },

    async list(caller, query) {
      requireAdministrator(caller)
      return directory.list('users', everything, await query())
    },

    async read(caller, id, query) {
      requireAdministrator(caller)
      return directory.read('users', everything, id, await query())
    },

    async update(caller, id, sent) {
      requireAdministrator(caller)
      const change = await sent()
      await changeRights(ports, id, {
        caller,
        reach: 'instance',
        load: async () => ({
          account: await findAccount(caller, id),
          soleAdministered: await soleAdministratorOf(database, id),
        }),
        decide: ({ account, soleAdministered }) => {
          const after = {
            status: change.status ?? account.status,
            isAdministrator: change.isAdministrator ?? account.isAdministrator,
          }
          if (after.isAdministrator && !account.isAdministrator) requireProven(account)
          if (after.status !== 'active' || !after.isAdministrator) requireAnotherAdministrator(account)
          const isSuspended = account.status === 'active' && after.status === 'suspended'
          if (isSuspended) requireOtherAdministrators(soleAdministered, 'suspended')
          return [
            updateAccount(id, after),
            ...(change.fullName === undefined ? [] : [setFullName(id, change.fullName)]),
            ...(isSuspended ? [...endSessions(id), deleteResets(id)] : []),
            recordEvent(ids, {
              action: isSuspended ? 'user.suspend.v1' : 'user.update.v1',
              actor: actorOf(caller),
              target: { type: 'user', id },
              payload: change,
            }),
          ]
        },
      })
      return directory.read('users', everything, id)
    },

    async delete(caller, id) {
      requireAdministrator(caller)
      await changeRights(ports, id, {
        caller,
        reach: 'instance',
        load: async () => ({
          account: await findAccount(caller, id),
          soleAdministered: await soleAdministratorOf(database, id),
          owned: await ownedServiceAccounts(database, id),
        }),
        decide: ({ account, soleAdministered, owned }) => {
          requireAnotherAdministrator(account)
          requireOtherAdministrators(soleAdministered, 'removed')
          const target = { type: 'user', id } as const
          const payload = { fullName: account.fullName }
          const actor = actorOf(caller)
          return [
            recordEvent(ids, { action: 'user.delete.v1', actor, target, payload }),
            ...owned.map(({ id: accountId, name }) => {
              const service = { type: 'serviceAccount', id: accountId } as const
              return recordEvent(ids, {
                action: 'service_account.delete.v1',
                actor,
                target: service,
                payload: { name },
              })
            }),
            deleteAccount(id),
          ]
        },
      })
    },
  }
}

/** Throws 409 if this account is the last administrator of the instance. */
function requireAnotherAdministrator(account: AccountRow): void {
  if (!isLastInstanceAdministrator(account)) return
  throw new ServiceError('conflict', 'The last administrator of the instance cannot be removed, suspended or demoted')
}

/** Throws 409 with the name of the first of the workspaces that have no other Administrator. */
function requireOtherAdministrators([workspace]: readonly string[], verb: 'suspended' | 'removed'): void {
  if (workspace === undefined) return
  throw new ServiceError('conflict', `The last Administrator of ${workspace} cannot be ${verb}`)
}
