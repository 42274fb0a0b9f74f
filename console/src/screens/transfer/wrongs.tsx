/** What of a file cannot be read, or does not fit. */
import { formatNumber, t } from '../../messages/messages.ts'
import { type Column, Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import type { Wrong } from './items-of.ts'
import { type Place, type Source, UnreadableFile } from './records.ts'
import styles from './transfer.module.css'

export function explainFile(error: unknown): string {
  const texts = t.value.many
  return error instanceof UnreadableFile ? texts.unreadable(formatNumber(error.line)) : texts.notText
}

/** Where a record stands in the file: by its line, or by its number where lines do not tell. */
export function placeColumn({ isDense }: Source): Column<Place> {
  const texts = t.value.many
  return isDense
    ? { title: texts.record, cell: ({ number }) => formatNumber(number) }
    : { title: texts.line, cell: ({ line }) => formatNumber(line) }
}

type WrongsProps = {
  readonly source: Source
  readonly label: string
  readonly all: readonly Wrong[]
  readonly count: number
}

/** What is wrong, and where. */
export function Wrongs({ source, label, all, count }: WrongsProps) {
  const texts = t.value.many
  return (
    <>
      {count > all.length && <p class={page.quiet}>{texts.firstOf(formatNumber(all.length))}</p>}
      <div class={styles.lines}>
        <Table
          label={label}
          columns={[
            placeColumn(source),
            { title: t.value.grid.field, cell: ({ field }) => field },
            { title: texts.why, cell: ({ why }) => why },
          ]}
          rows={all}
          keyOf={({ number }) => String(number)}
        />
      </div>
    </>
  )
}
