/** A question before what cannot be undone by the same button. */
import type { ComponentChildren } from 'preact'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Submitted, useSubmission } from '../submission.tsx'

type ConfirmProps = {
  readonly title: string
  readonly label: string
  readonly onConfirm: () => Promise<Submitted>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Confirm({ title, label, onConfirm, onClose, children }: ConfirmProps) {
  const { fault, isBusy, submit } = useSubmission(onConfirm)
  return (
    <Dialog title={title} onClose={onClose}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <p>{children}</p>
      <DialogActions>
        <Button onClick={onClose}>{t.value.common.cancel}</Button>
        <Button look="danger" isBusy={isBusy} onClick={(event) => void submit(event)}>
          {label}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
