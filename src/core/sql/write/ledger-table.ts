/** The tables of the ledgers: that of the system database, and one for each data source with a ledger. */
import type { FieldType } from '../../model/field-type.ts'

/** `key` is the name of the primary key, if the database has names for primary keys. */
export type LedgerTable = { readonly schema: string | undefined; readonly dbName: string; readonly key: string }

export const systemLedger: LedgerTable = { schema: 'service', dbName: 'ledger', key: 'service_ledger_key' }

/** The ledger of a source; workspaces that share a database have separate ledgers. */
export function ledgerOf(source: { readonly id: string; readonly ledgerSchema: string }): LedgerTable {
  const dbName = `${PREFIX}${source.id.slice(-8)}`
  return { schema: source.ledgerSchema === '' ? undefined : source.ledgerSchema, dbName, key: `${dbName}_pkey` }
}

/** True for names that only ledgers have. Ignores case, because MariaDB and MySQL may do so. */
export function isLedgerName(dbName: string): boolean {
  return dbName.toLowerCase().startsWith(PREFIX)
}

/**
 * True if a table of a data source is a ledger, of any workspace and instance, unless it is a collection of the model: then it
 * is neither a collection nor a change by others.
 */
export function isLedger({
  dbName,
  columns,
}: {
  readonly dbName: string
  readonly columns: readonly { readonly dbName: string }[]
}): boolean {
  if (!isLedgerName(dbName)) return false
  const names = new Set(columns.map((column) => column.dbName))
  return ledgerColumns.every((column) => names.has(column.dbName))
}

const PREFIX = 'service_ledger_'

const text: FieldType = { name: 'string', params: { length: 'unlimited' } }
const digest: FieldType = { name: 'string', params: { length: 'fixed', value: 64 } }
const int64: FieldType = { name: 'int64' }

export const ledgerColumns: readonly {
  readonly dbName: string
  readonly type: FieldType
  readonly isNullable: boolean
}[] = [
  { dbName: 'scope', type: digest, isNullable: false },
  { dbName: 'workspace_id', type: digest, isNullable: false },
  { dbName: 'fingerprint', type: digest, isNullable: false },
  { dbName: 'rights', type: digest, isNullable: false },
  { dbName: 'outcome', type: digest, isNullable: false },
  { dbName: 'body', type: text, isNullable: true },
  { dbName: 'item_keys', type: text, isNullable: true },
  { dbName: 'started_at', type: int64, isNullable: false },
  { dbName: 'expires_at', type: int64, isNullable: false },
]
