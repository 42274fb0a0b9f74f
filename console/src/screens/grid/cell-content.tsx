/** What a cell shows of its value, where nobody edits it. */
import { type ComponentChildren, Fragment } from 'preact'
import { FILES } from '../../data/files.ts'
import { t } from '../../messages/messages.ts'
import { FileMark } from '../files/mark.tsx'
import { sizeText } from '../files/size.ts'
import { type Column, cellText, keyNowhere, valueAt } from './columns.ts'
import styles from './grid.module.css'
import { readableOf, valuesIn } from './readable.ts'
import { isTime, type Row, textOf } from './values.ts'

type ContentProps = { readonly workspace: string; readonly column: Column; readonly row: Row }

export function CellContent({ workspace, column, row }: ContentProps): ComponentChildren {
  const value = valueAt(column, row)
  const nowhere = column.relation && keyNowhere(column.relation, row)
  if (nowhere !== undefined) return <Nowhere text={nowhere} />
  if (value === undefined) return ''
  if (value === null) return <span class={styles.null}>{t.value.grid.null}</span>
  const { relation } = column
  if (relation === undefined) return <Value field={column.field} value={value} />
  if (relation.to !== FILES) return cellText(column, row)
  const { mediaType } = row[relation.name] as Row
  return (
    <>
      <FileMark
        workspace={workspace}
        id={textOf(row[relation.by[0] ?? ''])}
        mediaType={textOf(mediaType)}
        look="cell"
      />
      {cellText(column, row)}
    </>
  )
}

type PlainProps = { readonly value: unknown; readonly field?: Column['field'] | undefined }

/** A value outside of a grid, where nothing around it says whether there is none or a text without characters. */
export function PlainValue({ value, field }: PlainProps): ComponentChildren {
  if (value === null || value === undefined) return <span class={styles.null}>{t.value.grid.null}</span>
  if (value === '') return <span class={styles.null}>""</span>
  return field && isTime(field) ? readableOf(field, value) : textOf(value)
}

function Nowhere({ text }: { readonly text: string }) {
  const mark = t.value.grid.nowhere
  return (
    <span title={mark}>
      <bdi>{text}</bdi> <span class={styles.null}>{mark}</span>
    </span>
  )
}

function Value({ field, value }: { readonly field: Column['field']; readonly value: unknown }) {
  if (field.isSize) return <>{sizeText(Number(value))}</>
  if (!field.isList && field.type !== 'json') return <>{readableOf(field, value)}</>
  const values = valuesIn(field, value)
  if (values === undefined) return <span class={styles.json}>{readableOf(field, value)}</span>
  return (
    <>
      {values.map((one, at) => (
        <Fragment key={at}>
          {at > 0 && <span class={styles.comma}>, </span>}
          <bdi class={styles.chip}>{one}</bdi>
        </Fragment>
      ))}
    </>
  )
}
