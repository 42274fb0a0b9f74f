/** Columns of a grid: fields, and behind those that refer the item that they refer to. */
import { inOrder } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { type CollectionModel, calledBy, type FieldModel, type ToOne } from './model.ts'
import { isNumber } from './readable.ts'
import { type Row, textOf } from './values.ts'

export type Column = {
  readonly id: string
  /** The id in the model of what it shows; empty where the model is not shown to the caller. */
  readonly of: string
  readonly title: string
  /** Names to the field, relations before it. */
  readonly path: readonly string[]
  readonly field: FieldModel
  /** Where it is the item that others refer to. */
  readonly relation?: ToOne
  /** The fields that a change of it sets: those that refer, where it is a relation. */
  readonly own: readonly FieldModel[]
  /** In pixels, of text of the usual size unless somebody has chosen it. */
  readonly width: number
  readonly isSized?: true
}

/** At least one of the items of a relation to many. */
export const SOME = '_some'

export function columnsOf({ fields, toOne }: Pick<CollectionModel, 'fields' | 'toOne'>): readonly Column[] {
  const columnOf = (field: FieldModel): Column => ({
    id: field.name,
    of: field.id,
    title: field.title,
    path: [field.name],
    field,
    own: [field],
    width: widthOf(field),
  })
  const relationColumn = (relation: ToOne): Column => ({
    id: relationColumnId(relation),
    of: relation.id,
    title: relation.title,
    path: [relation.name, relation.display.name],
    field: relation.display,
    relation,
    own: relation.by.flatMap((name) => fields.filter((field) => field.name === name)),
    width: 220,
  })
  const behind = (name: string) => toOne.filter(({ by }) => by.at(-1) === name).map(relationColumn)
  const columns = fields.flatMap((field) => [columnOf(field), ...behind(field.name)])
  const all = [...columns, ...toOne.filter(({ by }) => by.length === 0).map(relationColumn)]
  // Without a place of its own a relation stays behind the fields that refer.
  return inOrder(all, ({ relation, field, own }) => (relation ? (relation.sort ?? own.at(-1)?.sort) : field.sort))
}

/** What rows are filtered by: their columns, all else of the items that they refer to, and of those that refer to them, one of which has to meet it. */
export function filterColumns({ fields, ...relations }: CollectionModel): readonly Column[] {
  const toOne = relations.toOne.filter(({ isFilterable }) => isFilterable)
  const toMany = relations.toMany.filter(({ isFilterable }) => isFilterable)
  const own = columnsOf({ fields, toOne })
  const known = new Set(own.map(({ id }) => id))
  const columnOf = (path: readonly string[], field: FieldModel, title: string): Column => {
    return { id: path.join('.'), of: '', title: `${title} › ${field.title}`, path, field, own: [], width: 0 }
  }
  const behind = [
    ...toOne.flatMap(({ name, title, fields: all }) => all.map((field) => columnOf([name, field.name], field, title))),
    ...toMany.flatMap(({ name, title, fields: all }) =>
      all.map((field) => columnOf([name, SOME, field.name], field, title)),
    ),
  ]
  return [...own, ...behind.filter(({ id }) => !known.has(id))]
}

/** Its title, of a relation with what of the other item it shows. */
export function labelOf({ title, relation, field }: Column): string {
  return relation ? `${title} › ${field.title}` : title
}

export function relationColumnId({ name, display }: ToOne): string {
  return `${name}.${display.name}`
}

/**
 * Those of the ids in their order that are there; where none is, all that are not hidden, of a field that refers the item that it
 * refers to alone.
 */
export function chosenOf(all: readonly Column[], ids: readonly string[] | undefined): readonly Column[] {
  const chosen = new Set(ids)
  const found = [...chosen].flatMap((id) => all.find((column) => column.id === id) ?? [])
  if (found.length > 0) return found
  const seen = all.filter(({ field, relation }) => !(relation ?? field).isHidden)
  const referring = new Set(seen.flatMap(({ relation }) => relation?.by.at(-1) ?? []))
  const open = seen.filter(({ field, relation }) => relation !== undefined || field.isKey || !referring.has(field.name))
  return open.length > 0 ? open : all
}

export function mayChange({ own }: Column): boolean {
  return own.length > 0 && own.every(({ mayUpdate }) => mayUpdate)
}

/** Why not, for whoever tries to. */
export function whyReadOnly({ title, own }: Column): string {
  const texts = t.value.grid
  const isFixed = own.length === 0 || own.some((one) => one.isFixed)
  return `${texts.readOnly(title)} ${texts.readOnlyWhy[isFixed ? 'fixed' : 'rights']}`
}

function widthOf(field: FieldModel): number {
  if (field.isList || field.type === 'json') return 240
  if (field.type === 'boolean') return 110
  if (/^(decimal|u?int64)/.test(field.type)) return 170
  if (isNumber(field)) return 120
  if (/^date/.test(field.type)) return { date: 130, dateTimeWithTimezone: 260 }[field.type as string] ?? 210
  return field.type === 'uuid' ? 310 : 220
}

export function valueAt({ path }: Pick<Column, 'path'>, row: Row): unknown {
  let value: unknown = row
  for (const name of path) value = (value as Row | null | undefined)?.[name]
  return value
}

export function cellText(column: Column, row: Row): string {
  const { relation } = column
  if (relation === undefined) return textOf(valueAt(column, row))
  const other = row[relation.name]
  return other ? calledBy(relation.display, other as Row) : ''
}

/** The key of what a row refers to that is not there, or that the reader does not see; undefined where it refers to nothing. */
export function keyNowhere({ name, by }: Pick<ToOne, 'name' | 'by'>, row: Row): string | undefined {
  const key = by.map((own) => row[own] ?? null)
  return row[name] === null && key.length > 0 && !key.includes(null) ? key.map(textOf).join(', ') : undefined
}
