/** How far something is that takes long. */
import styles from './transfer.module.css'

type ProgressProps = {
  readonly label: string
  readonly done: number
  /** Undefined where it is not known. */
  readonly all: number | undefined
}

export function Progress({ label, done, all }: ProgressProps) {
  const most = all === undefined ? undefined : Math.max(all, done, 1)
  return (
    <div class={styles.progress}>
      <progress aria-label={label} max={most} value={most === undefined ? undefined : done} />
      <span>{label}</span>
    </div>
  )
}
