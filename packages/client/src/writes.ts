/** The types of what a write is given (docs/api.md#writing). */
import type { Filter, Operand } from './queries.ts'
import type { Many, One, Read, Target } from './rows.ts'

/**
 * A new item. A to-one relation stands for its own columns, so it is never beside them, and a required one needs either.
 */
export type Create<S, C extends keyof S> = S[C] extends { create: infer W }
  ? Given<S, C, W, OneCreate<S, C>, never> & ManyCreate<S, C>
  : never

/** The changes of an item, its related items included. */
export type Update<S, C extends keyof S> = S[C] extends { update: infer W }
  ? Given<S, C, Changes<W>, OneUpdate<S, C>, never> & ManyUpdate<S, C>
  : never

/** The changes of many items, which have no related ones among them. */
export type UpdateMany<S, C extends keyof S> = S[C] extends { update: infer W } ? Changes<W> : never

/** Numbers and lists may be changed as they are, by what to add or take out. */
type Changes<W> = {
  [K in keyof W]: W[K] | Increment<Extract<W[K], number | bigint>, W[K]> | Elements<Extract<W[K], readonly unknown[]>>
}

type Increment<Numeric, V> = [Numeric] extends [never] ? never : { readonly _increment: Exclude<V, null | undefined> }

type Elements<List> = [List] extends [never] ? never : { readonly _append: List } | { readonly _remove: List }

/** The columns that a to-one relation is kept in. */
type By<S, C extends keyof S, K extends keyof One<S, C>> = One<S, C>[K] extends { by: infer B extends PropertyKey }
  ? B
  : never

/** Those of all relations but `Without`. */
type Columns<S, C extends keyof S> = { [K in keyof One<S, C>]: By<S, C, K> }[keyof One<S, C>]

/** Written columns `W` with the relations `R`, which stand for their columns; `Free` are the relations that need not be said. */
type Given<S, C extends keyof S, W, R, Free> = S[C] extends { wide: true }
  ? Omit<W, Columns<S, C>> & { [P in keyof W & Columns<S, C>]?: W[P] } & Partial<R>
  : Pick<W, Exclude<keyof W, Columns<S, C>>> &
      Intersected<{ [K in keyof R]: Choice<S, C, W, R, K & keyof One<S, C>, Free> }[keyof R]>

type Choice<S, C extends keyof S, W, R, K extends keyof One<S, C> & keyof R, Free> = [By<S, C, K> & keyof W] extends [
  never,
]
  ? [{ readonly [P in K]?: R[P] }]
  : K extends Free
    ? [Either<W, By<S, C, K> & keyof W, K, R[K], true>]
    : [
        Either<
          W,
          By<S, C, K> & keyof W,
          K,
          R[K],
          Record<never, never> extends Pick<W, By<S, C, K> & keyof W> ? true : false
        >,
      ]

type Either<W, B extends keyof W, K extends PropertyKey, V, Optional> =
  | ((Optional extends true ? { [P in B]?: W[P] } : { [P in B]: W[P] }) & { [P in K]?: never })
  | ({ [P in B]?: never } & { [P in K]: V })

/** A union of one-element tuples → the intersection of their elements. */
type Intersected<U> = [U] extends [never]
  ? unknown
  : (U extends [infer T] ? (given: T) => void : never) extends (given: infer I) => void
    ? I
    : never

type OneCreate<S, C extends keyof S> = {
  [K in keyof One<S, C>]: NewOne<S, C, Target<S, C, K>>
}

type NewOne<S, C extends keyof S, T extends keyof S> =
  | Operation<'_create', { readonly data: CreateNested<S, T, C> }>
  | Operation<'_connect', { readonly key: UniqueKey<S, T> }>

type ManyCreate<S, C extends keyof S> = {
  readonly [K in keyof Many<S, C>]?: readonly NewMany<S, C, Target<S, C, K>>[]
}

type NewMany<S, C extends keyof S, T extends keyof S> =
  | Operation<'_create', { readonly data: readonly CreateNested<S, T, C>[] }>
  | Operation<'_connect', { readonly keys: readonly UniqueKey<S, T>[] }>

type OneUpdate<S, C extends keyof S> = {
  [K in keyof One<S, C>]: readonly (
    | NewOne<S, C, Target<S, C, K>>
    | Operation<'_update', { readonly data: Update<S, Target<S, C, K>>; readonly filter?: Filter<S, Target<S, C, K>> }>
    | Operation<'_disconnect', Record<never, never>>
    | Operation<'_delete', { readonly filter?: Filter<S, Target<S, C, K>> }>
  )[]
}

type ManyUpdate<S, C extends keyof S> = {
  readonly [K in keyof Many<S, C>]?: readonly (
    | NewMany<S, C, Target<S, C, K>>
    | Operation<
        '_update',
        { readonly data: UpdateMany<S, Target<S, C, K>>; readonly filter?: Filter<S, Target<S, C, K>> }
      >
    | Operation<'_disconnect' | '_delete', { readonly filter?: Filter<S, Target<S, C, K>> }>
  )[]
}

type Names = '_create' | '_connect' | '_update' | '_disconnect' | '_delete'

/** One operation on a relation, and no second one in the same object. */
type Operation<K extends Names, V> = K extends unknown
  ? { readonly [P in K]: V } & { readonly [P in Exclude<Names, K>]?: never }
  : never

/** A new item of `C` within an item of `Parent`, which may say by itself what refers to it. */
type CreateNested<S, C extends keyof S, Parent> = S[C] extends { create: infer W }
  ? Given<S, C, W, OneCreate<S, C>, Back<S, C, Parent>> & ManyCreate<S, C>
  : never

type Back<S, C extends keyof S, Parent> = {
  [K in keyof One<S, C>]: One<S, C>[K] extends { to: Parent } ? K : never
}[keyof One<S, C>]

/** The fields of the primary key, or of another unique one, that a related item is found by. */
export type UniqueKey<S, C extends keyof S> =
  | KeyFields<S, C>
  | (S[C] extends { unique: infer U } ? ByUnique<S, C, U> : never)

type ByUnique<S, C extends keyof S, U> = U extends readonly unknown[]
  ? { readonly [P in U[number] & keyof Read<S, C>]: Operand<S, C, P> }
  : { readonly [P in U & keyof Read<S, C>]: Operand<S, C, P> }

/** The fields of the primary key. */
export type KeyFields<S, C extends keyof S> = S[C] extends { keyFields: infer K }
  ? { readonly [P in K & keyof Read<S, C>]: Operand<S, C, P> }
  : never

/** The names of fields that are unique, alone or together. */
export type UniqueFields<S, C extends keyof S> =
  | (S[C] extends { keyFields: infer K } ? K : never)
  | (S[C] extends { unique: infer U } ? (U extends readonly unknown[] ? U[number] : U) : never)
