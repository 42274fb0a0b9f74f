/**
 * Maps faults of connectors to ServiceErrors by the table docs/contract.md#what-the-caller-sees, without the outer
 * message of the route. The connector's own message is nested innermost.
 */

import { ServiceError } from '../error.ts'
import { truncate } from '../message-text.ts'
import { ErrorCode } from './error-code.ts'

/** A thrown error: `code` is the safe integer in its `monospace` property; `denied` takes precedence over it. */
export type ThrownError = { readonly message: string; readonly code: number | null; readonly denied: boolean }

/** An error thrown by introspect, query or testConnection. */
export function handlerFault({ message, code, denied }: ThrownError): ServiceError {
  if (denied) return extensionError(permissionsRefused, message)
  return extensionError(answers.get(code) ?? unknownFault, message)
}

/** An error thrown by preflight or setup: the data source cannot be started as configured. */
export function startFault({ message, code, denied }: ThrownError): ServiceError {
  if (denied) return extensionError(permissionsRefused, message)
  const isOurs = code === ErrorCode.InvalidConfiguration || code === ErrorCode.AccessDenied
  return extensionError(isOurs ? (answers.get(code) ?? configurationRefused) : configurationRefused, message)
}

/** The module could not be loaded, or a request at its module scope was refused. */
export function loadFault({ message, denied }: { readonly message: string; readonly denied: boolean }): ServiceError {
  return extensionError(
    denied ? permissionsRefused : { kind: 'failed', message: 'The connector file could not be loaded' },
    message,
  )
}

/** The isolate ended during the call. */
export function endedFault(reason: 'time' | 'memory' | 'crash'): ServiceError {
  const cause = new ServiceError('failed', ends[reason])
  return new ServiceError('failed', unknownFault.message, { cause })
}

const ends = {
  time: 'the extension took too long to answer and was ended',
  memory: 'the extension used too much memory and was ended',
  crash: 'the extension ended before it answered',
} as const

/** The connector does not implement the protocol method. */
export function missingMethod(): ServiceError {
  return new ServiceError('failed', 'Unsupported operation: a protocol method the extension does not implement')
}

/** The connector's answer violates the protocol (docs/contract.md#breaches-of-the-protocol). */
export function invalidResponse(...details: readonly [string, ...string[]]): ServiceError {
  const cause = details.reduceRight<ServiceError | undefined>(
    (inner, message) => new ServiceError('failed', message, { cause: inner }),
    undefined,
  )
  return new ServiceError('failed', 'Invalid extension response', { cause })
}

type Answer = { readonly kind: 'failed' | 'invalid' | 'notFound'; readonly message: string; readonly code?: string }

const unknownFault: Answer = { kind: 'failed', message: 'Failed to query the database' }
const configurationRefused: Answer = { kind: 'invalid', message: 'Invalid extension configuration' }
const permissionsRefused: Answer = {
  kind: 'invalid',
  message: 'Invalid extension permissions',
  code: String(ErrorCode.InvalidPermissions),
}

/** By the codes that connectors may throw. */
const answers = new Map<number | null, Answer>(
  (
    [
      [ErrorCode.QueryRejected, 'invalid', 'The data source rejected the query'],
      [ErrorCode.UniqueConstraintViolation, 'invalid', 'Unique constraint failed'],
      [ErrorCode.NullConstraintViolation, 'invalid', 'Null constraint failed'],
      [ErrorCode.ForeignKeyConstraintViolation, 'invalid', 'Foreign key constraint failed'],
      [ErrorCode.InvalidConfiguration, 'invalid', configurationRefused.message],
      [ErrorCode.AccessDenied, 'invalid', configurationRefused.message],
      [ErrorCode.CollectionNotFound, 'notFound', 'Table does not exist'],
      [ErrorCode.ConnectionFailed, 'failed', 'Failed to connect to the database'],
      [ErrorCode.RateLimited, 'failed', 'Failed to connect to the database'],
    ] as const
  ).map(([code, kind, message]) => [code, { kind, message, code: String(code) }]),
)

export const MAX_MESSAGE = 1_000

/** A connector's message is shown to callers, limited in length. */
export function extensionError({ kind, message, code }: Answer, own: string): ServiceError {
  const cause = new ServiceError(kind, `the extension returned an error: ${truncate(own, MAX_MESSAGE)}`)
  return new ServiceError(kind, message, { cause, ...(code !== undefined && { code }) })
}
