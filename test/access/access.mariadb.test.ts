/** What callers may see and do on a real MariaDB: agreement with naive rules, non-interference, and the matrix of leaks. */
import { mariadbDatabase } from '../property/support/database.ts'
import { describeAccess } from './support/access.ts'

describeAccess(mariadbDatabase)
