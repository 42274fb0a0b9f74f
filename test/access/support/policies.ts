/** Policies and callers at random, as a person would write them: contract JSON under API names. */
import fc, { type Arbitrary } from 'fast-check'
import { anyFilter, requestOf, type Tree } from '../../property/support/request.ts'
import type { Relation, Shop, TypeText } from '../../property/support/shop.ts'
import { membersOf, type Name, names, roles, shop, stockOf, users, ways } from './library.ts'

export type PolicyAction = 'all' | { fields?: '*' | readonly string[]; filter?: Tree; check?: Tree; validation?: Tree }
export type ActionName = 'read' | 'create' | 'update' | 'delete'
export type Policy = {
  readonly entitlements?: readonly string[]
  readonly collections: Readonly<Partial<Record<Name, Readonly<Partial<Record<ActionName, PolicyAction>>>>>>
}

export type Caller = { readonly userId: string | undefined; readonly roleIds: readonly string[] }

export const anyCaller: Arbitrary<Caller> = fc.record({
  userId: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...users) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  roleIds: fc.subarray(roles, { minLength: 1, maxLength: 2 }),
})

export function anyPolicies(): Arbitrary<readonly Policy[]> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.array(anyPolicy(1), { maxLength: 1 }) },
    {
      weight: 6,
      arbitrary: fc.tuple(anyPolicy(6), fc.array(anyPolicy(2), { maxLength: 3 })).map(([one, more]) => [one, ...more]),
    },
  )
}

/** `weight` is how much likelier an action is allowed than not. */
function anyPolicy(weight: number): Arbitrary<Policy> {
  const parts = names.map((collection) => [collection, anyActions(collection, weight)] as const)
  return fc.record({
    entitlements: fc.constantFrom([], [], ['dataModel:read']),
    collections: fc.record(Object.fromEntries(parts), { requiredKeys: [] }) as Arbitrary<Policy['collections']>,
  })
}

function anyActions(collection: Name, weight: number) {
  const fields = fc.oneof(
    { weight: 4, arbitrary: fc.constant<'*' | string[]>('*') },
    { weight: 3, arbitrary: fc.subarray([...membersOf(collection)], { minLength: 3 }) },
  )
  const filter = anyPolicyFilter(collection)
  const some = (one: Arbitrary<unknown>) =>
    fc.oneof({ weight: 2, arbitrary: one }, { weight: 3, arbitrary: fc.constant(undefined) })
  const parts = {
    read: { fields, filter: some(filter) },
    create: { fields, validation: some(filter) },
    update: { fields, filter: some(filter), check: some(filter), validation: some(filter) },
    delete: { filter: some(filter) },
  }
  const actions = Object.entries(parts).map(([action, part]) => {
    const limited = fc.record(part as Record<string, Arbitrary<unknown>>).map(withoutUndefined)
    const allowed = fc.oneof({ weight: 1, arbitrary: fc.constant('all') }, { weight: 4, arbitrary: limited })
    return [action, fc.oneof({ weight, arbitrary: allowed }, { weight: 1, arbitrary: fc.constant(undefined) })] as const
  })
  return fc.record(Object.fromEntries(actions)).map(withoutUndefined)
}

function withoutUndefined(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}

/** Conditions that say something: where a key is always visible must be plain to see from the policy. */
export function anyPolicyFilter(collection: Name): Arbitrary<Tree> {
  const plain = anyFilter({ ...stockOf(shop), form: 'text', max: 100 }, collection, 2).map(
    (filter): Tree => requestOf(filter, 0, 'value'),
  )
  const variable = variables[collection]
  if (variable === undefined) return plain
  return fc.oneof(
    { weight: 2, arbitrary: plain },
    { weight: 1, arbitrary: plain.map((_not): Tree => ({ _not })) },
    { weight: 2, arbitrary: variable },
    { weight: 2, arbitrary: fc.tuple(plain, variable).map(([one, other]): Tree => ({ _or: [one, other] })) },
  )
}

const ofPerson = fc.constantFrom<Tree>(
  { userId: '$CURRENT_USER' },
  { userId: { _eq: '$CURRENT_USER' } },
  { userId: { _neq: '$CURRENT_USER' } },
  { userId: { _in: ['$CURRENT_USER', users[0]] } },
  { team: { _in: '$CURRENT_ROLES' } },
  { team: { _nin: '$CURRENT_ROLES' } },
  { since: { _lte: '$NOW' } },
  { since: { _gt: '$NOW(-7 days)' } },
  { since: { _between: ['$NOW(-1 day)', '$NOW(+1 day)'] } },
)

const variables: Partial<Record<Name, Arbitrary<Tree>>> = {
  people: ofPerson,
  posts: fc.oneof(
    ofPerson.map((author): Tree => ({ author })),
    fc
      .tuple(fc.constantFrom('_some', '_none', '_every'), ofPerson)
      .map(([how, part]): Tree => ({ fans: { [how]: part } })),
  ),
  badges: ofPerson.map((person) => ({ person })),
  notes: ofPerson.map((author) => ({ post: { author } })),
  likes: ofPerson.map((person) => ({ person })),
}

/** What remains of the shop for somebody who may use these members: requests drawn from it are rarely refused. */
export function narrowed(membersFor: (collection: Name) => ReadonlySet<string>): Shop {
  const fields = new Map<string, ReadonlyMap<string, TypeText>>()
  for (const name of names) {
    const seen = [...(shop.fields.get(name) ?? [])].filter(([field]) => membersFor(name).has(field))
    if (seen.length > 0) fields.set(name, new Map(seen))
  }
  const relations = new Map<string, ReadonlyMap<string, Relation>>()
  for (const name of fields.keys()) {
    const seen = [...(shop.relations.get(name) ?? [])].filter(
      ([field, { target }]) =>
        membersFor(name as Name).has(field) && fields.has(target) && isLinked(membersFor, name as Name, field),
    )
    relations.set(name, new Map(seen))
  }
  return { ...shop, fields, relations }
}

/** A many-to-many field leads nowhere for somebody who does not read where its links lead. */
function isLinked(membersFor: (collection: Name) => ReadonlySet<string>, of: Name, name: string): boolean {
  const way = ways.find((one) => one.of === of && one.name === name)
  return way === undefined || membersFor(way.far.child).has(way.far.name)
}
