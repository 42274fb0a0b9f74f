import { describe, expect, it } from 'vitest'
import {
  canChangeRoles,
  canGrant,
  canGrantRole,
  type Grantor,
  grantorOf,
  namesVisibleTo,
} from '../../../src/core/access/delegation.ts'
import type { Entitlement } from '../../../src/core/access/entitlement.ts'
import { namesOf, type PolicyContent, parsePolicy } from '../../../src/core/access/policy.ts'
import type { Rights } from '../../../src/core/access/principal.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { build } from '../../support/data/build.ts'

const model = build.model(
  {
    articles: {
      id: 'int64',
      title: 'string',
      status: 'string',
      secret: 'string?',
      ownerId: 'uuid?',
      authorId: 'int64?',
    },
    authors: { id: 'int64', name: 'string', salary: 'int64?', userId: 'uuid?' },
  },
  ['articles.author(authorId) -> authors.articles'],
)
const ME = '11111111-2222-4333-8444-555555555555'
const MY_ROLE = '99999999-2222-4333-8444-555555555555'

type Actions = Record<string, unknown>
type Collections = Record<string, Actions>
const policy = (collections: Collections) => parsePolicy({ collections }, model)

function rightsOf(...policies: readonly Collections[]): Rights {
  return {
    kind: 'policies',
    userId: ME,
    roleIds: [MY_ROLE],
    policies: policies.map(policy),
    entitlements: new Set<Entitlement>(['workspaceMembers:edit']),
  }
}

function holderOf(...policies: readonly Collections[]): Grantor {
  return grantorOf(rightsOf(...policies), model)
}

const mayGrant = (grantor: Grantor, content: PolicyContent) => atOnce(canGrant(grantor, [content]))

/** Whether whoever holds `held` of articles, and reads authors as `authors` says, may give `wanted`. */
function gives(held: Actions, wanted: Actions, authors: Actions = {}): boolean {
  return mayGrant(holderOf({ articles: held, authors }), policy({ articles: wanted }))
}

const update = (filter: unknown) => ({ update: { filter } })
const step = (from: string, to: string) => ({ update: { filter: { status: from }, check: { status: to } } })
const read = (filter: unknown, fields: unknown = '*') => ({ read: { filter, fields } })

describe('what is given is held', () => {
  it.each([
    ['the same', { read: { fields: ['title'] } }, { read: { fields: ['title'] } }, true],
    ['fewer fields', { read: { fields: ['title'] } }, { read: { fields: ['title', 'status'] } }, true],
    ['more fields', { read: { fields: '*' } }, { read: { fields: ['title'] } }, false],
    ['all of what is limited', { read: 'all' }, { read: { fields: '*' } }, false],
    ['a limit on what is held whole', read({ status: { _eq: 'x' } }), { read: 'all' }, true],
    ['another filter', read({ status: { _eq: 'x' } }), read({ status: { _eq: 'y' } }), false],
    ['another action', { delete: 'all' }, { read: 'all' }, false],
    ['fewer conditions', read({ status: 'x' }), read({ status: 'x', title: 'y' }), false],
    ['a check that is held', step('x', 'y'), step('x', 'y'), true],
    [
      'a narrower check',
      { update: { filter: { status: 'x' }, check: { status: 'x', title: 'y' } } },
      { ...update({ status: 'x' }), read: 'all' },
      true,
    ],
    ['another check', step('x', 'z'), step('x', 'y'), false],
    [
      'no check of what has one, by which rows would pass to those of other policies',
      update({ status: 'x' }),
      step('x', 'x'),
      false,
    ],
    ['no action of what is not held', {}, {}, false],
    ['no action of what is held', {}, { read: 'all' }, true],
  ])('%s', (_name, wanted, held, expected) => {
    expect(gives(held, wanted)).toBe(expected)
  })

  it('in one policy, not in several together', () => {
    const grantor = holderOf(
      { articles: { read: { fields: ['title'] } } },
      { articles: { read: { fields: ['status'] } } },
    )

    expect(mayGrant(grantor, policy({ articles: { read: { fields: ['title', 'status'] } } }))).toBe(false)
  })

  it('entitlements included', () => {
    const ofGiver = parsePolicy({ entitlements: ['workspaceMembers:edit'] }, model)
    const more = parsePolicy({ entitlements: ['workspaceMembers:edit', 'ai:mcp'] }, model)

    expect([mayGrant(holderOf(), ofGiver), mayGrant(holderOf(), more)]).toEqual([true, false])
  })
})

