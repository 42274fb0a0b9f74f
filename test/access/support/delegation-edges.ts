/**
 * Policies at the edge of what somebody holds: managers who hold a few fields of some rows, and policies that differ from
 * one of theirs in one step - a field, a condition, an action or an entitlement more or fewer.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { Tree } from '../../property/support/request.ts'
import type { Draw } from './delegation-acts.ts'
import { keyOf, membersOf, type Name, names, shop, valuesOf, type Way, ways } from './library.ts'
import { type ActionName, anyPolicies, anyPolicyFilter, type Policy, type PolicyAction } from './policies.ts'

const kinds: readonly ActionName[] = ['read', 'create', 'update', 'delete']
const entitlements = ['workspaceMembers:read', 'dataModel:read', 'dataModel:edit']

/** Policies of few fields with conditions, in two collections at most, so that several speak of the same one. */
export const anyHeld: Arbitrary<readonly Policy[]> = fc.oneof(
  { weight: 1, arbitrary: anyPolicies() },
  { weight: 3, arbitrary: fc.constantFrom(...ways).chain(anyLinked) },
  {
    weight: 3,
    arbitrary: fc
      .subarray([...names], { minLength: 1, maxLength: 2 })
      .chain((some) => fc.array(fc.constantFrom(...some).chain(anyFewFields), { minLength: 1, maxLength: 3 })),
  },
)

/** Conditions through a many-to-many field may be given by somebody who reads the junction and all beyond it. */
function anyLinked({ of, name, far }: Way): Arbitrary<readonly Policy[]> {
  const whole = fc.oneof(fc.constant<'*'>('*'), fc.subarray([...membersOf(far.parent)], { minLength: 1 }))
  const links = fc.record({
    read: fc.record({ fields: fc.constantFrom<'*' | string[]>('*', [far.name], [far.column]) }),
    create: fc.oneof(
      fc.constant('all' as const),
      anyCondition(far.child).map((validation) => ({ validation })),
    ),
    delete: fc.oneof(
      fc.constant('all' as const),
      anyCondition(far.child).map((filter) => ({ filter })),
    ),
  })
  const own = fc.record({
    read: fc.subarray([...membersOf(of)]).map((fields) => ({ fields: [...new Set(['id', name, ...fields])] })),
    update: fc.option(anyCondition(of), { nil: {} }).map((filter) => ({ fields: [name], filter })),
  })
  return fc
    .tuple(own, links, whole, fc.option(anyFewFields(far.child), { nil: undefined }), anyFewFields(of))
    .map(([mine, linking, fields, some, few]): readonly Policy[] => [
      {
        collections: {
          [of]: mine,
          [far.parent]: { read: { fields } },
          ...(some === undefined && { [far.child]: linking }),
        },
      },
      ...(some === undefined ? [] : [some]),
      few,
    ])
}

function anyFewFields(collection: Name): Arbitrary<Policy> {
  const fields = fc
    .tuple(fc.boolean(), fc.subarray([...membersOf(collection)], { minLength: 1, maxLength: 3 }))
    .map(([isKeyed, some]) => (isKeyed ? [...new Set([...Object.keys(keyOf(collection, 0)), ...some])] : some))
  const condition = fc.option(anyCondition(collection), { nil: undefined, freq: 2 })
  const actions = fc
    .record({ fields, filter: condition, check: condition, validation: condition })
    .chain((detail) =>
      fc
        .subarray(['read', 'read', 'create', 'update', 'delete'] as const, { minLength: 1, maxLength: 3 })
        .map((some) => Object.fromEntries(some.map((kind) => [kind, detailFor(kind, detail)]))),
    )
  return actions.map((mapped): Policy => ({ collections: { [collection]: mapped } }))
}

function anyCondition(collection: Name): Arbitrary<Tree> {
  const own = [...(shop.fields.get(collection)?.keys() ?? [])]
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...own).chain((field) => anyTest(collection, field)) },
    { weight: 1, arbitrary: anyPolicyFilter(collection) },
  )
}

