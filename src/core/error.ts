/**
 * The one error that crosses rooms. A kind out of a closed list (handlers turn it into a status), a message that is
 * safe to show, and a `cause`. Only causes that are ServiceErrors themselves are ever shown to a caller.
 */
/** `unfit`: a migration that does not fit the model or the data, which is its author's fault whatever its status says. */
export type ErrorKind =
  | 'badRequest'
  | 'unauthenticated'
  | 'paymentRequired'
  | 'forbidden'
  | 'notFound'
  | 'methodNotAllowed'
  | 'conflict'
  | 'tooLarge'
  | 'unsupportedMediaType'
  | 'invalid'
  | 'throttled'
  | 'unfit'
  | 'failed'
  | 'unavailable'
  /** Whoever asked has gone: nobody gets this answer, it only stands in the log. */
  | 'abandoned'

export type ErrorDetail = {
  readonly cause?: unknown
  /** A stable text of digits, see docs/errors.md. */
  readonly code?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

export class ServiceError extends Error {
  readonly kind: ErrorKind
  readonly code: string | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined

  constructor(kind: ErrorKind, message: string, detail: ErrorDetail = {}) {
    super(message, { cause: detail.cause })
    this.name = 'ServiceError'
    this.kind = kind
    this.code = detail.code
    this.meta = detail.meta
  }
}

/** The answer's body (docs/contract.md#errors): `source` nests recursively, the innermost cause last. */
export type ErrorBody = {
  readonly message: string
  readonly source?: ErrorBody
  readonly code?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

export function errorBody(error: ServiceError): ErrorBody {
  const { message, code, meta, cause } = error
  return {
    // A name that it repeats may hold half a surrogate pair, or have been cut in the middle of one.
    message: message.toWellFormed(),
    ...(cause instanceof ServiceError && { source: errorBody(cause) }),
    ...(code !== undefined && { code }),
    ...(meta !== undefined && { meta }),
  }
}

/**
 * An error whose story is told by several nested messages, outermost first, all of one kind:
 * `nested('invalid', ['Failed to execute query', 'filter.status._foo', 'is not an operator'])`.
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
