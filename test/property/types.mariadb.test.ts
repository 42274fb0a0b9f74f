/** Every type of MariaDB, by the law of types. */
import { describeTypes } from './support/types/laws.ts'
import { mariadbTypeDatabase } from './support/types/source.ts'

describeTypes(mariadbTypeDatabase)
