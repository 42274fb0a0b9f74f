/** Errors of a database as callers see them. */
import { ServiceError } from '../../core/error.ts'
import type { Plan } from '../../core/plan/plan.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { failedAssertion } from '../../core/sql/write/steps.ts'
import { assertionError, queryFailed } from '../assertion-error.ts'

/** Throws database errors in the words of docs/contract.md#what-the-caller-sees, without the message of the driver. */
export function throwRefused(dialect: Dialect): (cause: unknown) => never {
  return (cause) => {
    throw cause instanceof SqlFault ? refused(dialect, cause, undefined) : cause
  }
}

/** `plan` is the failed plan, if known. */
export function refused(dialect: Dialect, fault: SqlFault, plan: Plan | undefined): ServiceError {
  const unmet = failedAssertion(fault.message)
  if (unmet !== undefined) return assertionError(unmet, plan)
  const explained = dialect.explain(fault)
  if (explained === undefined)
    return queryFailed(new ServiceError('failed', 'Failed to query the database', { cause: fault }))
  // The SqlFault is not shown to callers; code that knows the model reads the constraint's name from it.
  const { kind, message, code, meta, cause = fault } = explained
  return queryFailed(new ServiceError(kind, message, { cause, ...(code && { code }), ...(meta && { meta }) }))
}
