/** Foreign keys written as columns, as a conversation over PlanetScale's HTTP protocol. */
import { describe } from 'vitest'
import { mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { openBehindPlanetscale } from '../support/servers/planetscale-gateway.ts'
import { describeForeignKeys } from './foreign-keys.ts'

describe('behind PlanetScale', () => {
  describeForeignKeys(mariadbConversation, openBehindPlanetscale)
})
