/** Errors of the server as what the caller sees (docs/contract.md#what-the-caller-sees). */
import type { ServiceError } from '../../error.ts'
import { databaseError, disconnectedError } from '../database-error.ts'
import { CANCELED, type SqlFault, TIMED_OUT, TOO_LARGE } from '../fault.ts'
import { BEYOND, OVERFLOW } from './rows.ts'

/** The table docs/contract.md#what-the-caller-sees, for SQLSTATE codes. */
export function explain({ state, message, routine }: SqlFault): ServiceError | undefined {
  if (state === TOO_LARGE || routine === OVERFLOW || message.includes(BEYOND)) return databaseError('tooLarge')
  // The same state as `out of shared memory`, which is not for the size of an answer.
  if (state === '53200' && message.startsWith('out of memory')) return databaseError('tooLarge')
  if (state.startsWith('08') || state === '57P01' || state === '57P03' || state === '53300')
    return databaseError('unreachable')
  if (namesNothing.has(state) && routine !== undefined && looksUp.test(routine)) {
    return databaseError('range', 'The database has nothing of the name that a value gives')
  }
  switch (state) {
    case TIMED_OUT:
      return databaseError('overdue')
    case CANCELED:
      return disconnectedError()
    case '40001': // serialization failure
    case '40P01': // deadlock
    case '55P03': // waited for a lock longer than allowed
      return databaseError('blocked')
    case '23505':
      return databaseError('unique')
    case '23502':
      return databaseError('null')
    case '23503':
    case '23001':
      return databaseError('foreignKey')
    case '23514':
    case '44000': // with check option
    case 'P0001': // raised by a trigger
      return databaseError('check')
    case '42P01':
    case '42703':
    case '42704': // a type
    case '3F000':
      return databaseError('noTable')
    case '55000':
      return databaseError('notReady')
    case '42601': // an extension's type cannot read a text
      return databaseError('range')
    default:
      return state.startsWith('22') ? databaseError('range') : undefined
  }
}

/** States of a missing table, schema, function or of anything else that a value of a `reg…` type names. */
const namesNothing: ReadonlySet<string> = new Set(['42P01', '3F000', '42704', '42883', '42602'])

/** The server functions that read such values; those of a statement's own names are others. */
const looksUp =
  /^(reg.+in|parseTypeString|textToQualifiedNameList|stringToQualifiedNameList|RangeVarGetRelidExtended|get_.+_oid)$/
