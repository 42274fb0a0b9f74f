/**
 * API keys: JWTs that act as their user, within an optional scope, until they are disabled, deleted or expired. Users manage
 * their own keys and those of their service accounts; administrators of the instance all keys; a caller with a scoped key only
 * that key and the keys created with it. Deleting a key deletes the keys created with it (docs/decisions/044).
 */

import { limitsRights, type ScopeInput } from '../../core/access/scope.ts'
import { ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import {
  type ApiKeyChange,
  type ApiKeyRow,
  deleteApiKey,
  insertApiKey,
  type KeyFilter,
  loadApiKey,
  type NewApiKey,
  type UserFilter,
  updateApiKey,
} from '../../store/api-keys.ts'
import type { AuditStatement } from '../../store/audit.ts'
import { breaksReference } from '../../store/failed-batch.ts'
import { actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, isAdministrator, requestCredentialOf, requireUser } from '../caller/caller.ts'
import { callerNow } from '../caller/callers.ts'
import {
  type Directory,
  everything,
  type LazyBody,
  notFound,
  type RowScope,
  rowScopeOfUser,
} from '../caller/directory.ts'
import { invalidToken, type Tokens } from '../caller/tokens.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { createKeyScopes } from '../rights/key-scopes.ts'
import { bodyFault } from '../rights/roles.ts'

export type ApiKeyInput = {
  readonly name: string
  readonly description?: string | null | undefined
  /** Milliseconds from now. By default the key expires with the key that it is created with, or never. */
  readonly expiresIn?: number | undefined
  /** The key's user; the caller by default. */
  readonly userId?: string | undefined
  readonly scope?: ScopeInput | undefined
}

/** Lists and single rows are JSON texts. Bodies are parsed only after the caller was identified. */
export type ApiKeys = {
  /**
   * Only this answer contains the token, `key`. Throws 403 for a user whose keys the caller may not manage and for a
   * scope that exceeds that of the caller's key, 422 for an expiry after that of the caller's key.
   */
  create(caller: Caller, input: LazyBody<ApiKeyInput>): Promise<object>
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** Throws 404 for a key that does not exist or that the caller may not manage. */
  update(caller: Caller, id: string, change: LazyBody<ApiKeyChange>): Promise<string>
  delete(caller: Caller, id: string): Promise<void>
}

/** Maximum length of a chain of keys created with each other, since each use checks the whole chain. */
const MAX_GENERATIONS = 8

export type ApiKeysDeps = {
  readonly ports: Ports
  readonly tokens: Tokens
  readonly directory: Directory
  readonly models: ModelCache
}

export function createApiKeys(deps: ApiKeysDeps): ApiKeys {
  const { ports, tokens, directory } = deps
  const { clock, database, ids, workspaces } = ports
  const scopes = createKeyScopes(deps)

  function record(caller: Caller, verb: 'create' | 'update' | 'delete', id: string, payload = {}): AuditStatement {
    const event = { actor: actorOf(caller), target: { type: 'apiKey', id }, payload } as const
    return (provided) => recordEvent(ids, { ...event, action: `api_key.${verb}.v1` }, provided)
  }

  /** Returns the key that the caller presents; undefined for a session. Throws 401 for a deleted key. */
  async function presented(caller: Caller): Promise<(ApiKeyRow & { readonly id: string }) | undefined> {
    if (caller.kind !== 'user' || caller.credential.kind !== 'key') return undefined
    const { id } = caller.credential
    const row = await loadApiKey(database, id)
    if (row === undefined) throw invalidToken()
    return { ...row, id }
  }

  async function insert(caller: Caller, made: NewApiKey, payload: object): Promise<void> {
    const userFilter = userFilterOf(caller)
    try {
      const isMade = await insertApiKey(database, userFilter, {
        ...made,
        by: requestCredentialOf(caller),
        record: record(caller, 'create', made.id, payload),
      })
      if (!isMade)
        throw isAdministrator(await callerNow(database, caller)) ? bodyFault('userId', 'does not exist') : notYours()
    } catch (cause) {
      // The key that created this key was deleted concurrently.
      throw breaksReference(cause) ? invalidToken() : cause
    }
  }

  async function read(rowScope: RowScope, id: string): Promise<string> {
    return scopes.show(await directory.read('apiKeys', rowScope, id))
  }

  return {
    async create(caller, sent) {
      const self = requireUser(caller)
      const { name, description = null, expiresIn, userId = self, scope: input } = await sent()
      const maker = await presented(caller)
      requireRoom(maker)
      if (userId !== self && isLimited(caller)) throw notYours()
      const now = clock.now()
      const expiresAt = endOf(expiresIn === undefined ? undefined : now + expiresIn, maker)
      const scope = await scopes.resolve(caller, userId, input)
      const id = ids.next()
      const madeBy = maker?.id
      const shownScope = scope && (parseJson(await scopes.show(JSON.stringify({ scope }))) as object)
      await insert(
        caller,
        { id, userId, name, description, expiresAt, scope, madeBy },
        { name, userId, ...shownScope, ...(madeBy !== undefined && { madeBy }) },
      )
      const key = await tokens.sign({ sort: 'key+jwt', userId, id, tokenId: id, expiresAt }, now)
      return { ...(parseJson(await read(everything, id)) as object), key }
    },

    async list(caller, query) {
      const answer = await directory.list('apiKeys', reachOf(caller), await query())
      return { ...answer, data: await scopes.show(answer.data) }
    },

    async update(caller, id, sent) {
      const keyFilter = keyFilterOf(caller)
      const change = await sent()
      if (change.active === true) await requireNoLonger(await presented(caller), id)
      const key = {
        id,
        keyFilter,
        by: requestCredentialOf(caller),
        record: record(caller, 'update', id, change),
      }
      if (!(await updateApiKey(database, key, change))) return notFound('apiKeys')
      await workspaces.changed(id)
      return read(reachOf(caller), id)
    },

    async delete(caller, id) {
      const by = requestCredentialOf(caller)
      const key = { id, keyFilter: keyFilterOf(caller), by, record: record(caller, 'delete', id) }
      if (!(await deleteApiKey(database, key))) notFound('apiKeys')
      await workspaces.changed(id)
    },
  }

  /** Throws 403 if the key `id` expires after the key that the caller uses to enable it. */
  async function requireNoLonger(maker: ApiKeyRow | undefined, id: string): Promise<void> {
    const key = maker?.expiresAt === undefined ? undefined : await loadApiKey(database, id)
    if (key === undefined || maker?.expiresAt === undefined) return
    if (key.expiresAt !== undefined && key.expiresAt <= maker.expiresAt) return
    throw new ServiceError('forbidden', 'A key cannot activate a key that expires later')
  }
}

function userFilterOf(caller: Caller): UserFilter {
  const id = requireUser(caller)
  return isAdministrator(caller) ? { kind: 'anyone' } : { kind: 'user', id }
}

function keyFilterOf(caller: Caller): KeyFilter {
  const userFilter = userFilterOf(caller)
  return isScoped(caller) ? { kind: 'key', id: caller.credential.id } : userFilter
}

function reachOf(caller: Caller): RowScope {
  return isScoped(caller) ? { kind: 'key', id: caller.credential.id } : rowScopeOfUser(caller)
}

function isScoped(caller: Caller): caller is Extract<Caller, { kind: 'user' }> {
  return caller.kind === 'user' && caller.scope !== undefined
}

/** Returns true if the scope of the caller's key limits rights, not only networks. */
function isLimited(caller: Caller): boolean {
  return caller.kind === 'user' && caller.scope !== undefined && limitsRights(caller.scope)
}

/** Returns the expiry of a key requested to expire at `wished`. Throws 422 for one after that of the caller's key. */
function endOf(wished: Instant | undefined, maker: ApiKeyRow | undefined): Instant | undefined {
  const latest = maker?.expiresAt
  if (latest === undefined || wished === undefined) return wished ?? latest
  if (wished <= latest) return wished
  throw bodyFault(
    'expiresIn',
    `must not be later than ${new Date(latest).toISOString()}, the expiry of the key that creates it`,
  )
}

function requireRoom(maker: ApiKeyRow | undefined): void {
  if (maker === undefined || maker.generation < MAX_GENERATIONS) return
  throw new ServiceError('forbidden', `Keys can be created by keys to a depth of at most ${MAX_GENERATIONS}`)
}

function notYours(): ServiceError {
  return new ServiceError('forbidden', 'A key can only be made for yourself or for a service account that you own')
}
