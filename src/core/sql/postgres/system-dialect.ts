/**
 * The dialect of the system database, without which the service is unavailable; an unreachable source is only a 500.
 */
import { systemUnreached } from '../database-error.ts'
import { isUnreached, type SqlFault } from '../fault.ts'
import { postgres } from './dialect.ts'

export const systemDialect = {
  ...postgres,
  explain: (fault: SqlFault) => (isUnreached(fault) ? systemUnreached(fault) : postgres.explain(fault)),
}
