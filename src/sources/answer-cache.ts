/**
 * Caches answers of one data source for SERVICE_SOURCES__CACHE_TTL. The key is the request to the connector, which
 * contains the caller's row filter and visible fields, with whether its answer was compared with a key; later decisions are
 * made again for each caller. So no caller gets rows read for another's rights.
 */
import QuickLRU from 'quick-lru'
import type { QueryAnswer } from '../core/connector/protocol.ts'
import { type Age, type Clock, startAge } from '../ports.ts'

export type AnswerCache = {
  get(request: string): QueryAnswer | undefined
  /** Returns a function that stores the coming answer, unless a write has cleared the cache meanwhile. */
  keeping(request: string): (answer: QueryAnswer) => void
  clear(): void
}

const MAX_ANSWERS = 500
/** Answers with more records are not cached. */
const MAX_RECORDS = 1_000

export type AnswerCacheDeps = {
  readonly clock: Clock
  /** Milliseconds. */
  readonly timeToLive: number
}

export function createAnswerCache(deps: AnswerCacheDeps): AnswerCache {
  const { clock, timeToLive } = deps
  const kept = new QuickLRU<string, { readonly answer: QueryAnswer; readonly age: Age }>({ maxSize: MAX_ANSWERS })
  let generation = 0
  return {
    get(request) {
      const found = kept.get(request)
      if (found === undefined) return undefined
      if (found.age() < timeToLive) return found.answer
      kept.delete(request)
      return undefined
    },
    keeping(request) {
      const startGeneration = generation
      return (answer) => {
        if (timeToLive === 0 || startGeneration !== generation || answer.records.length > MAX_RECORDS) return
        kept.set(request, { answer, age: startAge(clock) })
      }
    },
    clear() {
      generation += 1
      kept.clear()
    },
  }
}
