/** Texts of documents, kept up to a size in all: the oldest goes first. */

export type KeptTexts = {
  readonly get: (key: string) => string | undefined
  readonly keep: (key: string, text: string) => void
}

/** Of one text and of all, in characters. */
const MAX_KEPT = 2 * 1024 * 1024
const MAX_KEPT_IN_ALL = 16 * 1024 * 1024

export function createKeptTexts(): KeptTexts {
  const kept = new Map<string, string>()
  return {
    get: (key) => kept.get(key),
    keep(key, text) {
      if (text.length > MAX_KEPT) return
      kept.set(key, text)
      let length = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
      for (const [oldest, { length: freed }] of kept) {
        if (length <= MAX_KEPT_IN_ALL) return
        kept.delete(oldest)
        length -= freed
      }
    },
  }
}
