/**
 * A driver for a private host, which refuses every statement: HTTP drivers rewrite the host they are given, so it must
 * be checked first.
 */
import { SqlFault } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports.ts'
import { PrivateHostError } from '../private-hosts.ts'

export function openRefused(): SqlDriver {
  const refuse = async (): Promise<never> => {
    throw new SqlFault('the address is not allowed', { state: '08004', cause: new PrivateHostError() })
  }
  return { query: refuse, batch: refuse, async close() {} }
}
