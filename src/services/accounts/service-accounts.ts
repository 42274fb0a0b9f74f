/**
 * Service accounts (docs/contract.md#accounts): accounts of programs, which sign in by API key and are owned by users. They
 * have the rights of their roles, and nobody can grant them more than they hold. A service account is suspended and deleted
 * with its owner (docs/decisions/015).
 */
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { deleteAccount, loadAccount } from '../../store/accounts.ts'
import { deleteKeysOf, keysOf } from '../../store/api-keys.ts'
import { countRightsOf } from '../../store/rights.ts'
import {
  insertServiceAccount,
  loadServiceAccount,
  type ServiceAccountRow,
  updateServiceAccount,
} from '../../store/service-accounts.ts'
import { actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, isAdministrator, requireAnothers, requireUser } from '../caller/caller.ts'
import { callerNow } from '../caller/callers.ts'
import { type Directory, everything, type LazyBody, notFound, rowScopeOfUser } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import type { LoadGrantor } from '../rights/delegation.ts'
import { requireProven } from '../rights/proof.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { bodyFault } from '../rights/roles.ts'
import { createServiceAccountRoles, type Grant, type RecordOfAccount } from './service-account-roles.ts'

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

export type ServiceAccountsDeps = {
  readonly ports: Ports
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
}

export function createServiceAccounts(deps: ServiceAccountsDeps): ServiceAccounts {
  const { ports, directory, license } = deps
  const { database, ids } = ports
  const accountRoles = createServiceAccountRoles(deps)

  function recorder(caller: Caller, id: string): RecordOfAccount {
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
      const record = recorder(caller, id)
      await changeRights(ports, id, {
        caller,
        reach: 'account',
        load: async () => requireOwner(await callerNow(database, caller), owner, undefined),
        decide: async () => [
          ...license.within(['service_accounts'], undefined, [
            insertServiceAccount(id, { name, description, ownerId: owner }),
          ]),
          record({ action: 'service_account.create.v1', payload: { name, owner, roles } }),
          ...(await accountRoles.change(caller, { accountId: id, held: [], wanted: roles, record })),
        ],
      })
      return directory.read('serviceAccounts', everything, id)
    },

    async update(caller, id, sent) {
      requireUser(caller)
      const change = await sent()
      const record = recorder(caller, id)
      await changeRights(ports, id, {
        caller,
        reach: 'account',
        load: async () => {
          const current = await callerNow(database, caller)
          return { current, before: await find(current, id) }
        },
        decide: async ({ current, before }) => {
          const { name, description, owner = before.ownerId, roles } = change
          if (owner !== before.ownerId) await requireOwner(current, owner, before.ownerId)
          const isHandedOn = owner !== before.ownerId
          // An owner may grant their own rights; roles granted by others require a proven owner.
          if (roles !== undefined && owner !== requireUser(caller)) requireProven(before)
          return [
            updateServiceAccount(id, { name, description, ownerId: change.owner }),
            // The former owner may still know the keys.
            ...(isHandedOn ? await keysEnded(caller, id) : []),
            record({ action: 'service_account.update.v1', payload: change }),
            ...(roles === undefined
              ? []
              : await accountRoles.change(caller, { accountId: id, held: before.roles, wanted: roles, record })),
          ]
        },
      })
      return directory.read('serviceAccounts', everything, id)
    },

    async delete(caller, id) {
      requireUser(caller)
      await changeRights(ports, id, {
        caller,
        reach: 'account',
        load: async () => find(await callerNow(database, caller), id),
        decide: ({ name }) => [
          recorder(caller, id)({ action: 'service_account.delete.v1', payload: { name } }),
          countRightsOf(id),
          deleteAccount(id),
        ],
      })
    },
  }
}
