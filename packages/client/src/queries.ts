/** The types of what a read is asked: fields, filters, sorts, keys. */
import type { Aggregates, Cursors, Many, One, Read, Relations, Target } from './rows.ts'

/** What `fields` may list: names, `'*'` for all that are no relations, `'_etag'`, and `{relation: fields}` or `{relation: query}`. */
export type Fields<S, C extends keyof S> = readonly FieldItem<S, C>[]

export type FieldItem<S, C extends keyof S> =
  | (keyof Read<S, C> & string)
  | '*'
  | '_etag'
  | ([Relations<S, C>] extends [never] ? never : { readonly [K in Relations<S, C>]?: NestedQuery<S, C, K> })

type NestedQuery<S, C extends keyof S, K> =
  | Fields<S, Target<S, C, K>>
  | (K extends keyof Many<S, C> ? ManyQuery<S, Target<S, C, K>> : OneQuery<S, Target<S, C, K>>)

type OneQuery<S, C extends keyof S> = { readonly fields?: Fields<S, C>; readonly filter?: Filter<S, C> }

type ManyQuery<S, C extends keyof S> = OneQuery<S, C> &
  Page<S, C> & {
    readonly meta?: readonly ['cursor']
    /** Functions over all related items that match `filter`; without `fields` only their results are answered. */
    readonly aggregate?: Aggregates<S, C>
  }

type Page<S, C extends keyof S> = {
  readonly sort?: Sort<S, C>
  /** 100 where not said. */
  readonly limit?: number
  readonly offset?: number
  /** A cursor, `next` of the page before: the page behind it. Never with `offset`. */
  readonly after?: string
}

/**
 * What is wrong with a literal of `fields`, never where nothing is: the compiler itself refuses unknown members only where
 * nothing is inferred. It goes by the names that are asked for, so that what is right is not compared with all that might be.
 */
type Wrong<S, C extends keyof S, F> = F extends readonly unknown[]
  ? number extends F['length']
    ? F extends Fields<S, C>
      ? never
      : F
    : WrongItem<S, C, F[number]>
  : F

type WrongItem<S, C extends keyof S, E> = E extends string
  ? E extends keyof Read<S, C> | '*' | '_etag'
    ? never
    : E
  : E extends object
    ? WrongMember<S, C, E, keyof E>
    : E

type WrongMember<S, C extends keyof S, E, K extends keyof E> = K extends keyof Many<S, C>
  ? WrongNested<S, Target<S, C, K>, E[K], ManyQuery<S, Target<S, C, K>>>
  : K extends keyof One<S, C>
    ? WrongNested<S, Target<S, C, K>, E[K], OneQuery<S, Target<S, C, K>>>
    : K

/** `Allowed` is the query that may stand there. */
type WrongNested<S, C extends keyof S, Q, Allowed> = Q extends readonly unknown[]
  ? Wrong<S, C, Q>
  : Q extends { [P in keyof Allowed]?: P extends 'fields' ? unknown : Allowed[P] }
    ? Exclude<keyof Q, keyof Allowed> | (Q extends { readonly fields: infer F } ? Wrong<S, C, F> : never)
    : Q

/**
 * `Fields` where the literal is wrong or nobody has said one, for messages and completion. Behind `infer`, since the
 * compiler would otherwise hold each part of each literal against all of it while it still infers.
 */
type Offered<S, C extends keyof S, F> = (
  F extends readonly ['*']
    ? Fields<S, C>
    : [Wrong<S, C, F>] extends [never]
      ? never
      : Fields<S, C>
) extends infer O
  ? O
  : never

export type ListQuery<S, C extends keyof S, F = Fields<S, C>, M = readonly Meta[]> = PagesQuery<S, C, F> & {
  /** A cursor, `previous` of the page behind. */
  readonly before?: string
  readonly meta?: M
}

/** A walk from page to page. */
export type PagesQuery<S, C extends keyof S, F = Fields<S, C>> = Page<S, C> & ItemQuery<S, C, F>

export type ItemQuery<S, C extends keyof S, F = Fields<S, C>> = AnswerQuery<S, C, F> & {
  readonly filter?: Filter<S, C>
}

/** What a write answers. `F` is the literal of `fields`, inferred without any bound; what is right is taken as it is. */
export type AnswerQuery<S, C extends keyof S, F = Fields<S, C>> = {
  readonly fields?: (F & ([Wrong<S, C, F>] extends [never] ? unknown : never)) | Offered<S, C, F>
}

