/**
 * Sessions (docs/contract.md#sessions): opened by signing in, extended by refresh tokens that are valid once, ended by
 * logging out. Also creates the first administrator.
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import { originOf } from '../../core/network.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import type { AuditStatement } from '../../store/audit.ts'
import {
  deleteSessionsBefore,
  endSession,
  insertSession,
  type NewSession,
  revokeReused,
  rotateSession,
  type SessionClient,
} from '../../store/sessions.ts'
import { countUsers, findUserByEmail, insertFirstUser, type UserRow } from '../../store/users.ts'
import { type AuditEvent, recordEvent } from '../caller/audit.ts'
import { sha256 } from '../caller/digest.ts'
import type { LoginAttempt, Throttle } from '../caller/throttle.ts'
import { type Claims, invalidToken, type Tokens } from '../caller/tokens.ts'

export type { SessionClient } from '../../store/sessions.ts'

/** `expires` is the access token's lifetime in seconds. */
export type LoginResult = { readonly expires: number; readonly accessToken: string; readonly refreshToken: string }

export type NewUser = { readonly email: string; readonly password: string; readonly fullName?: string | undefined }

export type Credentials = SessionClient & { readonly email: string; readonly password: string }

export type SetupClaim = { readonly setupToken: string | undefined; readonly address: string | undefined }

/** The user and the method that proved its identity: a password, or a provider named by `method`. */
export type SessionOpening = {
  readonly userId: string
  readonly method: string
  readonly client: SessionClient
  /** The hash that the password was verified against; no session is opened if the account has another hash by now. */
  readonly passwordHash?: string | null
  /** The provider, if any: while it is disabled, or once it is deleted, the session cannot be refreshed. */
  readonly providerId?: string
}

export type Sessions = {
  /**
   * Opens a session with new ids for an authenticated user and records the sign-in. Throws 401 for a suspended or
   * deleted account, or if its password has changed since it was compared.
   */
  open(opening: SessionOpening): Promise<LoginResult>
  /** When a session that is opened or refreshed now ends. */
  end(): Instant
  /** Signs the tokens of an open session; `refreshTokenId` is its current refresh token. */
  issue(session: Omit<NewSession, 'client'>): Promise<LoginResult>
  /**
   * Exchanges a refresh token for new tokens; of concurrent uses one succeeds. Reusing a token ends its session, whoever has
   * the newest token. Throws 401 `Invalid token`.
   */
  refresh(refreshToken: string, client: SessionClient): Promise<LoginResult>
  /** Ends the session of a refresh token, even of a used token. Throws 401 for an invalid token. */
  logout(refreshToken: string, address: string | undefined): Promise<void>
  /** Deletes sessions some time after their end. */
  prune(): Promise<void>
  /**
   * Throws 401 `Invalid credentials` for any wrong input, 429 after too many failures. Unknown accounts take as long as
   * known ones, and their failures are recorded alike.
   */
  login(credentials: Credentials): Promise<LoginResult>
  /** Creates the first administrator: 409 once a user exists, 403 without the set-up token. */
  bootstrap(user: NewUser, claim: SetupClaim): Promise<{ readonly id: string; readonly email: string }>
  /** True until the first administrator is created. */
  isUnclaimed(): Promise<boolean>
}

/** How long ended sessions are stored, so that their tokens are recognized as used. */
const AFTERLIFE = 30 * 86_400_000

export type SessionsDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly tokens: Tokens
  readonly throttle: Throttle
}

