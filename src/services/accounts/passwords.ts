/**
 * Changes passwords, and resets them by mailed tokens (docs/contract.md#passwords). Both end sessions at once. Answers,
 * audit entries, counters and timing never reveal whether an account exists.
 */

import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import { proveEmail } from '../../store/identities.ts'
import {
  deleteEndedResets,
  deleteResets,
  findResetUser,
  insertReset,
  loadPassword,
  setPassword,
} from '../../store/passwords.ts'
import { endSessions } from '../../store/sessions.ts'
import { findUserByEmail } from '../../store/users.ts'
import { recordEvent } from '../caller/audit.ts'
import { type Caller, requireUser, sessionOf } from '../caller/caller.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { LoginAttempt, Throttle } from '../caller/throttle.ts'
import { invalidToken } from '../caller/tokens.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { linkBase, type RequestOrigin, resetMail } from './mails.ts'
import { newToken } from './one-time-tokens.ts'

export type PasswordChange = { readonly currentPassword: string; readonly newPassword: string }

export type ResetConfirmation = { readonly token: string; readonly password: string }

/** Each throws 429 after too many attempts. */
export type Passwords = {
  /** Ends all other sessions of the caller. Throws 403 for an anonymous caller, 401 for a wrong current password. */
  change(caller: Caller, change: PasswordChange, address: string | undefined): Promise<void>
  /** Mails a token to the account of this address, if it exists and may sign in; the caller does not learn whether it does. */
  requestReset(email: string, visit: RequestOrigin): Promise<void>
  /** Throws 401 for a token that is unknown, used or expired. */
  verifyReset(token: string, address: string | undefined): Promise<void>
  /**
   * Uses the token and ends all sessions of its account. If this is the first proof of the address, also disables the
   * account's keys and those of its service accounts. Throws 401 like `verifyReset`.
   */
  confirmReset(confirmation: ResetConfirmation, address: string | undefined): Promise<void>
  /** Deletes expired tokens. */
  prune(): Promise<void>
}

const RESET_LIFETIME = 3_600_000

export type PasswordsDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly throttle: Throttle
}

export function createPasswords(deps: PasswordsDeps): Passwords {
  const { ports, config, throttle } = deps
  const { background, clock, database, ids, mailer, passwords } = ports

  /** Sends to the account's stored address, not to the address in the request. */
  async function sendReset(email: string, visit: RequestOrigin): Promise<void> {
    const user = await findUserByEmail(database, email)
    if (user === undefined || user.email === null || user.status !== 'active') return
    const token = newToken()
    const expiresAt = clock.now() + RESET_LIFETIME
    await insertReset(database, { tokenHash: await sha256Hex(token), userId: user.id, expiresAt })
    const base = linkBase(config, visit)
    await mailer.send(resetMail({ to: user.email, token, base, page: config.SERVICE_RESET_URL }))
  }

  async function loadResetUser(tokenHash: string, address: string | undefined): Promise<string> {
    const userId = await findResetUser(database, tokenHash)
    if (userId !== undefined) return userId
    const failed = {
      action: 'auth.password_reset_confirm.v1',
      outcome: 'failure',
      actor: { kind: 'anonymous' },
    } as const
    await database.query(recordEvent(ids, { ...failed, address }))
    throw invalidToken()
  }

  return {
    async change(caller, { currentPassword, newPassword }, address) {
      const userId = requireUser(caller)
      const account = await loadPassword(database, userId)
      const attempt: LoginAttempt = {
        kind: 'password',
        account: account?.email ?? userId,
        address,
        credential: throttledAs(caller),
      }
      await throttle.begin(attempt)
      const isRight = await passwords.verify(currentPassword, account?.hash ?? undefined, userId)
      const event = {
        action: 'auth.password_change.v1',
        actor: { kind: 'user', id: userId },
        target: { type: 'user', id: userId },
        address,
      } as const
      await throttle.settle(attempt, {
        isRight,
        failure: (provided) => recordEvent(ids, { ...event, outcome: 'failure' }, provided),
      })
      if (!isRight) throw wrongPassword()
      const hash = await passwords.hash(newPassword)
      await changeRights(ports, userId, {
        caller,
        reach: 'account',
        load: () => loadPassword(database, userId),
        decide: (current) => {
          // The password was changed after the current one was verified.
          if (current === undefined || current.hash !== account?.hash) throw wrongPassword()
          return [
            setPassword(userId, hash),
            ...endSessions(userId, sessionOf(caller)),
            deleteResets(userId),
            recordEvent(ids, event),
          ]
        },
      })
    },

    async requestReset(email, visit) {
      const { address } = visit
      await throttle.admit(address)
      const isWelcome = await throttle.allowMail(email)
      const actor = { kind: 'anonymous' } as const
      await database.query(
        recordEvent(ids, { action: 'auth.password_reset_request.v1', actor, address, payload: { email } }),
      )
      if (isWelcome) background(sendReset(email, visit))
    },

    async verifyReset(token, address) {
      await throttle.admit(address)
      if ((await findResetUser(database, await sha256Hex(token))) === undefined) throw invalidToken()
    },

    async confirmReset({ token, password }, address) {
      await throttle.admit(address)
      const tokenHash = await sha256Hex(token)
      const userId = await loadResetUser(tokenHash, address)
      const hash = await passwords.hash(password)
      await changeRights(ports, userId, {
        caller: undefined,
        reach: 'account',
        load: () => loadResetUser(tokenHash, address),
        decide: () => [
          ...proveEmail(userId),
          setPassword(userId, hash),
          ...endSessions(userId),
          deleteResets(userId),
          recordEvent(ids, {
            action: 'auth.password_reset_confirm.v1',
            actor: { kind: 'user', id: userId },
            target: { type: 'user', id: userId },
            address,
          }),
        ],
      })
    },

    prune: () => deleteEndedResets(database),
  }
}

/** Counts by session; for keys by user, because a user can create more keys. */
function throttledAs(caller: Caller): string {
  return sessionOf(caller) ?? `keys of ${requireUser(caller)}`
}

function wrongPassword(): ServiceError {
  return new ServiceError('unauthenticated', 'Invalid credentials')
}
