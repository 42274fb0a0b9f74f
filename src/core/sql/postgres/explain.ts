/** Maps errors of the server to the caller's errors (docs/contract.md#what-the-caller-sees). */
import type { ServiceError } from '../../error.ts'
import { databaseError, disconnectedError } from '../database-error.ts'
import { BUSY, CANCELED, RAISE, type SqlFault, TIMED_OUT, TOO_LARGE } from '../fault.ts'
import { OVERFLOW, TOO_LONG_MARK } from './rows.ts'

/** The table of docs/contract.md#what-the-caller-sees, by SQLSTATE. */
export function explain({ state, message, routine }: SqlFault): ServiceError | undefined {
  // The server's own fault with the state of our size limit is about a value, unless the server was collecting an answer.
  if (state === TOO_LARGE && routine !== undefined && !gathers.test(routine)) return databaseError('range')
  if (state === TOO_LARGE || routine === OVERFLOW || message.includes(TOO_LONG_MARK)) return databaseError('tooLarge')
  if (state.startsWith('54')) return databaseError('rejected', 'The request is more than the database takes at once')
  // The same state as `out of shared memory`, which does not depend on the size of an answer.
  if (state === '53200' && message.startsWith('out of memory')) return databaseError('tooLarge')
  if (state.startsWith('08') || state === '57P01' || state === '57P03') return databaseError('unreachable')
  if (namesNothing.has(state) && routine !== undefined && looksUp.test(routine)) {
    return databaseError('range', 'The database has nothing of the name that a value gives')
  }
  switch (state) {
    case TIMED_OUT:
      return databaseError('overdue')
    case BUSY:
      return databaseError('busy')
    case CANCELED:
      return disconnectedError()
    case '40001': // serialization failure
    case '40P01': // deadlock
    case '55P03': // waited for a lock longer than allowed
      return databaseError('blocked')
    case '23505':
      return databaseError('unique')
    case '23P01':
      return databaseError('unique', 'An exclusion constraint of the table has an item in the way')
    case '23502':
      return databaseError('null')
    case '23503':
    case '23001':
      return databaseError('foreignKey')
    case '23514':
    case '44000': // with check option
      return databaseError('check')
    case '25006':
      return databaseError('readOnly')
    case '0A000':
      if (routine === undefined || !rewrites.test(routine)) break
      return databaseError('rejected', 'A rule of the table takes the place of the write')
    case '42P01':
    case '42703':
    case '42704': // a type
    case '3F000':
      return databaseError('noTable')
    case '55000':
      return databaseError('notReady')
    case '42601': // an extension's type cannot read a text
      return databaseError('range')
    case '42501':
      return judgesRow(routine) ? databaseError('check') : undefined
  }
  if (state.startsWith('22')) return databaseError('range')
  return state.startsWith('23') || raised(state) || isRaise(state, routine) ? databaseError('check') : undefined
}

/** True if a trigger or a function raised it: PL/pgSQL's own class, or a class that PostgreSQL does not define. */
function raised(state: string): boolean {
  return state.startsWith('P0') || (/^[0-9A-Z]{5}$/.test(state) && !defined.has(state.slice(0, 2)))
}

/** True if a `raise` of PL/pgSQL used a state that PostgreSQL defines; internal errors are excluded. */
function isRaise(state: string, routine: string | undefined): boolean {
  return routine === RAISE && !state.startsWith('XX')
}

/** True if row-level security refused this row. */
export function judgesRow(routine: string | undefined): boolean {
  return routine === 'ExecWithCheckOptions'
}

/** Classes of SQLSTATE in the appendix of PostgreSQL's manual, and those of servers with its protocol. */
const defined: ReadonlySet<string> = new Set(
  (
    '00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 ' +
    '72 F0 HV P0 XX CD CR YB'
  ).split(' '),
)

/** The server functions that collect texts and lists. */
const gathers = /^(enlargeStringInfo|accumArrayResult\w*|array_agg_\w+)$/

/** The server functions that apply rules to a statement. */
const rewrites = /^(RewriteQuery|rewrite\w+|fireRules)$/

/** States of a missing table, schema, function or other object that a value of a `reg…` type names. */
const namesNothing: ReadonlySet<string> = new Set(['42P01', '3F000', '42704', '42883', '42602'])

/** The server functions that parse such values; names in a statement are resolved by others. */
const looksUp =
  /^(reg.+in|parseTypeString|textToQualifiedNameList|stringToQualifiedNameList|RangeVarGetRelidExtended|get_.+_oid)$/
