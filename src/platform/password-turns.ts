/**
 * Passwords are hashed in turns: each takes a core for a sixth of a second, on Node one of the four threads that read files and
 * compress, on Workers the only one. Workers drop those whose client
 * has gone.
 */
import { ServiceError } from '../core/error.ts'
import type { Passwords } from '../ports/accounts.ts'
import { pause } from '../ports/clock.ts'

export type PasswordTurns = {
  /** Hashes at a time. */
  readonly atOnce: number
  /** Milliseconds for all else between two hashes. */
  readonly rest: number
  /** Comparisons of one origin that may wait or go on at a time. */
  readonly ofOrigin: number
}

/** What a password is hashed by, without regard for who else does. */
export type Hashing = {
  readonly hash: Passwords['hash']
  readonly verify: (password: string, hash: string | undefined) => Promise<boolean>
}

/** All that may wait or go on at a time. */
const MOST = 64
/** Milliseconds between two looks. */
const LOOK = 20
/** Milliseconds without a look after which a waiter is gone, and after which a hash is. */
const GONE = { waiting: 2_000, hashing: 10_000 }

type Turn = { readonly origin: string | undefined; until: number }

/**
 * `verify` throws 429 where `ofOrigin` comparisons of the same origin are in line, and both throw 503 where MOST are, each with
 * the seconds after which to try again.
 */
export function inTurn(passwords: Hashing, { atOnce, rest, ofOrigin }: PasswordTurns): Passwords {
  /** As they came; the first `atOnce` hash. */
  const line = new Set<Turn>()

  function present(): readonly Turn[] {
    const now = performance.now()
    for (const turn of line) if (turn.until <= now) line.delete(turn)
    return [...line]
  }

  async function take<Result>(origin: string | undefined, work: () => Promise<Result>): Promise<Result> {
    const turns = present()
    if (origin !== undefined && turns.filter((turn) => turn.origin === origin).length >= ofOrigin) {
      throw new ServiceError('throttled', 'Too many attempts at once, try again later', { meta: { retryAfter: 1 } })
    }
    if (turns.length >= MOST) {
      const meta = { retryAfter: 5 }
      throw new ServiceError('unavailable', 'Too many passwords are being compared, try again later', { meta })
    }
    const own: Turn = { origin, until: 0 }
    for (;;) {
      own.until = performance.now() + GONE.waiting
      line.add(own)
      if (present().indexOf(own) < atOnce) break
      await pause(LOOK)
    }
    own.until = performance.now() + GONE.hashing
    try {
      return await work()
    } finally {
      // The clock of a Worker stands still while it computes.
      if (rest > 0) await pause()
      own.until = performance.now() + rest
    }
  }

  return {
    hash: (password) => take(undefined, () => passwords.hash(password)),
    verify: (password, hash, origin) => take(origin, () => passwords.verify(password, hash)),
  }
}
