/** What a screen says beside its contents: notices, failures, that there is nothing, that something is under way. */
import type { ServiceError } from 'governed-data-client'
import type { ComponentChildren } from 'preact'
import { explainFault } from '../messages/fault.ts'
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import { Heading } from './heading.tsx'
import { Icon } from './icon.tsx'
import styles from './notice.module.css'

type NoticeProps = {
  readonly look?: 'danger' | 'warning' | 'good'
  readonly children: ComponentChildren
  readonly action?: ComponentChildren
}

/** `danger` is announced at once. */
export function Notice({ look, children, action }: NoticeProps) {
  return (
    <div class={`${styles.notice} ${look ? styles[look] : ''}`} role={look === 'danger' ? 'alert' : 'status'}>
      {(look === 'danger' || look === 'warning') && <Icon name="warning" />}
      <p>{children}</p>
      {action}
    </div>
  )
}

type FaultProps = {
  readonly error: ServiceError
  /** Where a screen has better words for it. */
  readonly text?: string | undefined
  readonly onRetry?: () => void
  /** What else there is to be done about it. */
  readonly children?: ComponentChildren
}

/** A failure, what to do about it, and where it helps another try. */
export function Fault({ error, text = explainFault(error), onRetry, children }: FaultProps) {
  return (
    <Notice
      look="danger"
      action={
        <>
          {onRetry && (
            <Button look="plain" onClick={onRetry}>
              {t.value.common.retry}
            </Button>
          )}
          {children}
        </>
      }
    >
      {text}
    </Notice>
  )
}

type EmptyProps = {
  readonly title: string
  readonly text?: string
  /** Whether there is nothing else on the screen, so that this is its title. */
  readonly isScreen?: boolean
  readonly children?: ComponentChildren
}

/** Nothing to show, why, and what may be done. */
export function Empty({ title, text, isScreen = false, children }: EmptyProps) {
  return (
    <div class={styles.empty}>
      <Icon name="inbox" />
      {isScreen ? <Heading text={title} /> : <h2>{title}</h2>}
      {text && <p>{text}</p>}
      {children}
    </div>
  )
}

/** The shape of what is on its way. */
export function Skeleton({ lines }: { readonly lines: number }) {
  return (
    <div class={styles.skeleton} role="status">
      <span class={styles.unseen}>{t.value.common.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class={styles.bar} style={{ inlineSize: `${92 - ((line * 17) % 45)}%` }} />
      ))}
    </div>
  )
}

type PendingProps = {
  readonly data: unknown
  readonly error: ServiceError | null
  readonly onRetry: () => void
  readonly lines: number
}

/** In place of what was asked for: its shape, or why it does not come; nothing once it is there. */
export function Pending({ data, error, onRetry, lines }: PendingProps) {
  if (data !== undefined) return null
  return error ? <Fault error={error} onRetry={onRetry} /> : <Skeleton lines={lines} />
}

/** Heard, and not seen. */
export function Unseen({ children }: { readonly children: ComponentChildren }) {
  return <span class={styles.unseen}>{children}</span>
}
