/**
 * Errors of a write program whose step found no row to continue with, or a row that violates a policy
 * (docs/contract.md#how-policies-act).
 */
import { codedError, nested, ServiceError } from '../core/error.ts'
import { QUERY_FAILED } from '../core/error-codes.ts'
import { forbidden } from '../core/plan/names.ts'
import type { Plan, Step, Unmet } from '../core/plan/plan.ts'
import { queryFault } from '../core/query/parse.ts'
import { databaseError } from '../core/sql/database-error.ts'

/** Returns the error of a failed assertion of the plan. */
export function assertionError(unmet: Unmet, plan?: Plan): ServiceError {
  switch (unmet.assertion) {
    case 'differs': {
      const steps = plan?.kind === 'program' ? plan.steps : []
      const step = steps.find((one) => one.kind === 'agree' && one.number === unmet.number)
      return disagreement(step?.kind === 'agree' ? step : { path: 'body', reason: 'gives a column two values' })
    }
    case 'forbidden':
      return forbidden(unmet.refused)
    case 'left':
      return forbidden({ ...unmet.refused, hasLeft: true })
    case 'invalid':
      return new ServiceError('invalid', 'Validation failed')
    case 'noRecord':
      if (unmet.index !== undefined) {
        return nested('notFound', ['Query failed', `[${unmet.index}]`, 'No record found'])
      }
      return queryFailed(new ServiceError('notFound', 'No record found'))
    case 'changed':
      return codedError('4120', {
        cause: new ServiceError('preconditionFailed', 'The item has changed since it was read'),
      })
    case 'lost':
      return queryFailed(
        new ServiceError(
          'invalid',
          'the database has stored another key than was sent, or would no longer show the item',
        ),
      )
    case 'noValue':
      return queryFault('$ref', 'stands for no value: there is no such item, or you may not read that field of it')
    case 'noReference':
      return queryFailed(databaseError('foreignKey'))
    case 'outOfRange':
      return queryFailed(new OutOfRange(unmet.fieldId))
    case 'tooMany': {
      const meta = { matched: unmet.most + 1 }
      return nested('invalid', [QUERY_FAILED, 'max', `more than ${unmet.most} items match`], { code: '4013', meta })
    }
  }
}

/** The error of rows whose values differ from those that a step requires. */
export function disagreement({
  path,
  reason,
}: Pick<Extract<Step, { kind: 'agree' }>, 'path' | 'reason'>): ServiceError {
  return queryFault(path, reason)
}

/** The error of a field whose new value is out of range. */
export class OutOfRange extends ServiceError {
  readonly fieldId: string

  constructor(fieldId: string) {
    const { kind, message, code } = databaseError('range')
    super(kind, message, { ...(code && { code }) })
    this.fieldId = fieldId
  }
}

/** Wraps an error of a data source in the outer message `Query failed`. */
export function queryFailed(cause: ServiceError): ServiceError {
  return new ServiceError(cause.kind, 'Query failed', { cause })
}
