/** Deleting an item: what refers to it, and another look before it is gone. */
import { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { FILES } from '../../data/files.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/notice.tsx'
import { keyTextOf, WhyRefused } from '../access/asking.tsx'
import { itemsOf, keyInPath } from '../grid/items.ts'
import type { CollectionModel, ToMany } from '../grid/model.ts'
import { keyOf } from '../grid/rows.ts'
import type { Row } from '../grid/values.ts'
import { RelatedList } from './related.tsx'

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
  // Behind a junction it is its rows that are deleted, and not what they lead to.
  const relations = model.toMany.filter(({ linked }) => linked === undefined)
  const [some, setSome] = useState<Readonly<Record<string, boolean>>>({})
  const isKept = relations.some((relation) => some[relation.name] && isInTheWay(relation, model))
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
      <p>{isKept ? texts.deleteKept : goneText(model)}</p>
      {relations.length > 0 && (
        <>
          {!isKept && <p>{texts.deleteRelated}</p>}
          <RelatedList
            workspace={workspace}
            relations={relations}
            row={row}
            isDeletion
            onSeen={(name, isSome) => setSome((before) => ({ ...before, [name]: isSome }))}
          />
        </>
      )}
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

/** Whether what refers to it keeps it for certain: where it refuses at the end, what goes along with the item is no longer there then. */
function isInTheWay({ to, onDelete }: ToMany, { name, toMany }: CollectionModel): boolean {
  if (to === name) return false
  return onDelete === 'restrict' || (onDelete === 'noAction' && toMany.every((other) => other.onDelete !== 'cascade'))
}

/** How far it is gone: of files the service keeps the bytes for a time. */
function goneText({ name, hasHistory }: CollectionModel): string {
  const { deleteText, deleteRecorded } = t.value.item
  if (name === FILES) return t.value.files.deleted.text
  return hasHistory ? deleteRecorded : deleteText
}