describe('a filter that has all conditions of what is held and more narrows it', () => {
  const held = read({ status: { _eq: 'live', _neq: 'x' }, _or: [{ title: 'a' }, { title: 'b' }] })
  const or = { _or: [{ title: 'a' }, { title: 'b' }] }

  it.each([
    ['in another order and form', { _and: [or, { status: { _neq: 'x' } }], status: 'live' }, true],
    ['with a condition more', { ...or, status: { _eq: 'live', _neq: 'x' }, title: { _neq: 'c' } }, true],
    ['inside of a list', { _and: [{ ...or, status: { _eq: 'live', _neq: 'x' } }, { title: { _neq: 'c' } }] }, true],
    ['with one less', { ...or, status: { _eq: 'live' }, title: { _neq: 'c' } }, false],
    ['beside an alternative', { _or: [{ ...or, status: { _eq: 'live', _neq: 'x' } }, { title: 'c' }] }, false],
    ['turned round', { ...or, status: { _eq: 'live' }, _not: { status: { _neq: 'x' } } }, false],
  ])('%s', (_name, filter, expected) => {
    expect(gives(held, read(filter))).toBe(expected)
  })

  it('but never by parts of one test of related rows', () => {
    const authors = { read: 'all' }
    const whole = { articles: { _or: [{ title: 'a' }], _and: [{ status: 'x' }] } }
    const parts = { _and: [{ articles: { _or: [{ title: 'a' }] } }, { articles: { _and: [{ status: 'x' }] } }] }
    const grantor = holderOf({ authors: { read: { filter: whole } }, articles: { read: 'all' } }, { authors: {} })

    expect(mayGrant(grantor, policy({ authors: { read: { filter: parts } } }))).toBe(false)
    expect(mayGrant(grantor, policy({ authors: { read: { filter: whole } } }))).toBe(true)
    expect(gives({ read: { filter: { author: {} } } }, read({}), authors)).toBe(false)
  })
})

describe('conditions tell the giver nothing that they do not read', () => {
  const secret = { secret: { _starts_with: 'a' } }

  it.each([
    ['a hidden field', { read: { fields: ['title'] } }, { read: { fields: ['title'], filter: secret } }, false],
    ['below operators', { read: { fields: ['title'] } }, read({ _or: [{ _not: secret }] }, ['title']), false],
    ['a field of some rows', { read: { fields: ['title'] } }, read({ status: 'x' }, ['title']), false],
    ['a visible field', { read: { fields: ['title'] } }, read({ title: 'x' }, ['title']), true],
    ['rows that may be changed', { read: { fields: ['id'] }, update: 'all' }, { update: { filter: secret } }, false],
    ['rows that may be deleted', { read: { fields: ['id'] }, delete: 'all' }, { delete: { filter: secret } }, false],
    ['what is checked', { read: { fields: ['id'] }, update: 'all' }, { update: { validation: secret } }, false],
    ['what is created', { create: 'all' }, { create: { validation: secret } }, false],
    ['what is created and read', { create: 'all', read: 'all' }, { create: { validation: secret } }, true],
    ['a hidden condition of the giver', read(secret, ['title']), read(secret, ['title']), true],
    ['that and more', read(secret, ['title']), read({ ...secret, title: 'x' }, ['title']), true],
    ['that and more hidden', read(secret, ['title']), read({ ...secret, status: 'x' }, ['title']), false],
  ])('%s', (_name, held, wanted, expected) => {
    expect(gives(held, wanted)).toBe(expected)
  })

  it('in the rows that are admitted', () => {
    const live = { status: 'live' }
    const grantor = holderOf(
      { articles: { read: { fields: ['id', 'status'] }, update: 'all' } },
      { articles: { read: { filter: live } } },
    )
    const writes = (filter: object) => mayGrant(grantor, policy({ articles: { update: { filter } } }))

    expect([writes(secret), writes({ ...secret, ...live }), writes({ _or: [secret, live] })]).toEqual([
      false,
      true,
      false,
    ])
  })

  it.each([
    ['an unreadable collection', {}, { author: { name: 'x' } }, false],
    ['its existence', {}, { author: {} }, false],
    ['a readable one', { read: 'all' }, { author: { name: 'x' } }, true],
    ['of which some rows are hidden', read({ name: { _neq: 'y' } }), { author: { name: 'x' } }, false],
    ['of which a field is hidden', { read: { fields: ['name'] } }, { author: { salary: 1 } }, false],
    ['of which the field is seen', { read: { fields: ['name'] } }, { author: { name: 'x' } }, true],
    ['quantified', { read: 'all' }, { author: { articles: { _none: { title: 'x' } } } }, true],
    ['quantified and hidden', { read: { fields: ['name'] } }, { author: { articles: { _none: {} } } }, false],
  ])('beyond a relation: %s', (_name, authors, filter, expected) => {
    expect(gives({ read: 'all' }, read(filter), authors)).toBe(expected)
  })

  it('beyond a relation that is hidden itself', () => {
    const held = { read: { fields: ['title', 'authorId'] } }

    expect(gives(held, read({ author: { name: 'x' } }, ['title']), { read: 'all' })).toBe(false)
  })
})

