/** A database that is never asked, because its host is a private one: HTTP drivers make another host of what they are given. */
import { SqlFault } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports.ts'
import { PrivateHostError } from '../private-hosts.ts'

export function openRefused(): SqlDriver {
  const refuse = async (): Promise<never> => {
    throw new SqlFault('the address is not allowed', { state: '08004', cause: new PrivateHostError() })
  }
  return { query: refuse, batch: refuse, async close() {} }
}
