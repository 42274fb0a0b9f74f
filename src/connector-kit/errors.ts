/**
 * The errors that a connector throws to tell the caller what happened (docs/contract.md#what-the-caller-sees). Only the
 * message and the code in `monospace` leave the isolate; any other thrown value is reported as a fault of the
 * connector.
 */
import { ErrorCode } from '../core/connector/error-code.ts'

export { ErrorCode } from '../core/connector/error-code.ts'

export type ConnectorErrorOptions = { readonly cause?: unknown }

/** Base class. The message must be safe to show (see `cleanMessage`); `cause` is passed on. */
export abstract class ConnectorError extends Error {
  readonly monospace: { readonly code: number }

  constructor(code: number, message: string, options?: ConnectorErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.monospace = { code }
  }
}

/** A valid request that cannot be served, such as one without a required filter, or for a page beyond the window. */
export class QueryRejected extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.QueryRejected, message, options)
  }
}

/** A write was rejected: the value must be unique. */
export class UniqueConstraintViolation extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.UniqueConstraintViolation, message, options)
  }
}

/** A write was refused, since the item has no longer the values that `unchanged` of its request names. */
export class ItemChanged extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.ItemChanged, message, options)
  }
}

/** A write was rejected: a required value is missing. */
export class NullConstraintViolation extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.NullConstraintViolation, message, options)
  }
}

/** A write was rejected: a referenced item is missing, or still referenced. */
export class ForeignKeyConstraintViolation extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.ForeignKeyConstraintViolation, message, options)
  }
}

/** The configuration is wrong, and this is known without a request to the external system. */
export class InvalidConfiguration extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.InvalidConfiguration, message, options)
  }
}

/** The external system refuses the account: credentials rejected or expired, a scope missing, a plan exceeded. */
export class AccessDenied extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.AccessDenied, message, options)
  }
}

/** A declared collection no longer exists externally. */
export class CollectionNotFound extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.CollectionNotFound, message, options)
  }
}

/** The external system is unreachable, too slow, in maintenance, or has a temporary fault. */
export class ConnectionFailed extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.ConnectionFailed, message, options)
  }
}

/** The external system limits the rate of requests; use AccessDenied for a limit that only another plan lifts. */
export class RateLimited extends ConnectorError {
  constructor(message: string, options?: ConnectorErrorOptions) {
    super(ErrorCode.RateLimited, message, options)
  }
}
