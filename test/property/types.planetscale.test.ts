/** Every type of MariaDB by PlanetScale's HTTP protocol, by the law of types. */
import { describeTypes } from './support/types/laws.ts'
import { planetscaleTypeDatabase } from './support/types/source.ts'

describeTypes(planetscaleTypeDatabase)
