/** A request for items, as it was sent and as it is planned: on its way to its source. */
import { andThen, type Eventual } from '../../core/and-then.ts'
import type { RawQuery } from '../../core/query/raw-query.ts'
import type { ReadOptions } from '../../sources/source.ts'

/** A query as it was sent, and who reads its answer. */
export type ItemQuery = ReadOptions & { readonly sent: RawQuery }

/** An answer that is on its way, and when it was clear what to ask the source, by `performance.now`. */
export type Planned<T> = { readonly plannedAt: number; readonly answer: Promise<T> }

/** Planned at once where the model is in memory; what is refused before the source is asked is thrown or rejected. */
export type Planning<T> = Eventual<Planned<T>>

/** Runs what is planned; also what it throws at once, such as for a value that is none of its field's, is its answer. */
export function started<T>(run: () => Promise<T>): Planned<T> {
  const plannedAt = performance.now()
  try {
    return { plannedAt, answer: run() }
  } catch (error) {
    return { plannedAt, answer: Promise.reject(error) }
  }
}

/** `planning` with another form of its answer. */
export function answering<T, R>(planning: Planning<T>, change: (answer: T) => R): Planning<R> {
  return andThen(planning, ({ plannedAt, answer }) => ({ plannedAt, answer: answer.then(change) }))
}
