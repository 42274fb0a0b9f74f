/**
 * A schema, as `writeSchema` makes it, and the literal of `fields` → the type of the items that a read answers: flat
 * objects, equal to what a person would write.
 */

/** A collection's fields that can be read, without relations. */
export type Read<S, C extends keyof S> = S[C]['read' & keyof S[C]]

/** Its to-one relations: `{author: {to: 'authors', by: 'authorId', null: true}}`. */
export type One<S, C extends keyof S> = 'one' extends keyof S[C] ? S[C]['one' & keyof S[C]] : object

/** Its to-many relations, by the collection that they lead to: `{tags: 'tags'}`. */
export type Many<S, C extends keyof S> = 'many' extends keyof S[C] ? S[C]['many' & keyof S[C]] : object

export type Relations<S, C extends keyof S> = keyof One<S, C> | keyof Many<S, C>

/** The collection that a relation leads to. */
export type Target<S, C extends keyof S, K> = K extends keyof One<S, C>
  ? One<S, C>[K] extends { to: infer T extends keyof S }
    ? T
    : never
  : K extends keyof Many<S, C>
    ? Many<S, C>[K] extends infer T extends keyof S
      ? T
      : never
    : never

/**
 * The items of a list as `fields` asks for them. `Q` is `fields` or a query with that member; without it the item has all
 * fields that are no relations, and where it is no literal every field is optional.
 */
export type Row<S, C extends keyof S, Q = readonly ['*']> = Q extends unknown ? Picked<S, C, Items<Q>> : never

/** What a list of fields that is no literal has among its items. */
type Unknown = { readonly '?': never }

/** The items of `fields`, of a query with that member, or of a query without it. */
type Items<Q> = Q extends readonly unknown[]
  ? number extends Q['length']
    ? Unknown
    : Q[number]
  : Q extends { readonly fields: infer F }
    ? Items<F>
    : Q extends Computed
      ? never
      : '*'

type Picked<S, C extends keyof S, E> = Unknown extends E ? AnyRow<S, C> : { [K in Names<S, C, E>]: Value<S, C, K, E> }

type Names<S, C extends keyof S, E> = E extends '*' ? keyof Read<S, C> : E extends string ? E : keyof E

type Value<S, C extends keyof S, K, E> = K extends keyof Read<S, C>
  ? Read<S, C>[K]
  : K extends keyof Many<S, C>
    ? List<S, Target<S, C, K>, Nested<E, K>>
    : K extends keyof One<S, C>
      ? Item<S, One<S, C>[K], Nested<E, K>>
      : K extends '_etag'
        ? string
        : never

type Item<S, R, Q> = R extends { to: infer T extends keyof S }
  ? Picked<S, T, Items<Q>> | (R extends { null: true } ? null : never)
  : never

/** The page of a list with what was asked beside it; of a query without fields that asks for aggregates only those. */
type List<S, C extends keyof S, Q> = [Q] extends [readonly unknown[]]
  ? { data: Picked<S, C, Items<Q>>[] }
  : Queried<S, C, Picked<S, C, Items<Q>>, Q>

type Queried<S, C extends keyof S, R, Q> =
  Extract<Q, Computed> extends never
    ? Page<R, Q>
    : [Exclude<Q, Computed> | Extract<Q, Computed & { readonly fields: unknown }>] extends [never]
      ? { aggregate: Results<S, C, Q> }
      : Page<R, Q> & { aggregate: Results<S, C, Q> } extends infer L
        ? { [K in keyof L]: L[K] }
        : never

type Computed = { readonly aggregate: unknown }

type Page<R, Q> = Extract<Q, { readonly meta: unknown }> extends never ? { data: R[] } : { data: R[]; meta: Cursors }

type Results<S, C extends keyof S, Q> = Q extends { readonly aggregate: infer A }
  ? { -readonly [N in keyof A]: Aggregated<S, C, A[N]> }
  : never

/** Where a list goes on behind its page, and before it; null where it ends. */
export type Cursors = { next: string | null; previous: string | null }

/** What the items say of the relation `K`. */
type Nested<E, K> = E extends string ? never : K extends keyof E ? E[K] : never

type Absent<S, C extends keyof S, K> = K extends keyof One<S, C>
  ? One<S, C>[K] extends { null: true }
    ? null
    : never
  : never

/** An item of which nobody knows what was asked for. */
export type AnyRow<S, C extends keyof S> = {
  [K in keyof Read<S, C> | Relations<S, C> | '_etag']?: K extends keyof Read<S, C>
    ? Read<S, C>[K]
    : K extends keyof Many<S, C>
      ? { data: AnyRow<S, Target<S, C, K>>[]; meta?: Cursors }
      : K extends keyof One<S, C>
        ? AnyRow<S, Target<S, C, K>> | Absent<S, C, K>
        : string
}

/** Names of results, each with a function of a field: `{revenue: {sum: 'total'}}`. */
export type Aggregates<S, C extends keyof S> = { readonly [name: string]: Aggregate<S, C> }

type Aggregate<S, C extends keyof S> =
  | { readonly count: '*' | Name<S, C> }
  | { readonly countDistinct: Name<S, C> }
  | { readonly sum: Name<S, C> }
  | { readonly avg: Name<S, C> }
  | { readonly min: Name<S, C> }
  | { readonly max: Name<S, C> }

export type Name<S, C extends keyof S> = keyof Read<S, C> & string

/** What a function answers. */
export type Aggregated<S, C extends keyof S, A> = A extends
  | { readonly count: unknown }
  | { readonly countDistinct: unknown }
  ? number
  : A extends { readonly avg: unknown }
    ? number | null
    : A extends { readonly sum: infer N }
      ? (N extends Floats<S, C> ? number : string) | null
      : A extends { readonly min: infer N } | { readonly max: infer N }
        ? Read<S, C>[N & keyof Read<S, C>] | null
        : never

/** The fields of floating point, whose sums are numbers. */
type Floats<S, C extends keyof S> = S[C] extends { floats: infer F } ? F : never
