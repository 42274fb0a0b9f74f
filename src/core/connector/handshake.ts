/**
 * The permission handshake (docs/contract.md#permission-handshake): code 7001, and 7002 for a missing connection test.
 */
import { ServiceError } from '../error.ts'
import { type Permission, sameTargets } from './permission.ts'

/** Throws 7001 with all required permissions unless `sent` has exactly their targets. */
export function requireGrant(sent: readonly Permission[], required: readonly Permission[]): void {
  if (!sameTargets(sent, required)) throw grantMismatch(required)
}

export function grantMismatch(required: readonly Permission[]): ServiceError {
  return new ServiceError('invalid', 'Invalid extension permissions', {
    code: '7001',
    meta: { permissions: required },
  })
}

export function noConnectionTest(): ServiceError {
  return new ServiceError('invalid', 'The connector has no connection test', { code: '7002' })
}
