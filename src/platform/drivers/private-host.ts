/** The error for a data source at a private host, the same for every driver. */
import { SqlFault } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { isPrivateHostError, PrivateHostError } from '../private-hosts.ts'

/** A driver that refuses every statement: HTTP drivers rewrite the host they are given, so it must be checked first. */
export function openRefused(): SqlDriver {
  const refuse = () => Promise.reject(faultOf(new PrivateHostError()))
  return { query: refuse, batch: refuse, async close() {} }
}

/** Returns undefined for any other error. */
export function privateHostFault(error: unknown): SqlFault | undefined {
  return isPrivateHostError(error) ? faultOf(error) : undefined
}

function faultOf(cause: unknown): SqlFault {
  return new SqlFault('the address is not allowed', { state: '08004', cause })
}
