/** Every type of PostgreSQL by Neon's HTTP protocol, by the law of types. */
import { describeTypes } from './support/types/laws.ts'
import { neonTypeDatabase } from './support/types/source.ts'

describeTypes(neonTypeDatabase)
