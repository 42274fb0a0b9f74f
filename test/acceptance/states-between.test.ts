/**
 * Rights hold of every state that a write brings its rows into, not only of the last one, and of rows that are not found
 * again where they were written (docs/contract.md#how-policies-act).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { type Content, type Person, people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

const told = async (response: Response) => `${response.status} ${await response.text()}`

describe('what is nested in a change', () => {
  let shop: Workspace
  /** May hold nobody for an administrator, whom alone the secrets of a team are shown. */
  let member: Person

  const hidden = { team: { people: { _some: { id: 1, role: 'admin' } } } }

  beforeAll(async () => {
    shop = await world.workspace(
      'between',
      {
        teams: { name: 'string?' },
        people: { role: 'string', teamId: 'int64', pinnedId: 'int64?' },
        secrets: { amount: 'int32', teamId: 'int64' },
        notes: { personId: 'int64', secretId: 'int64?' },
      },
      [
        'people.team(teamId) -> teams.people',
        'people.pinned(pinnedId) -> secrets.pinnedBy',
        'secrets.team(teamId) -> teams.secrets',
        'notes.person(personId) -> people.notes',
        'notes.secret(secretId) -> secrets.notes',
      ],
    )
    await shop.insert('teams', [{}])
    await shop.insert('people', [{ role: 'user', teamId: 1 }])
    await shop.insert('secrets', [{ amount: 7, teamId: 1 }])
    member = await people.member(shop, {
      collections: {
        teams: { read: 'all', update: { fields: ['secrets', 'people'] } },
        people: {
          read: 'all',
          create: { validation: { role: 'user' } },
          update: { fields: ['role', 'team', 'pinned', 'notes'], filter: { id: 1 }, validation: { role: 'user' } },
        },
        notes: { read: 'all', create: 'all' },
        secrets: { read: { filter: hidden }, update: { fields: ['amount'], filter: hidden } },
      },
    })
  })

  it('does not see an item as its caller may not make it', async () => {
    const pin = (id: number) =>
      member.patch('/items/people/1', { role: 'admin', pinned: [{ _connect: { key: { id } } }] }).then(told)
    const change = (amount: object) => {
      const secrets = [{ _update: { filter: { amount }, data: { amount: 1 } } }]
      return member.patch('/items/people/1', { role: 'admin', team: [{ _update: { data: { secrets } } }] }).then(told)
    }
    const note = (id: number) => {
      const data = [{ secret: { _connect: { key: { id } } } }]
      return member.post('/items/people', [{ role: 'admin', teamId: 1, notes: [{ _create: { data } }] }]).then(told)
    }

    const answers = [await pin(1), await pin(2), await change({ _gt: 6 }), await change({ _gt: 7 })]
    const created = [await note(1), await note(2)]

    for (const same of [answers, created]) {
      expect(same[0]).toMatch(/^422 .*Validation failed/)
      expect(new Set(same).size).toBe(1)
    }
  })

  it('does not use a state that it takes back', async () => {
    const back = [{ _update: { filter: { id: 1 }, data: { role: 'user' } } }]
    const secrets = [{ _update: { filter: { amount: 7 }, data: { amount: 0 } } }]
    const data = { secrets, people: back }

    const changed = await told(await member.patch('/items/people/1', { role: 'admin', team: [{ _update: { data } }] }))

    expect(changed).toMatch(/^422 .*Validation failed/)
    expect(await shop.data('/items/secrets?fields=amount')).toEqual([{ amount: 7 }])
  })

  it('may make valid what is not valid without it', async () => {
    const maker = await people.member(shop, {
      collections: {
        people: { read: 'all', create: { validation: { role: 'user', notes: { _some: { id: { _gt: 0 } } } } } },
        teams: { read: 'all' },
        notes: { read: 'all', create: 'all' },
      },
    })
    const person = (role: string, notes: readonly object[]) => ({ role, teamId: 1, notes })

    const created = await maker.post('/items/people?fields=role', [person('user', [{ _create: { data: [{}] } }])])
    const without = await maker.post('/items/people?fields=role', [person('user', [])])

    expect([created.status, without.status]).toEqual([200, 422])
  })
})

