/** Makes items of a file: what fits is shown before anything is sent, what failed is shown by its lines. */
import { ServiceError } from 'governed-data-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber, t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, Notice } from '../ui/notice.tsx'
import type { CollectionModel } from './grid/model.ts'
import type { Rows } from './grid/rows.ts'
import { useHold } from './grid/unsaved.tsx'
import page from './page.module.css'
import type { Made } from './transfer/file.ts'
import type { Plan } from './transfer/items-of.ts'
import { PlanForm } from './transfer/plan-form.tsx'
import { Progress } from './transfer/progress.tsx'
import { openSource, type Source } from './transfer/records.ts'
import { createSending, type Sending, type Sent } from './transfer/sending.ts'
import styles from './transfer/transfer.module.css'
import { explainFile, Wrongs } from './transfer/wrongs.tsx'

type ImportProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly rows: Rows
  readonly onClose: () => void
}

export default function ImportDialog({ workspace, model, rows, onClose }: ImportProps) {
  const texts = t.value.many
  const [source, setSource] = useState<Source | undefined>(undefined)
  const [unreadable, setUnreadable] = useState<string | undefined>(undefined)
  const turn = useRef(0)
  const { state, start, go, stop, end } = useSending(() => void rows.reload())
  const open = async (file: File | undefined) => {
    setSource(undefined)
    setUnreadable(undefined)
    turn.current += 1
    const mine = turn.current
    if (file === undefined) return
    try {
      const opened = await openSource(file)
      if (mine !== turn.current) return
      if (opened.names.length === 0) setUnreadable(texts.noColumns)
      else setSource(opened)
    } catch (error) {
      if (mine === turn.current) setUnreadable(explainFile(error))
    }
  }
  const begin = (plan: Plan, all: number) => {
    if (source !== undefined) start({ workspace, model, source, plan }, all)
  }
  const title = texts.importTitle(model.title)
  if (state.kind !== 'asking') {
    const { made, failed, listed, isCutOff } = state.sent
    const close = { running: stop, faulty: end, done: onClose }[state.kind]
    return (
      <Dialog isWide title={title} onClose={close}>
        {state.kind === 'faulty' && <Fault error={state.error} onRetry={() => void go()} />}
        {state.kind === 'done' ? (
          <p role="status">
            {texts.imported(formatNumber(made), made)} {state.isStopped && texts.stopped}
          </p>
        ) : (
          <Progress label={texts.importing(formatNumber(made), made)} done={made + failed} all={state.all} />
        )}
        {state.kind === 'done' && isCutOff && <Notice look="danger">{texts.cutOff}</Notice>}
        {source && failed > 0 && (
          <>
            <p>{texts.failedLines(formatNumber(failed), failed)}</p>
            <Wrongs
              source={source}
              label={texts.failedLines(formatNumber(failed), failed)}
              all={listed}
              count={failed}
            />
          </>
        )}
        <DialogActions>
          <Button onClick={close}>{state.kind === 'done' ? t.value.common.close : texts.stop}</Button>
          {state.kind === 'done' && state.failures && (
            <ButtonLink look="primary" href={state.failures.url} download={state.failures.name}>
              {texts.saveFailed}
            </ButtonLink>
          )}
        </DialogActions>
      </Dialog>
    )
  }
  return (
    <Dialog isWide title={title} onClose={onClose}>
      <div class={styles.file}>
        <label class={styles.label}>
          {texts.file}
          <input
            type="file"
            accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson"
            onChange={(event) => void open(event.currentTarget.files?.[0])}
          />
        </label>
        <p class={page.quiet}>{texts.importText}</p>
      </div>
      {unreadable && <Notice look="danger">{unreadable}</Notice>}
      {!source && (
        <DialogActions>
          <Button onClick={onClose}>{t.value.common.cancel}</Button>
        </DialogActions>
      )}
      {source && <PlanForm key={source.names.join()} model={model} source={source} onStart={begin} onClose={onClose} />}
    </Dialog>
  )
}

type State =
  | { readonly kind: 'asking'; readonly sent: Sent }
  | { readonly kind: 'running'; readonly sent: Sent; readonly all: number }
  | { readonly kind: 'faulty'; readonly sent: Sent; readonly all: number; readonly error: ServiceError }
  | {
      readonly kind: 'done'
      readonly sent: Sent
      readonly isStopped: boolean
      /** Absent where nothing failed. */
      readonly failures: Made | undefined
    }

const nothing: Sent = { made: 0, failed: 0, listed: [], isCutOff: false }

/** `onEnd`: when nothing more is sent, whatever the reason. */
function useSending(onEnd: () => void) {
  const [state, setState] = useState<State>({ kind: 'asking', sent: nothing })
  const sending = useRef<Sending | undefined>(undefined)
  const now = useRef({ sent: nothing, all: 0, isStopped: false })
  const failures = useRef<Made | undefined>(undefined)
  useHold(state.kind === 'running')
  useEffect(
    () => () => {
      sending.current?.stop()
      failures.current?.forget()
    },
    [],
  )
  const end = ({ isStopped }: { readonly isStopped: boolean }) => {
    const { sent } = now.current
    failures.current = sent.failed > 0 ? sending.current?.failures() : undefined
    setState({ kind: 'done', sent, isStopped, failures: failures.current })
    onEnd()
  }
  const go = async () => {
    now.current = { ...now.current, isStopped: false }
    setState({ kind: 'running', ...now.current })
    try {
      await sending.current?.run()
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        end({ isStopped: true })
        throw error
      }
      setState({ kind: 'faulty', ...now.current, error })
      return
    }
    end(now.current)
  }
  return {
    state,
    go,
    start: (work: Omit<Parameters<typeof createSending>[0], 'onSent'>, all: number) => {
      now.current = { ...now.current, all }
      sending.current = createSending({
        ...work,
        onSent: (sent) => {
          now.current = { ...now.current, sent }
          setState({ kind: 'running', ...now.current })
        },
      })
      void go()
    },
    stop: () => {
      now.current = { ...now.current, isStopped: true }
      sending.current?.stop()
    },
    /** After a fault, instead of another try. */
    end: () => {
      sending.current?.giveUp()
      end({ isStopped: true })
    },
  }
}
