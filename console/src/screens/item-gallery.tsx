/** The items of a collection by the file that a field of theirs leads to. */
import { itemPath } from '../app/router.ts'
import { t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Fault, Skeleton } from '../ui/notice.tsx'
import { Tiles } from './files/tiles.tsx'
import type { LayoutProps } from './grid/layouts.ts'
import { nameOf } from './grid/model.ts'
import { keyOf } from './grid/rows.ts'
import { ownOf, type Row } from './grid/values.ts'

export default function ItemGallery({ workspace, model, rows, layout }: LayoutProps) {
  const relation = model.toOne.find(({ name }) => name === layout.field)
  const shown = rows.rows.value
  const error = rows.error.value
  const fileOf = (row: Row) => {
    const [by = ''] = relation?.by ?? []
    const file = ownOf(row, layout.field) as { readonly mediaType?: string } | null | undefined
    return file ? { id: String(row[by]), mediaType: file.mediaType } : undefined
  }
  return (
    <>
      {error && <Fault error={error} onRetry={() => void rows.loadMore()} />}
      {!shown && !error && <Skeleton lines={6} />}
      {shown?.length === 0 && <Empty title={t.value.grid.none} />}
      {shown && shown.length > 0 && (
        <Tiles
          workspace={workspace}
          label={model.title}
          tiles={shown.map((row) => {
            return {
              href: itemPath(workspace, model.name, keyOf(model, row)),
              name: nameOf(model, row),
              file: fileOf(row),
            }
          })}
        />
      )}
      {shown && !rows.isEnd() && !rows.isFull() && (
        <span>
          <Button isBusy={rows.isLoading.value} onClick={() => void rows.loadMore()}>
            {t.value.files.more}
          </Button>
        </span>
      )}
    </>
  )
}
