/** How many answers of the assistant a process makes at a time: each holds a connection to the provider, and what it has read of it. */
import { ServiceError } from '../../core/error.ts'
import type { Owner } from '../../store/assistant.ts'

const MOST_AT_ONCE = 24
const MOST_OF_USER = 3

export type AnswerRoom = {
  /** Throws 503 where too many answers are made. Returns what gives the room back. */
  take(owner: Owner): () => void
}

export function createAnswerRoom(): AnswerRoom {
  const underWay = new Set<Owner>()
  const countOf = (name: keyof Owner, value: string) => [...underWay].filter((one) => one[name] === value).length

  return {
    take({ workspaceId, userId }) {
      if (
        // A workspace chooses its provider, which may be slow: it gets no more answers than it leaves to others.
        countOf('workspaceId', workspaceId) >= MOST_AT_ONCE - underWay.size ||
        countOf('userId', userId) >= MOST_OF_USER
      ) {
        throw new ServiceError('unavailable', 'The assistant has too many questions to answer', {
          meta: { retryAfter: 5 },
        })
      }
      const one: Owner = { workspaceId, userId }
      underWay.add(one)
      return () => underWay.delete(one)
    },
  }
}
