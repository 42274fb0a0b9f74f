/** Published schemas of MariaDB. */
import { startPublishedMariadb } from './published/served.ts'
import { describeSchemas } from './published/suite.ts'

describeSchemas('mariadb', startPublishedMariadb)
