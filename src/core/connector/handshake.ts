/**
 * The permission handshake (docs/contract.md#permission-handshake): code 7001, and 7002 for a missing connection test.
 */
import { codedError, type ServiceError } from '../error.ts'
import { type Permission, sameTargets } from './permission.ts'

/** Throws 7001 with all required permissions unless `sent` has exactly their targets. */
export function requireGrant(sent: readonly Permission[], required: readonly Permission[]): void {
  if (!sameTargets(sent, required)) throw grantMismatch(required)
}

export function grantMismatch(required: readonly Permission[]): ServiceError {
  return codedError('7001', { meta: { permissions: required } })
}

export function noConnectionTest(): ServiceError {
  return codedError('7002')
}
