/**
 * Maps faults of connectors to ServiceErrors by the table docs/contract.md#what-the-caller-sees, without the outer
 * message of the route. The connector's own message is nested innermost.
 */

import { ServiceError } from '../error.ts'
import { type ErrorKind, errorCodes, type ServiceErrorCode } from '../error-codes.ts'
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

type Answer = { readonly kind: ErrorKind; readonly message: string; readonly code?: ServiceErrorCode }

const unknownFault: Answer = { kind: 'failed', message: 'Failed to query the database' }
const configurationRefused: Answer = errorCodes[ErrorCode.InvalidConfiguration]
const permissionsRefused = answerOf(ErrorCode.InvalidPermissions)

/** By the codes that connectors may throw. */
const answers: ReadonlyMap<number | null, Answer> = new Map(
  [
    ErrorCode.QueryRejected,
    ErrorCode.UniqueConstraintViolation,
    ErrorCode.NullConstraintViolation,
    ErrorCode.ForeignKeyConstraintViolation,
    ErrorCode.InvalidConfiguration,
    ErrorCode.AccessDenied,
    ErrorCode.CollectionNotFound,
    ErrorCode.ItemChanged,
    ErrorCode.ConnectionFailed,
    ErrorCode.RateLimited,
  ].map((code) => [code, answerOf(code)]),
)

function answerOf(code: Exclude<ErrorCode, -32601 | -32603>): Answer {
  const text = `${code}` as const
  return { ...errorCodes[text], code: text }
}

export const MAX_MESSAGE = 1_000

/** A connector's message is shown to callers, limited in length. */
function extensionError({ kind, message, code }: Answer, own: string): ServiceError {
  const cause = new ServiceError(kind, `the extension returned an error: ${truncate(own, MAX_MESSAGE)}`)
  return new ServiceError(kind, message, { cause, ...(code !== undefined && { code }) })
}
