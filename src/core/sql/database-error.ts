/** The errors of docs/contract.md#what-the-caller-sees: one code per reason, the same for all databases. */
import { codedError, ServiceError } from '../error.ts'
import { errorCodes, type WordedCode } from '../error-codes.ts'

export type DatabaseErrorReason = keyof typeof codes

const codes = {
  range: '1001',
  unique: '1002',
  null: '1003',
  foreignKey: '1004',
  check: '1005',
  tooLarge: '1006',
  rejected: '100',
  configuration: '2001',
  account: '2002',
  noTable: '2004',
  unreachable: '5001',
  notReady: '5003',
  overdue: '5004',
  blocked: '5005',
  readOnly: '5006',
  busy: '5007',
} as const satisfies Readonly<Record<string, WordedCode>>

/** The code of a write that lost against concurrent writes. */
export const blockedCode = codes.blocked
/** Reasons after which a request may be retried, and the seconds to wait. */
const retried: ReadonlySet<DatabaseErrorReason> = new Set(['blocked', 'busy'])
const PAUSE = 1

/** `detail` is nested if it helps the caller. */
export function databaseError(reason: DatabaseErrorReason, detail?: string): ServiceError {
  const code = codes[reason]
  if (retried.has(reason)) return codedError(code, { meta: { retryAfter: PAUSE } })
  return codedError(code, { cause: detail === undefined ? undefined : new ServiceError(errorCodes[code].kind, detail) })
}

/** The error of a request that could not reach the system database. */
export function systemUnreached(cause?: unknown): ServiceError {
  return new ServiceError('unavailable', 'The system database cannot be reached', { cause })
}

/** The error of a statement that was canceled because its client has disconnected. */
export function disconnectedError(): ServiceError {
  return new ServiceError('abandoned', 'The client has disconnected')
}
