/**
 * The one error class that all rooms share: a kind out of a closed list, a message that
 * is safe to show, and a `cause`. Only causes that are ServiceErrors themselves are shown to a caller.
 */
import { type ErrorKind, errorCodes, exactMessages, type ServiceErrorCode, type WordedCode } from './error-codes.ts'

export type ErrorDetail = {
  readonly cause?: unknown
  readonly code?: ServiceErrorCode
  readonly meta?: Readonly<Record<string, unknown>>
}

export class ServiceError extends Error {
  readonly kind: ErrorKind
  readonly code: ServiceErrorCode | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined

  constructor(kind: ErrorKind, message: string, detail: ErrorDetail = {}) {
    super(message, { cause: detail.cause })
    this.name = 'ServiceError'
    this.kind = kind
    this.code = detail.code
    this.meta = detail.meta
  }
}

/** Builds the error of a code, with the kind and message that the code has. */
export function codedError(code: WordedCode, detail: Omit<ErrorDetail, 'code'> = {}): ServiceError {
  const { kind, message } = errorCodes[code]
  return new ServiceError(kind, message, { ...detail, code })
}

/** The response body of an error (docs/contract.md#errors): `source` nests recursively, the innermost cause last. */
export type ErrorBody = {
  readonly message: string
  readonly source?: ErrorBody
  readonly code?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

/** The messages of an error, the outermost first, each by itself. */
export function messagesOf(error: ServiceError): readonly string[] {
  const { cause } = error
  return [error.message.toWellFormed(), ...(cause instanceof ServiceError ? messagesOf(cause) : [])]
}

/** `error` with one more message inside of the others that are shown. */
export function withReason(error: ServiceError, reason: string): ServiceError {
  const { kind, message, code, meta } = error
  const cause =
    error.cause instanceof ServiceError
      ? withReason(error.cause, reason)
      : new ServiceError(kind, reason, { cause: error.cause })
  return new ServiceError(kind, message, { cause, ...(code && { code }), ...(meta && { meta }) })
}

export function errorBody(error: ServiceError): ErrorBody {
  const { message, code, meta, cause } = error
  return {
    // Repeated input may contain half of a surrogate pair, or be cut in the middle of one.
    message: message.toWellFormed(),
    ...(cause instanceof ServiceError && { source: errorBody(cause) }),
    ...(code !== undefined && { code }),
    ...(meta !== undefined && { meta }),
  }
}

/** Like `errorBody`, and its message also says what is nested, for whoever reads nothing else. */
export function answeredBody(error: ServiceError): ErrorBody {
  const body = errorBody(error)
  return exactMessages.has(body.message) ? body : { ...body, message: messagesOf(error).join(': ') }
}

/**
 * Builds an error of several nested messages, outermost first, all of one kind: `nested('invalid', ['Failed to execute
 * query', 'filter.status._foo', 'is not an operator'])`.
 */
export function nested(
  kind: ErrorKind,
  messages: readonly [string, ...string[]],
  detail: ErrorDetail = {},
): ServiceError {
  const [message, ...rest] = messages
  const [next, ...others] = rest
  const cause = next === undefined ? detail.cause : nested(kind, [next, ...others], { cause: detail.cause })
  return new ServiceError(kind, message, { ...detail, cause })
}
