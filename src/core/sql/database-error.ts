/** The table docs/contract.md#what-the-caller-sees: one message and code per reason, the same for all databases. */
import { ServiceError } from '../error.ts'

export type DatabaseErrorReason =
  | 'unreachable'
  | 'unique'
  | 'null'
  | 'foreignKey'
  | 'check'
  | 'range'
  | 'tooLarge'
  | 'noTable'
  | 'notReady'
  | 'overdue'
  | 'abandoned'
  | 'configuration'
  | 'account'

/** `detail` is nested, where it helps the caller. */
export function databaseError(reason: DatabaseErrorReason, detail?: string): ServiceError {
  const { kind, message, code } = refusals[reason]
  const cause = detail === undefined ? undefined : new ServiceError(kind, detail)
  return new ServiceError(kind, message, { ...(code !== undefined && { code }), cause })
}

const refusals = {
  range: { kind: 'invalid', message: 'Value out of range', code: '1001' },
  unique: { kind: 'invalid', message: 'Unique constraint failed', code: '1002' },
  null: { kind: 'invalid', message: 'Null constraint failed', code: '1003' },
  foreignKey: { kind: 'invalid', message: 'Foreign key constraint failed', code: '1004' },
  check: { kind: 'invalid', message: 'Check constraint failed', code: '1005' },
  tooLarge: { kind: 'invalid', message: 'The answer is too large: ask for fewer items or fields', code: '1006' },
  noTable: { kind: 'notFound', message: 'Table does not exist', code: '2004' },
  configuration: { kind: 'invalid', message: 'Invalid extension configuration', code: '2001' },
  account: { kind: 'invalid', message: 'Invalid extension configuration', code: '2002' },
  unreachable: { kind: 'failed', message: 'Failed to connect to the database', code: '5001' },
  overdue: { kind: 'unavailable', message: 'The query was ended: it took longer than its time limit', code: '5004' },
  abandoned: { kind: 'abandoned', message: 'The client has disconnected', code: undefined },
  notReady: { kind: 'failed', message: 'The table or view is not ready for this', code: '5003' },
} as const
