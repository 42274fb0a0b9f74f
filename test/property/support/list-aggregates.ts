/** Aggregates beside lists at random: a relation to many of a collection, and what is worked out over each item's rows. */
import type { Arbitrary } from 'fast-check'
import fc from 'fast-check'
import type { JsonArguments } from '../../../src/core/query/parse-json.ts'
import {
  type AggregateDraft,
  type AggregateStock,
  anyAggregates,
  argumentsOf,
  everyRow,
  fieldsUsed,
} from './aggregates.ts'
import { type Fold, type Folded, fold } from './fold.ts'
import type { Row } from './rows.ts'
import { relationsOf, type Shop } from './shop.ts'

export type ListDraft = {
  readonly collection: string
  readonly relation: string
  /** Of the related collection, without groups. */
  readonly of: AggregateDraft
}

/** Undefined where none of the collections leads to several items of another. */
export function anyListAggregates(
  stock: AggregateStock,
  collections: readonly string[],
): Arbitrary<ListDraft> | undefined {
  const links = collections.flatMap((collection) => lists(stock.shop, collection))
  if (links.length === 0) return undefined
  return fc.constantFrom(...links).chain(({ target, ...link }) =>
    anyAggregates(stock, [target]).map((draft) => ({
      ...link,
      of: {
        ...draft,
        groups: [],
        having: undefined,
        sort: [],
        limit: -1,
        offset: undefined,
        aggregates: draft.aggregates.length === 0 ? [everyRow] : draft.aggregates,
      },
    })),
  )
}

function lists(shop: Shop, collection: string) {
  return [...relationsOf(shop, collection)].flatMap(([relation, { target, isList }]) =>
    isList && shop.fields.get(target)?.size ? [{ collection, relation, target }] : [],
  )
}

/** The aggregates alone, beside all of the related items with what `fieldsUsed` names of these, or only these. */
export type Shown = 'alone' | 'beside' | 'items'

export function listArguments(
  { relation, of }: ListDraft,
  shown: Shown,
  { side = 0, spelling = 'sent' }: { readonly side?: 0 | 1; readonly spelling?: 'sent' | 'text' } = {},
): JsonArguments & { readonly limit: number } {
  const { aggregate, filter } = argumentsOf(of, side, spelling)
  const used = fieldsUsed(of)
  const names = used.length === 0 ? ['*'] : used
  const own = {
    ...(shown !== 'items' && { _aggregate: aggregate }),
    ...(filter !== undefined && { _filter: filter }),
    ...(shown !== 'alone' && { _limit: -1 }),
  }
  return {
    ...(shown !== 'alone' && { fields: names.map((name) => `${relation}.${name}`) }),
    limit: -1,
    deep: { [relation]: own },
  }
}

/** The aggregates of each row as a fold over its related items gives them; null where the row hides the relation. */
export function foldedLists(
  { relation, of }: ListDraft,
  rows: readonly Row[],
  related: (row: Row) => Row = (row) => row,
): readonly (Fold | null)[] {
  return rows.map((row) => {
    const list = row[relation] as { readonly data: readonly Row[] } | null
    return list === null ? null : fold(of, list.data.map(related), 1)
  })
}

/** What is answered of each row, as groups are. */
export function aggregatesIn({ relation }: ListDraft, rows: readonly Row[]): readonly (Folded | null)[] {
  return rows.map((row) => {
    const list = row[relation] as { readonly aggregate: Row } | null
    return list === null ? null : { group: {}, ...list.aggregate }
  })
}
