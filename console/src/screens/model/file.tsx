/** The model file as text: edited, planned and applied, with the line where it is wrong. */
import { useState } from 'preact/hooks'
import { readText } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { modelChanged } from '../../data/workspaces.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { modelTexts } from '../../messages/model.ts'
import { Button } from '../../ui/button.tsx'
import { codeIn } from '../../ui/labelled.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { Planning } from '../set-up/planning.tsx'
import { useTyped } from './data.ts'
import { brokenLine, lineOf } from './line.ts'
import styles from './model.module.css'

type FileProps = { readonly workspace: string; readonly mayEdit: boolean }

function fileQuery(workspace: string): Query<string> {
  return {
    queryKey: ['model', workspace, 'file'],
    queryFn: ({ signal }) => readText(workspace, 'schema/model', { query: { ids: false }, signal }),
  }
}

export default function File({ workspace, mayEdit }: FileProps) {
  const texts = modelTexts.value
  const { data, error, refetch } = useQuery(fileQuery(workspace))
  const { typed, set, forget } = useTyped<{ readonly text?: string }>([workspace, 'file'], {})
  const [wrong, setWrong] = useState<{ readonly line: number; readonly text: string }>()
  /** A form that has been applied is another one. */
  const [count, setCount] = useState(0)
  if (data === undefined) return <Pending data={data} error={error} onRetry={() => void refetch()} lines={12} />
  const text = typed.text ?? data
  const isEdited = text !== data
  const point = (line: number | undefined) => setWrong(line === undefined ? undefined : { line, text })
  const onModel = async () => {
    point(brokenLine(text))
    try {
      return JSON.parse(text)
    } catch {
      return t.value.model.noJson
    }
  }
  const done = async () => {
    forget()
    showToast(texts.applied)
    await modelChanged(workspace)
    await queries.invalidateQueries({ queryKey: ['people', workspace] })
    setCount(count + 1)
  }
  return (
    <Planning
      key={count}
      workspace={workspace}
      draft={text}
      onModel={onModel}
      onRefused={({ messages }) => {
        const places = messages.map((one) => /^model\.(\S+)$/.exec(one)?.[1])
        point(lineOf(text, places.find((one) => one !== undefined) ?? ''))
      }}
      onDone={() => void done()}
    >
      {isEdited && (
        <Notice
          action={
            <Button look="plain" onClick={forget}>
              {texts.reset}
            </Button>
          }
        >
          {texts.isEdited}
        </Notice>
      )}
      {!mayEdit && <p class={page.quiet}>{t.value.palette.takes('dataModel:edit')}</p>}
      <p class={page.quiet}>{codeIn(texts.fileText)}</p>
      <Editor text={text} wrong={wrong?.text === text ? wrong.line : undefined} onText={(to) => set({ text: to })} />
    </Planning>
  )
}

type EditorProps = {
  readonly text: string
  /** The line that is wrong. */
  readonly wrong: number | undefined
  readonly onText: (text: string) => void
}

function Editor({ text, wrong, onText }: EditorProps) {
  const texts = modelTexts.value
  const lines = text.split('\n').length
  return (
    <>
      {wrong !== undefined && (
        <p class={page.wrong} role="alert">
          {texts.line(formatNumber(wrong))}
        </p>
      )}
      <div class={styles.file} dir="ltr">
        <div class={styles.numbers} aria-hidden="true">
          {Array.from({ length: lines }, (_, at) =>
            at + 1 === wrong ? <mark key={at}>{`${at + 1}\n`}</mark> : `${at + 1}\n`,
          )}
        </div>
        <textarea
          class={styles.text}
          aria-label={texts.fileLabel}
          aria-invalid={wrong !== undefined}
          spellcheck={false}
          rows={lines + 1}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </div>
    </>
  )
}
