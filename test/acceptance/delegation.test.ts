/**
 * Delegation gives away nothing (docs/decisions/042): whoever manages members neither gains by what they write, give
 * and take, nor takes what they could not give.
 */
import { describe, expect, it } from 'vitest'
import { type Content, type Person, people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace(
  'delegation',
  {
    articles: { title: 'string', status: 'string', secret: 'string', ownerId: 'uuid?', authorId: 'int64?' },
    authors: { name: 'string', salary: 'int64' },
    vault: { code: 'string' },
  },
  ['articles.author(authorId) -> authors.articles'],
)
const [ada] = await shop.insert('authors', [{ name: 'Ada', salary: 10 }])
await shop.insert('articles', [
  { title: 'One', status: 'live', secret: 'alpha', authorId: ada?.id },
  { title: 'Two', status: 'live', secret: 'beta' },
  { title: 'Three', status: 'draft', secret: 'alpha' },
])

const managing = ['workspaceMembers:read', 'workspaceMembers:edit']
const titles = { articles: { read: { fields: ['id', 'title', 'status'], filter: { status: 'live' } } } }
const beyondRights = { message: 'You cannot grant rights that you do not hold' }
const beyondReach = { message: 'You cannot revoke rights that you do not hold' }

const manager = (content: Content = {}) =>
  people.member(shop, {
    entitlements: [...managing, ...(content.entitlements ?? [])],
    collections: content.collections,
  })

async function write(person: Person, collections: object): Promise<string> {
  const response = await person.post('/policies', { name: world.name('p'), content: { collections } })
  return `${response.status} ${await response.text()}`
}

const statusesOf = (answers: readonly Response[]) => answers.map(({ status }) => status)

async function bodiesOf(answers: readonly Response[]): Promise<ReadonlySet<string>> {
  return new Set(await Promise.all(answers.map(async (answer) => `${answer.status} ${await answer.text()}`)))
}

describe('conditions', () => {
  it.each([
    ['who reads the model', ['dataModel:read']],
    ['who does not read the model', []],
  ])('of a policy tell a manager %s of hidden and unknown names alike', async (_, entitlements) => {
    const person = await manager({ entitlements, collections: titles })
    const live = { status: 'live' }
    const reads = (filter: object) => write(person, { articles: { read: { fields: ['title'], filter } } })

    const answers = [
      await reads({ ...live, secret: { _starts_with: 'a' } }),
      await reads({ ...live, unknown: { _starts_with: 'a' } }),
      await reads({ ...live, secret: { _between: 1 } }),
      await reads({ ...live, _or: [{ _not: { secret: 'alpha' } }] }),
      await reads({ ...live, _or: [{ _not: { unknown: 'alpha' } }] }),
      await reads({ ...live, author: { salary: { _gt: 5 } } }),
      await reads({ ...live, author: { unknown: { _gt: 5 } } }),
      await reads({ ...live, author: {} }),
      await reads({ ...live, unknown: {} }),
      await write(person, { articles: { read: { fields: ['secret'], filter: live } } }),
      await write(person, { articles: { read: { fields: ['unknown'], filter: live } } }),
      await write(person, { vault: {} }),
      await write(person, { unknown: {} }),
      await write(person, { vault: { read: { filter: { code: 'x' } } } }),
      await write(person, { [shop.ids.get('vault') ?? '']: {} }),
    ]

    expect(new Set(answers)).toEqual(new Set([`403 ${JSON.stringify(beyondRights)}`]))
  })

  it.each([
    ['update', { filter: { secret: { _starts_with: 'a' } } }],
    ['update', { validation: { secret: { _starts_with: 'a' } } }],
    ['create', { validation: { secret: { _starts_with: 'a' } } }],
    ['delete', { filter: { secret: { _starts_with: 'a' } } }],
  ])('of %s see no more than their writer reads: %j', async (action, part) => {
    const person = await manager({ collections: { articles: { read: { fields: ['title'] }, [action]: 'all' } } })

    const whole = await write(person, { articles: { [action]: 'all' } })
    const hidden = await write(person, { articles: { [action]: part } })

    expect(whole).toMatch(/^201 /)
    expect(hidden).toBe(`403 ${JSON.stringify(beyondRights)}`)
  })

  it('see no related rows that their writer does not read', async () => {
    const readers = [
      await manager({
        collections: { articles: { read: 'all' }, authors: { read: { filter: { salary: { _lt: 5 } } } } },
      }),
      await manager({ collections: { articles: { read: 'all' }, authors: { read: { fields: ['id', 'name'] } } } }),
      await manager({ collections: { articles: { read: 'all' }, authors: { read: 'all' } } }),
    ]

    const answers = []
    for (const person of readers) {
      answers.push(await write(person, { articles: { read: { filter: { author: { name: 'Ada' } } } } }))
      answers.push(await write(person, { articles: { read: { filter: { author: { salary: { _gt: 5 } } } } } }))
    }

    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['403', '403', '201', '403', '201', '201'])
  })

  it('may be more than those that their writer holds, and then narrow what is given', async () => {
    const person = await manager({ entitlements: ['dataModel:read'], collections: titles })
    const filter = { _and: [{ status: { _eq: 'live' } }, { title: { _starts_with: 'T' } }] }

    const narrowed = await person.post('/policies', {
      name: world.name('p'),
      content: { collections: { articles: { read: { fields: ['title'], filter } } } },
    })
    const { data } = (await narrowed.json()) as { data: { id: string } }
    const role = await person.post('/roles', { name: world.name('r'), policies: [data.id] })
    const reader = await people.memberWith(shop, [((await role.json()) as { data: { id: string } }).data.id])
    const seen = await reader.get('/items/articles')

    expect([narrowed.status, role.status]).toEqual([201, 201])
    expect(await seen.json()).toEqual({ data: [{ title: 'Two' }] })
  })

  it('of a policy that is there already are given by nobody whom they would tell something', async () => {
    const person = await manager({ collections: { articles: { read: { fields: ['title'] } } } })
    const telling = await people.policy(shop, {
      collections: { articles: { read: { fields: ['title'], filter: { secret: 'alpha' } } } },
    })
    const role = await people.role(shop, [telling])

    const answers = [
      await person.patch(`/members/${person.userId}`, { roles: [role] }),
      await person.post('/invitations', { email: people.email(), workspace_roles: [role] }),
      await person.post('/roles', { name: world.name('r'), policies: [telling] }),
      await person.patch(`/roles/${await people.publicRole(shop)}`, { policies: [telling] }),
      await person.system.post('/api/system/service-accounts', {
        name: 'creature',
        roles: [{ workspace: shop.name, roleId: role }],
      }),
    ]

    expect(await bodiesOf(answers)).toEqual(new Set([`403 ${JSON.stringify(beyondRights)}`]))
  })

  it('are not given where they would mean other rows to somebody else', async () => {
    const person = await manager({
      collections: {
        articles: { read: { filter: { ownerId: { _neq: '$CURRENT_USER' } } } },
        authors: { read: { filter: { name: { _in: '$CURRENT_ROLES' } } } },
        vault: { read: { filter: { code: '$CURRENT_USER' } } },
      },
    })

    const answers = [
      await write(person, { articles: { read: { filter: { ownerId: { _neq: '$CURRENT_USER' } } } } }),
      await write(person, { articles: { read: { filter: { ownerId: { _neq: person.userId } } } } }),
      await write(person, { authors: { read: { filter: { name: { _in: '$CURRENT_ROLES' } } } } }),
      await write(person, { vault: { read: { filter: { code: '$CURRENT_USER' } } } }),
      await write(person, { vault: { read: { filter: { code: person.userId } } } }),
    ]

    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['403', '201', '403', '201', '201'])
  })
})

