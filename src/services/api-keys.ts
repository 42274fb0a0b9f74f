/**
 * API keys: JWTs that act as their user until they are switched off, deleted or over. Everybody looks after their own and
 * those of the service accounts they own; administrators of the instance after all.
 */
import { ServiceError } from '../core/error.ts'
import type { ReadQuery } from '../core/query/parse.ts'
import type { Ports } from '../ports.ts'
import type { ListAnswer } from '../sources/source.ts'
import type { Recorded } from '../store/accounts.ts'
import { type ApiKeyChange, deleteApiKey, insertApiKey, type Keeper, updateApiKey } from '../store/api-keys.ts'
import { actorOf, recordOf } from './audit.ts'
import { type Caller, isAdministrator, requireUser } from './callers.ts'
import { type Directory, missing, reachOfUser, type Sent } from './directory.ts'
import { sentFault } from './roles.ts'
import type { Tokens } from './tokens.ts'

export type ApiKeyWish = {
  readonly name: string
  readonly description?: string | null | undefined
  /** Milliseconds from now; without it the key has no end. */
  readonly expiresIn?: number | undefined
  /** Whose key it is to be: the caller's where this is not said. */
  readonly userId?: string | undefined
}

/** Lists and single rows are JSON texts. What is sent is read only once the caller was found to be somebody. */
export type ApiKeys = {
  /** The token itself, `key`, is part of this answer only. Throws 403 for a user whom the caller does not look after. */
  create(caller: Caller, wish: Sent<ApiKeyWish>): Promise<object>
  list(caller: Caller, query: Sent<ReadQuery>): Promise<ListAnswer>
  /** Throws 404 for a key that is not there for this caller. */
  update(caller: Caller, id: string, change: Sent<ApiKeyChange>): Promise<string>
  delete(caller: Caller, id: string): Promise<void>
}

export function createApiKeys(ports: Ports, tokens: Tokens, directory: Directory): ApiKeys {
  const { clock, database, ids, workspaces } = ports

  function record(caller: Caller, verb: 'create' | 'update' | 'delete', id: string, payload = {}): Recorded {
    const happening = { actor: actorOf(caller), target: { type: 'apiKey', id }, payload } as const
    return (provided) => recordOf(ids, { ...happening, action: `api_key.${verb}.v1` }, provided)
  }

  return {
    async create(caller, sent) {
      const self = requireUser(caller)
      const { name, description = null, expiresIn, userId = self } = await sent()
      const now = clock.now()
      const id = ids.next()
      const expiresAt = expiresIn === undefined ? undefined : now + expiresIn
      const made = { id, userId, name, description, expiresAt }
      const payload = { name, userId }
      const keeper = keeperOf(caller)
      if (!(await insertApiKey(database, keeper, { ...made, record: record(caller, 'create', id, payload) }))) {
        throw keeper.kind === 'anyone' ? sentFault('userId', 'does not exist') : notYours()
      }
      const key = await tokens.sign({ sort: 'key+jwt', userId, id, tokenId: id, expiresAt }, now)
      return { ...JSON.parse(await directory.read('apiKeys', { kind: 'everything' }, id)), key }
    },

    async list(caller, query) {
      return directory.list('apiKeys', reachOfUser(caller), await query())
    },

    async update(caller, id, sent) {
      const keeper = keeperOf(caller)
      const change = await sent()
      const key = { id, keeper, record: record(caller, 'update', id, change) }
      if (!(await updateApiKey(database, key, change))) return missing('apiKeys')
      await workspaces.changed(id)
      return directory.read('apiKeys', reachOfUser(caller), id)
    },

    async delete(caller, id) {
      const key = { id, keeper: keeperOf(caller), record: record(caller, 'delete', id) }
      if (!(await deleteApiKey(database, key))) missing('apiKeys')
      await workspaces.changed(id)
    },
  }
}

function keeperOf(caller: Caller): Keeper {
  const id = requireUser(caller)
  return isAdministrator(caller) ? { kind: 'anyone' } : { kind: 'user', id }
}

function notYours(): ServiceError {
  return new ServiceError('forbidden', 'A key can only be made for yourself or for a service account that you own')
}
