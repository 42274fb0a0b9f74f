/** Every type of the embedded database, by the law of types. */
import { describeTypes } from './support/types/laws.ts'
import { embeddedTypeDatabase } from './support/types/source.ts'

describeTypes(embeddedTypeDatabase)
