/**
 * Signing in through a provider (docs/contract.md#sign-in-providers, docs/decisions/018). The state of a pending
 * authorization is sealed in a cookie, so that abandoned ones leave nothing behind; the system database records
 * completed ones, since each may complete once.
 */

import { decideSignIn, type Profile, type SignIn } from '../../core/access/sign-in.ts'
import { ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import { insertAccount } from '../../store/accounts.ts'
import {
  type IdentityFacts,
  insertIdentity,
  loadIdentityFacts,
  proveEmail,
  recordCallback,
} from '../../store/identities.ts'
import type { InvitationRow } from '../../store/invitations.ts'
import { assignRoles, insertMember } from '../../store/members.ts'
import { findProvider, type ProviderRow } from '../../store/providers.ts'
import { recordEvent } from '../caller/audit.ts'
import { sha256Hex } from '../caller/digest.ts'
import { notFound } from '../caller/directory.ts'
import type { Throttle } from '../caller/throttle.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import type { IsStillGiven } from '../rights/delegation.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { type JoinContext, joinRecorder, joinStatements } from './invitations.ts'
import { ProviderFault } from './provider-fault.ts'
import type { AuthorizationKeys, ProviderProtocol } from './provider-protocol.ts'
import type { LoginResult, SessionClient, Sessions } from './sessions.ts'

export type AuthorizationRequest = {
  /** Our callback URL. */
  readonly callback: string
  /** The allowed final redirect; undefined if the answer has none. */
  readonly redirect: string | undefined
}

export type AuthorizationCallback = {
  readonly parameters: URLSearchParams
  /** The cookie set with the authorization request. */
  readonly sealed: string | undefined
  readonly client: SessionClient
}

/** The only details of a failure that the client gets. */
export type SignInError = 'access_denied' | 'provider_unavailable' | 'not_allowed' | 'sign_in_failed'

export type AuthorizationResult =
  /** `sealed` is the content of a cookie, `lifetime` its age in seconds. */
  | { readonly kind: 'left'; readonly address: string; readonly sealed: string; readonly lifetime: number }
  | { readonly kind: 'failed'; readonly error: SignInError }

export type CallbackResult = { readonly redirect: string | undefined } & (
  | { readonly kind: 'signedIn'; readonly result: LoginResult }
  | { readonly kind: 'failed'; readonly error: SignInError }
)

export type ProviderSignIn = {
  /** Throws 404 for a provider that does not exist or is disabled. */
  begin(name: string, request: AuthorizationRequest): Promise<AuthorizationResult>
  /** Opens a session for the user that the provider asserts. Throws 429 for too many attempts. */
  finish(name: string, answer: AuthorizationCallback): Promise<CallbackResult>
}

/** The content of the cookie. */
type PendingAuthorization = {
  readonly providerId: string
  readonly keys: AuthorizationKeys
  readonly redirect: string | undefined
  readonly expiresAt: Instant
}

const LIFETIME = 10 * 60_000
const VAULT_PURPOSE = 'provider-sign-in'

export type ProviderSignInDeps = {
  readonly ports: Ports
  readonly sessions: Sessions
  readonly throttle: Throttle
  readonly license: LicenseGuard
  readonly isStillGiven: IsStillGiven
}

export function createProviderSignIn(deps: ProviderSignInDeps): ProviderSignIn {
  const { ports, sessions, throttle, license, isStillGiven } = deps
  const { clock, database, ids, observe, vault } = ports
  let opened: ProviderProtocol | undefined

  /** Loaded on first use: most processes never need it. */
  async function protocol(): Promise<ProviderProtocol> {
    const { createProviderProtocol } = await import('./provider-protocol.ts')
    opened ??= createProviderProtocol(ports)
    return opened
  }

  async function findUsable(name: string): Promise<ProviderRow | undefined> {
    const provider = await findProvider(database, name)
    return provider?.enabled === true ? provider : undefined
  }

  async function unseal(sealed: string | undefined): Promise<PendingAuthorization | undefined> {
    const text = await vault.open(VAULT_PURPOSE, sealed ?? '').catch(() => undefined)
    const pending = text === undefined ? undefined : (parseJson(text) as PendingAuthorization)
    return pending !== undefined && clock.now() < pending.expiresAt ? pending : undefined
  }

  /** Logs the cause for the operator, and returns only a code. */
  function errorOf(provider: ProviderRow, cause: unknown): SignInError {
    if (!(cause instanceof ProviderFault)) throw cause
    const { kind, message } = cause
    if (kind === 'denied') return 'access_denied'
    observe({ kind: 'warning', message: `A sign-in through the provider ${provider.name} failed: ${message}` })
    return kind === 'unavailable' ? 'provider_unavailable' : 'sign_in_failed'
  }

  async function identify(
    provider: ProviderRow,
    pending: PendingAuthorization | undefined,
    answer: AuthorizationCallback,
  ): Promise<Profile> {
    if (pending === undefined) throw new ProviderFault('invalid', 'the browser has no pending authorization')
    // Each provider has its own callback, so that the code of one never reaches another.
    if (pending.providerId !== provider.id)
      throw new ProviderFault('invalid', 'the pending authorization belongs to another provider')
    const hash = await sha256Hex(pending.keys.state)
    if (!(await recordCallback(database, hash, pending.expiresAt))) {
      throw new ProviderFault('invalid', 'this authorization callback was already used')
    }
    return (await protocol()).identify(provider, pending.keys, answer.parameters)
  }

  /** Returns the account to sign in to; creates or links it if needed. */
  async function admit(provider: ProviderRow, profile: Profile, address: string | undefined) {
    const seen = decide(profile, await loadView(provider, profile))
    if (seen.kind === 'enter') return seen.userId
    if (seen.kind === 'refuse') return undefined
    let userId: string | undefined
    await changeRights(ports, provider.id, {
      caller: undefined,
      reach: 'instance',
      load: async () => loadView(await findSame(provider), profile),
      decide: (view) => {
        const decision = decide(profile, view)
        userId = decision.kind === 'create' ? ids.next() : decision.kind === 'refuse' ? undefined : decision.userId
        if (decision.kind === 'refuse' || decision.kind === 'enter') return []
        const { kind, email } = decision
        const provisioning = { provider: view.provider, profile, userId: userId ?? '', email, address, license }
        return kind === 'create'
          ? createAccountStatements(ports, provisioning, view.facts)
          : linkAccountStatements(ports, provisioning, { ...view.facts, ...decision })
      },
    })
    return userId
  }

  async function loadView(provider: ProviderRow, profile: Profile): Promise<View> {
    const facts = await loadIdentityFacts(database, profile, provider.autoJoin?.workspaceId ?? null)
    const invitations: InvitationRow[] = []
    for (const invitation of facts.invitations) if (await isStillGiven(invitation)) invitations.push(invitation)
    return { provider, facts: { ...facts, invitations } }
  }

  /** Throws if the provider was changed during the sign-in, so that nobody signs in by an outdated configuration. */
  async function findSame(before: ProviderRow): Promise<ProviderRow> {
    const provider = await findUsable(before.name)
    if (provider !== undefined && identityOf(provider) === identityOf(before)) return provider
    throw new ProviderFault('invalid', 'the provider has just been changed or disabled')
  }

  return {
    async begin(name, { callback, redirect }) {
      const provider = (await findUsable(name)) ?? notFound('providers')
      try {
        const { newKeys, authorizationUrl } = await protocol()
        const keys = newKeys(callback)
        const pending: PendingAuthorization = {
          providerId: provider.id,
          keys,
          redirect,
          expiresAt: clock.now() + LIFETIME,
        }
        const address = await authorizationUrl(provider, keys)
        const sealed = await vault.seal(VAULT_PURPOSE, JSON.stringify(pending))
        return { kind: 'left', address, sealed, lifetime: LIFETIME / 1_000 }
      } catch (cause) {
        return { kind: 'failed', error: errorOf(provider, cause) }
      }
    },

    async finish(name, answer) {
      const { client } = answer
      const { address } = client
      await throttle.admit(address)
      const [provider, pending] = [await findUsable(name), await unseal(answer.sealed)]
      const redirect = pending?.redirect
      if (provider === undefined) {
        return pending === undefined ? notFound('providers') : { kind: 'failed', error: 'sign_in_failed', redirect }
      }
      const method = `provider:${name}`
      const fail = async (error: SignInError): Promise<CallbackResult> => {
        const failure = { action: 'auth.login.v1', outcome: 'failure', actor: { kind: 'anonymous' } } as const
        await database.query(recordEvent(ids, { ...failure, address, payload: { method } }))
        return { kind: 'failed', error, redirect }
      }
      try {
        const profile = await identify(provider, pending, answer)
        const userId = await admit(await findSame(provider), profile, address)
        if (userId === undefined) return await fail('not_allowed')
        const result = await sessions.open({ userId, method, client, providerId: provider.id })
        return { kind: 'signedIn', result, redirect }
      } catch (cause) {
        return fail(isRefusal(cause) ? 'not_allowed' : errorOf(provider, cause))
      }
    },
  }
}

/** The settings that decide which account a provider vouches for. */
function identityOf({ id, server, clientId, sealedClientSecret }: ProviderRow): string {
  return JSON.stringify([id, server, clientId, sealedClientSecret])
}

type View = { readonly provider: ProviderRow; readonly facts: IdentityFacts }

function decide(profile: Profile, { provider, facts }: View): SignIn {
  return decideSignIn(profile, { ...facts, mayJoin: facts.invitations.length > 0 || provider.autoJoin !== null })
}

/** Expected failures: the account was suspended concurrently, or the license allows no further account. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof ServiceError && ['unauthenticated', 'forbidden', 'paymentRequired'].includes(cause.kind)
}

/** A provider's profile and the account that it signs in to. */
type Provisioning = {
  readonly provider: ProviderRow
  readonly profile: Profile
  readonly userId: string
  readonly email: string
  readonly address: string | undefined
  readonly license: LicenseGuard
}

/** Creates an account, and memberships from the invitations of its address. */
function createAccountStatements(
  ports: Ports,
  provisioning: Provisioning,
  { invitations }: IdentityFacts,
): readonly Statement[] {
  const { profile, provider, userId, email, license } = provisioning
  const invited = invitations.find(({ workspaceId }) => workspaceId === provider.autoJoin?.workspaceId)
  const fullName = profile.fullName ?? null
  return [
    insertAccount({ id: userId, email, fullName, passwordHash: null }),
    ...identityStatements(ports, provisioning, { action: 'user.create.v1', payload: { provider: provider.name } }),
    ...invitations.flatMap((invitation) => {
      const record = joinRecorder(ports, invitation, joinContextOf(provisioning))
      return license.within(['seats'], invitation.workspaceId, joinStatements(invitation, userId, record))
    }),
    ...(invited === undefined ? autoJoinStatements(ports, provisioning) : []),
  ]
}

type Link = { readonly isMember: boolean; readonly isCleared: boolean }

/** Links an existing account. If its address was not proven, all earlier credentials are removed. */
function linkAccountStatements(
  ports: Ports,
  provisioning: Provisioning,
  { isMember, isCleared }: Link,
): readonly Statement[] {
  const { provider } = provisioning
  const payload = { provider: provider.name, otherWaysIn: isCleared ? 'closed' : 'kept' }
  return [
    ...identityStatements(ports, provisioning, { action: 'user.update.v1', payload }),
    ...(isMember ? [] : autoJoinStatements(ports, provisioning)),
  ]
}

type ProvisioningEvent = Pick<Parameters<typeof recordEvent>[1], 'action' | 'payload'>

function identityStatements(
  { ids }: Ports,
  provisioning: Provisioning,
  event: ProvisioningEvent,
): readonly Statement[] {
  const { profile, provider, userId, address } = provisioning
  const actor = { kind: 'user', id: userId } as const
  return [
    insertIdentity(profile, { userId, providerId: provider.id }),
    ...proveEmail(userId),
    recordEvent(ids, { ...event, actor, address, target: { type: 'user', id: userId } }),
  ]
}

/** The actor is the user, identified by the provider. */
function joinContextOf({ userId, address }: Provisioning): JoinContext {
  return { userId, address, actor: { kind: 'user', id: userId } }
}

function autoJoinStatements(ports: Ports, provisioning: Provisioning): readonly Statement[] {
  const { provider, userId, license } = provisioning
  const { autoJoin } = provider
  if (autoJoin === null) return []
  const { workspaceId, roleId, roleName } = autoJoin
  const record = joinRecorder(ports, autoJoin, joinContextOf(provisioning))
  return license.within(['seats'], workspaceId, [
    insertMember(workspaceId, userId),
    assignRoles(workspaceId, userId, [roleId]),
    record({ action: 'user.join_workspace.v1' }),
    record({ action: 'role.assign.v1', payload: { roleId, roleName } }),
  ])
}
