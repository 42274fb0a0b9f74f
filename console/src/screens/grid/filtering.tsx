/** The filter of a grid: its button, and the panel that it opens, which has the focus while it is new and gives it back. */
import { useRef, useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { filterColumns } from './columns.ts'
import { Filter } from './filter.tsx'
import styles from './grid.module.css'
import type { CollectionModel } from './model.ts'
import type { View } from './request.ts'

export function useFiltering(model: CollectionModel, view: View, go: (view: View) => void) {
  const [isOpen, setOpen] = useState(view.filter !== undefined)
  const [takesFocus, setTakesFocus] = useState(false)
  const button = useRef<HTMLSpanElement>(null)
  const shown = useRef({ text: textOf(view), turn: 0 })
  // What its own conditions have come to leaves them; for any other filter they are read anew.
  if (shown.current.text !== textOf(view)) shown.current = { text: textOf(view), turn: shown.current.turn + 1 }
  const turn = () => {
    setTakesFocus(!isOpen)
    setOpen(!isOpen)
  }
  return {
    button: (
      <span ref={button}>
        <Button tool="filter" aria-expanded={isOpen} onClick={turn}>
          {t.value.grid.filter}
          {view.filter !== undefined && <span class={styles.active} aria-hidden="true" />}
        </Button>
      </span>
    ),
    panel: isOpen && (
      <Filter
        key={shown.current.turn}
        columns={filterColumns(model)}
        filter={view.filter}
        takesFocus={takesFocus}
        onFilter={(filter) => {
          const to = { ...view, filter }
          shown.current = { ...shown.current, text: textOf(to) }
          go(to)
        }}
        onClose={() => {
          turn()
          button.current?.querySelector('button')?.focus()
        }}
      />
    ),
  }
}

const textOf = ({ filter }: View) => JSON.stringify(filter ?? {})
