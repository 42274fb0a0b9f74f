/** One of a few, with its label, a hint and what is wrong with it. */
import type { SelectHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import styles from './field.module.css'

type Chosen<T extends string> = {
  readonly value: T
  readonly onValue: (value: T) => void
  readonly options: readonly (readonly [value: T, label: string])[]
}

type SelectProps<T extends string> = Chosen<T> & {
  readonly label: string
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
      <Choice
        id={id}
        class={styles.input}
        value={value}
        onValue={onValue}
        options={options}
        disabled={disabled}
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

type ChoiceProps<T extends string> = Chosen<T> &
  Pick<SelectHTMLAttributes, 'id' | 'class' | 'disabled' | 'aria-label' | 'aria-invalid' | 'aria-describedby'>

/** The list alone, where something else labels it. */
export function Choice<T extends string>({ value, onValue, options, ...rest }: ChoiceProps<T>) {
  return (
    <select {...rest} value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  )
}
