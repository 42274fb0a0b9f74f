/**
 * A cache of document texts with a total size; the oldest is removed first. Building a text takes time and much more memory
 * than the text, so concurrent requests share one build. The caller limits how many builds run at a time. Texts are stored in
 * UTF-8 as they are sent, because encoding megabytes for each answer would take longer than the rest of it.
 */
import { createLoads } from '../caller/work-queue.ts'

export type KeptTexts = {
  /**
   * Returns the cached text, or the result of `build`. Concurrent calls of the same key wait for one build. Results that are no
   * text, or too long, are not cached.
   */
  load<Built>(key: string, build: () => Promise<Built>): Promise<Exclude<Built, string> | Bytes>
}

/** UTF-8 bytes. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Maximum characters of one text and of all texts; few characters take more than a byte. */
export const MAX_KEPT = 16 * 1024 * 1024
const MAX_BYTES = 2 * MAX_KEPT

export function createKeptTexts(): KeptTexts {
  const kept = new Map<string, Bytes>()
  const loads = createLoads({ isLong: true })

  function keep(key: string, text: Bytes): void {
    if (text.length > MAX_BYTES) return
    kept.set(key, text)
    let length = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length: freed }] of kept) {
      if (length <= MAX_BYTES) return
      kept.delete(oldest)
      length -= freed
    }
  }

  return {
    load<Built>(key: string, build: () => Promise<Built>) {
      return loads.load<Exclude<Built, string> | Bytes>(key, {
        find: () => kept.get(key),
        async make() {
          const built = await build()
          if (typeof built !== 'string') return built as Exclude<Built, string>
          const text = new TextEncoder().encode(built) as Bytes
          keep(key, text)
          return text
        },
      })
    },
  }
}
