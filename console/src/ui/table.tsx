/** A short list of records; the grid of items is another. */
import type { ComponentChildren } from 'preact'
import styles from './table.module.css'

export type Column<Row> = {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Units stand one below the other. */
  readonly isNumber?: boolean
  /** What its header does, where rows can be sorted by it. */
  readonly onSort?: () => void
  readonly sorted?: 'asc' | 'desc' | undefined
}

type TableProps<Row> = {
  /** What it lists, for those who do not see it. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Whether long values are broken, so that all of them are seen beside each other. */
  readonly wraps?: boolean
}

export function Table<Row>({ label, columns, rows, keyOf, wraps = false }: TableProps<Row>) {
  // A few short columns stay beside each other; headers that sort are needed as they are.
  const hasCards = columns.length > 2 && !columns.some(({ onSort }) => onSort)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well
    <section class={styles.scroller} tabIndex={0} aria-label={label}>
      <table class={`${styles.table} ${wraps ? styles.wraps : ''} ${hasCards ? styles.cards : ''}`} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, onSort, sorted }, at) => (
              <th
                key={at}
                scope="col"
                class={isNumber ? styles.number : undefined}
                aria-sort={sorted && orders[sorted]}
              >
                {onSort ? (
                  <button type="button" class={styles.sort} onClick={onSort}>
                    {title}
                  </button>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber }, at) => (
                <td key={at} dir="auto" class={isNumber ? styles.number : undefined} data-label={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const orders = { asc: 'ascending', desc: 'descending' } as const
