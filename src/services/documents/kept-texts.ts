/**
 * Texts of documents, kept up to a size in all: the oldest goes first. Building one takes time and much more memory than the text, so
 * that of a workspace one is built at a time.
 */
import { createWorkQueue, queuedFor, type Requesting } from '../caller/work-queue.ts'

export type KeptTexts = {
  /**
   * The text that is kept under the key, or what `build` brings. Whoever comes while another builds for the same workspace waits, and
   * finds what was kept meanwhile. What is no text, or too long, is not kept.
   */
  load<Built>(document: DocumentKey, build: () => Promise<Built>): Promise<Built | string>
}

export type DocumentKey = { readonly scope: Requesting; readonly key: string }

/** Of one text and of all, in characters. */
export const MAX_KEPT = 16 * 1024 * 1024

export function createKeptTexts(): KeptTexts {
  const kept = new Map<string, string>()
  const queue = createWorkQueue({})

  function keep(key: string, text: string): void {
    if (text.length > MAX_KEPT) return
    kept.set(key, text)
    let length = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length: freed }] of kept) {
      if (length <= MAX_KEPT) return
      kept.delete(oldest)
      length -= freed
    }
  }

  return {
    async load({ scope, key }, build) {
      return (
        kept.get(key) ??
        queue.run({ ...queuedFor(scope), isLarge: false }, async () => {
          const known = kept.get(key)
          if (known !== undefined) return known
          const built = await build()
          if (typeof built === 'string') keep(key, built)
          return built
        })
      )
    },
  }
}
