/**
 * Foreign keys that a caller writes as columns, or leaves to defaults. They must refer to a row that the caller can read,
 * including its key, as for `_connect`; otherwise the error is that of a missing row, so that writes reveal no hidden rows. If
 * the caller can read every row, the database's own constraint is sufficient.
 */
import { type Access, type Viewer, visibility } from '../access/access.ts'
import type { Collection, Field, PrimitiveField, RelationField } from '../model/model.ts'
import { and, type Filter, none, unite } from '../query/filter.ts'
import type { Cell } from './plan.ts'

/**
 * A relation whose foreign key is written, the rows that it may refer to, and the items in which the caller can see the current
 * reference, which they may keep.
 */
export type WrittenReference = { readonly relation: RelationField; readonly rows: Filter; readonly seen: Filter }

/**
 * Returns the relations of `collection` whose targets the caller cannot read completely, and that use a column of `members`, or
 * a column that gets a generated value by `action`. Relations to other sources have no constraint, so writing them reveals
 * nothing.
 */
export function writtenReferences(
  viewer: Viewer,
  collection: Collection,
  members: readonly string[],
  action?: 'create' | 'update',
): readonly WrittenReference[] {
  const isGiven = action && givenBy[action]
  const written: WrittenReference[] = []
  for (const relation of collection.relations) {
    if (!relation.isForward || relation.target.sourceId !== collection.sourceId) continue
    if (!relation.joins.some(({ own }) => members.includes(own.apiName) || isGiven?.(own))) continue
    const columns = (side: 'own' | 'other') => relation.joins.map((join) => join[side])
    const rows = rowsThatShow(viewer.accessTo(relation.target, 'read'), columns('other'))
    const seen = rowsThatShow(viewer.accessTo(collection, 'read'), columns('own'))
    if (rows.kind !== 'all') written.push({ relation, rows, seen })
  }
  return written
}

/** Columns that get a value without being sent. */
const givenBy = {
  create: (field: PrimitiveField) => isDatabaseGiven(field) || startsWithValue(field),
  update: ({ defaultValue }: PrimitiveField) =>
    defaultValue?.source === 'engineManaged' && defaultValue.onUpdate !== undefined,
}

/** True if the database generates the column's value for a new row, so that nobody knows it before. */
export function isDatabaseGiven({ defaultValue, isReadOnly }: PrimitiveField): boolean {
  return isReadOnly || defaultValue?.source === 'connectorManaged'
}

function startsWithValue({ defaultValue }: PrimitiveField): boolean {
  const onCreate = defaultValue?.source === 'engineManaged' ? defaultValue.onCreate : undefined
  return onCreate !== undefined && (onCreate.kind !== 'static' || onCreate.valueEncoded !== null)
}

/** The target's key cells that a row with these cells refers to; undefined if a cell is missing. */
export function targetCells({ joins }: RelationField, cells: readonly Cell[]): readonly Cell[] | undefined {
  const found = joins.flatMap(({ own, other }) => {
    const cell = cells.find(({ field }) => field === own)
    return cell === undefined ? [] : [{ field: other, value: cell.value }]
  })
  return found.length === joins.length ? found : undefined
}

/** A null in any column of a foreign key means no reference. */
export function isWithoutReference({ joins }: RelationField, cells: readonly Cell[]): boolean {
  return cells.some(
    ({ field, value }) => value.kind === 'text' && value.text === null && joins.some(({ own }) => own === field),
  )
}

/** Returns true if a row with these cells refers to itself. */
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

/**
 * The rows on either side in which the caller can see whom a relation links: by the relation, its opposite, or the columns of
 * its foreign key.
 */
export function shownLinks(
  { accessTo }: Viewer,
  relation: RelationField,
): { readonly owner: Filter; readonly target: Filter } {
  const { collection, target, opposite, isForward, joins } = relation
  const [owner, other] = [accessTo(collection, 'read'), accessTo(target, 'read')]
  const itself = showing(owner, [relation])
  const back = opposite === undefined ? none : showing(other, [opposite])
  return isForward
    ? {
        owner: unite([
          itself,
          showing(
            owner,
            joins.map(({ own }) => own),
          ),
        ]),
        target: back,
      }
    : {
        owner: itself,
        target: unite([
          back,
          showing(
            other,
            joins.map((join) => join.other),
          ),
        ]),
      }
}

/** The rows in which the caller can read the owner's columns that a backward relation copies to the other side. */
export function shownKeys({ accessTo }: Viewer, { collection, joins, through }: RelationField): Filter {
  return showing(
    accessTo(collection, 'read'),
    (through?.near.joins ?? joins).map(({ own }) => own),
  )
}

function showing(access: Access, fields: readonly Field[]): Filter {
  if (access.kind !== 'granted') return none
  return and(fields.map((field) => visibility(access, field) ?? none))
}

function rowsThatShow(access: Access, fields: readonly PrimitiveField[]): Filter {
  return access.kind === 'granted' ? and([access.rows, showing(access, fields)]) : none
}
