/**
 * The matrix of the console and the JSON of a policy are one: what is made of a policy cell by cell, from nothing or from another policy, is that
 * policy, and gives what it gives.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  actions,
  type Content,
  conditionsOf,
  conditionText,
  type Grant,
  grantOf,
  grantTyped,
  withGrant,
} from '../../console/src/screens/access/content.ts'
import { effectsOf } from '../../src/core/access/effect.ts'
import { atOnce } from '../../src/core/parts.ts'
import { seed } from '../property/support/seed.ts'
import { casesOr } from '../support/run/cases.ts'
import { model, names } from './support/library.ts'
import { anyPolicies, type Policy } from './support/policies.ts'
import { rightsFor } from './support/service.ts'

const cases = casesOr(200)
const caller = { userId: '11111111-2222-4333-8444-555555555551', roleIds: ['99999999-2222-4333-8444-555555555551'] }
const anyPolicy = anyPolicies().map(([first]): Policy => first ?? { collections: {} })

it(`makes of ${cases} policies what they are, from nothing and from one another`, () => {
  const property = fc.property(anyPolicy, anyPolicy, (wanted, other) => {
    const about = JSON.stringify({ wanted, other })
    const made = [filled({}, wanted as Content), filled(other as Content, wanted as Content)]

    for (const content of made) {
      // What it says cell by cell is what the other form says.
      expect(filled({}, content), about).toEqual(content)
      expect(effects(wanted, content), about).toEqual({ granted: [], revoked: [], changed: [] })
      expect(effects(content, wanted), about).toEqual({ granted: [], revoked: [], changed: [] })
    }
    expect({ ...made[0], entitlements: [] }, about).toEqual({ ...made[1], entitlements: [] })
  })
  fc.assert(property, { seed, numRuns: cases })
})

/** As somebody does it: in each cell they choose what the policy has there, and type its limits as the dialog shows them. */
function filled(from: Content, wanted: Content): Content {
  const places = names.flatMap((collection) => actions.map((action) => ({ collection, action })))
  const start: Content = { ...from, entitlements: wanted.entitlements ?? [] }
  return places.reduce<Content>((content, { collection, action }) => {
    const grant = grantOf(wanted, collection, action)
    if (grant === undefined || grant === 'all') return withGrant(content, collection, action, grant)
    const before = grantOf(content, collection, action)
    const texts = conditionsOf[action].map((name) => [name, conditionText(grant[name])] as const)
    const fields = action === 'delete' ? '*' : (grant.fields ?? '*')
    const typed = grantTyped(typeof before === 'object' ? before : {}, { texts, fields })
    expect(typed.wrong).toBe(undefined)
    return withGrant(content, collection, action, typed.grant as Grant)
  }, start)
}

function effects(one: object, other: object) {
  const [before, after] = [one, other].map((content) => rightsFor([content as Policy], caller, model))
  if (before === undefined || after === undefined) throw new Error('there are two')
  return atOnce(effectsOf(before, after, model))
}