describe('variables say something else for everybody', () => {
  const mine = { ownerId: { _eq: '$CURRENT_USER' } }

  it.each([
    ['own rows', mine, mine, true],
    ['own rows in a short form', { ownerId: '$CURRENT_USER' }, mine, true],
    [
      'own rows through a relation',
      { author: { userId: '$CURRENT_USER' } },
      { author: { userId: '$CURRENT_USER' } },
      true,
    ],
    ['own rows and some others', { _or: [mine, { title: 'x' }] }, { _or: [mine, { title: 'x' }] }, true],
    ["the giver's rows", mine, { ownerId: { _eq: ME } }, true],
    ["another's rows", mine, { ownerId: { _eq: MY_ROLE } }, false],
    [
      "rows of others than one's own",
      { ownerId: { _neq: '$CURRENT_USER' } },
      { ownerId: { _neq: '$CURRENT_USER' } },
      false,
    ],
    ["rows of others than the giver's", { ownerId: { _neq: '$CURRENT_USER' } }, { ownerId: { _neq: ME } }, true],
    ['rows of no other', { _not: mine }, { _not: mine }, false],
    ['a list', { ownerId: { _nin: ['$CURRENT_USER'] } }, { ownerId: { _nin: ['$CURRENT_USER'] } }, false],
    ['an order', { title: { _gt: '$CURRENT_USER' } }, { title: { _gt: '$CURRENT_USER' } }, false],
    ['roles', { status: { _in: '$CURRENT_ROLES' } }, { status: { _in: '$CURRENT_ROLES' } }, false],
    ["the giver's roles", { status: { _in: '$CURRENT_ROLES' } }, { status: { _in: [MY_ROLE] } }, true],
    ['roles as one more condition', {}, { status: { _in: '$CURRENT_ROLES' } }, true],
  ])('%s', (_name, held, wanted, expected) => {
    expect(gives(read(held), read(wanted), { read: 'all' })).toBe(expected)
  })

  it('none of them stands for an anonymous giver', () => {
    const rights = rightsOf({ articles: read(mine) })
    const anonymous = grantorOf(rights.kind === 'policies' ? { ...rights, userId: undefined } : rights, model)

    expect(mayGrant(anonymous, policy({ articles: read(mine) }))).toBe(false)
  })

  it('whose roles change must not gain by what their policies say of roles', () => {
    const byRoles = policy({ articles: read({ status: { _in: '$CURRENT_ROLES' } }) })

    expect(atOnce(canChangeRoles(holderOf({ articles: read({ status: { _in: '$CURRENT_ROLES' } }) }), [byRoles]))).toBe(
      false,
    )
    expect(atOnce(canChangeRoles(holderOf({ articles: { read: 'all' } }), [byRoles]))).toBe(true)
    expect(atOnce(canChangeRoles(holderOf({}), [policy({ authors: { read: 'all' } })]))).toBe(true)
  })
})

describe('a key with a scope gives what it leaves', () => {
  const articles = model.byName.get('articles')?.id ?? ''
  const scoped = (rights: Rights, entitlements?: ReadonlySet<Entitlement>) =>
    grantorOf(
      { kind: 'scoped', rights, entitlements, collections: new Map([[articles, new Set(['read'] as const)]]) },
      model,
    )
  const wanted: readonly Collections[] = [
    { articles: { read: 'all' } },
    { articles: { update: 'all' } },
    { authors: { read: 'all' } },
  ]

  it.each([
    ['everything', { kind: 'all' } as const],
    ['policies', rightsOf({ articles: { read: 'all', update: 'all' }, authors: { read: 'all' } })],
  ])('of %s', (_name, rights) => {
    const grantor = scoped(rights, new Set(['ai:mcp']))
    const entitled = parsePolicy({ entitlements: ['workspaceMembers:edit'] }, model)

    expect(wanted.map((content) => mayGrant(grantor, policy(content)))).toEqual([true, false, false])
    expect(mayGrant(grantor, entitled)).toBe(false)
    expect(atOnce(canGrantRole(grantor, { kind: 'administrator', policies: [] }))).toBe(false)
  })
})

it('leaves Administrators to Administrators', () => {
  const role = { kind: 'administrator', policies: [] } as const

  expect([{ kind: 'everything' } as const, holderOf()].map((one) => atOnce(canGrantRole(one, role)))).toEqual([
    true,
    false,
  ])
})

it('tells no name that is not held', () => {
  const grantor = holderOf({ articles: { update: { fields: ['title'] } } })
  const missing = () => new Error('missing')
  const refusal = (content: unknown) => {
    try {
      parsePolicy(content, model, namesVisibleTo(grantor, namesOf(model), missing))
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
    return 'accepted'
  }

  const answers = ['secret', 'unknown', 'author'].map((name) =>
    refusal({ collections: { articles: { update: { filter: { [name]: { _between: 1 } } } } } }),
  )
  const collections = ['authors', 'unknown'].map((name) => refusal({ collections: { [name]: {} } }))

  expect(new Set([...answers, ...collections])).toEqual(new Set(['missing']))
  expect(refusal({ collections: { articles: { update: { filter: { title: { _between: 1 } } } } } })).not.toBe('missing')
})
