/**
 * Foreign keys that a caller writes as columns. What they refer to must be a row that the caller reads, its key included,
 * as for `_connect`; where it is not, the answer is that of a row which does not exist, so that nobody finds out by
 * writing what they may not read. Where the caller reads every row, the database's own constraint says the same.
 */
import { type Access, type Viewer, visibility } from '../access/access.ts'
import type { Collection, RelationField } from '../model/model.ts'
import { and, type Filter, none } from '../query/filter.ts'
import type { Cell } from './plan.ts'

/** A relation whose foreign key is written, and the rows that it may refer to. */
export type WrittenReference = { readonly relation: RelationField; readonly rows: Filter }

/**
 * The relations of `collection` with a column among `members` whose targets the caller does not all read. A relation into
 * another data source has no constraint: whatever is written there tells nothing.
 */
export function writtenReferences(
  viewer: Viewer,
  collection: Collection,
  members: readonly string[],
): readonly WrittenReference[] {
  const written: WrittenReference[] = []
  for (const relation of collection.relations) {
    if (!relation.isForward || relation.target.sourceId !== collection.sourceId) continue
    if (!relation.joins.some(({ own }) => members.includes(own.apiName))) continue
    const rows = referableRows(viewer.accessTo(relation.target, 'read'), relation)
    if (rows.kind !== 'all') written.push({ relation, rows })
  }
  return written
}

/** The cells of a relation's target that a row with these cells refers to; undefined where it does not yet say so. */
export function targetCells({ joins }: RelationField, cells: readonly Cell[]): readonly Cell[] | undefined {
  const found = joins.flatMap(({ own, other }) => {
    const cell = cells.find(({ field }) => field === own)
    return cell === undefined ? [] : [{ field: other, value: cell.value }]
  })
  return found.length === joins.length ? found : undefined
}

/** A null anywhere in a foreign key refers to nothing. */
export function isWithoutReference({ joins }: RelationField, cells: readonly Cell[]): boolean {
  return cells.some(
    ({ field, value }) => value.kind === 'text' && value.text === null && joins.some(({ own }) => own === field),
  )
}

/** Whether a row with these cells is what they refer to. */
export function isSelfReference(
  { collection, target }: RelationField,
  cells: readonly Cell[],
  wanted: readonly Cell[],
): boolean {
  if (target !== collection) return false
  return wanted.every(({ field, value }) => {
    const own = cells.find((cell) => cell.field === field)?.value
    return own?.kind === 'text' && value.kind === 'text' && own.text === value.text
  })
}

function referableRows(access: Access, { joins }: RelationField): Filter {
  if (access.kind !== 'granted') return none
  return and([access.rows, ...joins.map(({ other }) => visibility(access, other) ?? none)])
}
