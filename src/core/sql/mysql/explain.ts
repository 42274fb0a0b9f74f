/** Maps errors of the server to the caller's errors (docs/contract.md#what-the-caller-sees). */
import type { ServiceError } from '../../error.ts'
import { databaseError, disconnectedError } from '../database-error.ts'
import { BUSY, CANCELED, SqlFault, TIMED_OUT, TOO_LARGE, VITESS_UNSUPPORTED } from '../fault.ts'
import { type Sql, sql } from '../statement.ts'
import { NULL_FOUND, OUT_OF_RANGE } from './ddl.ts'

/** Maps server error numbers, since the SQLSTATEs of these databases are too coarse. */
export function explain(fault: SqlFault): ServiceError | undefined {
  const { state, errno, message } = fault
  if (state === TIMED_OUT) return databaseError('overdue')
  if (state === BUSY) return databaseError('busy')
  if (state === CANCELED) return disconnectedError()
  if (state === TOO_LARGE || overflown.test(message) || overflows(fault) !== undefined) return databaseError('tooLarge')
  // The server also ends the connection.
  if (errno === LONG_PACKET) return databaseError('range', 'A value is longer than the database takes')
  if (state.startsWith('08')) return databaseError('unreachable')
  if (VITESS_UNSUPPORTED.test(message)) return undefined
  if (message.includes(NULL_FOUND)) return databaseError('null')
  if (message.includes(OUT_OF_RANGE)) return databaseError('range')
  switch (errno) {
    case 1317: // MariaDB and MySQL: the statement was killed
    case 1969: // MariaDB: max_statement_time
    case 3024: // MySQL: max_execution_time
      return databaseError('overdue')
    case 1020: // the row has changed since the transaction began
    case 1205: // waited for a lock longer than allowed
    case 1213: // deadlock
    case 1467: // deadlock over the next number of a key, or there is none left (`usedUp`)
      return databaseError('blocked')
    case 1040: // too many connections
    case 1203: // too many connections of this user
    case 1226: // a resource of this user is used up
      return databaseError('busy')
    case 1053: // server is shutting down
    case 1927: // connection was killed
      return databaseError('unreachable')
    case 1290: // an option of the server forbids it
      return /read[-_ ]only/i.test(message) ? databaseError('readOnly') : undefined
    case 1792: // in a transaction that only reads
    case 1836:
      return databaseError('readOnly')
    case 1062:
    case 1169:
    case 1586:
      return databaseError('unique')
    case 1048:
    case 1138:
    case 1364:
    case 1423: // of a table below a view
      return databaseError('null')
    case 1436: // a statement that is nested too deep for the stack
      return databaseError('rejected', 'The request is more than the database takes at once')
    case 1288: // a view, or a column of one, that is not written
    case 1348:
    case 1471:
      return databaseError('rejected')
    case 1216:
    case 1217:
    case 1451:
    case 1452:
      return databaseError('foreignKey')
    case 3819: // MySQL
    case 4025: // MariaDB
    case 1644: // signalled by a trigger
    case 1369: // with check option
      return databaseError('check')
    case 167: // the next number of a key is none of its type
    case 1118: // a row is too long for its format
    case 1264: // out of range
    case 1267: // texts that the column's character set does not have: one, two, several
    case 1270:
    case 1271:
    case 1265: // data truncated
    case 1292: // incorrect value
    case 1366: // incorrect value for the character set or type
    case 1406: // data too long
    case 3140: // invalid JSON text
      return databaseError('range')
    case 1049: // unknown database
    case 1054: // unknown column
    case 1146: // unknown table
      return databaseError('noTable')
    case 1356: // a view refers to something deleted
    case 1449: // the definer of a view was deleted
      return databaseError('notReady')
    default:
      // Other faults of values, such as a division by zero in a trigger or a generated column.
      if (state.startsWith('22')) return databaseError('range')
      return raised.test(state) ? databaseError('check') : undefined
  }
}

/** Error number of a packet longer than the server's `max_allowed_packet`. */
const LONG_PACKET = 1153

/** A state that a trigger or a procedure signals: unhandled, or of a class that neither standard nor server defines. */
const raised = /^(?:45|(?!70|XA|XX)[5-9I-Z])/

/** The message of `overflow` in `dialect.ts`, for a text that exceeded the server's limit. */
const overflown = /in 'exp\(+1000\b/

/** Fails when evaluated: the server does not know the time zone. With `rand()`, because a constant could be evaluated earlier. */
export const UNKNOWN_ZONE: Sql = sql`exp(2000 + rand())`

export function lacksZone({ message }: SqlFault): boolean {
  return zoneless.test(message)
}

const zoneless = /in 'exp\(+2000\b/

/** Fails when evaluated: a sum of decimals is not exact. Depends on sums, because anything else would be evaluated row by row. */
export function unfitSum(amounts: Sql): Sql {
  return sql`exp(3000 + ${amounts})`
}

/** The kind of numbers whose sum exceeds its type. */
export function overflows({ errno, message }: SqlFault): 'doubles' | 'decimals' | undefined {
  if (errno !== 1690) return undefined
  if (unfit.test(message)) return 'decimals'
  return sumOfDoubles.test(message) ? 'doubles' : undefined
}

const unfit = /in 'exp\(+3000\b/

const sumOfDoubles = /\bDOUBLE value is out of range in .*\bsum\(/

/** In the queue, where no other write interferes, an auto-increment failure means that all numbers are used up. */
export function usedUp(fault: SqlFault): SqlFault {
  return fault.errno === 1467 ? new SqlFault(fault.message, { ...fault, errno: 167 }) : fault
}
