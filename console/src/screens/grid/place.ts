/** Where one is in a grid and which part of it is drawn. Row -1 is the header, column 0 that of row numbers. */
import type { Column } from './columns.ts'

export type Cell = { readonly row: number; readonly column: number }

/** The size of the reader's text as pixels of one `rem`, by which rows and columns grow. */
export function rem(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
}

/** Of text of the usual size. */
const USUAL = 16

/** Of a row, in `rem`: `--row` of styles/tokens.css. */
export const ROW = 2
/** Of the column of row numbers, in `rem`; and of a table of which that would be more than a quarter. As `.first` of grid.module.css. */
const FIRST = 4.5
const NARROW = 3.25
/** How wide the column is that stays beside what is scrolled, with the number of a row and the way to open it. */
export function firstOf(tableWidth: number, size: number): number {
  return (tableWidth >= 4 * FIRST * size ? FIRST : NARROW) * size
}
/** Drawn beyond what is seen, so that scrolling shows no gap. */
const OVERSCAN = 6

export type Viewport = { readonly top: number; readonly start: number; readonly width: number; readonly height: number }

export type Span = { readonly from: number; readonly to: number }

/** Rows that are drawn, `to` not included; `row` is the height of each. */
export function rowsIn({ top, height }: Viewport, count: number, row: number): Span {
  const from = Math.max(0, Math.floor(top / row) - OVERSCAN)
  return { from, to: Math.min(count, Math.ceil((top + height) / row) + OVERSCAN) }
}

/** As wide as such a text needs and the table has room for, which ids leave to what is read; but for those whose width somebody has chosen. */
export function grown(columns: readonly Column[], size: number, tableWidth: number): readonly Column[] {
  const room = tableWidth - firstOf(tableWidth, size)
  const widthOf = ({ width, field }: Column) =>
    Math.min((width * size) / USUAL, isId(field) ? Math.floor(room * OF_IDS) : room)
  return columns.map((column) => (column.isSized ? column : { ...column, width: widthOf(column) }))
}

/** Of what there is room for, at most. */
const OF_IDS = 0.4

const isId = ({ type, isKey }: Column['field']) => type === 'uuid' || (isKey && /^u?int/.test(type))

/** Where each column begins; the last is where all end. */
export function offsetsOf(columns: readonly Column[]): readonly number[] {
  const offsets = [0]
  for (const { width } of columns) offsets.push((offsets.at(-1) ?? 0) + width)
  return offsets
}

/** Columns that are drawn, without that of row numbers. */
export function columnsIn({ start, width }: Viewport, offsets: readonly number[]): Span {
  const count = offsets.length - 1
  let from = 0
  while (from < count - 1 && (offsets[from + 1] ?? 0) < start - 200) from += 1
  let to = from
  while (to < count && (offsets[to] ?? 0) < start + width + 200) to += 1
  return { from, to }
}

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** The cell that a key leads to; undefined where it leads nowhere. */
export function moved(
  { row, column }: Cell,
  { key, ctrlKey, metaKey, altKey }: Key,
  grid: { readonly rows: number; readonly columns: number; readonly page: number; readonly isRightToLeft: boolean },
): Cell | undefined {
  if (altKey) return undefined
  const isFar = ctrlKey || metaKey
  const [left, right] = grid.isRightToLeft ? [1, -1] : [-1, 1]
  const last = { row: grid.rows - 1, column: grid.columns - 1 }
  const to = {
    ArrowUp: { row: isFar ? 0 : row - 1, column },
    ArrowDown: { row: isFar ? last.row : row + 1, column },
    ArrowLeft: { row, column: isFar ? (left < 0 ? 0 : last.column) : column + left },
    ArrowRight: { row, column: isFar ? (right < 0 ? 0 : last.column) : column + right },
    Home: { row: isFar ? 0 : row, column: 0 },
    End: { row: isFar ? last.row : row, column: last.column },
    PageUp: { row: Math.max(0, row - grid.page), column },
    PageDown: { row: row + grid.page, column },
  }[key]
  return to && within(to, grid)
}

export function within({ row, column }: Cell, grid: { readonly rows: number; readonly columns: number }): Cell {
  return {
    row: Math.max(-1, Math.min(grid.rows - 1, row)),
    column: Math.max(0, Math.min(grid.columns - 1, column)),
  }
}

export type Range = { readonly rows: Span; readonly columns: Span }

/** All cells between two, `to` not included; headers are not among them. */
export function rangeOf(one: Cell, other: Cell): Range {
  const span = (from: number, to: number, least: number) => ({
    from: Math.max(least, Math.min(from, to)),
    to: Math.max(least, Math.max(from, to)) + 1,
  })
  return { rows: span(one.row, other.row, 0), columns: span(one.column, other.column, 1) }
}

export function isIn({ rows, columns }: Range, { row, column }: Cell): boolean {
  return row >= rows.from && row < rows.to && column >= columns.from && column < columns.to
}

/** A range with what leads to a cell outside of it, down, up or to a side, whichever is farther. */
export function extended({ rows, columns }: Range, { row, column }: Cell): Range {
  const distance = ({ from, to }: Span, at: number) => (at < from ? from - at : at >= to ? at - to + 1 : 0)
  const union = ({ from, to }: Span, at: number) => ({ from: Math.min(from, at), to: Math.max(to, at + 1) })
  const isDown = distance(rows, row) >= distance(columns, column)
  return isDown ? { rows: union(rows, row), columns } : { rows, columns: union(columns, column) }
}

/** The block that fills what is chosen downwards or to the side of the text's end: its first row or column, or the one before it. */
export function fillOf(
  { rows, columns }: Range,
  direction: 'down' | 'along',
): { source: Range; target: Range } | undefined {
  const along = direction === 'along'
  const span = along ? columns : rows
  const isOne = span.to - span.from === 1
  const from = isOne ? span.from - 1 : span.from
  if (from < (along ? 1 : 0)) return undefined
  const [source, target] = [
    { from, to: from + 1 },
    { from, to: span.to },
  ]
  return along
    ? { source: { rows, columns: source }, target: { rows, columns: target } }
    : { source: { rows: source, columns }, target: { rows: target, columns } }
}
