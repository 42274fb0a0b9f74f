/** What was said, drawn: texts as they are, without links and images, steps that can be opened, and calls that wait. */
import { useState } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { assistantTexts } from '../../messages/assistant.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { isTyped, TypedName } from '../review/sheet.tsx'
import { argumentsOf, unpacked } from './arguments.ts'
import { Arguments } from './arguments-list.tsx'
import styles from './assistant.module.css'
import { CallContent, type Outlook } from './call.tsx'
import type { ShownEntry, Step } from './shown-entries.ts'

type EntriesProps = {
  readonly workspace: string
  readonly shown: readonly ShownEntry[]
  readonly isBusy: boolean
  readonly onDecide: (id: string, isApproved: boolean) => void
}

export function Entries({ workspace, shown, isBusy, onDecide }: EntriesProps) {
  return (
    <>
      {shown.map((one, at) => (
        <One key={at} workspace={workspace} one={one} isBusy={isBusy} onDecide={onDecide} />
      ))}
    </>
  )
}

function One({ workspace, one, isBusy, onDecide }: Omit<EntriesProps, 'shown'> & { readonly one: ShownEntry }) {
  switch (one.kind) {
    case 'user':
      return (
        <>
          <p class={styles.user} dir="auto">
            {one.text}
          </p>
          {one.isUnanswered && <p class={styles.quiet}>{assistantTexts.value.unanswered}</p>}
        </>
      )
    case 'text':
      return (
        <p class={styles.text} dir="auto">
          {one.text}
        </p>
      )
    case 'step':
      return <StepOf workspace={workspace} step={one.step} />
    case 'error':
      return <Notice look="danger">{one.text}</Notice>
    case 'approval':
      return <ApprovalCard workspace={workspace} one={one} isBusy={isBusy} onDecide={onDecide} />
  }
}

type CardProps = Omit<EntriesProps, 'shown'> & { readonly one: Extract<ShownEntry, { readonly kind: 'approval' }> }

function ApprovalCard({ workspace, one: { approval, outcome }, isBusy, onDecide }: CardProps) {
  const texts = assistantTexts.value
  const { id, tool, state } = approval
  const [{ isFailing, isOpen = false, lost }, setOutlook] = useState<Outlook>({ isFailing: false })
  const [typed, setTyped] = useState('')
  const title = texts.calls[tool] ?? tool
  const isPending = state === 'pending'
  return (
    <section class={styles.card} aria-label={`${title}: ${texts.states[state]}`}>
      <h3>{title}</h3>
      <CallContent
        workspace={workspace}
        call={approval}
        isPending={isPending}
        isFailing={isFailing}
        onOutlook={setOutlook}
      />
      {isPending && isFailing && <p class={styles.quiet}>{texts.wouldFail}</p>}
      {isPending && lost !== undefined && <TypedName name={lost} value={typed} onValue={setTyped} />}
      {isPending ? (
        <div class={styles.choice}>
          <Button isBusy={isBusy} onClick={() => onDecide(id, false)}>
            {texts.decline}
          </Button>
          {!isFailing && (
            <Button
              look="danger"
              isBusy={isBusy}
              disabled={isOpen || (lost !== undefined && !isTyped(typed, lost))}
              onClick={() => onDecide(id, true)}
            >
              {texts.approvals[tool] ?? texts.approve}
            </Button>
          )}
        </div>
      ) : (
        <p class={styles.quiet}>{texts.states[state]}</p>
      )}
      {outcome && <Text label={texts.result} text={outcome.result} />}
    </section>
  )
}

function StepOf({ workspace, step }: { readonly workspace: string; readonly step: Step }) {
  const texts = assistantTexts.value
  const place = placeOf(workspace, step)
  const sent = argumentsOf(step.arguments)
  return (
    <div>
      <details class={styles.step}>
        <summary>{texts.step(texts.calls[step.tool] ?? step.tool, step.isError)}</summary>
        {sent === undefined ? (
          <Text label={texts.sent} text={step.arguments} />
        ) : (
          <section aria-label={texts.sent}>
            <Arguments values={sent} />
          </section>
        )}
        <Text label={texts.result} text={step.result} />
      </details>
      {place && (
        <a class={styles.chip} href={place.path}>
          {texts.open(place.collection)}
        </a>
      )}
    </div>
  )
}

function Text({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well
    <section class={styles.shown} tabIndex={0} aria-label={label}>
      <pre dir="ltr">{text}</pre>
    </section>
  )
}

/** The rows that were read, in the grid, for whoever clicks. */
function placeOf(workspace: string, { tool, arguments: sent, isError }: Step) {
  if (tool !== 'list_items' || isError) return undefined
  const { collection, filter } = argumentsOf(sent) ?? {}
  if (typeof collection !== 'string') return undefined
  const query = filter === undefined ? '' : `?filter=${encodeURIComponent(JSON.stringify(unpacked(filter)))}`
  return { collection, path: `${pathTo(workspace, 'items', collection)}${query}` }
}
