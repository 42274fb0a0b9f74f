/**
 * Maps a database error of a schema change to the error that the migration's author gets: causes in the change or in
 * the data have a migration code, everything else is an internal error.
 */
import { ServiceError } from '../error.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { SqlFault } from '../sql/fault.ts'
import { invalidOperation, type MigrationFault } from './fault.ts'

export function ddlError(fault: SqlFault, { explain }: Pick<Dialect, 'explain'>): ServiceError {
  const told = explain(fault)
  const reason = told?.message ?? 'The database refused a change'
  const blamed = blame(fault) ?? (told?.kind === 'invalid' ? 'data' : undefined)
  return blamed === undefined
    ? new ServiceError('failed', reason, { cause: fault })
    : invalidOperation(blamed, told === undefined ? (reasons[blamed] ?? reason) : reason, fault)
}

const reasons: Readonly<Record<string, string>> = {
  nameInUse: 'The database has something of this name already',
  inUse: 'Something in the database still uses it',
  unsupported: 'The database does not support this',
}

/** SQLSTATEs identify PostgreSQL errors, error numbers those of MySQL and MariaDB. */
function blame({ state, errno }: SqlFault): MigrationFault | undefined {
  return errno === undefined ? byState.get(state) : byNumber.get(errno)
}

const byState: ReadonlyMap<string, MigrationFault> = new Map([
  ['42P07', 'nameInUse'],
  ['42P06', 'nameInUse'],
  ['42701', 'nameInUse'],
  ['42710', 'nameInUse'],
  ['2BP01', 'inUse'],
  ['42P16', 'unsupported'],
  ['0A000', 'unsupported'],
])

const byNumber: ReadonlyMap<number, MigrationFault> = new Map([
  [1007, 'nameInUse'],
  [1050, 'nameInUse'],
  [1060, 'nameInUse'],
  [1061, 'nameInUse'],
  [1826, 'nameInUse'],
  [1829, 'inUse'],
  [1832, 'inUse'],
  [1833, 'inUse'],
  [1071, 'unsupported'],
  [1118, 'unsupported'],
  [1170, 'unsupported'],
])
