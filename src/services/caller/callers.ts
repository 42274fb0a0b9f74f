/**
 * Authenticates a token and loads the caller's rights. Results are cached per token and workspace until the access
 * version changes, so that a warm request sends no query to the system database.
 */
import type { Entitlement } from '../../core/access/entitlement.ts'
import { type Rights, requireEntitlement } from '../../core/access/principal.ts'
import { includesWorkspace, limitsRights, restrictRights } from '../../core/access/scope.ts'
import { andThen, type Eventual } from '../../core/and-then.ts'
import { ServiceError } from '../../core/error.ts'
import type { PlanTerm } from '../../core/sql/begin/plan-term.ts'
import type { Instant } from '../../ports/clock.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { Ports } from '../../ports/ports.ts'
import type { AgingSnapshot } from '../../ports/workspace-state.ts'
import {
  loadPrincipalState,
  loadPublicPrincipalState,
  type Membership,
  type PrincipalState,
  type ReadPolicy,
} from '../../store/principal-state.ts'
import { findWorkspace, isThere, type WorkspaceRow } from '../../store/workspaces.ts'
import { type Caller, type Presented, requestCredentialOf } from './caller.ts'
import { createKeyUse } from './key-use.ts'
import { createKnownCallers, type ReadOf } from './known-callers.ts'
import { isSame, planTermOf } from './plan-term.ts'
import { type Claims, invalidToken, type Tokens } from './tokens.ts'
import { createLoads } from './work-queue.ts'

/** A caller in a workspace, with the versions of model and rights that the request uses. */
export type RequestScope = {
  readonly workspace: WorkspaceRow
  readonly snapshot: AgingSnapshot
  readonly caller: Caller
  readonly rights: Rights
  /** How long plans made in this scope may still be started. */
  readonly term: PlanTerm
  /** The scope that the same request would have now. Throws what `authorize` throws. */
  readonly again: () => Eventual<RequestScope>
  /** For a request of several calls: the number of rows that earlier calls may return; all calls share one budget. */
  readonly spent?: { rows: number }
  /** The plan of a reviewed change: the change runs only under the model of this plan (`reviewed.ts`). */
  readonly plan?: string | undefined
}

/**
 * Checks rights again after long work, before an answer that the original rights decided. Throws what `authorize` throws, 403
 * if the caller lacks `needed` by now, and 503 if the rights have changed.
 */
export async function requireStill({ again, rights }: Rightful, needed?: Entitlement): Promise<void> {
  const now = await again()
  if (needed !== undefined) requireEntitlement(now.rights, needed)
  if (isSame(now.rights, rights)) return
  throw new ServiceError('unavailable', 'Your rights have changed meanwhile, try again', { meta: { retryAfter: 1 } })
}

type Rightful = Pick<RequestScope, 'again' | 'rights'>

export type Callers = {
  /**
   * Identifies the caller by `token`; undefined is the anonymous caller. Throws 401 for an invalid token, and 403 for a
   * key whose scope limits rights, unless `subject` is `itself`: the route describes only that key.
   */
  identify(token: string | undefined, subject?: 'anything' | 'itself'): Promise<Caller>
  /**
   * Identifies the caller and authorizes it in a workspace; 404 for an unknown name. Synchronous if everything is
   * cached.
   */
  authorize(workspace: string, token: string | undefined): Eventual<RequestScope>
  /** Throws 404 if the workspace of a failed request has been deleted meanwhile. */
  requireThere(workspaceId: string): Promise<void>
}

type ScopedWorkspace = Pick<RequestScope, 'workspace' | 'snapshot'>

/** A principal in a workspace, as of an access version. */
type Known = {
  readonly accessVersion: number
  readonly caller: Caller
  readonly rights: Rights | 'suspended'
  /** When the token expires. */
  readonly expiresAt: Instant | undefined
  /** The last result, reused until a version changes. */
  request?: RequestScope
}

const anonymous: Caller = { kind: 'anonymous' }

/** Removes a deleted workspace from the caches of this process. */
export type ForgetWorkspace = (workspaceId: string) => void

export type CallersDeps = {
  readonly ports: Ports
  readonly tokens: Tokens
  readonly forget: ForgetWorkspace
}

