/**
 * Errors of a write program whose step found no row to continue with, or a row that violates a policy
 * (docs/contract.md#how-policies-act).
 */
import { ServiceError } from '../core/error.ts'
import { forbidden } from '../core/plan/names.ts'
import type { Assertion } from '../core/plan/plan.ts'
import { databaseError } from '../core/sql/database-error.ts'

/** Returns the error of a failed assertion. */
export function assertionError(assertion: Assertion): ServiceError {
  switch (assertion) {
    case 'forbidden':
      return forbidden()
    case 'invalid':
      return new ServiceError('invalid', 'Validation failed')
    case 'noRecord':
      return queryFailed(new ServiceError('notFound', 'No record found'))
    case 'noReference':
      return queryFailed(databaseError('foreignKey'))
  }
}

/** Wraps an error of a data source in the outer message `Query failed`. */
export function queryFailed(cause: ServiceError): ServiceError {
  return new ServiceError(cause.kind, 'Query failed', { cause })
}
