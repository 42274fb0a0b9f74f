/** One of a few, with its label, a hint and what is wrong with it. */
import { useId } from 'preact/hooks'
import styles from './field.module.css'

type SelectProps<T extends string> = {
  readonly label: string
  readonly value: T
  readonly onValue: (value: T) => void
  readonly options: readonly (readonly [value: T, label: string])[]
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly disabled?: boolean
}

export function Select<T extends string>({ label, value, onValue, options, hint, error, disabled }: SelectProps<T>) {
  const id = useId()
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class={styles.field}>
      <div class={styles.label}>
        <label for={id}>{label}</label>
      </div>
      <select
        id={id}
        class={styles.input}
        value={value}
        disabled={disabled}
        aria-invalid={error !== undefined}
        aria-describedby={about || undefined}
        onChange={(event) => onValue(event.currentTarget.value as T)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
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
