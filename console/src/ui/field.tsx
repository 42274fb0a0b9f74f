/** An input with its label, a hint and what is wrong with it, all of which a screen reader tells. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './field.module.css'
import { Icon } from './icon.tsx'

type InputProps = {
  readonly autocomplete?: string
  readonly autofocus?: boolean
  readonly dir?: 'auto' | 'ltr'
  readonly disabled?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly name?: string
  readonly pattern?: string
  readonly readOnly?: boolean
  readonly required?: boolean
  readonly spellcheck?: boolean
}

type FieldProps = InputProps & {
  readonly type?: 'date' | 'email' | 'password' | 'search' | 'text'
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly isOptional?: boolean
  /** Whether what is typed as a secret can be shown. */
  readonly canShow?: boolean
  /** So many are seen of what has several. */
  readonly lines?: number
  /** What else can give it a value, behind it. */
  readonly children?: ComponentChildren
}

export function Field(props: FieldProps) {
  const { label, value, onValue, hint, error, isOptional, canShow = false, lines, type = 'text', ...rest } = props
  const { children, ...others } = rest
  const id = useId()
  const [isShown, setShown] = useState(false)
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const common = {
    dir: 'auto',
    ...others,
    id,
    class: `${styles.input} ${lines === undefined ? '' : styles.lines}`,
    value,
    'aria-invalid': error !== undefined,
    'aria-describedby': about || undefined,
  } as const
  return (
    <div class={styles.field}>
      <div class={styles.label}>
        <label for={id}>{label}</label>
        {isOptional && <span class={styles.optional}>{t.value.common.optional}</span>}
      </div>
      {lines === undefined ? (
        <div class={styles.line}>
          <input
            {...common}
            // One of these is the member of a union that has it.
            type={(isShown ? 'text' : type) as 'text'}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          {canShow && (
            <Button
              isIcon
              aria-label={t.value.common.showTyped}
              aria-pressed={isShown}
              onClick={() => setShown(!isShown)}
            >
              <Icon name="eye" />
            </Button>
          )}
          {children}
        </div>
      ) : (
        <textarea {...common} rows={lines} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
      {hint && (
        <p id={`${id}-hint`} class={styles.hint}>
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
