/** The review of an import before it is made: what it changes here, and what that takes from those who use the API. */
import { formatNumber, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Notice } from '../../ui/notice.tsx'
import page from '../page.module.css'
import { ReviewSheet } from '../review/sheet.tsx'
import { type Change, deletedBy, importLabel, Taken } from './changes.tsx'
import type { Preview } from './data.ts'

type ImportReviewProps = {
  /** What the source is called. */
  readonly name: string
  readonly preview: Preview
  readonly changes: readonly Change[]
  /** Those of its renames that are meant. */
  readonly renames: Preview['renames']
  /** Whether something has changed since another review was confirmed. */
  readonly hasMoved: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function ImportReview(props: ImportReviewProps) {
  const { name, preview, changes, renames, hasMoved, onConfirm, onClose } = props
  const { operations, breaking, breaks } = preview
  const texts = sourceTexts.value
  const [deleted, ...others] = deletedBy(changes)
  const count = others.length + 1
  return (
    <ReviewSheet
      title={
        deleted === undefined
          ? texts.importFrom(name)
          : texts.importFromDeleting(name, deleted, formatNumber(count), count)
      }
      review={{
        changes: changes.map(({ kind, path }) => ({ action: kind, path })),
        ...(breaks && { breaks }),
      }}
      label={importLabel(changes)}
      look={breaking.length > 0 ? 'danger' : 'primary'}
      typed={deleted}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {hasMoved && <Notice look="danger">{t.value.model.moved}</Notice>}
      {renames.map(({ from, to }) => (
        <p key={from}>{texts.renameOf(from, to)}</p>
      ))}
      <Taken breaking={breaking} />
      {operations.length === 0 && <p class={page.quiet}>{texts.sameChosen}</p>}
    </ReviewSheet>
  )
}
