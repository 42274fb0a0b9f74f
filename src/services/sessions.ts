/** Signing in with e-mail and password, and the first administrator (contract 5 and 6). */
import type { Config } from '../config.ts'
import { ServiceError } from '../core/error.ts'
import type { Ports } from '../ports.ts'
import {
  countUsers,
  findUserByEmail,
  insertFirstUser,
  insertSession,
  type Recorded,
  type UserRow,
} from '../store/accounts.ts'
import { type Happening, recordOf } from './audit.ts'
import type { Throttle, Trial } from './throttle.ts'
import type { Tokens } from './tokens.ts'

/** `expires` is the access token's lifetime in seconds. */
export type LoginResult = { readonly expires: number; readonly accessToken: string; readonly refreshToken: string }

export type NewUser = { readonly email: string; readonly password: string; readonly fullName?: string | undefined }

/** `address` is where the caller comes from, as far as that is known. */
export type Credentials = { readonly email: string; readonly password: string; readonly address: string | undefined }

export type Claim = { readonly setupToken: string | undefined; readonly address: string | undefined }

export type Sessions = {
  /**
   * Throws 401 `Invalid credentials` whatever is wrong, 429 after too many failures; an unknown account costs as much as a known one, and what is
   * recorded of the failure is the same.
   */
  login(credentials: Credentials): Promise<LoginResult>
  /** Creates the first administrator: 409 once a user exists, 403 without the set-up token. */
  bootstrap(user: NewUser, claim: Claim): Promise<{ readonly id: string; readonly email: string }>
  /** Whether the first administrator is still to be created. */
  isUnclaimed(): Promise<boolean>
}

type Means = { readonly config: Config; readonly tokens: Tokens; readonly throttle: Throttle }

export function createSessions(ports: Ports, { config, tokens, throttle }: Means): Sessions {
  const { clock, database, ids, passwords } = ports
  // A claimed instance never becomes unclaimed again, so one yes is enough.
  let isClaimed = false

  async function isUnclaimed(): Promise<boolean> {
    isClaimed ||= (await countUsers(database)) > 0
    return !isClaimed
  }

  function record(happening: Happening): Recorded {
    return (provided) => recordOf(ids, happening, provided)
  }

  /** The active account that these credentials are of. */
  async function authenticate(email: string, password: string): Promise<UserRow | undefined> {
    const user = await findUserByEmail(database, email)
    const matches = await passwords.verify(password, user?.passwordHash ?? undefined)
    return matches && user?.status === 'active' ? user : undefined
  }

  return {
    isUnclaimed,

    async login({ email, password, address }) {
      const trial: Trial = { kind: 'password', account: email, address }
      await throttle.begin(trial)
      const user = await authenticate(email, password)
      const failed = { action: 'auth.login.v1', outcome: 'failure', actor: { kind: 'anonymous' } } as const
      const failure = record({ ...failed, address, payload: { email } })
      await throttle.settle(trial, { isRight: user !== undefined, failure })
      if (user === undefined) throw new ServiceError('unauthenticated', 'Invalid credentials')
      const now = clock.now()
      const [id, refreshTokenId] = [ids.next(), ids.next()]
      const expiresAt = now + config.SERVICE_REFRESH_TOKEN_TTL
      await insertSession(
        database,
        { id, userId: user.id, refreshTokenId, expiresAt },
        record({ action: 'auth.login.v1', actor: { kind: 'user', id: user.id }, address }),
      )
      const subject = { userId: user.id, id }
      const lifetime = config.SERVICE_ACCESS_TOKEN_TTL
      return {
        expires: Math.floor(lifetime / 1_000),
        accessToken: await tokens.sign(
          { ...subject, sort: 'at+jwt', tokenId: ids.next(), expiresAt: now + lifetime },
          now,
        ),
        refreshToken: await tokens.sign({ ...subject, sort: 'rt+jwt', tokenId: refreshTokenId, expiresAt }, now),
      }
    },

    async bootstrap({ email, password, fullName }, { setupToken, address }) {
      if (!(await isUnclaimed())) throw alreadyClaimed()
      const trial: Trial = { kind: 'setUp', account: '', address }
      await throttle.begin(trial)
      const { SERVICE_SETUP_TOKEN: expected } = config
      const isRight = expected !== undefined && (await sameSecret(setupToken ?? '', expected))
      await throttle.settle(trial, { isRight })
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

function alreadyClaimed(): ServiceError {
  return new ServiceError('conflict', 'The first administrator exists already')
}

/** Compares digests, so that the time taken tells nothing of where two texts begin to differ. */
async function sameSecret(one: string, other: string): Promise<boolean> {
  const digest = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const [first, second] = [await digest(one), await digest(other)]
  return first.reduce((difference, byte, index) => difference | (byte ^ (second[index] ?? 0)), 0) === 0
}
