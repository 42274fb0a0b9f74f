/**
 * Maps a database error of a schema change to the error that the migration's author gets: causes in the change or in
 * the data have a migration code, one that was ended in favour of others may be sent again, everything else is an internal
 * error.
 */
import { ServiceError } from '../error.ts'
import { databaseError } from '../sql/database-error.ts'
import type { Obstacle, ObstacleCause } from '../sql/ddl/obstacles.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type SqlFault, VITESS_UNSUPPORTED } from '../sql/fault.ts'
import { FailedMigration, invalidOperation, isDataFault, type MigrationFault } from './fault.ts'

export function ddlError(fault: SqlFault, { explain }: Pick<Dialect, 'explain'>): ServiceError {
  const explained = isGone.has(fault.state) ? databaseError('noTable') : explain(fault)
  // What is no fault of the change.
  if (explained?.kind === 'unavailable') return explained
  const reason = explained?.message ?? 'The database refused a change'
  const blamed = blame(fault) ?? (explained?.kind === 'invalid' ? 'data' : undefined)
  if (blamed === undefined) return new ServiceError('failed', reason, { cause: fault })
  const views = blamed === 'inUse' ? viewsNamed(fault) : []
  return invalidOperation(blamed, exceeded(fault) ?? reasons[blamed] ?? reason, {
    cause: fault,
    ...(views.length > 0 && { meta: { views } }),
  })
}

/** What a table has more of than the database takes. */
function exceeded({ state, errno }: SqlFault): string | undefined {
  return errno === undefined ? exceededByState.get(state) : exceededByNumber.get(errno)
}

const columns = 'The database has no tables, and no indexes, of so many columns'
const widths = 'The database has no tables whose rows are so long'
const exceededByState: ReadonlyMap<string, string> = new Map([['54011', columns]])
const exceededByNumber: ReadonlyMap<number, string> = new Map([
  [1069, 'The database has no tables of so many indexes'],
  [1070, columns],
  [1117, columns],
  [1118, widths],
])

/** Those that PostgreSQL names, if it speaks English: `view sums depends on column label of table notes`. */
function viewsNamed({ detail = '' }: SqlFault): readonly string[] {
  return [...detail.matchAll(/^(?:materialized )?view (.+?) depends on /gm)].map(([, view = '']) => view)
}

/** SQLSTATEs of a name that PostgreSQL does not have, which elsewhere may be one that a value gives. */
const isGone: ReadonlySet<string> = new Set(['42P01', '3F000'])

const reasonsOf: Readonly<Record<Extract<ObstacleCause, { kind: 'catalog' }>['reason'], string>> = {
  nameInUse: 'The database has something of this name already',
  inUse: 'Something in the database still uses it',
  unsupported: 'The database does not support this',
  conversion:
    'The column has a type or a collation of its own, whose rules would go: change it in the database, or add a field',
}
const reasons: Readonly<Record<string, string>> = reasonsOf

/** Returns true where the fault of a question is that a row is in the way. */
export function isObstructed({ trial }: Obstacle, fault: SqlFault, dialect: Pick<Dialect, 'explain'>): boolean {
  return trial !== undefined && isDataFault(ddlError(fault, dialect))
}

/** The error of the migration where rows are in the way; `meta` has their number where it is known and not hidden. */
export function rowsInTheWay(
  { operation, subject, cause }: Obstacle,
  found: { readonly rows?: number } | 'hidden',
): ServiceError {
  const reason = found === 'hidden' || cause.kind === 'catalog' ? undefined : databaseError(cause.reason).message
  const meta = found === 'hidden' || found.rows === undefined ? {} : { meta: found }
  return new FailedMigration(operation, invalidOperation('data', reason ?? 'Rows are in the way', meta), subject)
}

/** The error of the migration where the catalog stands in its way; `answer` is that to `count`. */
export function catalogError(
  { operation, subject, cause, viewsIn }: Obstacle,
  answer: string | null,
): ServiceError | undefined {
  const views = viewsIn?.(answer ?? '{}') ?? []
  const isClear = viewsIn === undefined ? !(Number(answer) > 0) : views.length === 0
  if (isClear || cause.kind !== 'catalog') return undefined
  const meta = views.length > 0 ? { meta: { views } } : {}
  return new FailedMigration(operation, invalidOperation(cause.reason, reasonsOf[cause.reason], meta), subject)
}

/** SQLSTATEs identify PostgreSQL errors, error numbers those of MySQL and MariaDB. */
function blame({ state, errno, message }: SqlFault): MigrationFault | undefined {
  if (VITESS_UNSUPPORTED.test(message)) return 'unsupported'
  if (errno === 1054 && NEEDED.test(message)) return 'inUse'
  return errno === undefined ? byState.get(state) : byNumber.get(errno)
}

/** What MariaDB says where something of a table needs a column that is dropped. */
const NEEDED = / in '(?:GENERATED ALWAYS AS|CHECK|DEFAULT|PARTITION BY|SUBPARTITION BY)'$/

const byState: ReadonlyMap<string, MigrationFault> = new Map([
  ['42P07', 'nameInUse'],
  ['42P06', 'nameInUse'],
  ['42701', 'nameInUse'],
  ['42710', 'nameInUse'],
  ['2BP01', 'inUse'],
  ['42P16', 'unsupported'],
  ['0A000', 'unsupported'],
  // A type, or a constraint of the column with the new type, that no operator or cast is for.
  ['42846', 'unsupported'],
  ['42883', 'unsupported'],
  ['54011', 'unsupported'],
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
  [3108, 'inUse'],
  [3837, 'inUse'],
  [3855, 'inUse'],
  [3959, 'inUse'],
  [1069, 'unsupported'],
  [1070, 'unsupported'],
  [1071, 'unsupported'],
  [1074, 'unsupported'],
  [1117, 'unsupported'],
  [1118, 'unsupported'],
  [1170, 'unsupported'],
  [1907, 'unsupported'],
  [4108, 'unsupported'],
  [4119, 'unsupported'],
])