function anyTest(collection: Name, member: string): Arbitrary<Tree> {
  const relation = shop.relations.get(collection)?.get(member)
  if (relation === undefined) {
    const value = fc.constantFrom(...valuesOf(collection, member))
    return fc
      .tuple(fc.constantFrom('_eq', '_neq'), value)
      .map(([operator, operand]) => ({ [member]: { [operator]: operand } }))
  }
  const target = relation.target as Name
  const beyond = fc.constantFrom(...(shop.fields.get(target)?.keys() ?? [])).chain((field) => anyTest(target, field))
  if (!relation.isList) return beyond.map((part) => ({ [member]: part }))
  return fc
    .tuple(fc.constantFrom('_some', '_none', '_every'), beyond)
    .map(([how, part]) => ({ [member]: { [how]: part } }))
}

type Detail = {
  readonly fields?: '*' | readonly string[]
  readonly filter?: Tree
  readonly check?: Tree
  readonly validation?: Tree
}

/** What of the detail an action of this kind may say. */
function detailFor(
  kind: ActionName,
  { fields, filter, check, validation }: Record<keyof Detail, Detail[keyof Detail]>,
) {
  const parts = {
    fields: kind === 'delete' ? undefined : fields,
    filter: kind === 'create' ? undefined : filter,
    check: kind === 'update' ? check : undefined,
    validation: kind === 'create' || kind === 'update' ? validation : undefined,
  }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as PolicyAction
}

/** One action of what is held, changed in one step or none. */
export function drawNear(draw: Draw, held: readonly Policy[]): Policy {
  const actions = held.flatMap(({ collections }) =>
    Object.entries(collections).flatMap(([name, mapped]) =>
      Object.entries(mapped ?? {}).map(([kind, action]) => ({
        name: name as Name,
        kind: kind as ActionName,
        action: (action === 'all' ? {} : action) as Detail,
      })),
    ),
  )
  if (actions.length === 0) return { entitlements: [draw(fc.constantFrom(...entitlements))], collections: {} }
  const { name, kind, action } = draw(fc.constantFrom(...actions))
  const policy = (of: ActionName, detail: Detail): Policy => ({
    collections: {
      [name]: {
        [of]: detailFor(of, {
          fields: undefined,
          filter: undefined,
          check: undefined,
          validation: undefined,
          ...detail,
        }),
      },
    },
  })
  // Names of which nothing is held are refused before anything else is asked.
  const siblings = actions.filter((one) => one.name === name)
  const named = [
    ...new Set(siblings.flatMap(({ action: { fields = '*' } }) => (fields === '*' ? membersOf(name) : fields))),
  ]
  const member =
    draw(fc.integer({ min: 0, max: 4 })) === 0
      ? draw(fc.constantFrom(...membersOf(name)))
      : draw(fc.constantFrom(...named))
  const part = kind === 'create' ? 'validation' : 'filter'
  switch (
    draw(
      fc.constantFrom(
        'same',
        'field',
        'field',
        'fields',
        'condition',
        'condition',
        'condition',
        'condition',
        'free',
        'kind',
        'kind',
        'mixed',
        'whole',
        'entitlement',
      ),
    )
  ) {
    case 'field':
      return policy(kind, {
        ...action,
        ...(action.fields !== '*' && action.fields && { fields: [...new Set([...action.fields, member])] }),
      })
    case 'fields':
      return policy(kind, { ...action, fields: '*' })
    case 'condition': {
      const through = ways.filter(({ of }) => of === name).map((way) => way.name)
      const more = draw(fc.constantFrom(member, ...through).chain((one) => anyTest(name, one)))
      const before = action[part]
      return policy(kind, { ...action, [part]: before === undefined ? more : { _and: [before, more] } })
    }
    case 'free': {
      const { filter: _filter, check: _check, validation: _validation, ...free } = action
      return policy(kind, draw(fc.boolean()) ? free : { ...action, validation: {} })
    }
    case 'kind':
      return policy(draw(fc.constantFrom(...kinds)), action)
    case 'mixed':
      return policy(kind, {
        ...action,
        ...draw(fc.constantFrom(...siblings)).action,
        ...(action.filter && { filter: action.filter }),
      })
    case 'whole':
      return { collections: { [name]: { [kind]: 'all' } } }
    case 'entitlement':
      return { ...policy(kind, action), entitlements: [draw(fc.constantFrom(...entitlements))] }
    default:
      return policy(kind, action)
  }
}
