/**
 * Records when API keys were last used: on first use, then at most once a minute per process or isolate, so that a warm
 * request writes nothing and the recorded time is at most a minute old.
 */
import QuickLRU from 'quick-lru'
import type { Instant, Ports } from '../../ports.ts'
import { markKeyUsed } from '../../store/api-keys.ts'

/** Milliseconds between two writes for one key. */
export const USE_INTERVAL = 60_000
const MAX_REMEMBERED = 10_000

export type KeyUse = {
  /** Records a request with this key. Never throws: after a failed write the next request tries again. */
  seen(keyId: string): Promise<void> | undefined
}

export type KeyUseDeps = Pick<Ports, 'clock' | 'database' | 'observe'>

export function createKeyUse(deps: KeyUseDeps): KeyUse {
  const { clock, database, observe } = deps
  const written = new QuickLRU<string, Instant>({ maxSize: MAX_REMEMBERED })

  async function write(keyId: string, now: Instant): Promise<void> {
    written.set(keyId, now)
    try {
      await markKeyUsed(database, keyId, now)
    } catch (error) {
      written.delete(keyId)
      observe({ kind: 'fault', error })
    }
  }

  return {
    seen(keyId) {
      const now = clock.now()
      const last = written.get(keyId)
      return last !== undefined && now - last < USE_INTERVAL ? undefined : write(keyId, now)
    },
  }
}
