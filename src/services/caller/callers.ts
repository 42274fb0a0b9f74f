/**
 * A token → who is calling and with what rights. What was found is kept per token and workspace for as long as the
 * access version stands, so that a warm request asks the system database nothing.
 */
import type { Rights } from '../../core/access/principal.ts'
import {
  allowsAddress,
  includesWorkspace,
  type KeyScope,
  limitsRights,
  restrictRights,
} from '../../core/access/scope.ts'
import { ServiceError } from '../../core/error.ts'
import type { Instant, Ports, SqlDriver, WorkspaceSnapshot } from '../../ports.ts'
import {
  type Credential,
  loadPrincipalState,
  loadPublicPrincipalState,
  type Membership,
  type PrincipalState,
} from '../../store/accounts.ts'
import { findWorkspace, type WorkspaceRow } from '../../store/workspaces.ts'
import { createKeyUse } from './key-use.ts'
import { type Claims, invalidToken, type Tokens } from './tokens.ts'

export type Caller =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user'
      readonly userId: string
      /** Of a service account. */
      readonly ownerId: string | undefined
      /** Administrator of the instance, and not by a key whose scope limits that. */
      readonly isAdministrator: boolean
      readonly credential: { readonly kind: 'session' | 'key'; readonly id: string }
      /** Of the key that was presented. */
      readonly scope?: KeyScope | undefined
    }

/** A caller inside a workspace, with the versions that everything about this request is read at. */
export type RequestScope = {
  readonly workspace: WorkspaceRow
  readonly snapshot: WorkspaceSnapshot
  readonly caller: Caller
  readonly rights: Rights
}

export type Callers = {
  /**
   * Who presents `token`; undefined is the anonymous caller. Throws 401 for a token that does not count, 403 for a key whose
   * scope limits rights, unless all that is asked for is what that key is.
   */
  identify(token: string | undefined, asked?: 'anything' | 'itself'): Promise<Caller>
  /** The same, on entering a workspace: 404 where there is none of that name. At once where all of it is in memory. */
  authorize(workspace: string, token: string | undefined): RequestScope | Promise<RequestScope>
}

const MAX_REMEMBERED = 10_000

type ScopedWorkspace = Pick<RequestScope, 'workspace' | 'snapshot'>

/** Somebody in a workspace, as of an access version. */
type Known = {
  readonly accessVersion: number
  readonly caller: Caller
  readonly rights: Rights | 'suspended'
  /** When the token ends. */
  readonly expiresAt: Instant | undefined
  /** What was answered last: the same for as long as the versions stand. */
  request?: RequestScope
}

const anonymous: Caller = { kind: 'anonymous' }

/** What this process has to let go of, once a workspace is gone. */
export type ForgetWorkspace = (workspaceId: string) => void

