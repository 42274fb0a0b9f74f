/** Converts rows to items where no database renders them (connectors): the selected fields, null where not visible. */
import type { PrimitiveField } from '../model/model.ts'
import { wireValue } from '../model/wire.ts'
import { filterFields, type Row, visibleValue } from '../query/evaluate.ts'
import type { Selected, Selection } from './plan.ts'

export type Item = Readonly<Record<string, unknown>>

/** Skips relations, which the caller joins from several collections. */
export function projectRow(selection: Selection, row: Row): Item {
  return Object.fromEntries(
    selection
      .filter(isField)
      .map((selected) => [selected.name, wireValue(selected.field, visibleValue(selected, row))]),
  )
}

/** The fields that `projectRow` needs. */
export function projectedFields(selection: Selection): readonly PrimitiveField[] {
  return selection.filter(isField).flatMap(({ field, visible }) => [field, ...filterFields(visible)])
}

function isField(selected: Selected): selected is Extract<Selected, { readonly kind: 'field' }> {
  return selected.kind === 'field'
}