describe('what a write makes of a key', () => {
  let servers: SourceServers

  beforeAll(async () => {
    servers = await startSourceServers()
  })
  afterAll(() => servers?.close())

  const status = { _in: ['draft', 'review'] }
  const draft = { status: 'draft' }

  /** Whether the database tells what it has written, whatever becomes of its key. */
  const isAnswering = (provider: string) => ['postgres', 'neon'].includes(provider)

  /** A workspace over tables of the database, and a member with these rights on them. */
  async function over(provider: (typeof testedProviders)[number], tables: readonly string[], model: object) {
    await servers[provider].run(...tables)
    const shop = await world.workspace('keys', {})
    const made = await shop.post('/sources/data', { apiName: 'mine', provider, config: servers[provider].config })
    const { data } = (await made.json()) as { data: { id: string } }
    expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
    const file = (await (await shop.get('/schema/model?ids=false')).json()) as { collections: Record<string, object> }
    for (const [name, more] of Object.entries(model)) Object.assign(file.collections[name] ?? {}, more)
    const plan = (await (await shop.post('/schema/plan', { model: file })).json()) as { data: { plan: string } }
    expect(await told(await shop.post('/schema/apply', { model: file, plan: plan.data.plan }))).toMatch(/^200/)
    return { shop, member: (content: Content) => people.member(shop, content) }
  }

  describe.each(testedProviders)('on %s', (provider) => {
    it('that follows another row is checked all the same', async () => {
      const { shop, member } = await over(
        provider,
        [
          'create table tenants (id int primary key)',
          'create table docs (tenant_id int not null, nr int not null, status varchar(20) not null, primary key (tenant_id, nr), foreign key (tenant_id) references tenants (id) on update cascade)',
          'insert into tenants values (1)',
          "insert into docs values (1, 7, 'draft')",
        ],
        {},
      )
      const writer = await member({
        collections: {
          tenants: { read: 'all', update: { fields: ['id', 'docs'] } },
          docs: { read: 'all', update: { fields: ['status', 'tenant'], filter: draft, check: { status } } },
        },
      })
      const tenant = [{ _update: { data: { id: 9 } } }]

      const changed = await told(await writer.patch('/items/docs/1,7', { status: 'approved', tenant }))

      expect(changed).toMatch(/^403 /)
      expect(await shop.data('/items/docs?fields=tenantId,status')).toEqual([{ tenantId: 1, status: 'draft' }])
    })

    it('that is stored otherwise than it was sent is an error', async () => {
      const at = isAnswering(provider) ? 'timestamp(0)' : 'datetime'
      const { shop, member } = await over(
        provider,
        [
          `create table hours (at ${at} primary key, status varchar(20) not null)`,
          "insert into hours values ('2020-01-01 00:00:00', 'draft')",
        ],
        {},
      )
      const writer = await member({
        collections: {
          hours: {
            read: 'all',
            create: { validation: draft },
            update: { fields: ['at', 'status'], filter: draft, check: { status } },
          },
        },
      })
      const sent = { at: '2020-01-01T00:00:07.4', status: 'approved' }

      const changed = await told(await writer.patch('/items/hours/2020-01-01T00:00:00', sent))
      const created = await told(await writer.post('/items/hours', [{ ...sent, at: '2021-01-01T00:00:07.4' }]))
      const moved = await told(await shop.patch('/items/hours/2020-01-01T00:00:00', { at: sent.at }))

      expect(changed).toMatch(/^422 .*the database has stored another key than was sent/)
      expect(moved).toMatch(isAnswering(provider) ? /^200 .*T00:00:07"/ : /^422 .*the database has stored another key/)
      expect(created).toMatch(/^422 .*Validation failed/)
      expect(await shop.data('/items/hours?fields=status')).toEqual([draft])
    })

    it('in a view is checked where the row is no longer part of it', async () => {
      const { shop, member } = await over(
        provider,
        [
          'create table sheets (id int primary key, status varchar(20) not null)',
          "insert into sheets values (1, 'draft')",
          "create view open_sheets as select id, status from sheets where status <> 'approved'",
        ],
        { openSheets: { key: ['id'] } },
      )
      const writer = await member({
        collections: {
          openSheets: { read: 'all', create: { validation: draft }, update: { filter: draft, check: { status } } },
        },
      })

      const changed = await told(await writer.patch('/items/openSheets/1', { status: 'approved' }))
      const created = await told(await writer.post('/items/openSheets', [{ id: 2, status: 'approved' }]))

      expect(changed).toMatch(/^403 /)
      expect(created).toMatch(/^422 .*Validation failed/)
      expect(await shop.data('/items/sheets?fields=id,status')).toEqual([{ id: 1, status: 'draft' }])
    })

    it('in a view is answered, or not written, where the row is no longer part of it', async () => {
      const { shop } = await over(
        provider,
        [
          'create table parcels (id int primary key, status varchar(20) not null)',
          "insert into parcels values (1, 'draft'), (2, 'draft'), (3, 'draft')",
          "create view open_parcels as select id, status from parcels where status <> 'approved'",
        ],
        { openParcels: { key: ['id'] } },
      )
      const body = { status: 'approved' }

      const written = [
        await told(await shop.patch('/items/openParcels/1', body)),
        await told(await shop.patch('/items/openParcels?filter[id][_eq]=2', body)),
      ]
      const readAgain = [
        await told(await shop.patch('/items/openParcels?filter[id][_eq]=3&max=2', body)),
        await told(await shop.patch('/items/openParcels', [{ id: 3, ...body }])),
      ]
      const kept = await told(await shop.patch('/items/openParcels/3', { id: 4, status: 'sent' }))

      const left = expect.stringMatching(/^422 .*would no longer show the item/)
      const answered = ['{"id":1,"status":"approved"}', '[{"id":2,"status":"approved"}]'].map(
        (one) => `200 {"data":${one}}`,
      )
      expect(written).toEqual(isAnswering(provider) ? answered : [left, left])
      expect(readAgain).toEqual([left, left])
      expect(kept).toBe('200 {"data":{"id":4,"status":"sent"}}')
      const status = isAnswering(provider) ? 'approved' : 'draft'
      expect(await shop.data('/items/parcels?sort[0][id][direction]=asc')).toEqual([
        { id: 1, status },
        { id: 2, status },
        { id: 4, status: 'sent' },
      ])
    })
  })
})
