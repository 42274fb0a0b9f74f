/** The content of a policy as the console's matrix makes it (console/src/screens/access). */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { access } from '../../console/src/messages/en/access.ts'
import {
  actions,
  type Content,
  conditionsOf,
  type Grant,
  grantOf,
  limited,
  withGrant,
} from '../../console/src/screens/access/content.ts'
import { entitlementSchema } from '../../src/core/access/entitlement.ts'

const condition = fc.dictionary(fc.constantFrom('title', 'pages', '_not'), fc.jsonValue(), { minKeys: 1, maxKeys: 2 })
const grant = fc.constantFrom(...actions).chain((action) =>
  fc.record({
    action: fc.constant(action),
    collection: fc.constantFrom('notes', 'secrets', '__proto__'),
    grant: fc.oneof(
      fc.constant<Grant>('all'),
      fc.record(
        {
          fields: fc.uniqueArray(fc.constantFrom('id', 'title', 'pages'), { maxLength: 3 }),
          ...Object.fromEntries(conditionsOf[action].map((name) => [name, condition])),
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<Grant>,
    ),
  }),
)

/** As whoever reads the matrix sees it: what each cell says, typed once more into another policy. */
function typedAgain(content: Content): Content {
  let again: Content = { entitlements: content.entitlements ?? [], collections: {} }
  for (const collection of Object.keys(content.collections ?? {})) {
    for (const action of actions) {
      const shown = grantOf(content, collection, action)
      if (shown === undefined) continue
      again = withGrant(again, collection, action, shown === 'all' ? 'all' : limited({ ...shown }))
    }
  }
  return again
}

it('is the same where each of its cells is typed again', () => {
  fc.assert(
    fc.property(fc.array(grant, { maxLength: 12 }), (grants) => {
      let content: Content = { entitlements: ['dataModel:read'], collections: {} }
      for (const one of grants) {
        const { collection, action } = one
        content = withGrant(content, collection, action, one.grant === 'all' ? 'all' : limited(one.grant))
      }
      expect(typedAgain(content)).toEqual(content)
      for (const { collection, action } of grants) content = withGrant(content, collection, action, undefined)
      expect(content).toEqual({ entitlements: ['dataModel:read'], collections: {} })
    }),
  )
})

it('gives every right that there is', () => {
  expect(Object.keys(access.entitlement)).toEqual(entitlementSchema().options)
})

it('limits nothing where nothing is said', () => {
  expect(limited({ fields: '*', filter: {}, check: {}, validation: {} })).toBe('all')
  expect(limited({ fields: [], filter: { pages: 1 } })).toEqual({ fields: [], filter: { pages: 1 } })
})
