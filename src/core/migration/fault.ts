/**
 * The faults of well-formed migrations, each with a code, so that programs can tell them apart. A database's rejection
 * of a change is mapped to the same list.
 */
import { nested, ServiceError } from '../error.ts'

export type MigrationFault = keyof typeof codes

const codes = {
  idInUse: { code: '3001' },
  nameInUse: { code: '3002' },
  unknown: { code: '3003' },
  usedByPolicy: { code: '3004' },
  inUse: { code: '3005' },
  relation: { code: '3006' },
  index: { code: '3007' },
  default: { code: '3008' },
  conversion: { code: '3009' },
  unsupported: { code: '3010' },
  protected: { code: '3011' },
  namespace: { code: '3012' },
  data: { code: '3013' },
  introspectFirst: { code: '3014' },
} as const

export function invalidOperation(fault: MigrationFault, reason: string, cause?: unknown): ServiceError {
  return new ServiceError('unfit', reason, { cause, ...codes[fault] })
}

export const MIGRATION_FAILED = 'Failed to execute the migration'

/** Wraps `cause`, the fault of one operation, into the error of the whole migration. */
export function migrationFault(operation: number, cause: ServiceError): ServiceError {
  return nested(cause.kind, [MIGRATION_FAILED, `operations[${operation}]`], { cause })
}
