/** The providers that tests of every provider ask: in the quick tier one of each family stands for it. */
import { type SqlProvider, sqlProviders } from '../../../src/core/sql/address.ts'
import { effort } from '../run/effort.ts'

export const testedProviders: readonly SqlProvider[] = effort() === 'full' ? sqlProviders : ['postgres', 'mariadb']

/** In the quick tier those that one case of creating, reading, changing and deleting is enough for. */
export const otherProviders: readonly SqlProvider[] = sqlProviders.filter((name) => !testedProviders.includes(name))