export function createCallers(ports: Ports, tokens: Tokens, forget: ForgetWorkspace): Callers {
  const keyUse = createKeyUse(ports)
  /** By workspace, then by token. */
  const principals = new Map<string, Map<string, Known>>()
  const directory = new Map<string, WorkspaceRow>()

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
      principals.delete(known.id)
      forget(known.id)
      // The name may have gone to another workspace since we last looked.
      return currentWorkspace(name)
    }
    throw new ServiceError('notFound', 'Workspace does not exist')
  }

  /** The cached result, unless the token has expired or a version has changed. */
  function remembered(name: string, token: string): RequestScope | undefined {
    const workspace = directory.get(name)
    const snapshot = workspace && ports.workspaces.remembered(workspace.id)
    if (workspace === undefined || snapshot === undefined) return undefined
    const known = principals.get(workspace.id)?.get(token)
    if (known?.accessVersion !== snapshot.accessVersion || isOver(known)) return undefined
    if (known.request?.snapshot !== snapshot) known.request = requestScopeOf({ workspace, snapshot }, known)
    return known.request
  }

  function isOver({ expiresAt }: Known): boolean {
    return expiresAt !== undefined && ports.clock.now() >= expiresAt
  }

  function remember(
    { workspace, snapshot }: ScopedWorkspace,
    token: string,
    found: Omit<Known, 'accessVersion'>,
  ): Known {
    const ofWorkspace = principals.get(workspace.id) ?? new Map<string, Known>()
    if (ofWorkspace.size >= MAX_REMEMBERED) ofWorkspace.clear()
    const known: Known = { ...found, accessVersion: snapshot.accessVersion }
    principals.set(workspace.id, ofWorkspace.set(token, known))
    return known
  }

  async function authorizeAnew(name: string, token: string | undefined): Promise<RequestScope> {
    const claims = token === undefined ? undefined : await claimsOf(token)
    const entrance = await currentWorkspace(name)
    const known = principals.get(entrance.workspace.id)?.get(token ?? '')
    if (known?.accessVersion === entrance.snapshot.accessVersion) return requestScopeOf(entrance, known)
    const { id } = entrance.workspace
    if (claims === undefined) {
      const rights = membershipRights(undefined, await loadPublicPrincipalState(ports.database, id))
      return requestScopeOf(entrance, remember(entrance, '', { caller: anonymous, rights, expiresAt: undefined }))
    }
    const standing = await loadPrincipalState(ports.database, credentialOf(claims), id)
    if (standing === undefined) throw invalidToken()
    const found = {
      caller: callerOf(standing, credentialOf(claims)),
      rights: rightsOfPrincipal(standing),
      expiresAt: claims.expiresAt,
    }
    return requestScopeOf(entrance, remember(entrance, token ?? '', found))
  }

  /** The entry, once the use of its key is written down where that is due. */
  function noted(request: RequestScope): RequestScope | Promise<RequestScope> {
    const { caller } = request
    const isByKey = caller.kind === 'user' && caller.credential.kind === 'key'
    const writing = isByKey ? keyUse.seen(caller.credential.id) : undefined
    return writing === undefined ? request : writing.then(() => request)
  }

  return {
    async identify(token, asked = 'anything') {
      if (token === undefined) return anonymous
      const claims = await claimsOf(token)
      const standing = await loadPrincipalState(ports.database, credentialOf(claims), undefined)
      if (standing === undefined) throw invalidToken()
      if (asked === 'anything' && standing.scope !== undefined && limitsRights(standing.scope)) {
        throw new ServiceError('forbidden', 'The scope of this key allows no system route but that of the key itself')
      }
      if (claims.sort === 'key+jwt') await keyUse.seen(claims.id)
      return callerOf(standing, credentialOf(claims))
    },

    authorize(name, token) {
      const request = remembered(name, token ?? '') ?? authorizeAnew(name, token)
      return request instanceof Promise ? request.then(noted) : noted(request)
    },
  }
}

function requestScopeOf(entrance: ScopedWorkspace, { caller, rights }: Known): RequestScope {
  if (caller.kind === 'user' && caller.scope !== undefined && !includesWorkspace(caller.scope, entrance.workspace.id)) {
    throw new ServiceError('forbidden', 'The scope of this key does not include this workspace')
  }
  return { ...entrance, caller, rights: unlessSuspended(rights) }
}

function unlessSuspended(rights: Rights | 'suspended'): Rights {
  if (rights === 'suspended') throw new ServiceError('forbidden', 'Your membership of this workspace is suspended')
  return rights
}

type Presented = Exclude<Credential, { readonly kind: 'user' }>

function credentialOf(claims: Claims): Presented {
  return { kind: claims.sort === 'key+jwt' ? 'key' : 'session', id: claims.id, userId: claims.userId }
}

function callerOf(standing: PrincipalState, { kind, id }: Presented): Caller {
  const { scope } = standing
  return {
    kind: 'user',
    userId: standing.userId,
    ownerId: standing.ownerId,
    isAdministrator: standing.isAdministrator && (scope === undefined || !limitsRights(scope)),
    credential: { kind, id },
    scope,
  }
}

