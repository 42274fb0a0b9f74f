/** What can be called of a client, with its types. */

import type { AggregateQuery, Group, Groups } from './aggregates.ts'
import type { Call } from './call.ts'
import type { AnswerQuery, Filter, ItemQuery, Key, ListQuery, Meta, MetaOf, PagesQuery } from './queries.ts'
import type { Aggregates, Row } from './rows.ts'
import type { Options } from './send.ts'
import type { Create, KeyFields, UniqueFields, Update, UpdateMany } from './writes.ts'

type Every = readonly ['*']

/** The calls on the items of one collection; `fields` says what an answer has of each. */
export interface Collection<S, C extends keyof S> {
  list<const F = Every, const M extends readonly Meta[] = readonly []>(
    query?: ListQuery<S, C, F, M> & Options,
  ): Call<Row<S, C, F>[], MetaOf<M>>

  get<const F = Every>(key: Key<S, C>, query?: ItemQuery<S, C, F> & Options): Call<Row<S, C, F>>

  /** One item or several, answered alike and in their order. */
  create<const F = Every>(data: Create<S, C>, query?: AnswerQuery<S, C, F> & Options): Call<Row<S, C, F>>
  create<const F = Every>(data: readonly Create<S, C>[], query?: AnswerQuery<S, C, F> & Options): Call<Row<S, C, F>[]>

  /** Adds what is not there by the fields of a unique index, and changes what is; with `do: 'ignore'` it stays as it is. */
  upsert<const F = Every>(
    data: Create<S, C>,
    query: UpsertQuery<S, C> & AnswerQuery<S, C, F> & Options,
  ): Call<Row<S, C, F>>
  upsert<const F = Every>(
    data: readonly Create<S, C>[],
    query: UpsertQuery<S, C> & AnswerQuery<S, C, F> & Options,
  ): Call<Row<S, C, F>[]>

  /** One item by its key, under a condition where there is a `filter`, or all that a filter finds. */
  update<const F = Every>(key: Key<S, C>, data: Update<S, C>, query?: ItemQuery<S, C, F> & Options): Call<Row<S, C, F>>
  update<const F = Every>(
    which: Which<S, C>,
    data: UpdateMany<S, C>,
    query?: AnswerQuery<S, C, F> & Options,
  ): Call<Row<S, C, F>[]>

  /** Several items, each by its key and with its own values. */
  update<const F = Every>(
    items: readonly (KeyFields<S, C> & UpdateMany<S, C>)[],
    query?: AnswerQuery<S, C, F> & Options,
  ): Call<Row<S, C, F>[]>

  /** Answers what was deleted where `fields` is given. */
  delete(key: Key<S, C>, query?: { readonly filter?: Filter<S, C> } & Options): Call<void>
  delete(which: Which<S, C>, query?: Options): Call<void>
  delete<const F = Every>(
    key: Key<S, C>,
    query: ItemQuery<S, C, F> & { readonly fields: unknown } & Options,
  ): Call<Row<S, C, F>>
  delete<const F = Every>(
    which: Which<S, C>,
    query: AnswerQuery<S, C, F> & { readonly fields: unknown } & Options,
  ): Call<Row<S, C, F>[]>

  /** Counts, sums and the like, by groups. */
  aggregate<
    const A extends Aggregates<S, C>,
    const G extends Groups<S, C> = readonly [],
    const M extends readonly Meta[] = readonly [],
  >(query: AggregateQuery<S, C, A, G, M> & Options): Call<Group<S, C, A, G>[], MetaOf<M>>

  /** All pages, `limit` items each, by cursors: whatever is written meanwhile, what stays is there once. Throws what fails. */
  pages<const F = Every>(
    query?: PagesQuery<S, C, F> & Options,
  ): AsyncIterable<{ data: Row<S, C, F>[]; next: string | null }>

  /** The items of all pages. */
  each<const F = Every>(query?: PagesQuery<S, C, F> & Options): AsyncIterable<Row<S, C, F>>
}

/**
 * Items by a filter; nothing is done where more than `max` match. A filter that says nothing is refused where there is no `max`;
 * `_all` says that all items are meant.
 */
export type Which<S, C extends keyof S> = {
  readonly filter: Filter<S, C> | { readonly _all: true }
  readonly max?: number
}

/** `on`: the fields of the key or of a unique index. */
export type UpsertQuery<S, C extends keyof S> = {
  readonly on: readonly UniqueFields<S, C>[]
  readonly do?: 'update' | 'ignore'
}
