/** Editing in a grid: what keys, paste and double clicks do to cells, and what cells show meanwhile. */
import { useMemo, useState } from 'preact/hooks'
import { userId } from '../../data/session.ts'
import { t } from '../../messages/messages.ts'
import { showToast } from '../../ui/toasts.tsx'
import { type CellPlace, type Cells, type Changes, cellsOf, cleared, filled, pasted } from './cell-changes.ts'
import { type Column, valueAt, whyReadOnly } from './columns.ts'
import type { CollectionModel } from './model.ts'
import { Picker } from './picker.tsx'
import { type Cell, fillOf, type Range, rangeOf } from './place.ts'
import { keyOf, type Rows } from './rows.ts'
import { type Saving, savingOf } from './saving.ts'
import { useEditor } from './use-editor.tsx'
import { inputKindOf, type Row, textOf, type Value } from './values.ts'

type EditingProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly columns: readonly Column[]
  readonly rows: Rows
  readonly active: Cell
  readonly anchor: Cell
  readonly onMove: (to: Cell) => void
  readonly onOpen: (row: Row) => void
}

const keyText = (value: Value) => (value === null ? null : textOf(value))

type Picking = CellPlace & { readonly text: string }

export function useEditing(props: EditingProps) {
  const { workspace, model, rows, active, anchor } = props
  const whose = userId.value
  const saving = useMemo(() => savingOf(whose, workspace, model, rows), [whose, workspace, model, rows])
  const [picking, setPicking] = useState<Picking | undefined>(undefined)
  const cells = cellsOf({ ...props, saving })
  const editor = useEditor(cells, (place, base, value) => {
    saving.save([{ key: keyOf(model, place.row), field: place.column.field.name, base, value }])
  })

  const save = (made: Changes) => {
    if ('refused' in made) showToast(made.refused, 'danger')
    else saving.save(made.changes)
  }
  const fill = (source: Range, target: Range) => save(filled(cells, source, target))
  const fillTowards = (direction: 'down' | 'along') => {
    const block = fillOf(rangeOf(anchor, active), direction)
    if (block !== undefined) fill(block.source, block.target)
  }
  const begin = (cell: Cell, text?: string) => {
    const place = cells.at(cell)
    if (place === undefined) return
    if (!cells.isEditable(place.column)) return showToast(whyReadOnly(place.column), 'danger')
    if (place.column.relation) setPicking({ ...place, text: text ?? '' })
    else editor.begin(cell, place, text)
  }
  const acts: Readonly<Record<Act, (cell: Cell, key: string) => void>> = {
    undo: () => undoIn(saving),
    redo: () => redoIn(saving),
    open: ({ row: index }) => {
      const row = cells.rowAt(index)
      if (row !== undefined) props.onOpen(row)
    },
    edit: (cell) => begin(cell),
    type: (cell, key) => begin(cell, key),
    clear: () => save(cleared(cells, rangeOf(anchor, active))),
    fillDown: () => fillTowards('down'),
    fillAlong: () => fillTowards('along'),
    toggle: (cell) => {
      const place = cells.at(cell)
      if (place === undefined) return
      saving.save(cells.setting(place.row, place.column.field, cells.shown(place) !== true))
    },
  }
  const edit = (cell: Cell, event: KeyboardEvent | MouseEvent) => {
    if (!('key' in event)) return begin(cell)
    const act = actOf(event, cells, cell)
    if (act === undefined) return
    event.preventDefault()
    acts[act](cell, event.key)
  }
  const pick = ({ column, row }: CellPlace, key: readonly Value[]) => {
    setPicking(undefined)
    saving.save(column.own.flatMap((field, place) => cells.setting(row, field, key[place])))
  }
  const picker = picking?.column.relation && (
    <Picker
      workspace={workspace}
      relation={picking.column.relation}
      isNullable={picking.column.own.every(({ isNullable }) => isNullable)}
      text={picking.text}
      current={picking.column.own.map((field) => cells.fieldOf(picking.row, field) ?? null).map(keyText)}
      onClose={() => setPicking(undefined)}
      onPick={({ key }) => pick(picking, key)}
    />
  )
  const paste = (text: string) => save(pasted(cells, anchor, active, text))
  const mayFill = (cell: Cell) => {
    const place = cells.at(cell)
    return place !== undefined && cells.isEditable(place.column)
  }
  return { saving, edit, paste, fill, mayFill, picker, over: (cell: Cell) => editor.over(cell, props.onMove) }
}

/** Says so where nothing is left. */
export function undoIn(saving: Saving): void {
  if (!saving.undo()) showToast(t.value.grid.nothingToUndo)
}

/** Says so where nothing is left. */
export function redoIn(saving: Saving): void {
  if (!saving.redo()) showToast(t.value.grid.nothingToRedo)
}

type Act = 'undo' | 'redo' | 'open' | 'edit' | 'type' | 'clear' | 'toggle' | 'fillDown' | 'fillAlong'

/** What a key means at a cell; undefined for nothing that is done here. */
function actOf(event: KeyboardEvent, cells: Cells, cell: Cell): Act | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event
  const isFar = ctrlKey || metaKey
  if (isFar && key.toLowerCase() === 'z') return shiftKey ? 'redo' : 'undo'
  if (isFar && key.toLowerCase() === 'y' && !shiftKey) return 'redo'
  if (key === 'Enter' && shiftKey && cells.rowAt(cell.row) !== undefined) return 'open'
  const place = cells.at(cell)
  const isFill = isFar && !shiftKey && !altKey && place !== undefined && cells.isEditable(place.column)
  if (isFill && key.toLowerCase() === 'd') return 'fillDown'
  if (isFill && key.toLowerCase() === 'r') return 'fillAlong'
  if (isFar || altKey || place === undefined) return undefined
  const isEdit = key === 'Enter' || key === 'F2'
  if (!cells.isEditable(place.column)) return isEdit ? 'edit' : undefined
  const { field, relation } = place.column
  if (isEdit) return 'edit'
  if (key === 'Delete' || key === 'Backspace') return 'clear'
  if (key === ' ' && field.type === 'boolean' && !field.isList && !relation) return 'toggle'
  const isTyped = relation || inputKindOf(field, valueAt(place.column, place.row)) === 'line'
  return key.length === 1 && isTyped ? 'type' : undefined
}
