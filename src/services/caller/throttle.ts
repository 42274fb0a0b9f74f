/**
 * Limits login attempts (docs/decisions/046): 5 failures a minute for one account and address, and a number of sign-ins
 * for one address; for a signed-in caller, 5 failures of that session. The limits do not depend on whether the account
 * exists, and only time lifts them.
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { Sql, Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
import {
  type Counter,
  countAttempt,
  deleteEndedAttempts,
  peekAttempts,
  type Verdict,
  verdictOf,
  wasRefused,
  weighAttempt,
} from '../../store/attempts.ts'

/** An attempt with a secret; `account` is the e-mail address as it was sent. */
export type LoginAttempt = {
  readonly kind: 'password' | 'setUp' | 'deviceCode'
  readonly account: string
  readonly address: string | undefined
  /** Set for a signed-in caller, whose own attempts are counted separately. */
  readonly credential?: string
}

export type AttemptOutcome = {
  readonly isRight: boolean
  /** The audit statement of a failure; with a condition, recorded only if it holds. */
  readonly failure?: (provided?: Sql) => Statement
}

export type Throttle = {
  /** Counts a request that verifies or requests a secret. Throws 429 for too many recent ones from this address. */
  admit(address: string | undefined): Promise<void>
  /**
   * Like `admit`, and throws 429 after too many failures for this account from there, before the secret is compared.
   */
  begin(attempt: LoginAttempt): Promise<void>
  /**
   * Records the outcome of an attempt, at equal cost for success and failure. Throws 429 for every attempt that ends
   * after the last failure allowed, even with a correct secret, so that concurrent attempts cannot exceed the limit.
   */
  settle(attempt: LoginAttempt, outcome: AttemptOutcome): Promise<void>
  /** Counts a mail requested without signing in; returns false if this mailbox had too many. */
  allowMail(account: string): Promise<boolean>
  /** Deletes expired counters. */
  prune(): Promise<void>
}

const MINUTE = 60_000
const MOST_FAILURES = 5
const MOST_MAILS_AN_HOUR = 10

export type ThrottleDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly config: Config
}

export function createThrottle(deps: ThrottleDeps): Throttle {
  const { ports, config } = deps
  const { database } = ports

  function ofAddress(address: string | undefined): Counter {
    const network = networkOf(address)
    return { kind: 'address', account: '', network, most: config.SERVICE_AUTH__LOGINS_PER_MINUTE, span: MINUTE }
  }

  function ofCredential(account: string): Counter {
    return { kind: 'credential', account, network: '', most: config.SERVICE_AUTH__LOGINS_PER_MINUTE, span: MINUTE }
  }

  return {
    async admit(address) {
      requireLet(verdictOf(await database.query(countAttempt(ofAddress(address)))))
    },

    async begin(attempt) {
      const all = attempt.credential === undefined ? ofAddress(attempt.address) : ofCredential(attempt.credential)
      const verdicts = await database.batch([countAttempt(all), peekAttempts(attemptCounter(attempt))])
      for (const rows of verdicts) requireLet(verdictOf(rows))
    },

    async settle(attempt, { isRight, failure }) {
      const counter = attemptCounter(attempt)
      const [rows = []] = await database.batch([
        isRight ? weighAttempt(counter) : countAttempt(counter),
        ...(failure === undefined ? [] : [isRight ? failure(wasRefused(counter)) : failure()]),
        // A failure of a session also counts against signing in to the account.
        ...(attempt.credential === undefined || isRight ? [] : [countAttempt(ofAccount(attempt))]),
      ])
      requireLet(verdictOf(rows))
    },

    async allowMail(account) {
      const counter = { kind: 'resetMail', account, network: '', most: MOST_MAILS_AN_HOUR, span: 60 * MINUTE } as const
      return !verdictOf(await database.query(countAttempt(counter))).isRefused
    },

    prune: () => deleteEndedAttempts(database),
  }
}

function attemptCounter(attempt: LoginAttempt): Counter {
  const { credential } = attempt
  if (credential === undefined) return ofAccount(attempt)
  return { kind: 'credentialTrial', account: credential, network: '', most: MOST_FAILURES, span: MINUTE }
}

function ofAccount({ kind, account, address }: LoginAttempt): Counter {
  return { kind, account, network: networkOf(address), most: MOST_FAILURES, span: MINUTE }
}

function requireLet({ isRefused, retryAfterSeconds }: Verdict): void {
  if (!isRefused) return
  throw new ServiceError('throttled', 'Too many attempts, try again later', { meta: { retryAfter: retryAfterSeconds } })
}

/**
 * The unit of counting: an IPv4 address, or the /64 network of an IPv6 address, since one client usually has all of it.
 * Unknown addresses share one unit.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || address === '') return 'unknown'
  if (!address.includes(':')) return address
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]?.split('::', 2) ?? []
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

function groupsOf(part: string): readonly string[] {
  return part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, ''))
}
