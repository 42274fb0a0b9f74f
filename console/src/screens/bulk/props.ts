/** What a dialog about many rows is given. */
import type { Marks } from '../grid/marks.ts'
import type { CollectionModel } from '../grid/model.ts'
import type { View } from '../grid/request.ts'
import type { Rows } from '../grid/rows.ts'

export type BulkProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly rows: Rows
  readonly marks: Marks
  readonly which: 'chosen' | 'all'
  readonly onClose: () => void
}
