/** The error of one operation of a batch, and its form in the answer: with the place in the batch, and the operation's index. */
import { nested, ServiceError } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'

/** Has all that its error has; `withOperation` makes the caller's error of it. */
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

/** `error` as that of an operation, if it is one that callers may see. */
export function faultOf(error: unknown, operation: number): unknown {
  return error instanceof ServiceError && !(error instanceof OperationFault)
    ? new OperationFault(error, operation)
    : error
}

/** The place of a fault of a request is one in its operation. */
export function withOperation(error: ServiceError, operation: number): ServiceError {
  const { kind, message, cause, code } = error
  const detail = { ...(code && { code }), meta: { ...error.meta, operation } }
  if (kind === 'notFound' && cause instanceof ServiceError && cause.cause instanceof ServiceError) {
    // Of a list, the item that is not there.
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
