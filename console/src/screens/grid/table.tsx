/**
 * The table of a grid. What is seen of it is drawn, by elements that are used again as it scrolls; the indexes say where in
 * the whole they stand. The focus stays on the table, which tells its active cell: one stop for Tab.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Icon } from '../../ui/icon.tsx'
import { CellContent } from './cell-content.tsx'
import { type Column, cellText, mayChange } from './columns.ts'
import { Edge, STEP } from './edge.tsx'
import styles from './grid.module.css'
import type { Marks } from './marks.ts'
import { type Cell, extended, isIn, moved, type Range, rangeOf } from './place.ts'
import { cellOf, drag } from './pointer.ts'
import { isNumber } from './readable.ts'
import type { SortBy } from './request.ts'
import type { Row } from './values.ts'
import { useViewport } from './viewport.ts'

export type TableProps = {
  readonly label: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  /** The address of an item; undefined where it has none. */
  readonly workspace: string
  readonly hrefOf: (row: Row) => string | undefined
  /** Whether these are all. */
  readonly isEnd: boolean
  readonly sort: SortBy | undefined
  readonly active: Cell
  /** The other corner of what is chosen. */
  readonly anchor: Cell
  readonly onMove: (active: Cell, anchor: Cell) => void
  readonly onSort: (column: Column) => void
  /** Undefined for the width that it has by its type. */
  readonly onSize: (column: Column, width: number | undefined) => void
  /** Rows up to this one are about to be seen. */
  readonly onReach: (row: number) => void
  /** All rows are wanted, for the last of them; `from` is where what is chosen begins, if not there. */
  readonly onLast: (from: Cell | undefined) => void
  /** A key or a double click on the active cell that this table itself makes nothing of. */
  readonly onEdit: (cell: Cell, event: KeyboardEvent | MouseEvent) => void
  readonly onPaste: (text: string) => void
  /** What is chosen was dragged by its corner to fill more. */
  readonly onFill: (source: Range, target: Range) => void
  readonly mayFill: (cell: Cell) => boolean
  /** What stands in a cell instead of its value; undefined for its value. */
  readonly over: (cell: Cell) => Over | undefined
  /** Which rows are chosen for what is done to several; undefined where none can be. */
  readonly marks: Pick<Marks, 'has' | 'turn' | 'add'> | undefined
  /** Whether it has the focus as soon as it is there, unless that is at something else by then. */
  readonly takesFocus: boolean
}

export type Over = { readonly content: ComponentChildren; readonly look: 'editing' | 'saving' | 'failed' }

/** Characters of a value, more than a window has room for. */
const MAX_TITLE = 4_000

