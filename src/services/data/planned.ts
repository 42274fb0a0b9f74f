/** A request for items, as sent and as planned. */
import { andThen, type Eventual } from '../../core/and-then.ts'
import type { RawAggregateQuery } from '../../core/query/aggregate-query.ts'
import type { RawListQuery, RawQuery } from '../../core/query/raw-query.ts'
import type { ReadOptions } from '../../sources/source.ts'

/** The idempotency key of a write. */
export type OnceKey = {
  readonly key: string
  /** The request without its body; another request with this key must have the same. */
  readonly request: string
  /** Called before the answer of an earlier request is replayed. */
  readonly onReplay: () => void
  /** Milliseconds that the request has waited for another request with the key, over all its plans. */
  waited: number
}

/** A query as the client sent it. */
export type ItemQuery = ReadOptions & { readonly sent: RawQuery; readonly once?: OnceKey | undefined }
/** A write of one item; with `tags`, the item must have one of these entity tags. */
export type WriteQuery = ItemQuery & { readonly tags?: readonly string[] | undefined }
/** The operations of a batch contain its queries. */
export type BatchQuery = Omit<ItemQuery, 'sent'>
export type AggregatesQuery = ReadOptions & { readonly sent: RawAggregateQuery }
export type ChangesQuery = ReadOptions & { readonly sent: string }
export type ListQuery = ReadOptions & { readonly sent: RawListQuery }

/** A pending answer, and the time by `performance.now` at which planning ended. */
export type Planned<T> = { readonly plannedAt: number; readonly answer: Promise<T> }

/** Synchronous if the model is in memory; a refusal before the source is called is thrown or rejected. */
export type Planning<T> = Eventual<Planned<T>>

/** Runs a plan. An error that is thrown synchronously, such as for a value of the wrong type, rejects the answer. */
export function started<T>(run: () => Promise<T>): Planned<T> {
  const plannedAt = performance.now()
  try {
    return { plannedAt, answer: run() }
  } catch (error) {
    return { plannedAt, answer: Promise.reject(error) }
  }
}

/** `planning` with its answer converted. */
export function answering<T, R>(planning: Planning<T>, change: (answer: T) => R): Planning<R> {
  return andThen(planning, ({ plannedAt, answer }) => ({ plannedAt, answer: answer.then(change) }))
}
