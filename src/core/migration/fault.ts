/**
 * The faults of well-formed migrations, each with a code, so that programs can tell them apart. A database's rejection
 * of a change is mapped to the same list.
 */
import { type ErrorDetail, ServiceError } from '../error.ts'
import type { ServiceErrorCode } from '../error-codes.ts'

export type MigrationFault = keyof typeof codes

const codes = {
  idInUse: '3001',
  nameInUse: '3002',
  unknown: '3003',
  usedByPolicy: '3004',
  inUse: '3005',
  relation: '3006',
  index: '3007',
  default: '3008',
  conversion: '3009',
  unsupported: '3010',
  protected: '3011',
  namespace: '3012',
  data: '3013',
  introspectFirst: '3014',
} as const satisfies Readonly<Record<string, ServiceErrorCode>>

export function invalidOperation(
  fault: MigrationFault,
  reason: string,
  detail: Omit<ErrorDetail, 'code'> = {},
): ServiceError {
  return new ServiceError('unfit', reason, { ...detail, code: codes[fault] })
}

/** True if rows of the database prevent the change. */
export function isDataFault({ code }: ServiceError): boolean {
  return code === codes.data
}

export const MIGRATION_FAILED = 'Failed to execute the migration'

/**
 * The error of a whole migration: `Failed to execute the migration` > `operations[i]` > the fault of that operation, with
 * `meta.field` if the values or the type of a field prevent the change.
 */
export class FailedMigration extends ServiceError {
  readonly operation: number
  readonly reason: ServiceError

  constructor(operation: number, reason: ServiceError, subject?: string | undefined) {
    const isOfValues = reason.code === codes.data || reason.code === codes.conversion
    const known = subject !== undefined && isOfValues ? withField(reason, subject) : reason
    const cause = new ServiceError(reason.kind, `operations[${operation}]`, { cause: known })
    super(reason.kind, MIGRATION_FAILED, { cause })
    this.operation = operation
    this.reason = reason
  }
}

function withField({ kind, message, code, meta, cause }: ServiceError, field: string): ServiceError {
  return new ServiceError(kind, message, { cause, ...(code && { code }), meta: { ...meta, field } })
}
