/** What a summary is made of: fields that rows are grouped by, and what is calculated of each group. */
import { type Column, filterColumns, SOME } from '../grid/columns.ts'
import type { CollectionModel, FieldModel } from '../grid/model.ts'
import { type Called, functions, isGroupable, isMeasurable, type Unit, unitsOf } from './functions.ts'

type Sorted = { readonly direction?: 'asc' | 'desc' | undefined }

/** By the values of a column, or by the time that they are in. */
export type Group = Sorted & { readonly kind: 'group'; readonly of: Column; readonly unit?: Unit | undefined }

/** A function of a field; `*` is the rows themselves. */
export type Measure = Sorted & { readonly kind: 'measure'; readonly called: Called; readonly of: FieldModel | '*' }

export type Part = Group | Measure

const rows: Measure = { kind: 'measure', called: 'count', of: '*' }

/** As it stands in an address: `by:status,by:createdAt:month,count:*,sum:price:desc`. What the caller has not is left out, and without anything rows are counted. */
export function partsIn(text: string, model: CollectionModel): readonly Part[] {
  const found = text.split(',').flatMap((one): readonly Part[] => {
    const [called, name = '', ...others] = one.split(':')
    const direction = (['asc', 'desc'] as const).find((known) => known === others.at(-1))
    if (called === 'by') {
      const of = groupColumns(model).find(({ path }) => path.join('.') === name)
      return of ? [{ kind: 'group', of, unit: unitsOf(of.field).find((unit) => unit === others[0]), direction }] : []
    }
    const known = functions.find((one) => one === called)
    const of = known && measurable(model, known).find((one) => nameOf(one) === name)
    return known && of ? [{ kind: 'measure', called: known, of, direction }] : []
  })
  const once = found.filter((part, at) => found.findIndex((one) => nameIn(one) === nameIn(part)) === at)
  const sorted = once.find(({ direction }) => direction !== undefined)
  return once.length > 0 ? once.map((part) => (part === sorted ? part : { ...part, direction: undefined })) : [rows]
}

export function partsText(parts: readonly Part[]): string {
  return parts.map(textOf).join()
}

function textOf(part: Part): string {
  const names = part.kind === 'group' ? ['by', part.of.path.join('.'), part.unit] : [part.called, nameOf(part.of)]
  return [...names, part.direction].filter(Boolean).join(':')
}

export function nameOf(of: Measure['of']): string {
  return of === '*' ? of : of.name
}

/** Fields of the collection and of the items that its own refer to. */
export function groupColumns(model: CollectionModel): readonly Column[] {
  return filterColumns(model).filter(({ path, field }) => !path.includes(SOME) && isGroupable(field))
}

/** What a function can be of. */
export function measurable({ fields }: CollectionModel, called: Called): readonly Measure['of'][] {
  return [...(called === 'count' ? ['*' as const] : []), ...fields.filter((field) => isMeasurable(called, field))]
}

/** Its name in the answer, which no field is likely to have. */
export function nameIn(part: Part): string {
  if (part.kind === 'measure') return `${part.called}_of_${part.of === '*' ? 'rows' : part.of.name}`
  const path = part.of.path.join('.')
  return part.unit === undefined ? path : `${path.replaceAll('.', '_')}_by_${part.unit}`
}

/** What the API is asked. */
export function summaryQuery(parts: readonly Part[], filter: object | undefined) {
  const groups = parts.filter((part) => part.kind === 'group')
  const measures = parts.filter((part) => part.kind === 'measure')
  const sorted = parts.find(({ direction }) => direction !== undefined)
  return {
    ...(measures.length > 0 && {
      aggregate: Object.fromEntries(measures.map((one) => [nameIn(one), { [one.called]: nameOf(one.of) }])),
    }),
    ...(groups.length > 0 && {
      group: groups.map((one) => {
        const path = one.of.path.join('.')
        return one.unit === undefined ? path : { [path]: { trunc: one.unit, as: nameIn(one) } }
      }),
    }),
    ...(filter !== undefined && { filter }),
    // What is known of no group stands last, whichever way.
    ...(sorted && { sort: [{ [nameIn(sorted)]: { direction: sorted.direction, nulls: 'last' } }] }),
  }
}

export type GroupRow = { readonly group: Readonly<Record<string, unknown>>; readonly [name: string]: unknown }

export function valueIn(part: Part, row: GroupRow): unknown {
  return (part.kind === 'group' ? row.group : row)[nameIn(part)]
}
