/** docs/contract.md#effect-of-a-change: other requests run while it is told (docs/decisions/122). */
import { expect, it } from 'vitest'
import { effectsOf } from '../../../src/core/access/effect.ts'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import type { Rights } from '../../../src/core/access/principal.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { linkedFilms } from '../../support/data/many-to-many.ts'

const model = linkedFilms({ year: 'int32' })

function rightsOf(...collections: readonly Record<string, unknown>[]): Rights {
  const policies = collections.map((one) => parsePolicy({ collections: one }, model))
  return { kind: 'policies', userId: undefined, roleIds: [], entitlements: new Set(), policies }
}

it('is told in parts, of which one is an action on a collection', () => {
  const own = [...model.collections.values()].filter(({ isSystem }) => !isSystem)

  const parts = [...effectsOf(rightsOf(), rightsOf({ films: { read: 'all' } }), model)]

  expect(parts.length).toBeGreaterThanOrEqual(4 * own.length)
})

it('tells the fields whose conditions are others, whichever policies say so', () => {
  const some = { films: { read: { filter: { year: 1 }, fields: ['id'] } } }
  const others = { films: { read: { filter: { year: 2 }, fields: ['id', 'year'] } } }

  const told = atOnce(effectsOf(rightsOf(some), rightsOf(some, others), model))

  expect(told).toEqual({
    granted: [{ collection: 'films', action: 'read', fields: ['year'], items: 'some' }],
    revoked: [],
    changed: [{ collection: 'films', action: 'read', fields: ['id'] }],
  })
})