export function createCallers(deps: CallersDeps): Callers {
  const { ports, tokens, forget } = deps
  const keyUse = createKeyUse(ports)
  const principals = createKnownCallers<Known>({})
  const directory = new Map<string, WorkspaceRow>()
  const loads = createLoads({ isLong: false })

  async function claimsOf(token: string): Promise<Claims> {
    return tokens.verify(token, ['at+jwt', 'key+jwt'], ports.clock.now())
  }

  async function currentWorkspace(name: string): Promise<ScopedWorkspace> {
    const known = directory.get(name)
    const workspace = known ?? (await findWorkspace(ports.database, name))
    const snapshot = workspace && (await ports.workspaces.snapshot(workspace.id))
    if (workspace !== undefined && snapshot !== undefined) {
      directory.set(name, workspace)
      return { workspace, snapshot }
    }
    directory.delete(name)
    if (known !== undefined) {
      principals.forget(known.id)
      forget(known.id)
      // The name may belong to another workspace by now.
      return currentWorkspace(name)
    }
    throw noWorkspace()
  }

  /** The cached result, unless the token has expired or a version has changed. */
  function remembered(name: string, token: string): RequestScope | undefined {
    const workspace = directory.get(name)
    const snapshot = workspace && ports.workspaces.remembered(workspace.id)
    if (workspace === undefined || snapshot === undefined) return undefined
    const known = principals.get(workspace.id, token)
    if (known?.accessVersion !== snapshot.accessVersion || isOver(known)) return undefined
    if (known.request?.snapshot !== snapshot) known.request = scopeOf({ workspace, snapshot }, token, known)
    return known.request
  }

  /** Throws 403 for a key of other workspaces, and for a member that is suspended. */
  function scopeOf(scopedWorkspace: ScopedWorkspace, token: string, { caller, rights: known }: Known): RequestScope {
    const { workspace, snapshot } = scopedWorkspace
    if (caller.kind === 'user' && caller.scope !== undefined && !includesWorkspace(caller.scope, workspace.id)) {
      throw new ServiceError('forbidden', 'The scope of this key does not include this workspace')
    }
    const rights = unlessSuspended(known)
    const again = () => authorized(workspace.apiName, token === '' ? undefined : token)
    return { ...scopedWorkspace, caller, rights, term: planTermOf({ snapshot, rights }, again), again }
  }

  const authorized = (name: string, token: string | undefined): Eventual<RequestScope> =>
    remembered(name, token ?? '') ?? authorizeAnew(name, token)

  function isOver({ expiresAt }: Known): boolean {
    return expiresAt !== undefined && ports.clock.now() >= expiresAt
  }

  function remember(of: ReadOf, token: string, found: Omit<Known, 'accessVersion'>, weight: number): Known {
    const known: Known = { ...found, accessVersion: of.version }
    principals.set(of, token, known, weight)
    return known
  }

  async function authorizeAnew(name: string, token: string | undefined): Promise<RequestScope> {
    const claims = token === undefined ? undefined : await claimsOf(token)
    const scopedWorkspace = await currentWorkspace(name)
    const { workspace, snapshot } = scopedWorkspace
    const of = { workspaceId: workspace.id, version: snapshot.accessVersion }
    // The id contains the version, which stays the same while requests wait for the load.
    const known = await loads.load(`${of.workspaceId} ${of.version} ${token ?? ''}`, {
      find: () => knownOf(of, token ?? ''),
      make: () => loadKnown(of, token ?? '', claims),
    })
    return scopeOf(scopedWorkspace, token ?? '', known)
  }

  function knownOf({ workspaceId, version }: ReadOf, token: string): Known | undefined {
    const known = principals.get(workspaceId, token)
    return known?.accessVersion === version ? known : undefined
  }

  async function loadKnown(of: ReadOf, token: string, claims: Claims | undefined): Promise<Known> {
    const read = principals.reader(of)
    if (claims === undefined) {
      const rights = await publicRights(ports.database, of.workspaceId, read)
      return remember(of, '', { caller: anonymous, rights, expiresAt: undefined }, 0)
    }
    const state = await principalState(ports.database, credentialOf(claims), of.workspaceId, read)
    const found = {
      caller: callerOf(state, credentialOf(claims)),
      rights: rightsOfPrincipal(state),
      expiresAt: claims.expiresAt,
    }
    return remember(of, token, found, state.weight)
  }

  /** Returns the scope after recording the use of its key, if a record is due. */
  function noted(request: RequestScope): Eventual<RequestScope> {
    const { caller } = request
    const isByKey = caller.kind === 'user' && caller.credential.kind === 'key'
    const writing = isByKey ? keyUse.seen(caller.credential.id) : undefined
    return writing === undefined ? request : writing.then(() => request)
  }

  return {
    async identify(token, subject = 'anything') {
      if (token === undefined) return anonymous
      const claims = await claimsOf(token)
      const state = await loadPrincipalState(ports.database, credentialOf(claims), undefined)
      if (state === undefined) throw invalidToken()
      if (subject === 'anything' && state.scope !== undefined && limitsRights(state.scope)) {
        throw new ServiceError('forbidden', 'The scope of this key allows no system route but that of the key itself')
      }
      if (claims.sort === 'key+jwt') await keyUse.seen(claims.id)
      return callerOf(state, credentialOf(claims))
    },

    authorize(name, token) {
      return andThen(authorized(name, token), noted)
    },

    requireThere: (workspaceId) => requireThere(ports.database, workspaceId),
  }
}

