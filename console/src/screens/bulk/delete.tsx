/**
 * Deletes many rows, after it has said how many. Those that are chosen go as they were seen, all of a view by one bounded request once
 * the name of their collection is typed.
 */
import { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { Fault } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { batchOf, itemsOf, keyInPath, piecesOf, readItems } from '../grid/items.ts'
import { keyOf } from '../grid/rows.ts'
import type { Row } from '../grid/values.ts'
import { ReviewSheet } from '../review/sheet.tsx'
import { BulkFault, whyEnded } from './change.tsx'
import { filterOfAll, useCount } from './count.ts'
import type { BulkProps } from './props.ts'
import { useUnderWay } from './use-under-way.ts'

export function DeleteDialog(props: BulkProps) {
  const { workspace, model, rows, marks, which } = props
  const texts = t.value.many
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const underWay = useUnderWay(props.onClose)
  /** So many are gone, those of a try before this included. */
  const [done, setDone] = useState(0)
  const { count, error: uncounted, recount } = useCount(props, which === 'chosen' ? marks.keys.value.size : undefined)
  const items = itemsOf(workspace, model)

  /** Those that somebody has changed since they were shown stay, and are shown as they are now. */
  const deleteChosen = async (onGone: (count: number) => void) => {
    for (const piece of piecesOf([...marks.keys.value.values()])) {
      if (!underWay.goesOn()) break
      const calls = piece.map((key) => items.delete(keyInPath(key), { ifMatch: String(rows.find(key)?._etag) }))
      await batchOf(workspace, calls)
      rows.drop(piece)
      marks.drop(piece)
      onGone(piece.length)
    }
  }
  const readAnew = async () => {
    const keys = [...marks.keys.value.values()]
    const now = new Map(
      (await readItems(workspace, model, keys)).map((row) => [JSON.stringify(keyOf(model, row)), row]),
    )
    for (const key of keys) {
      const row = now.get(JSON.stringify(key))
      if (row !== undefined) rows.replace(key, row)
    }
    const lost = keys.filter((key) => !now.has(JSON.stringify(key)))
    rows.drop(lost)
    marks.drop(lost)
  }
  const deleteAll = async (most: number) => {
    const filter = filterOfAll(model, props.view)
    const gone = await items.delete({ filter, max: most }, { fields: model.key, idempotencyKey: true }).orThrow()
    marks.clear()
    void rows.reload()
    return (gone as unknown as readonly Row[]).length
  }
  const remove = async () => {
    underWay.begin()
    setError(undefined)
    let gone = done
    const onGone = (more: number) => {
      gone += more
      if (underWay.isThere()) setDone(gone)
    }
    try {
      if (which === 'chosen') await deleteChosen(onGone)
      else gone = await deleteAll(count ?? 0)
      underWay.leave()
      showToast(texts.deleted(formatNumber(gone), gone))
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause
      if (which === 'chosen' && [404, 412].includes(cause.status)) await readAnew().catch(() => undefined)
      if (!underWay.isThere()) return showToast(whyEnded(cause, gone), 'danger')
      if (cause.code === '4013') recount()
      underWay.stay()
      setError(cause)
    }
  }
  const shown = formatNumber(count ?? 0)
  const isPartly = underWay.isBusy && done > 0
  const progress = isPartly ? texts.ofWhich(formatNumber(done), formatNumber(done + (count ?? 0))) : undefined
  return (
    <ReviewSheet
      title={count === undefined ? texts.counting : texts.deleteTitle(shown, count)}
      label={texts.deleteButton(shown, count ?? 0)}
      typed={which === 'all' && count ? model.name : undefined}
      isBusy={underWay.isBusy}
      isDisabled={!count}
      onConfirm={remove}
      onClose={underWay.close}
    >
      {error && <BulkFault error={error} done={done} />}
      {uncounted && <Fault error={uncounted} onRetry={recount} />}
      <p role="status">
        {underWay.isClosing ? texts.closing : (progress ?? (count === 0 ? texts.none : texts.deleteText))}
      </p>
      {which === 'all' && marks.keys.value.size > 0 && <p>{texts.notOnlyChosen}</p>}
      {model.toMany.length > 0 && <p>{texts.deleteRelated}</p>}
    </ReviewSheet>
  )
}
