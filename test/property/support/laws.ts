/** Requests that belong together: by a law of reads, the answer of one follows from the answers of the others. */
import fc, { type Arbitrary } from 'fast-check'
import {
  type Arguments,
  anyArguments,
  anyDraft,
  anyFilter,
  anySort,
  type Draft,
  type Request,
  type Stock,
  type Tree,
} from './request.ts'
import type { Row, Rows } from './rows.ts'
import { keyOf, type Relation, relationsOf, type Shop } from './shop.ts'

type Form = Draft['form']

const MAX = 10_000
/** Default of a nested list (docs/contract.md#relations). */
const NESTED = 100

/** What all of these requests share: a collection and the way in which filters travel. */
function anyPlace(collections: readonly string[]): Arbitrary<readonly [string, Form]> {
  return fc.tuple(fc.constantFrom(...collections), fc.constantFrom<Form>('text', 'json'))
}

function draftOf(collection: string, form: Form, request: Request): Draft {
  return { collection, form, request, isDotted: false, limits: { default: 10, max: MAX } }
}

/** A filter, the same with another one beside it, and its opposite. */
export function anyNarrowing(
  stock: Stock,
  collections: readonly string[],
): Arbitrary<{ readonly wide: Draft; readonly narrow: Draft; readonly opposite: Draft }> {
  return anyPlace(collections).chain(([collection, form]) => {
    const filter = anyFilter({ ...stock, form, max: MAX }, collection, 2)
    const all = (request: Request) => draftOf(collection, form, { ...request, limit: -1 })
    return fc.tuple(filter, filter).map(([one, other]) => ({
      wide: all({ filter: one }),
      narrow: all({ filter: { _and: [one, other] } }),
      opposite: all({ filter: { _not: one } }),
    }))
  })
}

/** A whole list and its pages, one beyond the end among them. */
export function anyPaging(
  stock: Stock,
  collections: readonly string[],
): Arbitrary<{ readonly whole: Draft; readonly pages: readonly Draft[] }> {
  return anyPlace(collections).chain(([collection, form]) => {
    const filter = fc.option(anyFilter({ ...stock, form, max: MAX }, collection, 1), { nil: undefined })
    const sort = anySort({ ...stock, unsorted: [] }, collection)
    return fc.tuple(filter, sort, fc.constantFrom(20, 33, 57)).map(([one, sorted, limit]) => {
      const request = { ...(one !== undefined && { filter: one }), sort: sorted }
      const page = (_: unknown, index: number) =>
        draftOf(collection, form, { ...request, limit, offset: index * limit })
      return {
        whole: draftOf(collection, form, { ...request, limit: 0 }),
        pages: Array.from({ length: Math.ceil(200 / limit) }, page),
      }
    })
  })
}

/** One item by its key, which `one` may filter away, and the same as a list of at most one. */
export function anyKeyed(
  stock: Stock,
  rows: Rows,
): Arbitrary<{ readonly one: Draft; readonly key: string; readonly list: Draft }> {
  const collections = Object.keys(rows).filter((name) => keyOf(stock.shop, name).length === 1)
  return anyDraft(stock, collections).chain((draft) => {
    const { fields, filter = {}, deep } = draft.request
    const [name = ''] = keyOf(stock.shop, draft.collection)
    const selection = { ...(fields !== undefined && { fields }), ...(deep !== undefined && { deep }) }
    return fc.tuple(fc.constantFrom(...(rows[draft.collection] ?? [])), fc.boolean()).map(([row, isFiltered]) => {
      const given = isFiltered && Object.keys(filter).length > 0
      const keyed = { [name]: { _eq: row[name] } }
      return {
        one: { ...draft, request: { ...selection, ...(given && { filter }) } },
        key: String(row[name]),
        list: { ...draft, request: { ...selection, filter: given ? { _and: [filter, keyed] } : keyed } },
      }
    })
  })
}

export type Nesting = {
  readonly nested: Draft
  readonly name: string
  /** The same for one parent by a read of its own. */
  readonly childrenOf: (parent: Row, list: (draft: Draft) => Promise<readonly Row[]>) => Promise<unknown>
}

