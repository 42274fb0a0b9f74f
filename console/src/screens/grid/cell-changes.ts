/** The changes that keys and paste make of cells. A block changes as a whole or not at all: then there is a reason instead. */
import { t } from '../../messages/messages.ts'
import { type Column, mayChange, valueAt } from './columns.ts'
import type { CollectionModel, FieldModel } from './model.ts'
import { type Cell, isIn, type Range, rangeOf } from './place.ts'
import { keyOf, type Rows } from './rows.ts'
import { baseIn, type Change, type Saving, waitingIn } from './saving.ts'
import { isKept, isSame, parse, type Row, textOf, type Value } from './values.ts'

type CellsProps = {
  readonly model: CollectionModel
  readonly columns: readonly Column[]
  readonly rows: Rows
  readonly saving: Saving
}

export type CellPlace = { readonly column: Column; readonly row: Row }
export type Cells = ReturnType<typeof cellsOf>
export type Changes = { readonly changes: readonly Change[] } | { readonly refused: string }

/** What is at the cells of a grid: as it is stored, as it waits to be saved, and what sets it. */
export function cellsOf({ model, columns, rows, saving }: CellsProps) {
  /** What a cell shows of another item is not changed here; what refers to it is. */
  const waiting = ({ row, column: { field, relation } }: CellPlace) =>
    relation ? undefined : waitingIn(saving, keyOf(model, row), field.name)
  const rowAt = (index: number): Row | undefined => rows.rows.value?.[index]
  return {
    waiting,
    rowAt,
    at: (cell: Cell): CellPlace | undefined => {
      const [column, row] = [columns[cell.column - 1], rowAt(cell.row)]
      return column === undefined || row === undefined ? undefined : { column, row }
    },
    isEditable: (column: Column) => mayChange(column) && model.key.length > 0,
    shown: (place: CellPlace): Value => {
      const found = waiting(place)
      return found === undefined ? valueAt(place.column, place.row) : found.change.value
    },
    /** What a field has, or will have; of one that is shown by its relation, too. */
    fieldOf: (row: Row, { name }: FieldModel): Value => {
      const found = waitingIn(saving, keyOf(model, row), name)
      return found === undefined ? row[name] : found.change.value
    },
    base: ({ row, column }: CellPlace): Value =>
      baseIn(saving, keyOf(model, row), column.field.name, valueAt(column, row)),
    setting: (row: Row, { name }: FieldModel, value: Value): readonly Change[] => {
      const key = keyOf(model, row)
      const base = baseIn(saving, key, name, row[name])
      return isChange(waitingIn(saving, key, name), base, value) ? [{ key, field: name, base, value }] : []
    },
  }
}

/** Not what a cell has, or will have once it is saved; but whatever is typed over what could not be saved. */
export function isChange(waiting: ReturnType<typeof waitingIn>, base: Value, value: Value): boolean {
  return !isSame(base, value) || waiting?.hasFailed === true
}

/** Of cells that are emptied. */
export function cleared(cells: Cells, { rows, columns }: Range): Changes {
  const changes: Change[] = []
  for (let row = rows.from; row < rows.to; row += 1) {
    for (let column = columns.from; column < columns.to; column += 1) {
      const place = cells.at({ row, column })
      if (place === undefined) continue
      const { own, title } = place.column
      const mayClear = cells.isEditable(place.column) && own.every(({ isNullable }) => isNullable)
      if (!mayClear) return { refused: t.value.grid.cannotClear(title) }
      const one = setTo(
        cells,
        { row, column },
        place,
        own.map((field) => [field, null]),
      )
      if ('refused' in one) return one
      changes.push(...one.changes)
    }
  }
  return { changes }
}