describe('a role is a right where a policy names roles', () => {
  it('so that nobody gains rows by another role', async () => {
    const tag = await people.role(shop, [])
    const byRoles = await people.roleWith(shop, {
      entitlements: managing,
      collections: { articles: { read: { filter: { title: { _in: '$CURRENT_ROLES' } } } } },
    })
    const person = await people.memberWith(shop, [byRoles])
    await shop.insert('articles', [{ title: tag, status: 'draft', secret: 'gamma' }])

    const refused = [
      await person.patch(`/members/${person.userId}`, { roles: [byRoles, tag] }),
      await person.patch(`/members/${person.userId}`, { roles: [] }),
      await person.delete(`/roles/${byRoles}`),
    ]
    const seen = await person.get('/items/articles')
    const byAdministrator = await shop.patch(`/members/${person.userId}`, { roles: [byRoles, tag] })
    const untagged = await person.delete(`/roles/${tag}`)

    expect([...statusesOf(refused), byAdministrator.status, untagged.status]).toEqual([403, 403, 403, 200, 403])
    expect(await seen.json()).toEqual({ data: [] })
  })
})

describe('what a manager may not give, they may not take', () => {
  it('members: roles, activity and membership', async () => {
    const person = await manager({ collections: titles })
    const beyond = await people.roleWith(shop, { collections: { vault: { read: 'all' } } })
    const within = await people.roleWith(shop, { collections: titles })
    const better = await people.memberWith(shop, [beyond, within])
    const gone = await people.memberWith(shop, [beyond])
    const equal = await people.memberWith(shop, [within])
    await shop.patch(`/members/${gone.userId}`, { status: 'suspended' })

    const refused = [
      await person.patch(`/members/${better.userId}`, { roles: [] }),
      await person.patch(`/members/${better.userId}`, { roles: [within] }),
      await person.patch(`/members/${better.userId}`, { status: 'suspended' }),
      await person.patch(`/members/${gone.userId}`, { status: 'active' }),
      await person.delete(`/members/${better.userId}`),
    ]
    const allowed = [
      await person.patch(`/members/${better.userId}`, { roles: [beyond] }),
      await person.patch(`/members/${equal.userId}`, { status: 'suspended' }),
      await person.patch(`/members/${equal.userId}`, { status: 'active', roles: [] }),
      await person.delete(`/members/${equal.userId}`),
    ]

    expect(await bodiesOf(refused)).toEqual(new Set([`403 ${JSON.stringify(beyondReach)}`]))
    expect(statusesOf(allowed)).toEqual([200, 200, 200, 204])
    expect(await shop.data(`/members?filter[userId][_eq]=${better.userId}&fields=roles,status`)).toEqual([
      { roles: [beyond], status: 'active' },
    ])
  })

  it('Administrators', async () => {
    const person = await manager()
    const other = await people.memberWith(shop, [await people.administratorRole(shop)])
    const suspended = await people.memberWith(shop, [await people.administratorRole(shop)])
    await shop.patch(`/members/${suspended.userId}`, { status: 'suspended' })

    const answers = [
      await person.patch(`/members/${other.userId}`, { roles: [] }),
      await person.patch(`/members/${other.userId}`, { status: 'suspended' }),
      await person.patch(`/members/${suspended.userId}`, { status: 'active' }),
      await person.delete(`/members/${other.userId}`),
    ]

    expect(await bodiesOf(answers)).toEqual(
      new Set([`403 {"message":"Only an Administrator can remove, suspend or demote an Administrator"}`]),
    )
  })

  it('policies and roles', async () => {
    const person = await manager({ collections: titles })
    const beyond = await people.policy(shop, { collections: { vault: { read: 'all' } } })
    const within = await people.policy(shop, { collections: titles })
    const [mixed, plain] = [await people.role(shop, [beyond, within]), await people.role(shop, [within])]

    const refused = [
      await person.patch(`/policies/${beyond}`, { content: {} }),
      await person.patch(`/policies/${beyond}`, { name: world.name('p') }),
      await person.patch(`/policies/${beyond}`, {}),
      await person.delete(`/policies/${beyond}`),
      await person.patch(`/roles/${mixed}`, { policies: [within] }),
      await person.patch(`/roles/${mixed}`, { name: world.name('r') }),
      await person.patch(`/roles/${mixed}`, {}),
      await person.delete(`/roles/${mixed}`),
    ]
    const allowed = [
      await person.patch(`/roles/${plain}`, { policies: [] }),
      await person.delete(`/roles/${plain}`),
      await person.patch(`/policies/${within}`, { content: {} }),
      await person.delete(`/policies/${within}`),
    ]

    expect(await bodiesOf(refused)).toEqual(new Set([`403 ${JSON.stringify(beyondReach)}`]))
    expect(statusesOf(allowed)).toEqual([200, 204, 200, 204])
  })

  it('policies of Public', async () => {
    const own = await world.workspace('delegation', { notes: { text: 'string' } })
    const everybody = await people.publicRole(own)
    const reading = await people.policy(own, { collections: { notes: { read: 'all' } } })
    await own.patch(`/roles/${everybody}`, { policies: [reading] })
    const person = await people.member(own, { entitlements: managing })

    const detached = await person.patch(`/roles/${everybody}`, { policies: [] })

    expect(detached.status).toBe(403)
    expect((await own.anonymous.get('/items/notes')).status).toBe(200)
  })

  it('invitations', async () => {
    const person = await manager()
    const invite = async (roles: readonly string[]) => {
      const response = await shop.post('/invitations', { email: people.email(), workspace_roles: roles })
      return ((await response.json()) as { data: { id: string } }).data.id
    }
    const beyond = await invite([await people.roleWith(shop, { collections: { vault: { read: 'all' } } })])
    const administrator = await invite([await people.administratorRole(shop)])
    const plain = await invite([])

    const answers = [
      await person.delete(`/invitations/${beyond}`),
      await person.delete(`/invitations/${administrator}`),
      await person.delete(`/invitations/${plain}`),
    ]

    expect(statusesOf(answers)).toEqual([403, 403, 204])
  })

  it('roles of service accounts', async () => {
    const person = await manager()
    const beyond = await people.roleWith(shop, { collections: { vault: { read: 'all' } } })
    const made = await world.administrator.post('/api/system/service-accounts', {
      name: 'worker',
      owner: person.userId,
      roles: [{ workspace: shop.name, roleId: beyond }],
    })
    const { data } = (await made.json()) as { data: { id: string } }

    const byOwner = await person.system.patch(`/api/system/service-accounts/${data.id}`, { roles: [] })
    const asMember = await person.delete(`/members/${data.id}`)

    expect([byOwner.status, asMember.status]).toEqual([403, 403])
  })

  it('but everybody may leave who may change members', async () => {
    const person = await people.member(shop, {
      entitlements: managing,
      collections: { articles: { read: { filter: { ownerId: { _neq: '$CURRENT_USER' } } } } },
    })

    const left = await person.delete(`/members/${person.userId}`)

    expect(left.status).toBe(204)
  })
})

