/** Reads on a real Postgres against an oracle in memory. */
import { postgresDatabase } from './support/database.ts'
import { describeReads } from './support/reads.ts'

describeReads(postgresDatabase)
