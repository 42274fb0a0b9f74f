/**
 * Errors of connecting to a data source's database that its owner can correct in the configuration, in the words of
 * docs/contract.md#what-the-caller-sees. Not used for the system database, whose errors are internal.
 */
import type { ServiceError } from '../error.ts'
import { databaseError } from './database-error.ts'
import type { SqlFault } from './fault.ts'
import { judgesRow } from './postgres/explain.ts'

/** Returns undefined if the connection succeeded, or the database could not be reached. */
export function connectionError({ state, errno, routine, cause }: SqlFault): ServiceError | undefined {
  if (state === '08004') return databaseError('configuration', 'the host is a loopback, private or link-local address')
  if (state === '3D000' || errno === 1049) return databaseError('configuration', 'the database does not exist')
  if (state.startsWith('28') || (errno !== undefined && refusedAccounts.has(errno))) {
    return databaseError('account', 'the database refuses the user or the password')
  }
  if ((state === '42501' && !judgesRow(routine)) || (errno !== undefined && refusedRights.has(errno))) {
    return databaseError('account', 'the user lacks a right in the database')
  }
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (cause instanceof Error && withoutTls.test(cause.message)) {
    return databaseError('configuration', 'the server offers no TLS, which the configuration asks for')
  }
  if (certificates.test(code)) return databaseError('unreachable', 'the certificate of the server cannot be trusted')
  return undefined
}

const refusedAccounts: ReadonlySet<number> = new Set([1044, 1045, 1698, 1862, 3118])
const refusedRights: ReadonlySet<number> = new Set([1142, 1143, 1227, 1370])
const certificates = /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|ERR_TLS/
/** The messages of `pg` and `mysql2`. */
const withoutTls = /^(?:the )?server does not support (?:ssl connections|secure connection)/i
