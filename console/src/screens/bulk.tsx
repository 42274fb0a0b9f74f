/** What is done to many rows of a grid at once: those that are chosen, or all of its view. */
import { ChangeDialog } from './bulk/change.tsx'
import { DeleteDialog } from './bulk/delete.tsx'
import type { BulkProps } from './bulk/props.ts'

export default function Bulk({ kind, ...props }: BulkProps & { readonly kind: 'change' | 'delete' }) {
  return kind === 'change' ? <ChangeDialog {...props} /> : <DeleteDialog {...props} />
}
