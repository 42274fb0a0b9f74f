/** The dialect of the system database: of a source it is 500 that it is away, but without this one the service is away itself. */
import { systemUnreached } from '../database-error.ts'
import { isUnreached, type SqlFault } from '../fault.ts'
import { postgres } from './dialect.ts'

export const systemDialect = {
  ...postgres,
  explain: (fault: SqlFault) => (isUnreached(fault) ? systemUnreached(fault) : postgres.explain(fault)),
}
