/** API keys of the caller: JWTs that act as their user until they are switched off, deleted or over. */
import { ServiceError } from '../core/error.ts'
import type { Ports } from '../ports.ts'
import {
  type ApiKeyChange,
  type ApiKeyRow,
  deleteApiKey,
  insertApiKey,
  listApiKeys,
  type Recorded,
  updateApiKey,
} from '../store/accounts.ts'
import { actorOf, recordOf } from './audit.ts'
import { type Caller, requireUser } from './callers.ts'
import type { Tokens } from './tokens.ts'

export type NewApiKey = {
  readonly name: string
  readonly description?: string | null | undefined
  /** Milliseconds from now; without it the key has no end. */
  readonly expiresIn?: number | undefined
  readonly userId?: string | undefined
}

export type ApiKeys = {
  /** The token itself, `key`, is part of this answer only. */
  create(caller: Caller, wish: NewApiKey): Promise<ApiKeyRow & { readonly key: string }>
  list(caller: Caller): Promise<readonly ApiKeyRow[]>
  update(caller: Caller, id: string, change: ApiKeyChange): Promise<ApiKeyRow>
  delete(caller: Caller, id: string): Promise<void>
}

export function createApiKeys({ clock, database, ids, workspaces }: Ports, tokens: Tokens): ApiKeys {
  function record(caller: Caller, verb: 'create' | 'update' | 'delete', id: string, payload = {}): Recorded {
    const happening = { actor: actorOf(caller), target: { type: 'apiKey', id }, payload } as const
    return (provided) => recordOf(ids, { ...happening, action: `api_key.${verb}.v1` }, provided)
  }

  return {
    async create(caller, { name, description, expiresIn, userId = requireUser(caller) }) {
      if (userId !== requireUser(caller)) throw new ServiceError('forbidden', 'A key can only be made for yourself')
      const now = clock.now()
      const id = ids.next()
      const expiresAt = expiresIn === undefined ? undefined : now + expiresIn
      const key = await tokens.sign({ sort: 'key+jwt', userId, id, tokenId: id, expiresAt }, now)
      const made = { id, userId, name, description: description ?? null, expiresAt }
      const row = await insertApiKey(database, made, record(caller, 'create', id, { name, userId }))
      return { ...row, key }
    },

    async list(caller) {
      return listApiKeys(database, requireUser(caller))
    },

    async update(caller, id, change) {
      const key = { id, userId: requireUser(caller) }
      const row = await updateApiKey(database, key, change, record(caller, 'update', id, change))
      await workspaces.changed(id)
      return row ?? noSuchKey()
    },

    async delete(caller, id) {
      const key = { id, userId: requireUser(caller) }
      const isDeleted = await deleteApiKey(database, key, record(caller, 'delete', id))
      await workspaces.changed(id)
      if (!isDeleted) noSuchKey()
    },
  }
}

function noSuchKey(): never {
  throw new ServiceError('notFound', 'API key does not exist')
}
