/** Converts rows to items for connectors, which no database renders: the selected fields, null if not visible. */
import type { PrimitiveField } from '../model/model.ts'
import { wireValue } from '../model/wire.ts'
import { evaluate, filterFields, type Row, visibleValue } from '../query/evaluate.ts'
import type { Selection } from './plan.ts'

export type Item = Readonly<Record<string, unknown>>

/** Skips relations, which the caller joins. `tags` has the visible ones of the selected entity tags. */
export function projectRow(selection: Selection, row: Row, tags?: ReadonlyMap<string, string>): Item {
  return Object.fromEntries(
    selection.flatMap((selected) => {
      if (selected.kind === 'relation' || selected.kind === 'aggregates') return []
      const { name } = selected
      return [
        [
          name,
          selected.kind === 'tag' ? (tags?.get(name) ?? null) : wireValue(selected.field, visibleValue(selected, row)),
        ],
      ]
    }),
  )
}

/** The texts whose entity tags are selected for a row, by name. */
export function taggedTexts(selection: Selection, row: Row): readonly (readonly [name: string, text: string])[] {
  return selection.flatMap((selected) =>
    selected.kind === 'tag' && evaluate(selected.visible, row) === true
      ? [[selected.name, JSON.stringify(projectRow(selected.shown, row))] as const]
      : [],
  )
}

/** The fields that `projectRow` and `taggedTexts` need. */
export function projectedFields(selection: Selection): readonly PrimitiveField[] {
  return selection.flatMap((selected) => {
    if (selected.kind === 'relation' || selected.kind === 'aggregates') return []
    const own = selected.kind === 'tag' ? projectedFields(selected.shown) : [selected.field]
    return [...own, ...filterFields(selected.visible)]
  })
}
