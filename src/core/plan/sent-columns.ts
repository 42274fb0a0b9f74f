/** What a body sets of a row: the fields that it names, and the columns that it may not name twice. */
import type { Collection, RelationField } from '../model/model.ts'
import { queryFault } from '../query/parse.ts'
import type { Cell } from './plan.ts'
import { memberPath } from './values.ts'

/** The ids of all fields in a body: policies list primitive and relation fields alike. */
export function sentIds(
  collection: Collection,
  columns: Readonly<Record<string, unknown>>,
  relations: readonly (readonly [RelationField, unknown])[],
): readonly string[] {
  const own = Object.keys(columns).flatMap((name) => collection.fields.get(name)?.id ?? [])
  return [...own, ...relations.map(([{ id }]) => id)]
}

/** A foreign key is set through its columns or through the relation, never both. */
export function refuseDoubled(
  columns: Readonly<Record<string, unknown>>,
  relations: readonly (readonly [RelationField, unknown])[],
  parent: readonly Cell[],
  path: string,
): void {
  for (const [relation] of relations) {
    const column = relation.joins.find(({ own }) => relation.isForward && own.apiName in columns)?.own
    if (column !== undefined) {
      throw queryFault(memberPath(path, column.apiName), `is given by the relation ${relation.apiName} as well`)
    }
  }
  for (const { field } of parent) {
    if (field.apiName in columns) throw queryFault(memberPath(path, field.apiName), SET_BY_PARENT)
  }
}

export const SET_BY_PARENT = 'is set by the item that this one is nested in'
