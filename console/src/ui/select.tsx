/** One of a few, with its label and a hint. */
import { useId } from 'preact/hooks'
import styles from './field.module.css'

type SelectProps<T extends string> = {
  readonly label: string
  readonly value: T
  readonly onValue: (value: T) => void
  readonly options: readonly (readonly [value: T, label: string])[]
  readonly hint?: string | undefined
  readonly disabled?: boolean
}

export function Select<T extends string>({ label, value, onValue, options, hint, disabled }: SelectProps<T>) {
  const id = useId()
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
        aria-describedby={hint && `${id}-hint`}
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
    </div>
  )
}
