/** Reads on real databases whose texts ignore case and accents, or blanks at the end, against an oracle in memory. */
import { looseDatabase, mariadbDatabase, withCollation } from './support/database.ts'
import { describeReads } from './support/reads.ts'

describeReads(withCollation(mariadbDatabase, 'utf8mb4_general_ci'))
describeReads(withCollation(mariadbDatabase, 'utf8mb4_bin'))
describeReads(looseDatabase)
