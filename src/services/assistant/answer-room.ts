/** How many answers of the assistant a process makes at a time: each holds a connection to the provider, and what it has read of it. */
import { ServiceError } from '../../core/error.ts'
import { lazily } from '../../core/lazily.ts'

const MOST_AT_ONCE = 24
const MOST_OF_USER = 3

export type AnswerRoom = {
  /** Throws 503 where too many answers are made. Returns what gives the room back, once. */
  take(userId: string): () => void
}

export function createAnswerRoom(): AnswerRoom {
  const underWay = new Map<string, number>()

  return {
    take(userId) {
      const own = underWay.get(userId) ?? 0
      const all = [...underWay.values()].reduce((sum, count) => sum + count, 0)
      if (all >= MOST_AT_ONCE || own >= MOST_OF_USER) {
        throw new ServiceError('unavailable', 'The assistant has too many questions to answer', {
          meta: { retryAfter: 5 },
        })
      }
      underWay.set(userId, own + 1)
      return lazily(() => {
        const left = (underWay.get(userId) ?? 1) - 1
        if (left === 0) underWay.delete(userId)
        else underWay.set(userId, left)
      })
    },
  }
}