export function Table({
  label,
  columns: ofUsualText,
  rows,
  workspace,
  hrefOf,
  isEnd,
  sort,
  active,
  anchor,
  onMove,
  onSort,
  onSize,
  onReach,
  onLast,
  onEdit,
  onPaste,
  onFill,
  mayFill,
  over,
  marks,
  takesFocus,
}: TableProps) {
  const id = useId()
  const ref = useRef<HTMLDivElement>(null)
  const {
    columns,
    offsets,
    first: firstWidth,
    height,
    drawnRows,
    drawn,
    look,
  } = useViewport(ref, {
    columns: ofUsualText,
    count: rows.length,
    active,
  })
  const range = rangeOf(anchor, active)
  const idOf = ({ row, column }: Cell) => `${id}-${row}-${column}`

  useEffect(() => onReach(drawnRows.to), [drawnRows.to, rows.length])
  useEffect(() => {
    const { tabIndex } = (document.activeElement ?? document.body) as HTMLElement
    if (takesFocus && tabIndex < 0) ref.current?.focus()
  }, [takesFocus])

  const press = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.isComposing) return
    const table = event.currentTarget as HTMLElement
    const page = Math.max(1, Math.floor(table.clientHeight / height) - 2)
    const isRightToLeft = getComputedStyle(table).direction === 'rtl'
    const to = moved(active, event, { rows: rows.length, columns: columns.length + 1, page, isRightToLeft })
    if (to !== undefined) {
      event.preventDefault()
      onMove(to, event.shiftKey ? anchor : to)
      if ((event.ctrlKey || event.metaKey) && ['End', 'ArrowDown'].includes(event.key) && !isEnd)
        onLast(event.shiftKey ? anchor : undefined)
      return
    }
    if (event.key === ' ' && marks && active.row >= 0 && (event.shiftKey || active.column === 0)) {
      event.preventDefault()
      marks.turn(range.rows.from, range.rows.to)
      return
    }
    const column = columns[active.column - 1]
    const wider = { ArrowRight: isRightToLeft ? -STEP : STEP, ArrowLeft: isRightToLeft ? STEP : -STEP }[event.key]
    if (event.altKey && wider !== undefined && active.row === -1 && column) {
      event.preventDefault()
      onSize(column, column.width + wider)
      return
    }
    if (event.key === 'Enter' && active.row === -1 && column) onSort(column)
    else onEdit(active, event)
  }
  const copy = (event: ClipboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
    event.preventDefault()
    const chosen = columns.slice(range.columns.from - 1, range.columns.to - 1)
    const lines = rows.slice(range.rows.from, range.rows.to)
    const text = lines.map((row) => chosen.map((column) => quoted(cellText(column, row))).join('\t')).join('\n')
    event.clipboardData?.setData('text/plain', text)
  }
  const paste = (event: ClipboardEvent) => {
    if (event.target !== event.currentTarget) return
    event.preventDefault()
    onPaste(event.clipboardData?.getData('text/plain') ?? '')
  }
  const dragToFill = (event: MouseEvent, from: Cell) => {
    event.preventDefault()
    let target = range
    const onCell = (to: Cell) => {
      target = extended(range, to)
      const last = { row: target.rows.to - 1, column: target.columns.to - 1 }
      onMove(last, { row: target.rows.from, column: target.columns.from })
    }
    const onEnd = () => {
      ref.current?.focus()
      if (JSON.stringify(target) !== JSON.stringify(range)) onFill(range, target)
    }
    drag(from, { onCell, onEnd })
  }
  const point = (event: MouseEvent) => {
    if (event.target instanceof HTMLElement && event.target.matches('input, select, textarea')) return
    const cell = cellOf(event.target)
    if (cell === undefined) return
    if (event.button === 0 && (event.target as Element).closest('[data-fill]')) return dragToFill(event, cell)
    onMove(cell, event.shiftKey ? anchor : cell)
    const from = event.shiftKey ? anchor : cell
    if (event.button === 0 && cell.row >= 0 && cell.column > 0) drag(cell, { onCell: (to) => onMove(to, from) })
    const isNumber = cell.column === 0 && cell.row >= 0 && !(event.target as Element).closest('a')
    if (!marks || !isNumber || event.button !== 0) return
    if (event.shiftKey) marks.add(Math.max(0, Math.min(anchor.row, cell.row)), Math.max(anchor.row, cell.row) + 1)
    else marks.turn(cell.row, cell.row + 1)
  }
  const gap = { inlineSize: `${offsets[drawn.from]}px`, flexShrink: 0 }
  const width = { inlineSize: `${firstWidth + (offsets.at(-1) ?? 0)}px` }
  const poolSize = Math.max(1, drawnRows.to - drawnRows.from)
  const isCorner = ({ row, column }: Cell) => row === range.rows.to - 1 && column === range.columns.to - 1
  const isActive = (row: number, column: number) => active.row === row && active.column === column
  const isActiveDrawn =
    (active.row === -1 || (drawnRows.from <= active.row && active.row < drawnRows.to)) &&
    (active.column === 0 || (drawn.from < active.column && active.column <= drawn.to))

  /** All of a value that its cell has no room for, told when it is asked for: it may be long. */
  const showFullText = ({ target }: MouseEvent) => {
    const cell = cellOf(target)
    const [row, column] = [rows[cell?.row ?? -1], columns[(cell?.column ?? 0) - 1]]
    const element = (target as Element).closest<HTMLElement>('[data-cell]')
    if (row && column && element)
      element.title = element.scrollWidth > element.clientWidth ? cellText(column, row).slice(0, MAX_TITLE) : ''
  }

  const grid = {
    role: 'grid',
    tabIndex: 0,
    'aria-label': label,
    'aria-rowcount': isEnd ? rows.length + 1 : -1,
    'aria-colcount': columns.length + 1,
    'aria-multiselectable': true,
    'aria-activedescendant': isActiveDrawn ? idOf(active) : undefined,
    onScroll: look,
    onKeyDown: press,
    onCopy: copy,
    onPaste: paste,
    onDblClick: (event: MouseEvent) => {
      const cell = cellOf(event.target)
      if (cell !== undefined && cell.row >= 0) onEdit(cell, event)
    },
    onMouseDown: point,
    onMouseOver: showFullText,
  } as const
  return (
    <div ref={ref} class={styles.table} {...grid}>
      <div class={styles.head} {...rowProps(0)} style={width}>
        <div {...cellProps({ id: idOf, role: 'columnheader', row: -1, column: 0, isActive })} class={styles.first}>
          {t.value.grid.number}
        </div>
        <div style={gap} />
        {columns.slice(drawn.from, drawn.to).map((column, index) => {
          const at = drawn.from + index + 1
          const isSorted = sort?.path.join('.') === column.path.join('.')
          const header = {
            ...cellProps({ id: idOf, role: 'columnheader', row: -1, column: at, isActive }),
            'aria-sort': isSorted ? (sort?.direction === 'desc' ? 'descending' : 'ascending') : undefined,
            'aria-keyshortcuts': 'Alt+ArrowLeft Alt+ArrowRight',
            onClick: () => onSort(column),
          } as const
          return (
            <div
              key={column.id}
              {...header}
              class={`${styles.header} ${isNumber(column.field) ? styles.number : ''}`}
              style={{ inlineSize: `${column.width}px` }}
              dir="auto"
              title={column.field.type || undefined}
            >
              {column.title}
              <Edge column={column} onSize={onSize} />
            </div>
          )
        })}
      </div>
      <div class={styles.body} style={{ ...width, blockSize: `${rows.length * height}px` }}>
        {Array.from({ length: poolSize }, (_, place) => {
          const offset = (((place - drawnRows.from) % poolSize) + poolSize) % poolSize
          const index = drawnRows.from + offset
          const row = rows[index]
          if (row === undefined) return null
          const isMarked = marks?.has(row)
          const first = {
            ...cellProps({ id: idOf, role: 'rowheader', row: index, column: 0, isActive }),
            'aria-selected': isMarked,
            title: marks && t.value.many.choose,
          } as const
          return (
            <div
              key={place}
              class={styles.row}
              {...rowProps(index + 1)}
              data-marked={isMarked || undefined}
              style={{ ...width, insetBlockStart: `${index * height}px` }}
            >
              <div {...first} class={`${styles.first} ${marks ? styles.markable : ''}`}>
                <span class={styles.nth}>{index + 1}</span>
                <Open href={hrefOf(row)} />
              </div>
              <div style={gap} />
              {columns.slice(drawn.from, drawn.to).map((column, nth) => {
                const at = { row: index, column: drawn.from + nth + 1 }
                const shown = over(at)
                const cell = {
                  ...cellProps({ id: idOf, role: 'gridcell', ...at, isActive }),
                  'aria-selected': isIn(range, at),
                  'aria-readonly': !mayChange(column),
                  'aria-invalid': shown?.look === 'failed' || undefined,
                } as const
                return (
                  <div
                    key={column.id}
                    {...cell}
                    class={`${styles.cell} ${isNumber(column.field) ? styles.number : ''} ${shown ? styles[shown.look] : ''}`}
                    style={{ inlineSize: `${column.width}px` }}
                    dir="auto"
                  >
                    {shown === undefined ? (
                      <CellContent workspace={workspace} column={column} row={row} />
                    ) : (
                      shown.content
                    )}
                    {shown === undefined && isCorner(at) && mayFill(at) && (
                      <span class={styles.fill} data-fill aria-hidden="true" title={t.value.many.fill} />
                    )}
                  </div>
                )
              })}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** No stop for Tab: the key is Shift+Enter. */
function Open({ href }: { readonly href: string | undefined }) {
  if (href === undefined) return null
  return (
    <a class={styles.open} href={href} tabIndex={-1} aria-label={t.value.grid.open} title={t.value.grid.open}>
      <Icon name="forward" />
    </a>
  )
}

/** Divisions, since a table would lay all of itself out. */
function rowProps(index: number) {
  return { role: 'row', 'aria-rowindex': index + 1 } as const
}

type CellProps = Cell & {
  readonly role: 'columnheader' | 'gridcell' | 'rowheader'
  readonly id: (cell: Cell) => string
  readonly isActive: (row: number, column: number) => boolean
}

function cellProps({ id, role, row, column, isActive }: CellProps) {
  return {
    role,
    id: id({ row, column }),
    'aria-colindex': column + 1,
    'data-cell': `${row} ${column}`,
    'data-active': isActive(row, column) || undefined,
  }
}

/** As spreadsheets have a text with tabs, quotes or several lines. */
function quoted(text: string): string {
  return /[\t\n\r]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
