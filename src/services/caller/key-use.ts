/**
 * When API keys were last used: written at a key's first use and then once a minute by each process or isolate, so that
 * a warm request writes nothing and what is shown is never more than a minute late.
 */
import type { Instant, Ports } from '../../ports.ts'
import { markKeyUsed } from '../../store/api-keys.ts'

/** Milliseconds between two writes for one key. */
export const USE_INTERVAL = 60_000
const MAX_REMEMBERED = 10_000

export type KeyUse = {
  /** A request has come with this key. Never throws: what cannot be written is tried again with the next request. */
  seen(keyId: string): Promise<void> | undefined
}

export function createKeyUse({ clock, database, observe }: Ports): KeyUse {
  const written = new Map<string, Instant>()

  async function write(keyId: string, now: Instant): Promise<void> {
    if (written.size >= MAX_REMEMBERED) written.clear()
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
