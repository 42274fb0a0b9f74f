/** A request for items, as it was sent and as it is planned: on its way to its source. */
import { andThen, type Eventual } from '../../core/and-then.ts'
import type { RawAggregateQuery } from '../../core/query/aggregate-query.ts'
import type { RawListQuery, RawQuery } from '../../core/query/raw-query.ts'
import type { ReadOptions } from '../../sources/source.ts'

/** The key of a write that happens once, however often it is sent. */
export type OnceKey = {
  readonly key: string
  /** The request but for its body: what another one under this key would differ in. */
  readonly request: string
  /** Called before the answer of an earlier request is returned again. */
  readonly onReplay: () => void
  /** Milliseconds that the request has waited for another one with the key, however often it was planned. */
  waited: number
}

/** A query as it was sent. */
export type ItemQuery = ReadOptions & { readonly sent: RawQuery; readonly once?: OnceKey | undefined }
/** A write of one item; it has to have one of the tags, where there are any. */
export type WriteQuery = ItemQuery & { readonly tags?: readonly string[] | undefined }
/** A batch has its queries in its operations. */
export type BatchQuery = Omit<ItemQuery, 'sent'>
export type AggregatesQuery = ReadOptions & { readonly sent: RawAggregateQuery }
export type ChangesQuery = ReadOptions & { readonly sent: string }
export type ListQuery = ReadOptions & { readonly sent: RawListQuery }

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
