/** Every type of PostgreSQL, by the law of types. */
import { describeTypes } from './support/types/laws.ts'
import { postgresTypeDatabase } from './support/types/source.ts'

describeTypes(postgresTypeDatabase)
