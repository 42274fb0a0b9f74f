/** Aggregates on a real MariaDB against a fold over the same rows. */
import { mariadbDatabase } from './support/database.ts'
import { describeFolds } from './support/folds.ts'

describeFolds(mariadbDatabase)
