/** The error of one operation of a batch, and its form in the answer: with its path in the batch, and the operation's index. */
import { nested, ServiceError } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'

/** Has all members of its fault; `withOperation` converts it for the caller. */
export class OperationFault extends ServiceError {
  readonly operation: number
  readonly fault: ServiceError

  constructor(fault: ServiceError, operation: number) {
    const { kind, message, cause, code, meta } = fault
    super(kind, message, { cause, ...(code && { code }), ...(meta && { meta }) })
    this.operation = operation
    this.fault = fault
  }
}

/** Wraps `error` with its operation, if callers may see it. */
export function faultOf(error: unknown, operation: number): unknown {
  return error instanceof ServiceError && !(error instanceof OperationFault)
    ? new OperationFault(error, operation)
    : error
}

/** Prefixes the path of a request's fault with that of its operation. */
export function withOperation(error: ServiceError, operation: number): ServiceError {
  const { kind, message, cause, code } = error
  const detail = { ...(code && { code }), meta: { ...error.meta, operation } }
  if (kind === 'notFound' && cause instanceof ServiceError && cause.cause instanceof ServiceError) {
    // For a list, the index of the missing item.
    return nested(kind, [message, `operations[${operation}].data${cause.message}`, cause.cause.message], detail)
  }
  if (message !== QUERY_FAILED || kind !== 'invalid' || !(cause instanceof ServiceError)) {
    return new ServiceError(kind, message, { cause, ...detail })
  }
  const { message: place, cause: reason } = cause
  const path = place === 'body' || place === 'query' ? `operations[${operation}]` : `operations[${operation}].${place}`
  const inner = reason instanceof ServiceError ? reason : undefined
  return nested(kind, inner === undefined ? [message, path] : [message, path, inner.message], {
    ...detail,
    ...(inner?.cause !== undefined && { cause: inner.cause }),
  })
}