/** Of a text with tabs that is pasted from its first cell on; one value fills all that is chosen. */
export function pasted(cells: Cells, anchor: Cell, active: Cell, text: string): Changes {
  const block = linesOf(text)
  const { rows, columns } = rangeOf(anchor, active)
  const isOne = block.length === 1 && block[0]?.length === 1
  const height = isOne ? rows.to - rows.from : block.length
  const width = isOne ? columns.to - columns.from : Math.max(...block.map((line) => line.length))
  const changes: Change[] = []
  for (let down = 0; down < height; down += 1) {
    for (let along = 0; along < width; along += 1) {
      const part = isOne ? block[0]?.[0] : block[down]?.[along]
      if (part === undefined) continue
      const one = pastedInto(cells, { row: rows.from + down, column: columns.from + along }, part)
      if ('refused' in one) return one
      changes.push(...one.changes)
    }
  }
  return { changes }
}

/** Of what is around a block, which is repeated there. */
export function filled(cells: Cells, source: Range, target: Range): Changes {
  const changes: Change[] = []
  const repeated = (at: number, { from, to }: Range['rows']) => from + modulo(at - from, to - from)
  for (let row = target.rows.from; row < target.rows.to; row += 1) {
    for (let column = target.columns.from; column < target.columns.to; column += 1) {
      if (isIn(source, { row, column })) continue
      const from = { row: repeated(row, source.rows), column: repeated(column, source.columns) }
      const one = filledFrom(cells, from, { row, column })
      if ('refused' in one) return one
      changes.push(...one.changes)
    }
  }
  return { changes }
}

const modulo = (value: number, by: number) => ((value % by) + by) % by

function filledFrom(cells: Cells, from: Cell, to: Cell): Changes {
  const texts = t.value.grid
  const [source, target] = [cells.at(from), cells.at(to)]
  if (source === undefined || target === undefined) return { changes: [] }
  const { column } = target
  if (!cells.isEditable(column)) return { refused: texts.readOnly(column.title) }
  if (source.column === column) {
    const values = column.own.map((field) => [field, cells.fieldOf(source.row, field)] as const)
    if (!values.every(([field, value]) => isKept(field, value))) return { refused: texts.wrong.exact }
    return setTo(cells, to, target, values)
  }
  const value = cells.shown(source)
  if (value !== null && value !== undefined) return pastedInto(cells, to, textOf(value))
  if (!column.own.every(({ isNullable }) => isNullable)) return { refused: texts.cannotClear(column.title) }
  return setTo(
    cells,
    to,
    target,
    column.own.map((field) => [field, null]),
  )
}

function pastedInto(cells: Cells, cell: Cell, text: string): Changes {
  const texts = t.value.grid
  const place = cells.at(cell)
  if (place === undefined) return { refused: texts.pasteTooLarge }
  const { column } = place
  if (!cells.isEditable(column) || column.relation) return { refused: texts.readOnly(column.title) }
  const parsed = parse(column.field, text)
  if ('value' in parsed) return setTo(cells, cell, place, [[column.field, parsed.value]])
  return { refused: texts.pasteWrong(String(cell.row + 1), column.title, texts.wrong[parsed.wrong]) }
}

type Setting = readonly (readonly [FieldModel, Value])[]

/** Refused, as by the editor of a cell, where what is there now could not be brought back. */
function setTo(cells: Cells, { row: at }: Cell, { row, column }: CellPlace, values: Setting): Changes {
  const { pasteWrong, wrong } = t.value.grid
  const isBack = values.every(([field]) => isKept(field, cells.fieldOf(row, field)))
  if (!isBack) return { refused: pasteWrong(String(at + 1), column.title, wrong.exact) }
  return { changes: values.flatMap(([field, value]) => cells.setting(row, field, value)) }
}

/** Cells of a text with tabs, in which spreadsheets quote those with tabs, quotes or several lines. */
function linesOf(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [[]]
  const whole = text.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  for (const [, quoted, plain = '', end] of whole.matchAll(/(?:"((?:[^"]|"")*)"(?=[\t\n]|$)|([^\t\n]*))(\t|\n|$)/g)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\n') lines.push([])
    if (end === '') break
  }
  return lines
}
