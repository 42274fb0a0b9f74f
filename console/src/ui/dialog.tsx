/** A modal dialog: the platform's own, which keeps the focus in and gives it back. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import buttons from './button.module.css'
import { Button } from './button.tsx'
import styles from './dialog.module.css'
import { Icon } from './icon.tsx'
import { Toasts } from './toasts.tsx'

type DialogProps = {
  readonly title: string
  /** Absent where there is no way but on. */
  readonly onClose?: (() => void) | undefined
  /** For code and other lines that are not to be broken. */
  readonly isWide?: boolean
  /** It offers nothing that people usually want: its title has the focus first, so that no key chooses before it is read. */
  readonly isUndecided?: boolean
  readonly children: ComponentChildren
}

/** What has the focus first: a field, the button that does what the dialog is about, or where that loses something the way back. */
const FIRST = [
  ':is(input, select, textarea):not(:disabled, [readonly], [type=file], [hidden])',
  `.${buttons.primary}`,
  `.${styles.foot} button`,
]

/** Is open for as long as it is drawn. */
export function Dialog({ title, onClose, isWide = false, isUndecided = false, children }: DialogProps) {
  const id = useId()
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    // Else the platform would take the button that closes it.
    const first = () => FIRST.map((one) => dialog?.querySelector<HTMLElement>(one)).find(Boolean)
    // It is read from its beginning, wherever that stands.
    if (!dialog?.querySelector('[autofocus]')) first()?.focus({ preventScroll: true })
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class={`${styles.dialog} ${isWide ? styles.wide : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class={styles.head}>
        <h2 id={id} {...(isUndecided && { tabIndex: -1, autofocus: true })}>
          {title}
        </h2>
        {onClose && (
          <Button look="plain" isIcon aria-label={t.value.common.close} onClick={onClose}>
            <Icon name="close" />
          </Button>
        )}
      </div>
      <div class={styles.body}>{children}</div>
      <Toasts />
    </dialog>
  )
}

export function DialogActions({ children }: { readonly children: ComponentChildren }) {
  return <div class={styles.foot}>{children}</div>
}

type FormProps = {
  /** What its button sends. */
  readonly label: string
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  /** Absent where there is no way but on. */
  readonly onCancel?: (() => void) | undefined
}

/** Of a form: to leave it, or to send it. */
export function FormActions({ label, isBusy = false, isDisabled = false, onCancel }: FormProps) {
  return (
    <DialogActions>
      {onCancel && <Button onClick={onCancel}>{t.value.common.cancel}</Button>}
      <Button type="submit" look="primary" isBusy={isBusy} disabled={isDisabled}>
        {label}
      </Button>
    </DialogActions>
  )
}
