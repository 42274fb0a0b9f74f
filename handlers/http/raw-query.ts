/** The query of an item request as text without the token, and the answer to what the services planned for it. */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import type { ItemQuery, Planned } from '../../src/services/data/items.ts'
import type { Answer } from './answer.ts'
import { searchWithoutToken } from './credentials.ts'
import { type AppContext, headerOf, isDisconnected } from './request.ts'

export function rawQuery(c: AppContext): ItemQuery {
  return {
    sent: searchWithoutToken(c.req.url),
    // No getter: an object with one gets its own hidden class, which lives until the next full garbage collection.
    freshness: headerOf(c, 'cache-control')?.includes('no-cache') === true ? 'fresh' : 'kept',
    isDisconnected: () => isDisconnected(c),
  }
}

/** Answers with the result of a planned request, and records when it was planned. */
export function answered<T>(
  c: AppContext,
  planning: Eventual<Planned<T>>,
  toAnswer: (value: T) => Answer,
): Eventual<Answer> {
  return andThen(planning, ({ plannedAt, answer }) => {
    c.get('timing').planned = plannedAt
    return answer.then(toAnswer)
  })
}
