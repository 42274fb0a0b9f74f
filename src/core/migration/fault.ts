/**
 * The faults of well-formed migrations, each with a code, so that programs can tell them apart. A database's rejection
 * of a change is mapped to the same list.
 */
import { type ErrorDetail, nested, ServiceError } from '../error.ts'
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

/** Whether the rows of the database are in the way. */
export function isDataFault({ code }: ServiceError): boolean {
  return code === codes.data
}

export const MIGRATION_FAILED = 'Failed to execute the migration'

/** Wraps `cause`, the fault of one operation, into the error of the whole migration. */
export function migrationFault(operation: number, cause: ServiceError): ServiceError {
  return nested(cause.kind, [MIGRATION_FAILED, `operations[${operation}]`], { cause })
}
