/**
 * How often secrets may be tried (docs/decisions/046): 5 failures for one account and address in a minute, and a number of
 * sign-ins for one address; of somebody who is signed in, 5 failures of that session. Whether the account exists plays no
 * part in it, and only time opens it again.
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

/** A secret that is tried: `account` is the e-mail address as it was sent. */
export type LoginAttempt = {
  readonly kind: 'password' | 'setUp'
  readonly account: string
  readonly address: string | undefined
  /** Of somebody who is signed in already: only what they try themselves counts against them. */
  readonly credential?: string
}

export type AttemptOutcome = {
  readonly isRight: boolean
  /** What is recorded of a failure; with a condition, only where that holds. */
  readonly failure?: (provided?: Sql) => Statement
}

export type Throttle = {
  /** Counts a request that costs or asks for a secret. Throws 429 where too many came from this address of late. */
  admit(address: string | undefined): Promise<void>
  /** The same, and throws 429 where this account was tried in vain too often from there: nothing is compared then. */
  begin(attempt: LoginAttempt): Promise<void>
  /**
   * Says how a trial ended, at one cost for both ends. Throws 429 for whatever ends after the failure that was the last
   * one allowed, a right secret included: however many are tried at once, only so many are ever told apart.
   */
  settle(attempt: LoginAttempt, outcome: AttemptOutcome): Promise<void>
  /** Counts a mail that somebody who is not signed in has asked for; false where this mailbox had enough of them. */
  allowMail(account: string): Promise<boolean>
  /** Forgets counters whose time is over. */
  prune(): Promise<void>
}

const MINUTE = 60_000
const MOST_FAILURES = 5
const MOST_MAILS_AN_HOUR = 10

export function createThrottle({ database }: Ports, config: Config): Throttle {
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
        // What a session has tried in vain is no more to be had by signing in.
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
 * What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 address, since whoever has one of these
 * has all of them. Callers of whom no address is known share one.
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
