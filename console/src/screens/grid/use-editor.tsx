/** The one cell of a grid that is typed into, and what cells show while they wait to be saved. */
import { useRef, useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { showToast } from '../../ui/toasts.tsx'
import { type CellPlace, type Cells, isChange } from './cell-changes.ts'
import { Editor } from './editor.tsx'
import type { Cell } from './place.ts'
import { readableOf } from './readable.ts'
import type { Over } from './table.tsx'
import { inputTextOf, isExact, type Value } from './values.ts'

export function useEditor(cells: Cells, save: (place: CellPlace, base: Value, value: Value) => void) {
  const [editing, setEditing] = useState<(Cell & { readonly base: Value }) | undefined>(undefined)
  // What was typed outlives the input, whose row may be scrolled away.
  const typed = useRef('')
  const refused = useRef<string | undefined>(undefined)
  const begin = (cell: Cell, place: CellPlace, text?: string) => {
    const { field } = place.column
    const shown = cells.shown(place)
    if (!isExact(field.type === 'json' ? shown : null)) return showToast(t.value.grid.wrong.exact, 'danger')
    typed.current = text ?? inputTextOf(field, shown)
    refused.current = undefined
    setEditing({ ...cell, base: cells.base(place) })
  }
  const content = (cell: Cell, place: CellPlace, base: Value, onMove: (to: Cell) => void) => (
    <Editor
      field={place.column.field}
      value={cells.waiting(place)?.change.value ?? base}
      text={typed.current}
      onText={(text) => {
        typed.current = text
      }}
      wrong={refused.current}
      onWrong={(wrong) => {
        refused.current = wrong
      }}
      onLeave={() => setEditing(undefined)}
      onCommit={(value, key) => {
        setEditing(undefined)
        if (isChange(cells.waiting(place), base, value)) save(place, base, value)
        if (key !== undefined) onMove({ row: cell.row, column: cell.column + (key === 'Tab' ? 1 : -1) })
      }}
    />
  )
  const over = (cell: Cell, onMove: (to: Cell) => void): Over | undefined => {
    const place = cells.at(cell)
    if (place === undefined) return undefined
    if (editing?.row === cell.row && editing.column === cell.column)
      return { content: content(cell, place, editing.base, onMove), look: 'editing' }
    const found = cells.waiting(place)
    if (found === undefined) return undefined
    const { value } = found.change
    return {
      content: value === null ? t.value.grid.null : readableOf(place.column.field, value),
      look: found.hasFailed ? 'failed' : 'saving',
    }
  }
  return { begin, over }
}
