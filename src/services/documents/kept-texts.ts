/**
 * Texts of documents, kept up to a size in all: the oldest goes first. Building one takes time and much more memory than the text, so
 * that each is built once for all who want it meanwhile; who builds how many at a time is up to whoever builds. They are kept in
 * UTF-8, as they are sent: to encode megabytes for each answer takes longer than all the rest of it.
 */
import { createLoads } from '../caller/work-queue.ts'

export type KeptTexts = {
  /**
   * The text that is kept under the key, or what `build` brings. Whoever comes while another builds it waits, and finds what was kept
   * meanwhile. What is no text, or too long, is not kept.
   */
  load<Built>(key: string, build: () => Promise<Built>): Promise<Exclude<Built, string> | Bytes>
}

/** In UTF-8. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Of one text and of all, in characters, of which few take more than a byte. */
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
