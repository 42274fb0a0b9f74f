/**
 * Limits login attempts (docs/decisions/046): 5 failures a minute for one account and address, and a number of sign-ins for one
 * address, ten times as many for all addresses of an IPv6 site; for a signed-in caller, 5 failures of that session. The limits
 * do not depend on whether the account exists, and only time lifts them.
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import { networkOf, siteOf } from '../../core/network.ts'
import type { Sql, Statement } from '../../core/sql/statement.ts'
import type { SqlRow } from '../../ports/database.ts'
import type { Ports } from '../../ports/ports.ts'
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
  /** Counts links to files made without a credential, apart from sign-ins. Throws 429 for too many from the address. */
  requireLink(address: string | undefined): Promise<void>
  /** Like `admit`. Also throws 429 after too many failures for this account and address, before the secret is compared. */
  begin(attempt: LoginAttempt): Promise<void>
  /**
   * Records the outcome of an attempt, at equal cost for success and failure. Throws 429 for every attempt that ends
   * after the last failure allowed, even with a correct secret, so that concurrent attempts cannot exceed the limit.
   */
  settle(attempt: LoginAttempt, outcome: AttemptOutcome): Promise<void>
  /** Counts a mail requested without signing in; returns false if this mailbox had too many. */
  allowMail(account: string): Promise<boolean>
  /** Counts a mail that another account sends to this mailbox; throws 429 if this mailbox had too many. */
  requireMail(account: string): Promise<void>
  /** Deletes expired counters. */
  prune(): Promise<void>
}

const MINUTE = 60_000
const MOST_FAILURES = 5
const MOST_MAILS_AN_HOUR = 10
/** Limit of a /48 network, which providers give to one customer, as a multiple of the limit of an address. */
const SITE = 10

export type ThrottleDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly config: Config
}

export function createThrottle(deps: ThrottleDeps): Throttle {
  const { ports, config } = deps
  const { database } = ports

  /** Counts the two kinds separately, so that nobody can use up another person's mails for resetting a password. */
  async function countMail(kind: 'resetMail' | 'sentMail', account: string): Promise<Verdict> {
    const counter = { kind, account, network: '', most: MOST_MAILS_AN_HOUR, span: 60 * MINUTE } as const
    return verdictOf(await database.query(countAttempt(counter)))
  }

  function ofAddress(address: string | undefined, kind: 'address' | 'fileLink' = 'address'): readonly Counter[] {
    const most = config.SERVICE_AUTH__LOGINS_PER_MINUTE
    return perNetwork(address, { kind, account: '', most, span: MINUTE })
  }

  function ofCredential(account: string): Counter {
    return { kind: 'credential', account, network: '', most: config.SERVICE_AUTH__LOGINS_PER_MINUTE, span: MINUTE }
  }

  return {
    async admit(address) {
      requireAll(await database.batch(ofAddress(address).map(countAttempt)))
    },

    async requireLink(address) {
      requireAll(await database.batch(ofAddress(address, 'fileLink').map(countAttempt)))
    },

    async begin(attempt) {
      const all = attempt.credential === undefined ? ofAddress(attempt.address) : [ofCredential(attempt.credential)]
      requireAll(await database.batch([...all.map(countAttempt), ...attemptCounters(attempt).map(peekAttempts)]))
    },

    async settle(attempt, { isRight, failure }) {
      const counters = attemptCounters(attempt)
      const [narrowest] = counters
      const verdicts = await database.batch([
        ...counters.map(isRight ? weighAttempt : countAttempt),
        ...(failure === undefined ? [] : [isRight && narrowest ? failure(wasRefused(narrowest)) : failure()]),
        // A failure of a session also counts against signing in to the account.
        ...(attempt.credential === undefined || isRight ? [] : ofAccount(attempt).map(countAttempt)),
      ])
      requireAll(verdicts.slice(0, counters.length))
    },

    allowMail: async (account) => !(await countMail('resetMail', account)).isRefused,

    async requireMail(account) {
      const { isRefused, retryAfterSeconds: retryAfter } = await countMail('sentMail', account)
      if (isRefused) throw new ServiceError('throttled', 'Too many mails to this address', { meta: { retryAfter } })
    },

    prune: () => deleteEndedAttempts(database),
  }
}

/** Counters with the narrowest network first. */
function attemptCounters(attempt: LoginAttempt): readonly Counter[] {
  const { credential } = attempt
  if (credential === undefined) return ofAccount(attempt)
  return [{ kind: 'credentialTrial', account: credential, network: '', most: MOST_FAILURES, span: MINUTE }]
}

function ofAccount({ kind, account, address }: LoginAttempt): readonly Counter[] {
  return perNetwork(address, { kind, account, most: MOST_FAILURES, span: MINUTE })
}

function perNetwork(address: string | undefined, counter: Omit<Counter, 'network'>): readonly Counter[] {
  const network = networkOf(address)
  const site = siteOf(network)
  const own = { ...counter, network }
  return site === undefined ? [own] : [own, { ...counter, network: site, most: counter.most * SITE }]
}

function requireAll(verdicts: readonly (readonly SqlRow[])[]): void {
  for (const rows of verdicts) requireLet(verdictOf(rows))
}

function requireLet({ isRefused, retryAfterSeconds }: Verdict): void {
  if (!isRefused) return
  throw new ServiceError('throttled', 'Too many attempts, try again later', { meta: { retryAfter: retryAfterSeconds } })
}
