/** A choice of yes or no beside its name, with what it means below where there is more to say. */
import { useId } from 'preact/hooks'
import styles from './checkbox.module.css'

type CheckboxProps = {
  readonly label: string
  readonly hint?: string
  readonly isChecked: boolean
  readonly onCheck: (isChecked: boolean) => void
}

export function Checkbox({ label, hint, isChecked, onCheck }: CheckboxProps) {
  const id = useId()
  return (
    <div class={styles.checkbox}>
      <label>
        <input
          type="checkbox"
          checked={isChecked}
          aria-describedby={hint && id}
          onChange={({ currentTarget }) => onCheck(currentTarget.checked)}
        />
        {label}
      </label>
      {hint && <p id={id}>{hint}</p>}
    </div>
  )
}