/**
 * The caller as of this moment, for what is decided once the body is there, which may be long after its sender was let in.
 * Throws 401 where what they present does not count any more.
 */
export async function callerNow(database: SqlDriver, caller: Caller): Promise<Caller> {
  if (caller.kind === 'anonymous') return caller
  const credential = requestCredentialOf(caller)
  const standing = await loadPrincipalState(database, credential, undefined)
  if (standing === undefined) throw invalidToken()
  return callerOf(standing, credential)
}

/** What the caller may do in the workspace as of this moment. Throws 401 like `callerNow`, and 403 where they are suspended. */
export async function rightsNow(database: SqlDriver, caller: Caller, workspaceId: string): Promise<Rights> {
  if (caller.kind === 'anonymous')
    return membershipRights(undefined, await loadPublicPrincipalState(database, workspaceId))
  const standing = await loadPrincipalState(database, requestCredentialOf(caller), workspaceId)
  if (standing === undefined) throw invalidToken()
  return unlessSuspended(rightsOfPrincipal(standing))
}

/** What the caller presents, as it is looked up; 403 for the anonymous caller. */
export function requestCredentialOf(caller: Caller): Presented {
  if (caller.kind === 'user') return { ...caller.credential, userId: caller.userId }
  throw new ServiceError('forbidden', 'Requires a signed-in user')
}

/** One object for all who have it, so that what is derived from it is derived once. */
const everything: Rights = { kind: 'all' }

/** What a user may do in the workspace that `standing` was read for, by the key that it was read for. */
export function rightsOfPrincipal({ userId, member, scope, workspaceId }: PrincipalState): Rights | 'suspended' {
  if (member?.status === 'suspended') return 'suspended'
  return restrictRights(membershipRights(userId, member ?? { roles: [], policies: [] }), scope, workspaceId ?? '')
}

function membershipRights(userId: string | undefined, { roles, policies }: Omit<Membership, 'status'>): Rights {
  if (roles.some(({ kind }) => kind === 'administrator')) return everything
  return {
    kind: 'policies',
    userId,
    roleIds: roles.map(({ id }) => id),
    policies,
    entitlements: new Set(policies.flatMap(({ entitlements }) => entitlements)),
  }
}

/** Throws 403 for a key that is presented from an address outside of its scope. */
export function requireAddress(caller: Caller, addressOf: () => string | undefined): void {
  if (caller.kind !== 'user' || caller.scope?.addresses === undefined) return
  if (!allowsAddress(caller.scope, addressOf())) {
    throw new ServiceError('forbidden', 'The scope of this key does not include this client address')
  }
}

/** The signed-in user's id; 403 for the anonymous caller, whom nothing of this is granted. */
export function requireUser(caller: Caller): string {
  return requestCredentialOf(caller).userId
}

/** Of the instance. */
export function isAdministrator(caller: Caller): boolean {
  return caller.kind === 'user' && caller.isAdministrator
}

/**
 * Throws 403 where the caller is a service account and `target` is itself, its owner or another account of that owner:
 * nobody changes what they are or have through an account that they own.
 */
export function requireAnothers(
  caller: Caller,
  target: { readonly id: string; readonly ownerId?: string | null },
): void {
  if (caller.kind !== 'user' || caller.ownerId === undefined) return
  const own: readonly (string | null | undefined)[] = [caller.userId, caller.ownerId]
  if (!own.includes(target.id) && target.ownerId !== caller.ownerId) return
  throw new ServiceError(
    'forbidden',
    'A service account cannot change itself, its owner, or other accounts of its owner',
  )
}

export function requireAdministrator(caller: Caller): void {
  requireUser(caller)
  if (!isAdministrator(caller)) {
    throw new ServiceError('forbidden', 'Requires an administrator of the instance')
  }
}
