/** Opens each kind of store of files that a Worker may have; loads apart from what every start needs. */
import type { FileStore, Observe, SqlDriver } from '../../ports.ts'
import { checkedFiles } from '../files/checked.ts'
import { openFileTable } from '../files/table.ts'

export type CloudflareFilesOptions = { readonly database: SqlDriver; readonly observe: Observe }

export function openStore({ database, observe }: CloudflareFilesOptions): FileStore {
  return checkedFiles({ store: openFileTable(database), observe })
}
