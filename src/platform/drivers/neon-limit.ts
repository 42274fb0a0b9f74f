/**
 * How a batch over Neon's HTTP interface says that it has a time limit: by its first statement, which ends with the transaction.
 * PostgreSQL before 17 knows a limit of statements only. The gateway of platform/node/embedded reads it for a database that has
 * neither.
 */
import type { Statement } from '../../core/sql/statement.ts'

const TEXT = `select set_config('statement_timeout', $1, true),
  case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', $2, true) end`

/** A statement is ended rather than its session, which the second limit ends. */
const DISTANCE = 250

export function limitStatement(milliseconds: number): Statement {
  return { text: TEXT, params: [String(milliseconds), String(milliseconds + DISTANCE)] }
}

/** The limit of a batch with these statements; 0 where it has none. */
export function limitOf([first]: readonly Statement[]): number {
  return first?.text === TEXT ? Number(first.params[0]) : 0
}
