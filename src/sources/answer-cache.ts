/**
 * Caches answers of one data source for SERVICE_SOURCES__CACHE_TTL. The key is the request to the connector, which contains the
 * caller's row filter and visible fields, and whether the answer was checked against a key. Later decisions are made for each
 * caller. So no caller gets rows that were read with another's rights.
 */
import type { QueryAnswer } from '../core/connector/protocol.ts'
import { type Age, type Clock, startAge } from '../ports/clock.ts'

export type AnswerCache = {
  get(request: string): QueryAnswer | undefined
  /** Returns a function that stores the coming answer, unless a write has cleared the cache meanwhile. */
  keeping(request: string): (answer: QueryAnswer) => void
  clear(): void
}

/** Characters of keys and records of all answers of a source; the oldest are removed first. */
const MAX_LENGTH = 4 * 1024 ** 2
/** Minimum weight of an answer. */
const LEAST = 512
/** Answers with more records are not cached. */
const MAX_RECORDS = 1_000

export type AnswerCacheDeps = {
  readonly clock: Clock
  /** Milliseconds. */
  readonly timeToLive: number
}

export function createAnswerCache(deps: AnswerCacheDeps): AnswerCache {
  const { clock, timeToLive } = deps
  type Kept = { readonly answer: QueryAnswer; readonly length: number; readonly age: Age }
  const kept = new Map<string, Kept>()
  let held = 0

  function drop(request: string): void {
    held -= kept.get(request)?.length ?? 0
    kept.delete(request)
  }

  let generation = 0
  return {
    get(request) {
      const found = kept.get(request)
      if (found === undefined) return undefined
      if (found.age() < timeToLive) return found.answer
      drop(request)
      return undefined
    },
    keeping(request) {
      const startGeneration = generation
      return (answer) => {
        if (timeToLive === 0 || startGeneration !== generation || answer.records.length > MAX_RECORDS) return
        const length = lengthOf(request, answer)
        if (length > MAX_LENGTH) return
        drop(request)
        kept.set(request, { answer, length, age: startAge(clock) })
        held += length
        for (const oldest of kept.keys()) {
          if (held <= MAX_LENGTH) return
          drop(oldest)
        }
      }
    },
    clear() {
      generation += 1
      kept.clear()
      held = 0
    },
  }
}

function lengthOf(request: string, { records }: QueryAnswer): number {
  const values = records.flatMap((record) => [...record.values()])
  return values.reduce((sum, value) => sum + (value?.length ?? 0), LEAST + request.length + values.length)
}
