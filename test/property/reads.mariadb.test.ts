/** Reads on a real MariaDB against an oracle in memory. */
import { mariadbDatabase } from './support/database.ts'
import { describeReads } from './support/reads.ts'

describeReads(mariadbDatabase)
