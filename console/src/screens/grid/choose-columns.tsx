/** Chooses which columns a grid shows, and in which order. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Unseen } from '../../ui/notice.tsx'
import page from '../page.module.css'
import styles from './choose-columns.module.css'
import type { Column } from './columns.ts'

type ChooseColumnsProps = {
  /** As they stand in the model. */
  readonly all: readonly Column[]
  readonly shown: readonly Column[]
  /** Undefined for all as in the model. */
  readonly onChoose: (columns: readonly Column[] | undefined) => void
  readonly onClose: () => void
}

export function ChooseColumns({ all, shown, onChoose, onClose }: ChooseColumnsProps) {
  const texts = t.value.grid
  const [order, setOrder] = useState(() => [...shown, ...all.filter((column) => !shown.includes(column))])
  const [chosen, setChosen] = useState<ReadonlySet<Column>>(() => new Set(shown))
  const [text, setText] = useState('')
  const [moved, setMoved] = useState<{ readonly column: Column; readonly by: number } | undefined>(undefined)
  const list = useRef<HTMLUListElement>(null)
  // The item that was moved is another element of the list, or has lost the focus.
  useLayoutEffect(() => {
    if (moved)
      list.current?.querySelector<HTMLElement>(`[data-move="${order.indexOf(moved.column)} ${moved.by}"]`)?.focus()
  }, [moved])
  const move = (column: Column, by: number) => {
    const at = order.indexOf(column)
    if (at + by < 0 || at + by >= order.length) return
    setOrder(order.toSpliced(at, 1).toSpliced(at + by, 0, column))
    setMoved({ column, by })
  }
  const turn = (column: Column) => {
    const next = new Set(chosen)
    if (!next.delete(column)) next.add(column)
    setChosen(next)
  }
  const wanted = text.trim().toLowerCase()
  const found = order.filter(({ title, id }) => `${title} ${id}`.toLowerCase().includes(wanted))
  const place = moved && formatNumber(order.indexOf(moved.column) + 1)
  return (
    <Dialog title={texts.columns} onClose={onClose}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          if (chosen.size > 0) onChoose(order.filter((column) => chosen.has(column)))
        }}
      >
        {order.length > 8 && (
          <input
            type="search"
            class={styles.find}
            aria-label={texts.findColumn}
            placeholder={texts.findColumn}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
        <ul ref={list} class={styles.list} aria-label={texts.columns}>
          {found.map((column) => (
            <Choice
              key={column.id}
              column={column}
              at={order.indexOf(column)}
              isChosen={chosen.has(column)}
              onTurn={() => turn(column)}
              onMove={(by) => move(column, by)}
            />
          ))}
        </ul>
        <Unseen>
          <span role="status">
            {moved && place && texts.movedTo(moved.column.title, place, formatNumber(order.length))}
          </span>
        </Unseen>
        {chosen.size === 0 && (
          <p class={page.wrong} role="alert">
            {texts.columnNeeded}
          </p>
        )}
        <DialogActions>
          <Button onClick={() => onChoose(undefined)}>{texts.allColumns}</Button>
          <Button onClick={onClose}>{t.value.common.cancel}</Button>
          <Button type="submit" look="primary" disabled={chosen.size === 0}>
            {texts.apply}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

type ChoiceProps = {
  readonly column: Column
  readonly at: number
  readonly isChosen: boolean
  readonly onTurn: () => void
  readonly onMove: (by: number) => void
}

function Choice({ column: { title }, at, isChosen, onTurn, onMove }: ChoiceProps) {
  const texts = t.value.grid
  return (
    <li>
      <label>
        <input type="checkbox" checked={isChosen} onChange={onTurn} />
        <span dir="auto">{title}</span>
      </label>
      <Button look="plain" isIcon data-move={`${at} -1`} aria-label={texts.moveUp(title)} onClick={() => onMove(-1)}>
        <Icon name="up" />
      </Button>
      <Button look="plain" isIcon data-move={`${at} 1`} aria-label={texts.moveDown(title)} onClick={() => onMove(1)}>
        <Icon name="down" />
      </Button>
    </li>
  )
}
