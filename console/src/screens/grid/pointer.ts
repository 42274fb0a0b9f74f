/** The cells that a pointer is at. */
import type { Cell } from './place.ts'

export function cellOf(target: EventTarget | null): Cell | undefined {
  const text = (target as Element | null)?.closest<HTMLElement>('[data-cell]')?.dataset.cell
  if (text === undefined) return undefined
  const [row = 0, column = 0] = text.split(' ').map(Number)
  return { row, column }
}

type Dragging = { readonly onCell: (cell: Cell) => void; readonly onEnd?: () => void }

/** Cells that the pointer comes to, until its button is released. */
export function drag(from: Cell, { onCell, onEnd }: Dragging): void {
  const ended = new AbortController()
  let before = from
  const move = ({ clientX, clientY }: MouseEvent) => {
    const cell = cellOf(document.elementFromPoint(clientX, clientY))
    const isNew = cell !== undefined && (cell.row !== before.row || cell.column !== before.column)
    if (!isNew || cell.row < 0 || cell.column < 1) return
    before = cell
    onCell(cell)
  }
  const end = () => {
    ended.abort()
    onEnd?.()
  }
  addEventListener('mousemove', move, { signal: ended.signal })
  addEventListener('mouseup', end, { signal: ended.signal })
}