export function createSessions(deps: SessionsDeps): Sessions {
  const { ports, config, tokens, throttle } = deps
  const { clock, database, ids, passwords, workspaces } = ports
  // A claimed instance stays claimed, so a positive result is cached.
  let isClaimed = false

  async function isUnclaimed(): Promise<boolean> {
    isClaimed ||= (await countUsers(database)) > 0
    return !isClaimed
  }

  function record(event: AuditEvent): AuditStatement {
    return (provided) => recordEvent(ids, event, provided)
  }

  /** Returns the active account with these credentials. */
  async function authenticate(email: string, password: string, origin: string): Promise<UserRow | undefined> {
    const user = await findUserByEmail(database, email)
    const matches = await passwords.verify(password, user?.passwordHash ?? undefined, origin)
    return matches && user?.status === 'active' ? user : undefined
  }

  /** Issues the tokens of a session whose next refresh token is `refreshTokenId`. */
  async function issue(session: Omit<NewSession, 'client'>): Promise<LoginResult> {
    const { id, userId, refreshTokenId, expiresAt } = session
    const now = clock.now()
    // An access token never outlives its session.
    const accessEnd = Math.min(now + config.SERVICE_ACCESS_TOKEN_TTL, expiresAt)
    return {
      expires: Math.floor((accessEnd - now) / 1_000),
      accessToken: await tokens.sign({ sort: 'at+jwt', id, userId, tokenId: ids.next(), expiresAt: accessEnd }, now),
      refreshToken: await tokens.sign({ sort: 'rt+jwt', id, userId, tokenId: refreshTokenId, expiresAt }, now),
    }
  }

  function sessionEnd(): Instant {
    return clock.now() + config.SERVICE_REFRESH_TOKEN_TTL
  }

  async function open({ userId, method, client, passwordHash, providerId }: SessionOpening): Promise<LoginResult> {
    const own = { id: ids.next(), refreshTokenId: ids.next(), expiresAt: sessionEnd() }
    const session = { ...own, userId, passwordHash, providerId, client }
    const event = { action: 'auth.login.v1', actor: { kind: 'user', id: userId }, payload: { method } } as const
    if (!(await insertSession(database, session, record({ ...event, address: client.address }))))
      throw wrongCredentials()
    return issue(session)
  }

  return {
    isUnclaimed,
    open,
    issue,
    end: sessionEnd,

    async login({ email, password, ...client }) {
      const { address } = client
      const attempt: LoginAttempt = { kind: 'password', account: email, address }
      await throttle.begin(attempt)
      const user = await authenticate(email, password, originOf(address))
      const failed = { action: 'auth.login.v1', outcome: 'failure', actor: { kind: 'anonymous' } } as const
      const failure = record({ ...failed, address, payload: { email } })
      await throttle.settle(attempt, { isRight: user !== undefined, failure })
      if (user === undefined) throw wrongCredentials()
      return open({ userId: user.id, method: 'password', client, passwordHash: user.passwordHash })
    },

    async refresh(refreshToken, client) {
      const { id, userId, tokenId } = await tokens.verify(refreshToken, ['rt+jwt'], clock.now())
      const used = { id, userId, refreshTokenId: tokenId }
      const next = { id, userId, refreshTokenId: ids.next(), expiresAt: sessionEnd(), client }
      const event = { action: 'auth.refresh.v1', ...bySession({ id, userId }, client.address) } as const
      if (await rotateSession(database, used, { ...next, record: record(event) })) return issue(next)
      const reuse = { ...event, outcome: 'failure', payload: { ...event.payload, reason: 'reuse' } } as const
      if (await revokeReused(database, used, record(reuse))) await workspaces.changed(id)
      throw invalidToken()
    },

    async logout(refreshToken, address) {
      const session = await tokens.verify(refreshToken, ['rt+jwt'], clock.now())
      const event = { action: 'auth.logout.v1', ...bySession(session, address) } as const
      if (await endSession(database, session, record(event))) await workspaces.changed(session.id)
    },

    async prune() {
      await deleteSessionsBefore(database, clock.now() - AFTERLIFE)
    },

    async bootstrap({ email, password, fullName }, { setupToken, address }) {
      if (!(await isUnclaimed())) throw alreadyClaimed()
      const attempt: LoginAttempt = { kind: 'setUp', account: '', address }
      await throttle.begin(attempt)
      const { SERVICE_SETUP_TOKEN: expected } = config
      const isRight = expected !== undefined && (await sameSecret(setupToken ?? '', expected))
      await throttle.settle(attempt, { isRight })
      if (!isRight) throw new ServiceError('forbidden', 'The set-up token is missing or wrong')
      const id = ids.next()
      const passwordHash = await passwords.hash(password)
      const isFirst = await insertFirstUser(
        database,
        { id, email, fullName: fullName ?? null, passwordHash },
        record({
          action: 'user.create.v1',
          actor: { kind: 'anonymous' },
          target: { type: 'user', id },
          address,
          payload: { isAdministrator: true },
        }),
      )
      if (!isFirst) throw alreadyClaimed()
      return { id, email }
    },
  }
}

function bySession({ id, userId }: Pick<Claims, 'id' | 'userId'>, address: string | undefined) {
  return { actor: { kind: 'user', id: userId }, address, payload: { sessionId: id } } as const
}

function wrongCredentials(): ServiceError {
  return new ServiceError('unauthenticated', 'Invalid credentials')
}

function alreadyClaimed(): ServiceError {
  return new ServiceError('conflict', 'The first administrator already exists')
}

/** Compares digests, so that timing reveals nothing about the position of a difference. */
async function sameSecret(one: string, other: string): Promise<boolean> {
  const [first, second] = [await sha256(one), await sha256(other)]
  return first.reduce((difference, byte, index) => difference | (byte ^ (second[index] ?? 0)), 0) === 0
}
