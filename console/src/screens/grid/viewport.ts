/** What is seen of a table, and which part of it is drawn for that. */
import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Column } from './columns.ts'
import { type Cell, columnsIn, firstOf, grown, offsetsOf, ROW, rem, rowsIn, type Viewport } from './place.ts'

type Shown = { readonly columns: readonly Column[]; readonly count: number; readonly active: Cell }

/** `count` is that of rows. The active cell is scrolled to whenever it, the size of texts or the width is another; `look` is called whenever the table was scrolled. */
export function useViewport(ref: RefObject<HTMLElement | null>, { columns: ofUsualText, count, active }: Shown) {
  const [viewport, setViewport] = useState<Viewport>({ top: 0, start: 0, width: 1_000, height: 640 })
  const [size, setSize] = useState(rem)
  const [tableWidth, setTableWidth] = useState(viewport.width)
  const height = ROW * size
  const columns = useMemo(() => grown(ofUsualText, size, tableWidth), [ofUsualText, size, tableWidth])
  const offsets = offsetsOf(columns)

  const look = () => {
    const table = ref.current
    if (table === null) return
    const now = {
      top: table.scrollTop,
      start: Math.abs(table.scrollLeft),
      width: table.clientWidth,
      height: table.clientHeight,
    }
    const isDrawn = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other)
    setViewport((before) =>
      isDrawn(rowsIn(now, count, height), rowsIn(before, count, height)) &&
      isDrawn(columnsIn(now, offsets), columnsIn(before, offsets))
        ? before
        : now,
    )
  }
  useLayoutEffect(() => {
    look()
    const observer = new ResizeObserver(() => {
      setSize(rem())
      setTableWidth((before) => ref.current?.clientWidth || before)
      look()
    })
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [columns, height])
  useLayoutEffect(() => show(ref.current, active, { offsets, size }), [active, size, tableWidth])
  return {
    columns,
    offsets,
    first: firstOf(tableWidth, size),
    height,
    drawnRows: rowsIn(viewport, count, height),
    drawn: columnsIn(viewport, offsets),
    look,
  }
}

/** Scrolls so far that the cell is seen, below the header and beside the numbers. */
function show(
  table: HTMLElement | null,
  { row, column }: Cell,
  { offsets, size }: { readonly offsets: readonly number[]; readonly size: number },
): void {
  if (table === null) return
  const height = ROW * size
  const top = row * height
  // Messages lie on the end of what is in sight.
  const seen = table.clientHeight - height - Number.parseFloat(getComputedStyle(table).paddingBlockEnd)
  if (row >= 0 && top < table.scrollTop) table.scrollTop = top
  else if (row >= 0 && top + height > table.scrollTop + seen) table.scrollTop = top + height - seen
  if (column === 0) return
  const sign = getComputedStyle(table).direction === 'rtl' ? -1 : 1
  const now = Math.abs(table.scrollLeft)
  const [from, to] = [offsets[column - 1] ?? 0, offsets[column] ?? 0]
  const width = table.clientWidth - firstOf(table.clientWidth, size)
  if (from < now) table.scrollLeft = sign * from
  else if (to > now + width) table.scrollLeft = sign * Math.min(from, to - width)
}
