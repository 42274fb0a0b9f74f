/** The outer messages of errors that a data source causes while it is tested. */
import { isStartFailure } from '../../core/connector/activity.ts'
import { ServiceError } from '../../core/error.ts'

export const UNTESTED = 'Failed to connect to data source with the provided configuration'

/**
 * Adds an outer message to errors of testing a source; failed starts keep their own (docs/contract.md#failed-starts).
 */
export async function withMessage<T>(message: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof ServiceError) || isStartFailure(cause)) throw cause
    throw new ServiceError(cause.kind, message, { cause })
  }
}

/** Replaces the message of a failed start by the test route's message as well. */
export async function untested<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw cause instanceof ServiceError ? asUntested(cause) : cause
  }
}

function asUntested(error: ServiceError): ServiceError {
  if (!isStartFailure(error) || !(error.cause instanceof ServiceError)) return error
  return new ServiceError(error.kind, UNTESTED, { cause: error.cause })
}
