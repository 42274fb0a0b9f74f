/** One of a few. */
import type { SelectHTMLAttributes } from 'preact'
import styles from './field.module.css'
import { Labelled, type LabelledProps } from './labelled.tsx'

type Chosen<T extends string> = {
  readonly value: T
  readonly onValue: (value: T) => void
  readonly options: readonly (readonly [value: T, label: string])[]
}

type SelectProps<T extends string> = Chosen<T> & LabelledProps & { readonly disabled?: boolean }

export function Select<T extends string>({ value, onValue, options, disabled, ...labelled }: SelectProps<T>) {
  const chosen = { value, onValue, options, disabled }
  return <Labelled {...labelled}>{(input) => <Choice {...chosen} {...input} class={styles.input} />}</Labelled>
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