describe('the last Administrator', () => {
  it('keeps their account, in every workspace, whoever administers the instance', async () => {
    const own = await world.workspace('delegation', {})
    const [creator] = (await own.data('/members')) as { userId: string }[]
    const last = await people.memberWith(own, [await people.administratorRole(own)])
    await own.post('/invitations', {
      email: people.email(),
      workspace_roles: [await people.administratorRole(own)],
    })
    await own.delete(`/members/${creator?.userId}`)
    const account = `/api/system/users/${last.userId}`

    const suspended = await world.administrator.patch(account, { status: 'suspended' })
    const deleted = await world.administrator.delete(account)
    const renamed = await world.administrator.patch(account, { fullName: 'Last' })

    expect(statusesOf([suspended, deleted, renamed])).toEqual([409, 409, 200])
    expect(await suspended.json()).toEqual({ message: `The last Administrator of ${own.name} cannot be suspended` })
  })

  it('is one of two who demote each other, or whose accounts are suspended, at once', async () => {
    const own = await world.workspace('delegation', {})
    const [creator] = (await own.data('/members')) as { userId: string }[]
    const role = await people.administratorRole(own)
    const [one, two] = [await people.memberWith(own, [role]), await people.memberWith(own, [role])]
    await own.delete(`/members/${creator?.userId}`)
    const suspend = ({ userId }: Person) =>
      world.administrator.patch(`/api/system/users/${userId}`, { status: 'suspended' })

    const answers = await Promise.all([suspend(one), suspend(two)])
    for (const { userId } of [one, two])
      await world.administrator.patch(`/api/system/users/${userId}`, { status: 'active' })
    const again = [await people.login(own, one), await people.login(own, two)]
    const demotions = await Promise.all([
      again[0]?.patch(`/members/${two.userId}`, { roles: [] }),
      again[1]?.patch(`/members/${one.userId}`, { roles: [] }),
    ])

    expect(statusesOf(answers).toSorted()).toEqual([200, 409])
    expect(demotions.filter((answer) => answer?.status === 200)).toHaveLength(1)
  })
})