/** A list with one relation, and that relation's items as lists of their own. */
export function anyNesting(stock: Stock, collections: readonly string[]): Arbitrary<Nesting> {
  const parents = collections.filter((name) => relationsOf(stock.shop, name).size > 0)
  return anyPlace(parents).chain(([collection, form]) => {
    const drawing = { ...stock, form, max: MAX }
    const related = [...relationsOf(stock.shop, collection)]
    return fc.constantFrom(...related).chain(([name, relation]) =>
      fc
        .tuple(anyArguments(drawing, collection), anyArguments(drawing, relation.target))
        .map(([own, given]): Nesting => {
          const allowed = allowedArguments(relation, given)
          const deep = Object.keys(allowed).length === 0 ? {} : { deep: { [name]: allowed } }
          const nested = draftOf(collection, form, { ...parametersOf(own), fields: ['*', name], ...deep })
          return { nested, name, childrenOf: (parent, list) => childrenOf({ parent, relation, form, list }, allowed) }
        }),
    )
  })
}

function allowedArguments({ isList, isNullable }: Relation, { _filter, ...page }: Arguments): Arguments {
  if (!isList && !isNullable) return {}
  return { ...(_filter !== undefined && { _filter }), ...(isList && page) }
}

function parametersOf({ _filter, _sort, _limit, _offset }: Arguments): Request {
  return {
    ...(_filter !== undefined && { filter: _filter }),
    ...(_sort !== undefined && { sort: _sort }),
    ...(_limit !== undefined && { limit: _limit }),
    ...(_offset !== undefined && { offset: _offset }),
  }
}

async function childrenOf(
  {
    parent,
    relation,
    form,
    list,
  }: { parent: Row; relation: Relation; form: Form; list: (draft: Draft) => Promise<readonly Row[]> },
  given: Arguments,
): Promise<unknown> {
  const { target, pairs, isList } = relation
  const isLinked = pairs.every(([own]) => parent[own] !== null)
  const conditions = pairs.map(([own, other]): Tree => ({ [other]: { _eq: parent[own] } }))
  const filter = { _and: [...conditions, ...(given._filter === undefined ? [] : [given._filter])] }
  const { limit = NESTED, ...request } = parametersOf(given)
  const items = isLinked ? await list(draftOf(target, form, { ...request, filter, limit })) : []
  return isList ? { data: items } : (items[0] ?? null)
}

/** The same draft with every nested list whole, and what cuts such an item down to the draft's. */
export function withoutLimits(
  shop: Shop,
  draft: Draft,
): { readonly unlimited: Draft; readonly cut: (item: Row) => Row } {
  const { deep = {}, ...request } = draft.request
  const limits = { ...draft.limits, max: MAX }
  const limited = { ...draft, request: { ...request, limit: limitOf(draft) } }
  return {
    unlimited: {
      ...limited,
      request: { ...limited.request, deep: unlimitedDeep(shop, draft.collection, request.fields ?? [], deep) },
      limits,
    },
    cut: (item) => cutItem({ shop, max: draft.limits.max }, draft.collection, item, deep),
  }
}

function limitOf({ request: { limit }, limits }: Draft): number {
  if (limit === undefined) return limits.default
  return limit <= 0 ? limits.max : limit
}

function unlimitedDeep(shop: Shop, collection: string, paths: readonly string[], deep: Tree): Tree {
  const entries = [...relationsOf(shop, collection)].flatMap(([name, relation]) => {
    const below = paths.filter((path) => path === name || path.startsWith(`${name}.`))
    if (below.length === 0) return []
    const { _limit, _offset, ...rest } = (deep[name] ?? {}) as Tree
    const own = Object.entries(rest).filter(([key]) => key.startsWith('_'))
    const inner = unlimitedDeep(
      shop,
      relation.target,
      below.map((path) => path.slice(name.length + 1)),
      rest,
    )
    const tree = { ...Object.fromEntries(own), ...(relation.isList && { _limit: -1 }), ...inner }
    return Object.keys(tree).length === 0 ? [] : [[name, tree] as const]
  })
  return Object.fromEntries(entries)
}

function cutItem(world: { readonly shop: Shop; readonly max: number }, collection: string, item: Row, deep: Tree): Row {
  const relations = relationsOf(world.shop, collection)
  const entries = Object.entries(item).map(([name, value]) => {
    const relation = relations.get(name)
    if (relation === undefined || value === null) return [name, value]
    const given = (deep[name] ?? {}) as Tree
    const cut = (one: Row) => cutItem(world, relation.target, one, given)
    if (!relation.isList) return [name, cut(value as Row)]
    const { _limit = Math.min(NESTED, world.max), _offset = 0 } = given as Arguments
    const limit = _limit <= 0 ? world.max : _limit
    return [name, { data: (value as { data: Row[] }).data.slice(_offset, _offset + limit).map(cut) }]
  })
  return Object.fromEntries(entries)
}
