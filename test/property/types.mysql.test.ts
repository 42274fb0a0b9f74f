/** Every type of MariaDB by the provider of MySQL, by the law of types. */
import { describeTypes } from './support/types/laws.ts'
import { mysqlTypeDatabase } from './support/types/source.ts'

describeTypes(mysqlTypeDatabase)
