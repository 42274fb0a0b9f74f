/** Deleting an item: what becomes of what refers to it, and another look before it is gone. */
import { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/notice.tsx'
import { keyTextOf, WhyRefused } from '../access/asking.tsx'
import { itemsOf, keyInPath } from '../grid/items.ts'
import type { CollectionModel } from '../grid/model.ts'
import { keyOf } from '../grid/rows.ts'
import type { Row } from '../grid/values.ts'
import { Consequences } from './consequences.tsx'

type DeleteProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly row: Row
  readonly title: string
  readonly onClose: () => void
  readonly onDeleted: () => void
  /** Somebody has changed it in the meantime. */
  readonly onChanged: () => void
}

export function DeleteDialog({ workspace, model, row, title, onClose, onDeleted, onChanged }: DeleteProps) {
  const texts = t.value.item
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const [isKept, setKept] = useState(false)
  const remove = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await itemsOf(workspace, model)
        .delete(keyInPath(keyOf(model, row)), { ifMatch: String(row._etag) })
        .orThrow()
      onDeleted()
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause
      setBusy(false)
      setError(cause)
      if (cause.status === 412) onChanged()
    }
  }
  return (
    <Dialog title={isKept ? texts.keptTitle(title) : texts.deleteTitle(title)} onClose={onClose}>
      {error && (
        <Fault error={error}>
          <WhyRefused
            workspace={workspace}
            error={error}
            question={{ collection: model.name, action: 'delete', key: keyTextOf(model.key, keyOf(model, row)) }}
          />
        </Fault>
      )}
      <Consequences workspace={workspace} model={model} row={row} onKept={setKept} />
      <DialogActions>
        <Button onClick={onClose}>{isKept ? t.value.common.close : t.value.common.cancel}</Button>
        {!isKept && (
          <Button look="danger" isBusy={isBusy} onClick={() => void remove()}>
            {texts.delete}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
