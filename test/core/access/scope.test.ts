/** The scope of an API key: always an intersection with what its user holds, whatever both are. */
import { expect, it } from 'vitest'
import { canGrant, grantorOf } from '../../../src/core/access/delegation.ts'
import { type Entitlement, entitlementSchema } from '../../../src/core/access/entitlement.ts'
import { viewerOf } from '../../../src/core/access/merge.ts'
import { type PolicyContent, parsePolicy } from '../../../src/core/access/policy.ts'
import { hasEntitlement, type Rights } from '../../../src/core/access/principal.ts'
import {
  allowsAddress,
  firstExcess,
  includesWorkspace,
  type KeyScope,
  restrictRights,
  toPolicies,
} from '../../../src/core/access/scope.ts'
import type { Collection } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { createDice } from '../../fuzz/support/dice.ts'
import { build } from '../../support/data/build.ts'

const model = build.model({ articles: { id: 'int64' }, secrets: { id: 'int64' } })
const collections = ['articles', 'secrets'].map((name) => model.byName.get(name) as Collection)
const actions = ['read', 'create', 'update', 'delete'] as const
const entitlements = entitlementSchema().options
const workspaces = ['shop', 'other']

it('allows exactly what both the scope and the rights allow', () => {
  const random = randomOf(20261122)
  let allowed = 0
  for (let round = 0; round < 2_000; round += 1) {
    const [rights, scope] = [randomRights(random), randomScope(random)]
    for (const workspace of workspaces) {
      const left = restrictRights(rights, scope, workspace)
      const [whole, part] = [viewerOf(rights, model), viewerOf(left, model)]
      for (const entitlement of entitlements) {
        const isLeft = includesWorkspace(scope, workspace) && (scope.entitlements?.includes(entitlement) ?? true)
        expect(hasEntitlement(left, entitlement)).toBe(isLeft && hasEntitlement(rights, entitlement))
      }
      for (const collection of collections) {
        for (const action of actions) {
          const isNamed = scope.collections?.[workspace]?.[collection.id]?.includes(action)
          const isLeft = includesWorkspace(scope, workspace) && (isNamed ?? scope.collections === undefined)
          const expected = isLeft && whole.accessTo(collection, action).kind === 'granted'
          expect(part.accessTo(collection, action).kind).toBe(expected ? 'granted' : 'denied')
          allowed += expected ? 1 : 0
        }
      }
    }
  }
  // Neither all nor nothing was asked.
  expect(allowed).toBeGreaterThan(1_000)
})

it('gives away exactly what it leaves of what can be given away', () => {
  const random = randomOf(7)
  const seen = new Set<boolean>()
  for (let round = 0; round < 2_000; round += 1) {
    const [rights, scope] = [randomRights(random), randomScope(random)]
    const left = restrictRights(rights, scope, 'shop')
    const content = randomContent(random)
    const isLeft =
      content.entitlements.every((entitlement) => hasEntitlement(left, entitlement)) &&
      collections.every((collection) =>
        Object.keys(content.collections[collection.id] ?? {}).every(
          (action) => viewerOf(left, model).accessTo(collection, action as 'read').kind === 'granted',
        ),
      )
    const isGiven = atOnce(canGrant(grantorOf(left, model), [content]))
    expect(isGiven).toBe(isLeft && atOnce(canGrant(grantorOf(rights, model), [content])))
    seen.add(isGiven)
  }
  expect(seen.size).toBe(2)
})

it('says the same as policies', () => {
  const random = randomOf(11)
  for (let round = 0; round < 1_000; round += 1) {
    const left = restrictRights(randomRights(random), randomScope(random), 'shop')
    if (left.kind === 'all') continue
    const written = toPolicies(left, model)
    expect(
      entitlements.filter((entitlement) => hasEntitlement(left, entitlement) !== hasEntitlement(written, entitlement)),
    ).toEqual([])
    for (const collection of collections) {
      for (const action of actions) {
        const [one, other] = [left, written].map((rights) => viewerOf(rights, model).accessTo(collection, action).kind)
        expect(one).toBe(other)
      }
    }
  }
})

