/**
 * API keys: JWTs that act as their user until they are switched off, deleted or over, perhaps within a scope. Everybody
 * looks after their own and those of the service accounts they own; administrators of the instance after all; a key with
 * a scope after itself and those made with it. A key that is made with a key ends with it (docs/decisions/044).
 */
import { limitsRights, type ScopeInput } from '../../core/access/scope.ts'
import { ServiceError } from '../../core/error.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { Instant, Ports } from '../../ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import type { AuditStatement } from '../../store/accounts.ts'
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
import { actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, callerNow, isAdministrator, requestCredentialOf, requireUser } from '../caller/callers.ts'
import { type Directory, type LazyBody, notFound, type RowScope, rowScopeOfUser } from '../caller/directory.ts'
import { invalidToken, type Tokens } from '../caller/tokens.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { createKeyScopes } from '../rights/key-scopes.ts'
import { bodyFault } from '../rights/roles.ts'

export type ApiKeyInput = {
  readonly name: string
  readonly description?: string | null | undefined
  /** Milliseconds from now; without it the key ends with the one that it is made with, or never. */
  readonly expiresIn?: number | undefined
  /** Whose key it is to be: the caller's where this is not said. */
  readonly userId?: string | undefined
  readonly scope?: ScopeInput | undefined
}

/** Lists and single rows are JSON texts. What is sent is read only once the caller was found to be somebody. */
export type ApiKeys = {
  /**
   * The token itself, `key`, is part of this answer only. Throws 403 for a user whom the caller does not look after and for a
   * scope beyond that of their own key, 422 for an end beyond that of their own key.
   */
  create(caller: Caller, input: LazyBody<ApiKeyInput>): Promise<object>
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** Throws 404 for a key that is not there for this caller. */
  update(caller: Caller, id: string, change: LazyBody<ApiKeyChange>): Promise<string>
  delete(caller: Caller, id: string): Promise<void>
}

/** A key is made with a key that is made with a key: so many in all, since each use looks at all of them. */
const MAX_GENERATIONS = 8

type Parts = { readonly tokens: Tokens; readonly directory: Directory; readonly models: ModelCache }

export function createApiKeys(ports: Ports, { tokens, directory, models }: Parts): ApiKeys {
  const { clock, database, ids, workspaces } = ports
  const scopes = createKeyScopes(ports, models)

  function record(caller: Caller, verb: 'create' | 'update' | 'delete', id: string, payload = {}): AuditStatement {
    const event = { actor: actorOf(caller), target: { type: 'apiKey', id }, payload } as const
    return (provided) => recordEvent(ids, { ...event, action: `api_key.${verb}.v1` }, provided)
  }

  /** The key that the caller presents; undefined where it is a session. Throws 401 where it is gone by now. */
  async function presented(caller: Caller): Promise<(ApiKeyRow & { readonly id: string }) | undefined> {
    if (caller.kind !== 'user' || caller.credential.kind !== 'key') return undefined
    const { id } = caller.credential
    const row = await loadApiKey(database, id)
    if (row === undefined) throw invalidToken()
    return { ...row, id }
  }

  async function insert(caller: Caller, made: NewApiKey, payload: object): Promise<void> {
    const guardian = guardianOf(caller)
    try {
      const isMade = await insertApiKey(database, guardian, {
        ...made,
        by: requestCredentialOf(caller),
        record: record(caller, 'create', made.id, payload),
      })
      if (!isMade)
        throw isAdministrator(await callerNow(database, caller)) ? bodyFault('userId', 'does not exist') : notYours()
    } catch (cause) {
      // The key that it is made with was deleted at this moment.
      throw cause instanceof SqlFault && cause.state === FOREIGN_KEY_VIOLATION ? invalidToken() : cause
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
      const told = scope && (JSON.parse(await scopes.show(JSON.stringify({ scope }))) as object)
      await insert(
        caller,
        { id, userId, name, description, expiresAt, scope, madeBy },
        { name, userId, ...told, ...(madeBy !== undefined && { madeBy }) },
      )
      const key = await tokens.sign({ sort: 'key+jwt', userId, id, tokenId: id, expiresAt }, now)
      return { ...JSON.parse(await read({ kind: 'everything' }, id)), key }
    },

    async list(caller, query) {
      const answer = await directory.list('apiKeys', reachOf(caller), await query())
      return { ...answer, data: await scopes.show(answer.data) }
    },

    async update(caller, id, sent) {
      const keeper = keeperOf(caller)
      const change = await sent()
      if (change.active === true) await requireNoLonger(await presented(caller), id)
      const key = { id, keeper, by: requestCredentialOf(caller), record: record(caller, 'update', id, change) }
      if (!(await updateApiKey(database, key, change))) return notFound('apiKeys')
      await workspaces.changed(id)
      return read(reachOf(caller), id)
    },

    async delete(caller, id) {
      const key = { id, keeper: keeperOf(caller), record: record(caller, 'delete', id) }
      if (!(await deleteApiKey(database, key))) notFound('apiKeys')
      await workspaces.changed(id)
    },
  }

  /** Throws 403 where the key `id` lasts longer than the one that is to switch it on. */
  async function requireNoLonger(maker: ApiKeyRow | undefined, id: string): Promise<void> {
    const key = maker?.expiresAt === undefined ? undefined : await loadApiKey(database, id)
    if (key === undefined || maker?.expiresAt === undefined) return
    if (key.expiresAt !== undefined && key.expiresAt <= maker.expiresAt) return
    throw new ServiceError('forbidden', 'A key cannot activate a key that expires later')
  }
}

const FOREIGN_KEY_VIOLATION = '23503'

function guardianOf(caller: Caller): UserFilter {
  const id = requireUser(caller)
  return isAdministrator(caller) ? { kind: 'anyone' } : { kind: 'user', id }
}

function keeperOf(caller: Caller): KeyFilter {
  const guardian = guardianOf(caller)
  return isScoped(caller) ? { kind: 'key', id: caller.credential.id } : guardian
}

function reachOf(caller: Caller): RowScope {
  return isScoped(caller) ? { kind: 'key', id: caller.credential.id } : rowScopeOfUser(caller)
}

function isScoped(caller: Caller): caller is Extract<Caller, { kind: 'user' }> {
  return caller.kind === 'user' && caller.scope !== undefined
}

/** Whether the caller's key limits what can be done, not only where from. */
function isLimited(caller: Caller): boolean {
  return caller.kind === 'user' && caller.scope !== undefined && limitsRights(caller.scope)
}

/** When a key ends that is wished to end at `wished`. Throws 422 where that is later than the one that it is made with. */
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
