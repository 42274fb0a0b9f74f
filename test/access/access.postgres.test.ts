/** What callers may see and do on a real Postgres: agreement with naive rules, non-interference, and the matrix of leaks. */
import { postgresDatabase } from '../property/support/database.ts'
import { describeAccess } from './support/access.ts'

describeAccess(postgresDatabase)
