/** Errors of mysql2 as SqlFaults. */
import { SqlFault, type SqlFaultDetail } from '../../../core/sql/fault.ts'
import { privateHostFault } from '../private-host.ts'

type DriverError = Error & {
  readonly code?: string
  readonly errno?: number
  readonly sqlState?: string
  readonly fatal?: boolean
}

/** `position` is the index of the failed statement in a batch. Returns errors that are no errors of the driver unchanged. */
export function mysqlFault(error: unknown, position?: number): unknown {
  if (!(error instanceof Error) || own.has(error.name)) return error
  const refusal = privateHostFault(error)
  if (refusal !== undefined) return refusal
  const place = position === undefined ? {} : { position }
  const { message, code, errno, sqlState, fatal }: DriverError = error
  if (sqlState !== undefined && errno !== undefined) {
    return new SqlFault(message, { state: sqlState, errno, cause: error, ...place, ...namesIn(message) })
  }
  if (code !== undefined && lost.has(code)) return new SqlFault(message, { state: '08006', cause: error, ...place })
  return code !== undefined || fatal === true
    ? new SqlFault(message, { state: '08000', cause: error, ...place })
    : error
}

/** By their names: they may be of another copy of the class. */
const own: ReadonlySet<string> = new Set(['SqlFault', 'ServiceError'])

/** The fault that `onRows` of the statement at `position` throws. By its name: it may be of another copy of the class. */
export function rowHandlerFault(error: unknown, position: number): unknown {
  if (!(error instanceof Error) || error.name !== 'SqlFault') return error
  const { message, cause } = error
  return new SqlFault(message, { ...(error as SqlFault), cause, position })
}

/** The constraint and the column that a message of the server names, which it has nowhere else. */
export function namesIn(message: string): Pick<SqlFaultDetail, 'constraint' | 'column' | 'table'> {
  const constraint = message.match(/for key '([^']+)'$|CONSTRAINT `([^`]+)`/)
  const column = message.match(/(?:column|field) (?:'([^']+)'|(?:`[^`]+`\.){2}`([^`]+)`)/i)
  const name = constraint?.[1] ?? constraint?.[2]
  const table = message.match(/CONSTRAINT `[^`]+` failed for `[^`]+`\.`([^`]+)`/)?.[1]
  return {
    ...(table !== undefined && { table }),
    ...(name !== undefined && { constraint: name }),
    ...(column && { column: column[1] ?? column[2] ?? '' }),
  }
}

/** What a promise of the driver rejects with. What has no code could not be read: the connection has ended by it. */
export function unreadable(error: Error & { readonly code?: string }): never {
  throw Object.assign(error, { code: error.code ?? UNREADABLE })
}

const UNREADABLE = 'PROTOCOL_CONNECTION_LOST'
const lost = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE'])
