/** What becomes of an item that is deleted, and of what refers to it. */
import { useEffect, useState } from 'preact/hooks'
import { FILES } from '../../data/files.ts'
import { t } from '../../messages/messages.ts'
import type { CollectionModel, ToMany } from '../grid/model.ts'
import type { Row } from '../grid/values.ts'
import { RelatedList } from './related.tsx'

type ConsequencesProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly row: Row
  /** Is told whether something keeps it from being deleted. */
  readonly onKept: (isKept: boolean) => void
}

export function Consequences({ workspace, model, row, onKept }: ConsequencesProps) {
  const texts = t.value.item
  // Behind a junction it is its rows that are deleted, and not what they lead to.
  const relations = model.toMany.filter(({ linked }) => linked === undefined)
  const [some, setSome] = useState<Readonly<Record<string, boolean>>>({})
  const isKept = relations.some((relation) => some[relation.name] && isInTheWay(relation, model))
  useEffect(() => onKept(isKept), [isKept])
  return (
    <>
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
    </>
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
