/**
 * What somebody who manages members may try: a random request, about what there is at this moment. Most policies are
 * made of such as are there, so that many are accepted and many nearly so.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { Tree } from '../../property/support/request.ts'
import { type DelegationWorld, type PersonName, people } from './delegation-world.ts'
import { membersOf, type Name, users } from './library.ts'
import { anyPolicies, anyPolicyFilter, type Policy, type PolicyAction } from './policies.ts'

/** Draws one value; what is drawn is shrunk with the property. */
export type Draw = <T>(arbitrary: Arbitrary<T>) => T

export type Act = {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
}

export type Inventory = Awaited<ReturnType<DelegationWorld['inventory']>>

const kinds = fc.oneof(
  { weight: 5, arbitrary: fc.constant('writePolicy' as const) },
  { weight: 1, arbitrary: fc.constant('changePolicy' as const) },
  { weight: 1, arbitrary: fc.constant('deletePolicy' as const) },
  { weight: 4, arbitrary: fc.constant('writeRole' as const) },
  { weight: 2, arbitrary: fc.constant('changeRole' as const) },
  { weight: 1, arbitrary: fc.constant('deleteRole' as const) },
  { weight: 6, arbitrary: fc.constant('changeMember' as const) },
  { weight: 1, arbitrary: fc.constant('removeMember' as const) },
  { weight: 2, arbitrary: fc.constant('invite' as const) },
  { weight: 1, arbitrary: fc.constant('withdraw' as const) },
)

const names: Arbitrary<PersonName> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<PersonName>('creature') },
  { weight: 2, arbitrary: fc.constant<PersonName>('manager') },
  { weight: 1, arbitrary: fc.constantFrom<PersonName>('colleague', 'administrator', 'suspended', 'stranger') },
)

export function drawAct(draw: Draw, inventory: Inventory): Act {
  const policies = inventory.policies.map(({ id }) => id)
  const some = (ids: readonly string[], most: number) =>
    ids.length === 0 ? [] : draw(fc.subarray([...ids], { maxLength: Math.min(most, ids.length) }))
  const one = (ids: readonly string[]) => (ids.length === 0 ? people.manager : draw(fc.constantFrom(...ids)))
  switch (draw(kinds)) {
    case 'writePolicy':
      return {
        method: 'POST',
        path: '/api/shop/policies',
        body: { name: draw(fc.uuid()), content: drawContent(draw, inventory) },
      }
    case 'changePolicy':
      return {
        method: 'PATCH',
        path: `/api/shop/policies/${one(policies)}`,
        body: { content: drawContent(draw, inventory) },
      }
    case 'deletePolicy':
      return { method: 'DELETE', path: `/api/shop/policies/${one(policies)}` }
    case 'writeRole':
      return { method: 'POST', path: '/api/shop/roles', body: { name: draw(fc.uuid()), policies: some(policies, 2) } }
    case 'changeRole':
      return { method: 'PATCH', path: `/api/shop/roles/${one(inventory.roles)}`, body: { policies: some(policies, 3) } }
    case 'deleteRole':
      return { method: 'DELETE', path: `/api/shop/roles/${one(inventory.roles)}` }
    case 'changeMember': {
      const status = draw(fc.option(fc.constantFrom('active', 'suspended'), { nil: undefined, freq: 5 }))
      const path = `/api/shop/members/${people[draw(names)]}`
      return { method: 'PATCH', path, body: { ...(status && { status }), roles: some(inventory.roles, 3) } }
    }
    case 'removeMember':
      return { method: 'DELETE', path: `/api/shop/members/${people[draw(names)]}` }
    case 'invite':
      return {
        method: 'POST',
        path: '/api/shop/invitations',
        body: { email: 'stranger@example.com', workspace_roles: some(inventory.roles, 2) },
      }
    case 'withdraw':
      return { method: 'DELETE', path: `/api/shop/invitations/${one(inventory.invitations)}` }
  }
}

function drawContent(draw: Draw, { policies }: Inventory): Policy {
  const known = policies.map(({ content }) => content)
  const [random = { collections: {} }] = draw(fc.integer({ min: 0, max: 7 })) === 0 ? draw(anyPolicies()) : []
  const base = known.length === 0 || random.entitlements !== undefined ? random : draw(fc.constantFrom(...known))
  const kept = Object.entries(base.collections).filter(() => draw(fc.integer({ min: 0, max: 3 })) > 0)
  const changed = kept.map(([name, actions]): [string, object] => {
    const mapped = Object.entries(actions ?? {}).flatMap(([kind, action]): [string, PolicyAction][] =>
      draw(fc.integer({ min: 0, max: 4 })) === 0 ? [] : [[kind, drawAction(draw, name as Name, kind, action)]],
    )
    return [name, Object.fromEntries(mapped)]
  })
  const text = JSON.stringify(Object.fromEntries(changed))
  const isBound = draw(fc.integer({ min: 0, max: 3 })) === 0
  const entitlements = [...(base.entitlements ?? [])].filter(() => draw(fc.boolean()))
  return { entitlements, collections: JSON.parse(isBound ? text.replaceAll('$CURRENT_USER', users[0] ?? '') : text) }
}

/** The action as it is, or changed in one way. */
function drawAction(draw: Draw, collection: Name, kind: string, action: PolicyAction): PolicyAction {
  const detail = action === 'all' ? {} : action
  const more = (part: Tree | undefined) => {
    const condition = draw(anyPolicyFilter(collection))
    return part === undefined
      ? condition
      : draw(fc.constantFrom({ _and: [part, condition] }, { _or: [part, condition] }))
  }
  switch (
    draw(
      fc.constantFrom(
        'none',
        'none',
        'narrow',
        'narrow',
        'validate',
        'check',
        'unchecked',
        'fewer',
        'fields',
        'free',
        'all',
      ),
    )
  ) {
    case 'narrow':
      return kind === 'create'
        ? { ...detail, validation: more(detail.validation) }
        : { ...detail, filter: more(detail.filter) }
    case 'validate':
      return kind === 'update' ? { ...detail, validation: more(detail.validation) } : action
    case 'check':
      return kind === 'update' ? { ...detail, check: more(detail.check) } : action
    case 'unchecked': {
      const { check: _check, ...unchecked } = detail
      return unchecked
    }
    case 'fewer': {
      const fields = detail.fields === undefined || detail.fields === '*' ? membersOf(collection) : detail.fields
      return kind === 'delete' ? action : { ...detail, fields: draw(fc.subarray([...fields])) }
    }
    case 'fields':
      return kind === 'delete' ? action : { ...detail, fields: '*' }
    case 'free': {
      const { filter: _filter, ...free } = detail
      return free
    }
    case 'all':
      return 'all'
    default:
      return action
  }
}
