/** What groups of items are asked, and the type of the answer (docs/api.md#aggregates). */
import type { Condition, Direction, Filter } from './queries.ts'
import type { Aggregated, Aggregates, Name, One, Read, Target } from './rows.ts'

/** Fields, fields behind to-one relations, and times cut down to a unit. */
export type Groups<S, C extends keyof S> = readonly GroupItem<S, C>[]

type GroupItem<S, C extends keyof S> =
  | Name<S, C>
  | {
      readonly [K in Name<S, C> | keyof One<S, C>]?: K extends keyof One<S, C> ? Groups<S, Target<S, C, K>> : Truncation
    }

type Truncation = {
  readonly trunc: 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour' | 'minute'
  /** UTC where not said. */
  readonly zone?: string
  /** Another name for it, to group by one field twice. */
  readonly as?: string
}

export type AggregateQuery<S, C extends keyof S, A, G, M> = {
  readonly aggregate: Aggregates<S, C> & A
  readonly group?: Groups<S, C> | G
  /** Which items count. */
  readonly filter?: Filter<S, C>
  /** Which groups are answered. */
  readonly having?: { readonly [N in keyof A]?: Condition<string | null, string | number | bigint> }
  readonly sort?: readonly { readonly [N in keyof A | GroupNames<G>]?: Direction }[]
  readonly limit?: number
  readonly offset?: number
  readonly meta?: M
}

/** `{group: {status: 'paid'}, revenue: '3400.50'}`; without groups `group` is empty. */
export type Group<S, C extends keyof S, A, G> = {
  [N in keyof A | 'group']: N extends 'group'
    ? { [P in GroupNames<G>]: GroupValue<S, C, G, P> }
    : Aggregated<S, C, A[N & keyof A]>
}

/** The names of the groups: `status`, `customer.country`, or what `as` says. */
type GroupNames<G> = G extends readonly unknown[] ? ItemNames<G[number]> : never

type ItemNames<I> = I extends string
  ? I
  : {
      [K in keyof I & string]: I[K] extends readonly unknown[]
        ? `${K}.${GroupNames<I[K]>}`
        : I[K] extends { readonly as: infer N extends string }
          ? N
          : K
    }[keyof I & string]

type GroupValue<S, C extends keyof S, G, P> = G extends readonly unknown[] ? ItemValue<S, C, G[number], P> : never

/** The value of the group `P`, out of the item that has this name. */
type ItemValue<S, C extends keyof S, I, P> = I extends unknown
  ? I extends P
    ? Read<S, C>[I & keyof Read<S, C>]
    : I extends string
      ? never
      : {
          [K in keyof I]: I[K] extends readonly unknown[]
            ? P extends `${K & string}.${infer Rest}`
              ? Rest extends GroupNames<I[K]>
                ?
                    | GroupValue<S, Target<S, C, K>, I[K], Rest>
                    | (One<S, C>[K & keyof One<S, C>] extends { null: true } ? null : never)
                : never
              : never
            : P extends (I[K] extends { readonly as: infer N } ? N : K)
              ? Read<S, C>[K & keyof Read<S, C>]
              : never
        }[keyof I]
  : never