it('finds every way in which one scope reaches beyond another', () => {
  const random = randomOf(3)
  const seen = new Set<boolean>()
  for (let round = 0; round < 3_000; round += 1) {
    const [wanted, own] = [randomScope(random), randomScope(random)]
    const isWithin = firstExcess(wanted, own) === undefined
    seen.add(isWithin)
    if (!isWithin) continue
    for (const workspace of workspaces) {
      const [less, more] = [wanted, own].map((scope) => restrictRights({ kind: 'all' }, scope, workspace)) as [
        Rights,
        Rights,
      ]
      expect(
        entitlements.filter((entitlement) => hasEntitlement(less, entitlement) && !hasEntitlement(more, entitlement)),
      ).toEqual([])
      for (const collection of collections) {
        for (const action of actions) {
          const [narrow, wide] = [less, more].map((rights) => viewerOf(rights, model).accessTo(collection, action).kind)
          expect([narrow, wide]).not.toEqual(['granted', 'denied'])
        }
      }
    }
  }
  expect(seen.size).toBe(2)
})

it.each([
  [['10.1.0.0/16'], ['10.0.0.0/8'], undefined],
  [['10.0.0.0/8'], ['10.1.0.0/16'], 'addresses'],
  [undefined, ['10.0.0.0/8'], 'addresses'],
  [['10.0.0.1/32', '192.0.2.1/32'], ['10.0.0.0/8'], 'addresses'],
  [['10.0.0.0/8'], undefined, undefined],
] as const)('addresses %j beside %j: beyond by %j', (wanted, own, by) => {
  const scopeOf = (addresses: readonly string[] | undefined): KeyScope => (addresses ? { addresses } : {})

  expect(firstExcess(scopeOf(wanted), scopeOf(own))).toBe(by)
})

it.each([
  [['10.0.0.0/8'], '10.1.2.3', true],
  [['10.0.0.0/8'], '::ffff:10.1.2.3', true],
  [['10.0.0.0/8'], '11.1.2.3', false],
  [['0.0.0.0/0'], '2001:db8::1', false],
  [['fe80::/10'], 'fe80::1%eth0', true],
  [['0.0.0.0/0', '::/0'], undefined, false],
  [['0.0.0.0/0', '::/0'], 'unknown', false],
  [[], '10.1.2.3', false],
  [undefined, undefined, true],
] as const)('%j admits a request from %s: %s', (addresses, address, isAdmitted) => {
  expect(allowsAddress(addresses === undefined ? {} : { addresses }, address)).toBe(isAdmitted)
})

type Random = () => number

function randomRights(random: Random): Rights {
  if (random() < 0.2) return { kind: 'all' }
  const policies = [randomContent(random), randomContent(random)]
  const held = new Set<Entitlement>(policies.flatMap((policy) => policy.entitlements))
  return { kind: 'policies', userId: '11111111-2222-4333-8444-555555555555', roleIds: [], policies, entitlements: held }
}

function randomContent(random: Random): PolicyContent {
  // A collection that is named without an action gives nothing, and is refused for what the answer would tell of it.
  const named = collections.flatMap(({ apiName }) => {
    const given = some(random, actions).map((action) => [action, 'all'])
    return given.length === 0 ? [] : [[apiName, Object.fromEntries(given)]]
  })
  return parsePolicy({ entitlements: some(random, entitlements), collections: Object.fromEntries(named) }, model)
}

function randomScope(random: Random): KeyScope {
  const actionsByCollection = () => Object.fromEntries(collections.map(({ id }) => [id, some(random, actions)]))
  return {
    ...(random() < 0.5 && { workspaces: some(random, workspaces) }),
    ...(random() < 0.5 && { entitlements: some(random, entitlements) }),
    ...(random() < 0.5 && {
      collections: Object.fromEntries(some(random, workspaces).map((name) => [name, actionsByCollection()])),
    }),
  }
}

/** All of them at times, else about half. */
function some<T>(random: Random, values: readonly T[]): T[] {
  const share = random() < 0.2 ? 1 : 0.5
  return values.filter(() => random() < share)
}

function randomOf(seed: number): () => number {
  const dice = createDice(seed)
  return () => dice.below(1_000_000) / 1_000_000
}
