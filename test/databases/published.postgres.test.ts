/** Published schemas of PostgreSQL. */
import { startPublishedPostgres } from './published/served.ts'
import { describeSchemas } from './published/suite.ts'

describeSchemas('postgres', startPublishedPostgres)
