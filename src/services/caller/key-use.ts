/**
 * Records when API keys were last used: on first use, then at most once a minute per process or isolate, so that a warm
 * request writes nothing and the recorded time is at most a minute old.
 */
import QuickLRU from 'quick-lru'
import { type Age, startAge } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
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
  const written = new QuickLRU<string, Age>({ maxSize: MAX_REMEMBERED })

  async function write(keyId: string): Promise<void> {
    written.set(keyId, startAge(clock))
    try {
      await markKeyUsed(database, keyId, clock.now())
    } catch (error) {
      written.delete(keyId)
      observe({ kind: 'fault', error })
    }
  }

  return {
    seen(keyId) {
      const age = written.get(keyId)?.() ?? USE_INTERVAL
      return age < USE_INTERVAL ? undefined : write(keyId)
    },
  }
}
