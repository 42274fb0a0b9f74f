/** A choice of yes or no, with what it means. */
import { useId } from 'preact/hooks'
import page from '../page.module.css'
import styles from './transfer.module.css'

type CheckProps = {
  readonly label: string
  readonly hint: string
  readonly isChecked: boolean
  readonly onCheck: (isChecked: boolean) => void
}

export function Check({ label, hint, isChecked, onCheck }: CheckProps) {
  const id = useId()
  return (
    <div class={styles.check}>
      <label>
        <input
          type="checkbox"
          checked={isChecked}
          aria-describedby={id}
          onChange={(event) => onCheck(event.currentTarget.checked)}
        />
        {label}
      </label>
      <p id={id} class={page.quiet}>
        {hint}
      </p>
    </div>
  )
}
