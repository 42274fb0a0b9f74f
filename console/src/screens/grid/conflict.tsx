/** Somebody else has changed the same fields: both values, and which of them stays. */
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Table } from '../../ui/table.tsx'
import { PlainValue } from './cell-content.tsx'
import type { CollectionModel } from './model.ts'
import type { Conflict, Saving } from './saving.ts'

export function ConflictDialog({ model, saving }: { readonly model: CollectionModel; readonly saving: Saving }) {
  const now = saving.conflicts.value
  if (now === undefined) return null
  const texts = t.value.grid
  const fieldOf = ({ change }: Conflict) => model.fields.find(({ name }) => name === change.field)
  const title = (one: Conflict) => fieldOf(one)?.title ?? one.change.field
  return (
    <Dialog title={texts.conflictTitle} isWide isUndecided onClose={() => now.choose(undefined)}>
      <p>{texts.conflictText}</p>
      <Table
        wraps
        label={texts.conflictTitle}
        columns={[
          { title: texts.field, cell: title },
          { title: texts.mine, cell: (one) => <PlainValue value={one.change.value} field={fieldOf(one)} /> },
          { title: texts.theirs, cell: (one) => <PlainValue value={one.theirs} field={fieldOf(one)} /> },
        ]}
        rows={now.all}
        keyOf={({ change }) => JSON.stringify([change.key, change.field])}
      />
      <DialogActions>
        <Button onClick={() => now.choose('theirs')}>{texts.keepTheirs}</Button>
        <Button onClick={() => now.choose('mine')}>{texts.keepMine}</Button>
      </DialogActions>
    </Dialog>
  )
}
