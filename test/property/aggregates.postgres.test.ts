/** Aggregates on a real Postgres against a fold over the same rows. */
import { postgresDatabase } from './support/database.ts'
import { describeFolds } from './support/folds.ts'

describeFolds(postgresDatabase)
