/** The review of an import before it is made: what it changes here, and what that takes from those who use the API. */
import { t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Notice } from '../../ui/notice.tsx'
import page from '../page.module.css'
import { ReviewSheet } from '../review/sheet.tsx'
import { type Change, importLabel, Taken } from './changes.tsx'
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
  const label = importLabel(preview)
  return (
    <ReviewSheet
      title={texts.reviewOf(label, name)}
      review={{
        changes: changes.map(({ kind, path }) => ({ action: kind, path })),
        ...(breaks && { breaks }),
      }}
      label={label}
      look={breaking.length > 0 ? 'danger' : 'primary'}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {hasMoved && <Notice look="danger">{t.value.model.moved}</Notice>}
      {renames.map(({ from, to }) => (
        <p key={from}>{texts.renameOf(from, to)}</p>
      ))}
      <Taken breaking={breaking} />
      <p class={page.quiet}>{operations.length === 0 ? texts.sameChosen : texts.wouldChange}</p>
    </ReviewSheet>
  )
}
