/** How else than as a table the items of a collection can be shown: on their days, or by their pictures. */
import { FILES } from '../../data/files.ts'
import type { CollectionModel } from './model.ts'
import type { View } from './request.ts'
import type { Rows } from './rows.ts'

/** `field` is what has the day of an item, or leads to its file. */
export type Layout = { readonly kind: 'calendar' | 'gallery'; readonly field: string }

export type LayoutProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly rows: Rows
  readonly layout: Layout
  readonly onView: (view: View) => void
}

type Offered = Layout & { readonly title: string }

/** A calendar for each field with days, a gallery for each that leads to a file. */
export function layoutsOf({ key, fields, toOne }: CollectionModel): readonly Offered[] {
  if (key.length === 0) return []
  const days = fields.filter(
    ({ type, isList, operators }) =>
      type.startsWith('date') && !isList && ['_gte', '_lt'].every((one) => operators.includes(one)),
  )
  const files = toOne.filter(({ to, by }) => to === FILES && by.length > 0)
  return [
    ...days.map(({ name, title }) => ({ kind: 'calendar' as const, field: name, title })),
    ...files.map(({ name, title }) => ({ kind: 'gallery' as const, field: name, title })),
  ]
}

/** As it stands in an address, such as `calendar.day`, or in a saved view; undefined for a table. */
export function layoutIn(kind: unknown, field: unknown): Layout | undefined {
  const isOne = (kind === 'calendar' || kind === 'gallery') && typeof field === 'string'
  return isOne ? { kind, field } : undefined
}
