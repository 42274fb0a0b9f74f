/**
 * A step of a write program found no row to go on with, or one that must not be as it is
 * (docs/contract.md#how-policies-act).
 */
import { ServiceError } from '../core/error.ts'
import { forbidden } from '../core/plan/names.ts'
import type { Assertion } from '../core/plan/plan.ts'
import { databaseError } from '../core/sql/database-error.ts'

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

/** The outer message of what goes wrong inside a data source. */
export function queryFailed(cause: ServiceError): ServiceError {
  return new ServiceError(cause.kind, 'Query failed', { cause })
}
