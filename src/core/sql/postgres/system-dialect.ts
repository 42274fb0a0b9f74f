/**
 * The dialect of the system database. An unreachable data source is an error 500, but without the system database the service
 * itself is unavailable.
 */
import { systemUnreached } from '../database-error.ts'
import { isUnreached, type SqlFault } from '../fault.ts'
import { postgres } from './dialect.ts'

export const systemDialect = {
  ...postgres,
  explain: (fault: SqlFault) => (isUnreached(fault) ? systemUnreached(fault) : postgres.explain(fault)),
}
