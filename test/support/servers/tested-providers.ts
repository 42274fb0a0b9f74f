/**
 * The providers that tests of every provider ask: in the quick tier one of each family stands for it, and on the Worker PostgreSQL for
 * both, since a database of either family is asked the same from there as from Node.
 */
import { inject } from 'vitest'
import { type SqlProvider, sqlProviders } from '../../../src/core/sql/address.ts'
import { effort } from '../run/effort.ts'

const inQuick: readonly SqlProvider[] = inject('served').platform === 'workerd' ? ['postgres'] : ['postgres', 'mariadb']

export const testedProviders: readonly SqlProvider[] = effort() === 'full' ? sqlProviders : inQuick

/** In the quick tier those that one case of creating, reading, changing and deleting is enough for. */
export const otherProviders: readonly SqlProvider[] = sqlProviders.filter((name) => !testedProviders.includes(name))
