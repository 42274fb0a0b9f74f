/**
 * Answers of one data source, kept for a while (SERVICE_SOURCES__CACHE_TTL). The request that goes to the connector is the
 * key: it holds the caller's row filter and the fields that they may see, and what is decided behind it is decided anew for
 * each caller, so that nobody gets what was read for another.
 */
import type { QueryAnswer } from '../core/connector/protocol.ts'
import type { Clock } from '../ports.ts'

export type AnswerCache = {
  get(request: string): QueryAnswer | undefined
  /** Hands back what keeps an answer that is still to come, unless a write has cleared the cache meanwhile. */
  keeping(request: string): (answer: QueryAnswer) => void
  clear(): void
}

const MAX_ANSWERS = 500
/** Records of one answer from which on it is not kept. */
const MAX_RECORDS = 1_000

export function createAnswerCache({ now }: Clock, timeToLive: number): AnswerCache {
  const kept = new Map<string, { readonly answer: QueryAnswer; readonly until: number }>()
  let generation = 0
  return {
    get(request) {
      const found = kept.get(request)
      if (found === undefined) return undefined
      if (found.until > now()) return found.answer
      kept.delete(request)
      return undefined
    },
    keeping(request) {
      const begun = generation
      return (answer) => {
        if (timeToLive === 0 || begun !== generation || answer.records.length > MAX_RECORDS) return
        kept.delete(request)
        kept.set(request, { answer, until: now() + timeToLive })
        const [oldest] = kept.keys()
        if (kept.size > MAX_ANSWERS && oldest !== undefined) kept.delete(oldest)
      }
    },
    clear() {
      generation += 1
      kept.clear()
    },
  }
}
