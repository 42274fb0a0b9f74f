/**
 * Maps a database error of a schema change to the error that the migration's author gets. Causes in the change or in the data
 * have a migration code, a change that lost against concurrent work may be sent again, and everything else is an internal
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
  // Not caused by the change.
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

/** The message for a table that exceeds a limit of the database. */
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

/** The views that PostgreSQL names, if its messages are English: `view sums depends on column label of table notes`. */
function viewsNamed({ detail = '' }: SqlFault): readonly string[] {
  return [...detail.matchAll(/^(?:materialized )?view (.+?) depends on /gm)].map(([, view = '']) => view)
}

/** SQLSTATEs of a name that PostgreSQL does not have; in other statements the name may come from a value. */
const isGone: ReadonlySet<string> = new Set(['42P01', '3F000'])

const reasonsOf: Readonly<Record<Extract<ObstacleCause, { kind: 'catalog' }>['reason'], string>> = {
  nameInUse: 'The database has something of this name already',
  inUse: 'Something in the database still uses it',
  unsupported: 'The database does not support this',
  conversion:
    'The column has a type or a collation of its own, whose rules would go: change it in the database, or add a field',
}
const reasons: Readonly<Record<string, string>> = reasonsOf

/** Returns true if an obstacle's query failed because of a row. */
export function isObstructed({ trial }: Obstacle, fault: SqlFault, dialect: Pick<Dialect, 'explain'>): boolean {
  return trial !== undefined && isDataFault(ddlError(fault, dialect))
}

/** The migration's error for obstructing rows; `meta` has their number if it is known and not hidden. */
export function rowsInTheWay(
  { operation, subject, cause }: Obstacle,
  found: { readonly rows?: number } | 'hidden',
): ServiceError {
  const reason = found === 'hidden' || cause.kind === 'catalog' ? undefined : databaseError(cause.reason).message
  const meta = found === 'hidden' || found.rows === undefined ? {} : { meta: found }
  return new FailedMigration(operation, invalidOperation('data', reason ?? 'Rows are in the way', meta), subject)
}

/** The migration's error for an obstacle in the catalog; `answer` is the result of `count`. */
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

/** MariaDB's message if another part of the table needs a dropped column. */
const NEEDED = / in '(?:GENERATED ALWAYS AS|CHECK|DEFAULT|PARTITION BY|SUBPARTITION BY)'$/

const byState: ReadonlyMap<string, MigrationFault> = new Map([
  ['42P07', 'nameInUse'],
  ['42P06', 'nameInUse'],
  ['42701', 'nameInUse'],
  ['42710', 'nameInUse'],
  ['2BP01', 'inUse'],
  ['42P16', 'unsupported'],
  ['0A000', 'unsupported'],
  // The column or a constraint has a type without the required operator or cast.
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
