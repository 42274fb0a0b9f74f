/** An input with its label, a hint and what is wrong with it, all of which a screen reader tells. */
import { useId } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import styles from './field.module.css'

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
}

export function Field({ label, value, onValue, hint, error, isOptional, type = 'text', ...others }: FieldProps) {
  const id = useId()
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class={styles.field}>
      <div class={styles.label}>
        <label for={id}>{label}</label>
        {isOptional && <span class={styles.optional}>{t.value.common.optional}</span>}
      </div>
      <input
        dir="auto"
        {...others}
        // One of these is the member of a union that has it.
        type={type as 'text'}
        id={id}
        class={styles.input}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={about || undefined}
      />
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
