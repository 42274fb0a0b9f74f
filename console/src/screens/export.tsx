/** Writes all rows of a view to a file: page after page, with how far it is and a way to end it. */
import { ServiceError } from 'governed-data-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber, t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { Dialog, DialogActions, FormActions } from '../ui/dialog.tsx'
import { Fault } from '../ui/notice.tsx'
import { Select } from '../ui/select.tsx'
import type { Column } from './grid/columns.ts'
import type { CollectionModel } from './grid/model.ts'
import type { View } from './grid/request.ts'
import type { Rows } from './grid/rows.ts'
import { useHold } from './grid/unsaved.tsx'
import type { Row } from './grid/values.ts'
import page from './page.module.css'
import { csvHead, csvRow, MARK } from './transfer/csv.ts'
import { createFile, type Made, saveFile } from './transfer/file.ts'
import { createPages } from './transfer/pages.ts'
import { Progress } from './transfer/progress.tsx'

type ExportProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly rows: Rows
  readonly all: readonly Column[]
  readonly columns: readonly Column[]
  readonly onClose: () => void
}

type Format = 'csv' | 'json'

export default function ExportDialog({ workspace, model, view, rows, all, columns, onClose }: ExportProps) {
  const texts = t.value.many
  const [format, setFormat] = useState<Format>('csv')
  const [which, setWhich] = useState<'shown' | 'all'>('shown')
  const [isSafe, setSafe] = useState(true)
  const chosen = which === 'shown' ? columns : all
  const { state, start, retry } = useExport(() => ({
    pages: createPages({ workspace, model, view, columns: chosen }),
    file: createFile(`${model.name}.${format}`, format === 'csv' ? 'text/csv' : 'application/json'),
    ...(format === 'csv' ? csvWriter(chosen, { isSafe }) : jsonWriter(chosen)),
  }))
  const { count } = state
  if (state.kind !== 'asking') {
    return (
      <Dialog title={texts.exportTitle(model.title)} onClose={onClose}>
        {state.kind === 'failed' && <Fault error={state.error} onRetry={retry} />}
        <Progress
          label={texts.written(formatNumber(count), count)}
          done={count}
          all={state.kind === 'done' ? count : rows.total.value?.count}
        />
        {state.kind === 'done' && <p role="status">{texts.exported(formatNumber(count), count)}</p>}
        <DialogActions>
          <Button onClick={onClose}>{state.kind === 'done' ? t.value.common.close : texts.stop}</Button>
          {state.kind === 'done' && (
            <ButtonLink look="primary" href={state.made.url} download={state.made.name}>
              {texts.saveFile}
            </ButtonLink>
          )}
        </DialogActions>
      </Dialog>
    )
  }
  return (
    <Dialog title={texts.exportTitle(model.title)} onClose={onClose}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        <p class={page.quiet}>{texts.exportText}</p>
        <Select
          label={texts.format}
          value={format}
          onValue={setFormat}
          options={[
            ['csv', texts.formats.csv],
            ['json', texts.formats.json],
          ]}
        />
        <Select
          label={texts.exportedColumns}
          value={which}
          onValue={setWhich}
          options={[
            ['shown', texts.shownColumns(formatNumber(columns.length))],
            ['all', texts.allColumns(formatNumber(all.length))],
          ]}
        />
        {format === 'csv' && (
          <Checkbox label={texts.isSafe} hint={texts.isSafeHint} isChecked={isSafe} onCheck={setSafe} />
        )}
        <FormActions label={texts.startExport} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

type Writer = {
  readonly head: string
  /** `at` is how many there are before it. */
  readonly row: (row: Row, at: number) => string
  readonly foot: (count: number) => string
}

function csvWriter(columns: readonly Column[], how: { readonly isSafe: boolean }): Writer {
  const mark = how.isSafe ? MARK : ''
  return { head: mark + csvHead(columns), row: (row) => csvRow(columns, row, how), foot: () => '' }
}

/** A list with an item in each line. */
function jsonWriter(columns: readonly Column[]): Writer {
  const names = [...new Set(columns.map(({ path: [name = ''] }) => name))]
  const text = (row: Row) => JSON.stringify(Object.fromEntries(names.map((name) => [name, row[name]])))
  return {
    head: '[',
    row: (row, at) => `${at === 0 ? '' : ','}\n${text(row)}`,
    foot: (count) => (count === 0 ? ']\n' : '\n]\n'),
  }
}

type State =
  | { readonly kind: 'asking' | 'running'; readonly count: number }
  | { readonly kind: 'failed'; readonly count: number; readonly error: ServiceError }
  | { readonly kind: 'done'; readonly count: number; readonly made: Made }

type Work = Writer & {
  readonly pages: ReturnType<typeof createPages>
  readonly file: ReturnType<typeof createFile>
}

/** Ends with the dialog, and goes on where it failed. */
function useExport(begin: () => Work) {
  const [state, setState] = useState<State>({ kind: 'asking', count: 0 })
  const work = useRef<Work | undefined>(undefined)
  const ended = useRef(new AbortController())
  const made = useRef<Made | undefined>(undefined)
  useHold(state.kind === 'running')
  useEffect(
    () => () => {
      ended.current.abort()
      made.current?.forget()
    },
    [],
  )
  const run = async ({ pages, file, row, foot }: Work, before: number) => {
    let count = before
    setState({ kind: 'running', count })
    try {
      while (!pages.isEnd()) {
        const found = await pages.next(ended.current.signal)
        file.add(found.map((one, at) => row(one, count + at)).join(''))
        count += found.length
        setState({ kind: 'running', count })
      }
    } catch (error) {
      if (ended.current.signal.aborted) return
      if (!(error instanceof ServiceError)) throw error
      setState({ kind: 'failed', count, error })
      return
    }
    file.add(foot(count))
    made.current = file.end()
    saveFile(made.current)
    setState({ kind: 'done', count, made: made.current })
  }
  return {
    state,
    start: () => {
      work.current = begin()
      work.current.file.add(work.current.head)
      void run(work.current, 0)
    },
    retry: () => {
      if (work.current) void run(work.current, state.count)
    },
  }
}
