/**
 * Sessions (docs/contract.md#sessions): opened by signing in, gone on with by refresh tokens of which each counts once,
 * ended by logging out. Also the first administrator.
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { Instant, Ports } from '../../ports.ts'
import {
  type AuditStatement,
  countUsers,
  findUserByEmail,
  insertFirstUser,
  type UserRow,
} from '../../store/accounts.ts'
import {
  deleteSessionsBefore,
  endSession,
  insertSession,
  type NewSession,
  revokeReused,
  rotateSession,
} from '../../store/sessions.ts'
import { type AuditEvent, recordEvent } from '../caller/audit.ts'
import { sha256 } from '../caller/digest.ts'
import type { LoginAttempt, Throttle } from '../caller/throttle.ts'
import { type Claims, invalidToken, type Tokens } from '../caller/tokens.ts'

/** `expires` is the access token's lifetime in seconds. */
export type LoginResult = { readonly expires: number; readonly accessToken: string; readonly refreshToken: string }

export type NewUser = { readonly email: string; readonly password: string; readonly fullName?: string | undefined }

/** `address` is where the caller comes from, as far as that is known. */
export type Credentials = { readonly email: string; readonly password: string; readonly address: string | undefined }

export type SetupClaim = { readonly setupToken: string | undefined; readonly address: string | undefined }

/** Whoever was found to be `userId`: by a password, or by the provider that `method` names. */
export type SessionOpening = {
  readonly userId: string
  readonly method: string
  readonly address: string | undefined
  /** Of the password that was compared: no session is opened where the account has another one by now. */
  readonly passwordHash?: string | null
  /** Of the provider that it is by: while that is switched off, and once it is deleted, the session cannot be refreshed. */
  readonly providerId?: string
}

export type Sessions = {
  /**
   * A new session of a user who has proven who they are, with ids that nobody has seen before. Records the sign-in.
   * Throws 401 where the account is suspended or gone, or its password is not the one that was compared any more.
   */
  open(opening: SessionOpening): Promise<LoginResult>
  /**
   * New tokens for the refresh token, which is used up by it: of any number of uses at once one succeeds. Using it again
   * ends the session, whoever holds its newest token. Throws 401 `Invalid token`.
   */
  refresh(refreshToken: string, address: string | undefined): Promise<LoginResult>
  /** Ends the session of a refresh token, also of one that was used before. Throws 401 for what is none. */
  logout(refreshToken: string, address: string | undefined): Promise<void>
  /** Deletes sessions that have been over for a while. */
  prune(): Promise<void>
  /**
   * Throws 401 `Invalid credentials` whatever is wrong, 429 after too many failures; an unknown account costs as much
   * as a known one, and what is recorded of the failure is the same.
   */
  login(credentials: Credentials): Promise<LoginResult>
  /** Creates the first administrator: 409 once a user exists, 403 without the set-up token. */
  bootstrap(user: NewUser, claim: SetupClaim): Promise<{ readonly id: string; readonly email: string }>
  /** Whether the first administrator is still to be created. */
  isUnclaimed(): Promise<boolean>
}

/** How long a session that is over can still be told from one that never was. */
const AFTERLIFE = 30 * 86_400_000

type Means = { readonly config: Config; readonly tokens: Tokens; readonly throttle: Throttle }

export function createSessions(ports: Ports, { config, tokens, throttle }: Means): Sessions {
  const { clock, database, ids, passwords, workspaces } = ports
  // A claimed instance never becomes unclaimed again, so one yes is enough.
  let isClaimed = false

  async function isUnclaimed(): Promise<boolean> {
    isClaimed ||= (await countUsers(database)) > 0
    return !isClaimed
  }

  function record(event: AuditEvent): AuditStatement {
    return (provided) => recordEvent(ids, event, provided)
  }

  /** The active account that these credentials are of. */
  async function authenticate(email: string, password: string): Promise<UserRow | undefined> {
    const user = await findUserByEmail(database, email)
    const matches = await passwords.verify(password, user?.passwordHash ?? undefined)
    return matches && user?.status === 'active' ? user : undefined
  }

  /** Tokens of a session whose next refresh token is `refreshTokenId`. */
  async function issue(session: NewSession): Promise<LoginResult> {
    const { id, userId, refreshTokenId, expiresAt } = session
    const now = clock.now()
    // No access token outlives the session that it is of.
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

  async function open({ userId, method, address, passwordHash, providerId }: SessionOpening): Promise<LoginResult> {
    const own = { id: ids.next(), refreshTokenId: ids.next(), expiresAt: sessionEnd() }
    const session = { ...own, userId, passwordHash, providerId }
    const event = { action: 'auth.login.v1', actor: { kind: 'user', id: userId }, payload: { method } } as const
    if (!(await insertSession(database, session, record({ ...event, address })))) throw wrongCredentials()
    return issue(session)
  }

  return {
    isUnclaimed,
    open,

    async login({ email, password, address }) {
      const attempt: LoginAttempt = { kind: 'password', account: email, address }
      await throttle.begin(attempt)
      const user = await authenticate(email, password)
      const failed = { action: 'auth.login.v1', outcome: 'failure', actor: { kind: 'anonymous' } } as const
      const failure = record({ ...failed, address, payload: { email } })
      await throttle.settle(attempt, { isRight: user !== undefined, failure })
      if (user === undefined) throw wrongCredentials()
      return open({ userId: user.id, method: 'password', address, passwordHash: user.passwordHash })
    },

    async refresh(refreshToken, address) {
      const { id, userId, tokenId } = await tokens.verify(refreshToken, ['rt+jwt'], clock.now())
      const used = { id, userId, refreshTokenId: tokenId }
      const next = { id, userId, refreshTokenId: ids.next(), expiresAt: sessionEnd() }
      const event = { action: 'auth.refresh.v1', ...bySession({ id, userId }, address) } as const
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

/** Compares digests, so that the time taken tells nothing of where two texts begin to differ. */
async function sameSecret(one: string, other: string): Promise<boolean> {
  const [first, second] = [await sha256(one), await sha256(other)]
  return first.reduce((difference, byte, index) => difference | (byte ^ (second[index] ?? 0)), 0) === 0
}