function unlessSuspended(rights: Rights | 'suspended'): Rights {
  if (rights === 'suspended') throw new ServiceError('forbidden', 'Your membership of this workspace is suspended')
  return rights
}

function credentialOf(claims: Claims): Presented {
  return { kind: claims.sort === 'key+jwt' ? 'key' : 'session', id: claims.id, userId: claims.userId }
}

function callerOf(state: PrincipalState, { kind, id }: Presented): Caller {
  const { scope } = state
  return {
    kind: 'user',
    userId: state.userId,
    ownerId: state.ownerId,
    isAdministrator: state.isAdministrator && (scope === undefined || !limitsRights(scope)),
    credential: { kind, id },
    scope,
  }
}

/**
 * Loads the caller again for a decision after the body was read, which may be long after authorization. Throws 401
 * where the credential is no longer valid.
 */
export async function callerNow(database: SqlDriver, caller: Caller): Promise<Caller> {
  if (caller.kind === 'anonymous') return caller
  const credential = requestCredentialOf(caller)
  const state = await loadPrincipalState(database, credential, undefined)
  if (state === undefined) throw invalidToken()
  return callerOf(state, credential)
}

/**
 * Loads the caller's current rights in the workspace. Throws 401 like `callerNow`, 403 for a suspended caller, and 404 where the
 * workspace has been deleted meanwhile.
 */
export async function rightsNow(database: SqlDriver, caller: Caller, workspaceId: string): Promise<Rights> {
  if (caller.kind === 'anonymous') return publicRights(database, workspaceId)
  return unlessSuspended(rightsOfPrincipal(await principalState(database, requestCredentialOf(caller), workspaceId)))
}

async function principalState(
  database: SqlDriver,
  credential: Presented,
  workspaceId: string,
  read?: ReadPolicy,
): Promise<PrincipalState> {
  const state = await loadPrincipalState(database, credential, workspaceId, read)
  if (state === undefined) throw invalidToken()
  if (state.member === undefined) await requireThere(database, workspaceId)
  return state
}

async function publicRights(database: SqlDriver, workspaceId: string, read?: ReadPolicy): Promise<Rights> {
  const state = await loadPublicPrincipalState(database, workspaceId, read)
  if (state.roles.length === 0) await requireThere(database, workspaceId)
  return membershipRights(undefined, state)
}

/** A workspace is deleted with its members, roles and tables: call this before reporting that one of them is missing. */
async function requireThere(database: SqlDriver, workspaceId: string): Promise<void> {
  if (!(await isThere(database, workspaceId))) throw noWorkspace()
}

function noWorkspace(): ServiceError {
  return new ServiceError('notFound', 'Workspace does not exist')
}

const everything: Rights = { kind: 'all' }

/** Returns a principal's rights in the workspace of its state, limited by the presented key. */
export function rightsOfPrincipal({ userId, member, scope, workspaceId }: PrincipalState): Rights | 'suspended' {
  if (member?.status === 'suspended') return 'suspended'
  return restrictRights(membershipRights(userId, member ?? { roles: [], policies: [] }), scope, workspaceId ?? '')
}

function membershipRights(userId: string | undefined, { roles, policies }: Omit<Membership, 'status'>): Rights {
  if (roles.some(({ kind }) => kind === 'administrator'))
    return userId === undefined ? everything : { kind: 'all', userId }
  return {
    kind: 'policies',
    userId,
    roleIds: roles.map(({ id }) => id),
    policies,
    entitlements: new Set(policies.flatMap(({ entitlements }) => entitlements)),
  }
}
