/**
 * Sets the time limit of a batch over Neon's HTTP interface by its first statement; it ends with the transaction.
 * PostgreSQL before 17 limits statements only. The gateway of platform/node/embedded reads the limit for a database
 * that supports neither.
 */
import type { Statement } from '../../core/sql/statement.ts'

const TEXT = `select set_config('statement_timeout', $1, true),
  case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', $2, true) end`

/** Milliseconds from the statement limit to the transaction limit, so that the statement ends and not its session. */
const DISTANCE = 250

export function limitStatement(milliseconds: number): Statement {
  return { text: TEXT, params: [String(milliseconds), String(milliseconds + DISTANCE)] }
}

/** Returns the limit of a batch in milliseconds; 0 for none. */
export function limitOf([first]: readonly Statement[]): number {
  return first?.text === TEXT ? Number(first.params[0]) : 0
}
