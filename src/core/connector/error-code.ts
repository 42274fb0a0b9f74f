/**
 * Error codes of connectors (docs/contract.md#what-the-caller-sees), under the names of their classes. Only the engine
 * raises the last three; thrown by a connector, they count as a plain error.
 */
export const ErrorCode = {
  QueryRejected: 100,
  UniqueConstraintViolation: 1002,
  NullConstraintViolation: 1003,
  ForeignKeyConstraintViolation: 1004,
  InvalidConfiguration: 2001,
  AccessDenied: 2002,
  CollectionNotFound: 2004,
  ItemChanged: 4120,
  ConnectionFailed: 5001,
  RateLimited: 5002,
  InvalidPermissions: 2003,
  MethodNotFound: -32601,
  InternalError: -32603,
} as const

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]
