/** A question before a change of rights: with what it would give and take, which whoever confirms has seen. */
import type { PlannedRights } from 'governed-data-client/system'
import type { ComponentChildren } from 'preact'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Submitted, useSubmission } from '../submission.tsx'
import { Effect, useEffectOf } from './effect.tsx'

type ConfirmProps = {
  readonly workspace: string
  readonly title: string
  readonly planned: PlannedRights
  /** What the button says, and whether what it does cannot be undone by the same button. */
  readonly label: string
  readonly look?: 'primary' | 'danger'
  readonly onConfirm: () => Promise<Submitted>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Waits for the effect; where that cannot be told, the change is still to be made. */
export function Confirm(props: ConfirmProps) {
  const { workspace, title, planned, label, look = 'danger', onConfirm, onClose, children } = props
  const { fault, isBusy, submit } = useSubmission(onConfirm)
  const effect = useEffectOf({ workspace, planned })
  return (
    <Dialog title={title} onClose={onClose}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {children && <p>{children}</p>}
      <Effect workspace={workspace} effect={effect} />
      <DialogActions>
        <Button onClick={onClose}>{t.value.common.cancel}</Button>
        <Button look={look} isBusy={isBusy || effect.isPending} onClick={(event) => void submit(event)}>
          {label}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
