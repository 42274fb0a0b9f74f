/** Who gives a policy whose condition leads through a junction reads the junction as well. */
import { expect, it } from 'vitest'
import { canGrant, grantorOf } from '../../../src/core/access/delegation.ts'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { linkedFilms } from '../../support/data/many-to-many.ts'

const model = linkedFilms()
const policy = (collections: Record<string, unknown>) => parsePolicy({ collections }, model)
const all = { read: 'all' }

it.each([
  ['all of it', { links: all, actors: all }, true],
  ['the link and no more', { links: { read: { fields: ['actor'] } }, actors: all }, true],
  ['nothing of the junction', { actors: all }, false],
  ['of the junction not where it leads', { links: { read: { fields: ['film'] } }, actors: all }, false],
  ['of the junction some rows', { links: { read: { filter: { filmId: { _eq: 1 } } } }, actors: all }, false],
  ['nothing of the other side', { links: all }, false],
])('reading %s', (_name, held, expected) => {
  const rights = { kind: 'policies', userId: undefined, roleIds: [], entitlements: new Set<never>() } as const
  const grantor = grantorOf({ ...rights, policies: [policy({ films: all, ...held })] }, model)

  const wanted = policy({ films: { read: { filter: { actors: { name: { _eq: 'x' } } } } } })

  expect(atOnce(canGrant(grantor, [wanted]))).toBe(expected)
})
