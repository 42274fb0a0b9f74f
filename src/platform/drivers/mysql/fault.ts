/** Errors of mysql2 as SqlFaults. */
import { SqlFault } from '../../../core/sql/fault.ts'
import { privateHostFault } from '../private-host.ts'

type DriverError = Error & {
  readonly code?: string
  readonly errno?: number
  readonly sqlState?: string
  readonly fatal?: boolean
}

/** `position` is the index of the failed statement in a batch. Returns errors that are no errors of the driver unchanged. */
export function mysqlFault(error: unknown, position?: number): unknown {
  if (!(error instanceof Error) || error instanceof SqlFault) return error
  const refusal = privateHostFault(error)
  if (refusal !== undefined) return refusal
  const place = position === undefined ? {} : { position }
  const { message, code, errno, sqlState, fatal }: DriverError = error
  if (sqlState !== undefined && errno !== undefined) {
    const constraint = message.match(/for key '([^']+)'$|CONSTRAINT `([^`]+)`/)
    const column = message.match(/(?:column|field) '([^']+)'/i)
    return new SqlFault(message, {
      state: sqlState,
      errno,
      cause: error,
      ...place,
      ...(constraint !== null && { constraint: constraint[1] ?? constraint[2] }),
      ...(column !== null && { column: column[1] }),
    })
  }
  if (code !== undefined && lost.has(code)) return new SqlFault(message, { state: '08006', cause: error, ...place })
  return code !== undefined || fatal === true
    ? new SqlFault(message, { state: '08000', cause: error, ...place })
    : error
}

const lost = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE'])
