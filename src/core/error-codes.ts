/**
 * Every kind of error with its status, and every `code` of an error response with its kind and message
 * (docs/contract.md#errors). docs/errors.md is generated from these lists.
 */

/** The HTTP status of each kind of error. */
export const statusOf = {
  badRequest: 400,
  unauthenticated: 401,
  paymentRequired: 402,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  /** The item is not as the caller has read it. */
  preconditionFailed: 412,
  tooLarge: 413,
  unsupportedMediaType: 415,
  rangeNotSatisfiable: 416,
  invalid: 422,
  throttled: 429,
  /** A migration that does not fit the model or the data; its author must correct it, whatever the status. */
  unfit: 500,
  failed: 500,
  unavailable: 503,
  /** The client has disconnected: the error is only logged. */
  abandoned: 499,
} as const

export type ErrorKind = keyof typeof statusOf

type CodedError = {
  readonly kind: ErrorKind
  /** Null where each error of the code says its own reason. */
  readonly message: string | null
}

/** The outermost message of errors in an item query. */
export const QUERY_FAILED = 'Failed to execute query'

/** Outermost messages that the specification gives word by word: they say nothing of what is nested. */
export const exactMessages: ReadonlySet<string> = new Set([
  'Query failed',
  'Failed to connect to data source with the provided configuration',
  'The extension could not be started',
  'Invalid extension response',
  'Invalid extension configuration',
  'Invalid extension permissions',
])

const migration = { kind: 'unfit', message: null } as const
const overLimit = {
  kind: 'paymentRequired',
  message: 'The requested operation would exceed licensed hard limits',
} as const

export const errorCodes = {
  '100': { kind: 'invalid', message: 'The data source rejected the query' },
  '1001': { kind: 'invalid', message: 'Value out of range' },
  '1002': { kind: 'invalid', message: 'Unique constraint failed' },
  '1003': { kind: 'invalid', message: 'Null constraint failed' },
  '1004': { kind: 'invalid', message: 'Foreign key constraint failed' },
  '1005': { kind: 'invalid', message: 'Check constraint failed' },
  '1006': { kind: 'invalid', message: 'The answer is too large: ask for fewer items or fields' },
  '2001': { kind: 'invalid', message: 'Invalid extension configuration' },
  '2002': { kind: 'invalid', message: 'Invalid extension configuration' },
  '2003': { kind: 'invalid', message: 'Invalid extension permissions' },
  '2004': { kind: 'notFound', message: 'Table does not exist' },
  '3001': migration,
  '3002': migration,
  '3003': migration,
  '3004': migration,
  '3005': migration,
  '3006': migration,
  '3007': migration,
  '3008': migration,
  '3009': migration,
  '3010': migration,
  '3011': migration,
  '3012': migration,
  '3013': migration,
  '3014': migration,
  '3015': { kind: 'conflict', message: null },
  '4000': { kind: 'invalid', message: QUERY_FAILED },
  '4009': { kind: 'invalid', message: QUERY_FAILED },
  '4010': { kind: 'invalid', message: QUERY_FAILED },
  '4013': { kind: 'invalid', message: QUERY_FAILED },
  '4014': { kind: 'invalid', message: QUERY_FAILED },
  '4091': { kind: 'conflict', message: 'A request with this Idempotency-Key is still running' },
  '4092': {
    kind: 'conflict',
    message: 'It was done, but your rights are others now, so its answer is not shown again',
  },
  '4093': {
    kind: 'conflict',
    message: 'Nobody knows whether the first request with this Idempotency-Key was done, so it is not done again',
  },
  '4094': { kind: 'conflict', message: 'The plan is out of date' },
  '4095': { kind: 'conflict', message: 'Introspect the source first' },
  '4096': { kind: 'conflict', message: 'It was done, but its answer was too long to be kept' },
  '4097': { kind: 'conflict', message: 'Access tests would fail' },
  '4120': { kind: 'preconditionFailed', message: 'Precondition failed' },
  '4221': { kind: 'invalid', message: 'This Idempotency-Key was sent with another request' },
  '4222': { kind: 'invalid', message: 'This would destroy data' },
  '5001': { kind: 'failed', message: 'Failed to connect to the database' },
  '5002': { kind: 'failed', message: 'Failed to connect to the database' },
  '5003': { kind: 'failed', message: 'The table or view is not ready for this' },
  '5004': { kind: 'unavailable', message: 'The query was ended: it took longer than its time limit' },
  '5005': { kind: 'unavailable', message: 'Other writes were in the way' },
  '5006': { kind: 'unavailable', message: 'The database takes no writes: it is read-only' },
  '5007': { kind: 'unavailable', message: 'The database is busy: no connection was free' },
  '5008': { kind: 'unavailable', message: 'The service is busy: other bodies and answers have taken its memory' },
  '6001': overLimit,
  '6002': overLimit,
  '6003': overLimit,
  '6004': overLimit,
  '6005': overLimit,
  '6006': overLimit,
  '6007': overLimit,
  '7001': { kind: 'invalid', message: 'Invalid extension permissions' },
  '7002': { kind: 'invalid', message: 'The connector has no connection test' },
} as const satisfies Readonly<Record<string, CodedError>>

export type ServiceErrorCode = keyof typeof errorCodes

/** The codes whose errors all have the message of the list. */
export type WordedCode = {
  [Code in ServiceErrorCode]: (typeof errorCodes)[Code]['message'] extends string ? Code : never
}[ServiceErrorCode]
