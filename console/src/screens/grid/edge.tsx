/** The edge between the headers of two columns. */
import { useRef } from 'preact/hooks'
import type { Column } from './columns.ts'
import styles from './grid.module.css'

/** Pixels by which a key changes a width. */
export const STEP = 16

type EdgeProps = {
  readonly column: Column
  /** Undefined for the width that it has by its type. */
  readonly onSize: (column: Column, width: number | undefined) => void
}

/** Dragged it sizes the column; keys do so on its header. A double click gives back what it had. */
export function Edge({ column, onSize }: EdgeProps) {
  const from = useRef({ x: 0, width: 0 })
  const stop = (event: Event) => event.stopPropagation()
  return (
    <span
      class={styles.edge}
      aria-hidden="true"
      onMouseDown={stop}
      onClick={stop}
      onDblClick={(event) => {
        stop(event)
        onSize(column, undefined)
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        from.current = { x: event.clientX, width: column.width }
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
        const sign = getComputedStyle(event.currentTarget).direction === 'rtl' ? -1 : 1
        onSize(column, from.current.width + sign * (event.clientX - from.current.x))
      }}
    />
  )
}
