/** Limits concurrent answers of the assistant per process: each holds a connection to the provider, and the data read from it. */
import { ServiceError } from '../../core/error.ts'
import type { Owner } from '../../store/assistant.ts'

const MOST_AT_ONCE = 24
const MOST_OF_USER = 3

export type AnswerRoom = {
  /** Throws 503 if too many answers are in progress. Returns a function that ends this answer. */
  take(owner: Owner): () => void
}

export function createAnswerRoom(): AnswerRoom {
  const underWay = new Set<Owner>()
  const countOf = (name: keyof Owner, value: string) => [...underWay].filter((one) => one[name] === value).length

  return {
    take({ workspaceId, userId }) {
      if (
        // A workspace chooses its own provider, which may be slow, so it may not use more places than it leaves free.
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
