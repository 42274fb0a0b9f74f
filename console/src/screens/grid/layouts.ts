/** How else than as a table the items of a collection can be shown: on their days, by their pictures, or summarised. */
import { FILES } from '../../data/files.ts'
import type { CollectionModel } from './model.ts'
import type { View } from './request.ts'
import type { Rows } from './rows.ts'

/** `field` is what has the day of an item, or leads to its file; of a summary all that it is of (summary/parts.ts). */
export type Layout = { readonly kind: (typeof kinds)[number]; readonly field: string }

const kinds = ['calendar', 'gallery', 'summary'] as const

export type LayoutProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly rows: Rows
  readonly layout: Layout
  readonly onView: (view: View) => void
}

type Offered = Layout & { readonly title: string }

/** A calendar for each field with days, a gallery for each that leads to a file, and one summary, which begins with the number of rows. */
export function layoutsOf({ key, fields, toOne, mayAggregate }: CollectionModel): readonly Offered[] {
  const summary = mayAggregate ? [{ kind: 'summary' as const, field: 'count:*', title: '' }] : []
  if (key.length === 0) return summary
  const days = fields.filter(
    ({ type, isList, operators }) =>
      type.startsWith('date') && !isList && ['_gte', '_lt'].every((one) => operators.includes(one)),
  )
  const files = toOne.filter(({ to, by }) => to === FILES && by.length > 0)
  return [
    ...days.map(({ name, title }) => ({ kind: 'calendar' as const, field: name, title })),
    ...files.map(({ name, title }) => ({ kind: 'gallery' as const, field: name, title })),
    ...summary,
  ]
}

/** Summaries are alike, whatever they are of. */
export function isSameLayout(one: Layout | undefined, other: Layout | undefined): boolean {
  return one?.kind === other?.kind && (one?.kind === 'summary' || one?.field === other?.field)
}

/** Whether it shows what it asks for by itself, and not the rows that the grid has. */
export function asksItself(layout: Layout | undefined): boolean {
  return layout?.kind === 'calendar' || layout?.kind === 'summary'
}

/** As it stands in an address, such as `calendar.day`, or in a saved view; undefined for a table. */
export function layoutIn(kind: unknown, field: unknown): Layout | undefined {
  const known = kinds.find((one) => one === kind)
  return known && typeof field === 'string' ? { kind: known, field } : undefined
}