/** Beside the items: their number, about their number, cursors of the pages beside this one, or a tag of the list as `etag`. */
export type Meta = 'totalCount' | 'totalEstimate' | 'cursor' | 'etag'

/** `meta` of an answer. */
export type MetaOf<M> = M extends readonly (infer N)[]
  ? [N & ('totalCount' | 'totalEstimate' | 'cursor')] extends [never]
    ? object
    : {
        meta: Flat<
          ('totalCount' extends N ? { totalCount: number } : unknown) &
            ('totalEstimate' extends N ? { totalEstimate: number | null } : unknown) &
            ('cursor' extends N ? Cursors : unknown)
        >
      }
  : never

type Flat<T> = { [K in keyof T]: T[K] }

/** A condition on items; those beside each other must all hold. */
export type Filter<S, C extends keyof S> = {
  readonly _and?: readonly Filter<S, C>[]
  readonly _or?: readonly Filter<S, C>[]
  readonly _not?: Filter<S, C>
} & {
  readonly [K in keyof Read<S, C> | Relations<S, C>]?: K extends keyof Read<S, C>
    ? Condition<Read<S, C>[K], Operand<S, C, K>>
    : K extends keyof Many<S, C>
      ? Filter<S, Target<S, C, K>> & Quantified<S, Target<S, C, K>>
      : Filter<S, Target<S, C, K>>
}

type Quantified<S, C extends keyof S> = {
  readonly _some?: Filter<S, C>
  readonly _every?: Filter<S, C>
  readonly _none?: Filter<S, C>
}

/** A value as it is read or written, so that numbers stand for texts where they may. */
export type Operand<S, C extends keyof S, K extends keyof Read<S, C>> = Exclude<
  Read<S, C>[K] | Member<S[C], 'create', K> | Member<S[C], 'update', K>,
  null | undefined
>

type Member<T, Part, K> = Part extends keyof T ? (K extends keyof T[Part] ? T[Part][K] : never) : never

/** `unknown` is JSON, which knows no bare value. */
export type Condition<Value, Given> = unknown extends Value
  ? JsonOperators
  :
      | (Value extends readonly unknown[] ? never : Given | (null & Value))
      | (Operators<Exclude<Value, null>, Given> & (null extends Value ? { readonly _null?: boolean } : unknown))

type Operators<Value, Given> = [Value] extends [readonly unknown[]]
  ? ListOperators<Given extends readonly (infer E)[] ? E : never>
  : Comparisons<Given, [Value] extends [boolean] ? never : Given> & ([Value] extends [string] ? TextOperators : unknown)

type Comparisons<Given, Ordered> = {
  readonly _eq?: Given | null
  readonly _neq?: Given | null
} & ([Ordered] extends [never]
  ? unknown
  : {
      readonly [K in '_lt' | '_lte' | '_gt' | '_gte']?: Ordered
    } & {
      readonly [K in '_in' | '_nin']?: readonly (Ordered | null)[]
    } & {
      readonly [K in '_between' | '_nbetween']?: readonly [Ordered, Ordered]
    })

type TextOperators = {
  readonly [K in
    | '_contains'
    | '_icontains'
    | '_ncontains'
    | '_nicontains'
    | '_starts_with'
    | '_nstarts_with'
    | '_ends_with'
    | '_nends_with']?: string
}

type ListOperators<E> = {
  readonly _has?: E
  readonly _has_any?: readonly E[]
  readonly _has_all?: readonly E[]
  readonly _empty?: boolean
}

type JsonOperators = Comparisons<unknown, string | number> & {
  readonly _contains?: unknown
  readonly _has_key?: string
  readonly _path?: readonly (string | number)[]
  readonly _null?: boolean
}

/** Fields to sort by, each in an object of its own. */
export type Sort<S, C extends keyof S> = readonly SortItem<S, C>[]

type SortItem<S, C extends keyof S> = {
  readonly [K in keyof Read<S, C> | keyof One<S, C>]?: K extends keyof Read<S, C>
    ? Direction
    : SortItem<S, Target<S, C, K>>
}

export type Direction = 'asc' | 'desc' | `${'asc' | 'desc'} nulls ${'first' | 'last'}`

/** What names an item: the value of its key, of a key of several fields their values in its order. */
export type Key<S, C extends keyof S> = S[C] extends { key: infer K } ? K : never
