/** A secret that is shown once, at the end of the dialog that made it: to be copied before the dialog is closed. */
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { DialogActions } from './dialog.tsx'
import styles from './shown-once.module.css'

type ShownOnceProps = { readonly text: string; readonly closeLabel: string; readonly onClose: () => void }

export function ShownOnce({ text, closeLabel, onClose }: ShownOnceProps) {
  return (
    <>
      <code class={styles.text} dir="ltr">
        {text}
      </code>
      <DialogActions>
        <Button onClick={onClose}>{closeLabel}</Button>
        <CopyButton text={text} />
      </DialogActions>
    </>
  )
}
