/** docs/contract.md#relations: fields that lead through a junction, which an import gives to both sides, in both dialects. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { effort } from '../support/run/effort.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

const tables = [
  'create table films (id int primary key, title varchar(40) not null)',
  'create table actors (id int primary key, name varchar(40) not null)',
  `create table film_actor (film_id int not null, actor_id int not null, part varchar(40), primary key (film_id, actor_id),
    constraint in_film foreign key (film_id) references films (id), constraint of_actor foreign key (actor_id) references actors (id))`,
  'create table users (id int primary key)',
  `create table follows (follower_id int not null, followed_id int not null, primary key (follower_id, followed_id),
    constraint by_user foreign key (follower_id) references users (id), constraint to_user foreign key (followed_id) references users (id))`,
  'create table scenes (tid int not null, id int not null, primary key (tid, id))',
  'create table props (tid int not null, id int not null, primary key (tid, id))',
  `create table scene_props (tid int not null, scene_id int not null, prop_id int not null, primary key (tid, scene_id, prop_id),
    constraint in_scene foreign key (tid, scene_id) references scenes (tid, id),
    constraint of_prop foreign key (tid, prop_id) references props (tid, id))`,
  'insert into scenes values (1, 1), (2, 1)',
  'insert into props values (1, 1), (2, 1)',
]
const rows = [
  "insert into films values (1, 'Alien'), (2, 'Brazil'), (3, 'Cube')",
  "insert into actors values (1, 'Ada'), (2, 'Bo'), (3, 'Cy')",
  "insert into film_actor values (1, 1, 'lead'), (1, 2, null), (2, 2, 'lead')",
  'insert into users values (1), (2), (3)',
  'insert into follows values (1, 2), (1, 3), (2, 3)',
]
const emptied = ['film_actor', 'follows', 'films', 'actors', 'users'].map((name) => `delete from ${name}`)

/** Those over HTTP, or in the quick tier one that stands for its family. */
const providers = effort() === 'full' ? (['neon', 'planetscale'] as const) : (['mariadb'] as const)

describe.each(providers)('%s', (provider) => {
  let shop: Workspace
  let sourceId: string
  const introspect = async () => {
    const response = await shop.post(`/schema/introspect/${sourceId}`, undefined)
    return ((await response.json()) as { data: { operations: unknown } }).data.operations
  }

  beforeAll(async () => {
    shop = await world.workspace(`many_${provider}`, {})
    await servers[provider].run(...tables)
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: 'cinema', provider, config })
    sourceId = ((await made.json()) as { data: { id: string } }).data.id
    await introspect()
  })

  const reset = () => servers[provider].run(...emptied, ...rows)
  const films = (search: string, as: Pick<Workspace, 'get'> = shop) => listed(as, `/items/films?${search}`)
  const links = () => servers[provider].run('select film_id, actor_id, part from film_actor order by 1, 2')
  const actorsOf = (id: number) =>
    shop.data(`/items/films/${id}?fields=actors.name&deep[actors][_sort][0][id][direction]=asc`)

  async function listed(as: Pick<Workspace, 'get'>, path: string): Promise<unknown> {
    const response = await as.get(path)
    const body = (await response.json()) as { data?: unknown }
    return response.status === 200 ? body.data : response.status
  }

  describe('a read', () => {
    beforeAll(reset)

    it('has the rows behind the junction, sorted, filtered and paged', async () => {
      expect(await films('fields=title,actors.name&deep[actors][_sort][0][name][direction]=desc')).toEqual([
        { title: 'Alien', actors: { data: [{ name: 'Bo' }, { name: 'Ada' }] } },
        { title: 'Brazil', actors: { data: [{ name: 'Bo' }] } },
        { title: 'Cube', actors: { data: [] } },
      ])
      expect(
        await films('fields=actors.name&deep[actors][_limit]=1&deep[actors][_filter][name][_neq]=Ada&limit=1'),
      ).toEqual([{ actors: { data: [{ name: 'Bo' }] } }])
      expect(await shop.data('/items/actors/2?fields=films.title,films.actors.name')).toEqual({
        films: {
          data: [
            { title: 'Alien', actors: { data: [{ name: 'Ada' }, { name: 'Bo' }] } },
            { title: 'Brazil', actors: { data: [{ name: 'Bo' }] } },
          ],
        },
      })
    })

    it('tells the two sides of a junction of a table with itself apart', async () => {
      expect(await shop.data('/items/users/2?fields=usersByFollower.id,usersByFollowed.id')).toEqual({
        usersByFollower: { data: [{ id: 3 }] },
        usersByFollowed: { data: [{ id: 1 }] },
      })
    })

    it.each([
      ['filter[actors][name][_eq]=Bo', ['Alien', 'Brazil']],
      ['filter[actors][_some][name][_eq]=Ada', ['Alien']],
      ['filter[actors][_every][name][_eq]=Bo', ['Brazil', 'Cube']],
      ['filter[actors][_none][name][_eq]=Ada', ['Brazil', 'Cube']],
      ['filter[_not][actors][name][_eq]=Bo', ['Cube']],
      ['filter[actors][films][title][_eq]=Brazil', ['Alien', 'Brazil']],
    ])('is narrowed by %s', async (filter, titles) => {
      expect(await films(`fields=title&${filter}`)).toEqual(titles.map((title) => ({ title })))
    })

    it('is among what a dry run says is taken from clients, once', async () => {
      const response = await shop.post(`/schema/introspect/${sourceId}?dryRun=true`, {
        tables: { exclude: ['film_actor'] },
      })
      const { breaking } = ((await response.json()) as { data: { breaking: { collection: string; field?: string }[] } })
        .data
      const told = breaking.map(({ collection, field = '' }) => `${collection}.${field}`)

      expect(told.sort()).toEqual([
        ...['actors.filmActor', 'actors.films', 'filmActor.', 'filmActor.actor', 'filmActor.film'],
        ...['films.actors', 'films.filmActor'],
      ])
    })

    it('finds nothing to import anew', async () => {
      expect(await introspect()).toEqual([])
    })
  })

  describe('a write', () => {
    beforeAll(reset)

    it('links rows that are there and new ones, and unlinks them', async () => {
      const made = await shop.post('/items/films?fields=actors.name', [
        {
          id: 4,
          title: 'Dune',
          actors: [{ _connect: { keys: [{ id: 3 }] } }, { _create: { data: [{ id: 4, name: 'Di' }] } }],
        },
      ])
      const changed = await shop.patch('/items/films/1', {
        actors: [{ _disconnect: { filter: { name: { _eq: 'Bo' } } } }, { _connect: { keys: [{ id: 3 }] } }],
      })
      const emptiedOne = await shop.patch('/items/films/2', { actors: [{ _disconnect: {} }] })

      expect([made.status, changed.status, emptiedOne.status]).toEqual([200, 200, 200])
      expect(await made.json()).toEqual({ data: [{ actors: { data: [{ name: 'Cy' }, { name: 'Di' }] } }] })
      expect(await links()).toEqual([
        ['1', '1', 'lead'],
        ['1', '3', null],
        ['4', '3', null],
        ['4', '4', null],
      ])
      expect(await actorsOf(1)).toEqual({ actors: { data: [{ name: 'Ada' }, { name: 'Cy' }] } })
    })

    it('unlinks nothing by a filter that is none', async () => {
      const before = await links()
      const sent = [null, [], 'x', { _some: {} }].map((filter) => ({ actors: [{ _disconnect: { filter } }] }))
      const statuses = await Promise.all(sent.map(async (body) => (await shop.patch('/items/films/1', body)).status))

      expect(statuses).toEqual([422, 422, 422, 422])
      expect(await links()).toEqual(before)
    })

    it('links what is linked already once, and says where a fault stands', async () => {
      const before = await links()
      const again = await shop.patch('/items/films/1', { actors: [{ _connect: { keys: [{ id: 1 }, { id: 3 }] } }] })
      const fault = await shop.patch('/items/films/1', { actors: [{ _connect: { keys: [{ idd: 1 }] } }] })

      expect(again.status).toBe(200)
      expect(await links()).toEqual(before)
      expect(fault.status).toBe(422)
      expect(JSON.stringify(await fault.json())).toContain('"actors[0]._connect.keys[0].idd"')
    })

    it('links nothing of two tenants by any route, and says where', async () => {
      const link = (tid: number) => ({ props: [{ _connect: { keys: [{ tid, id: 1 }] } }] })
      const update = (tid: number) => ({
        kind: 'update',
        collection: 'scenes',
        key: { tid: 1, id: 1 },
        data: link(tid),
      })
      const linked = (search: string) => listed(shop, `/items/sceneProps?fields=tid&${search}`)
      const refusal = async (response: Response) => [response.status, JSON.stringify(await response.json())]
      const reason = 'sets tid of sceneProps, which is given by the item that it is linked to as well, to another value'

      const batch = await refusal(await shop.post('/items', { operations: [update(1), update(2)] }))
      const list = await refusal(await shop.patch('/items/scenes', [{ tid: 1, id: 1, ...link(2) }]))
      const sent = { body: link(2), headers: { 'Idempotency-Key': 'of-two-tenants' } }
      const once = await refusal(await shop.send('PATCH', '/items/scenes/1,1', sent))

      expect(batch).toEqual([422, expect.stringContaining('"operations[1].data.props[0]._connect"')])
      expect(list).toEqual([422, expect.stringContaining('"[0].props[0]._connect"')])
      expect(once).toEqual([422, expect.stringContaining('"props[0]._connect"')])
      for (const [, text] of [batch, list, once]) expect(text).toContain(reason)
      expect(await linked('')).toEqual([])
      expect((await shop.patch('/items/scenes/1,1', link(1))).status).toBe(200)
      expect(await linked('')).toEqual([{ tid: 1 }])
    })

    it('has no other operations, and links no row that is not there', async () => {
      const refused = await shop.patch('/items/films/1', { actors: [{ _update: { data: { name: 'x' } } }] })
      const missing = await shop.patch('/items/films/1', { actors: [{ _connect: { keys: [{ id: 99 }] } }] })

      expect([refused.status, missing.status]).toEqual([422, 422])
      expect(JSON.stringify(await refused.json())).toContain('allowed: _connect, _create, _disconnect')
    })
  })

  it('comes with the next import to tables that were imported without', async () => {
    const fields = (await shop.data(
      '/items/ServiceSingleRelationField?fields=id,apiName,collection.apiName,oppositeRelationFieldId&limit=-1',
    )) as { id: string; apiName: string; collection: { apiName: string }; oppositeRelationFieldId: string }[]
    const known = fields.find(({ apiName, collection }) => collection.apiName === 'films' && apiName === 'actors')
    const data = { firstFieldId: known?.id, secondFieldId: known?.oppositeRelationFieldId }
    await reset()
    await shop.migrate({ kind: 'deleteRelationFieldPair', data })

    const dry = await shop.post(`/schema/introspect/${sourceId}?dryRun=true`, undefined)
    const before = await films('fields=actors.name')
    const made = await introspect()

    expect(JSON.stringify(await dry.json())).toContain('"createManyToManyFieldPair"')
    expect(before).toBe(422)
    expect(made).toMatchObject([
      {
        kind: 'createManyToManyFieldPair',
        data: { firstField: { apiName: 'actors' }, secondField: { apiName: 'films' } },
      },
    ])
    expect(await films('fields=actors.name&limit=1&filter[id][_eq]=2')).toEqual([
      { actors: { data: [{ name: 'Bo' }] } },
    ])
    expect(await introspect()).toEqual([])
  })

  describe('a policy', () => {
    beforeAll(reset)
    const all = { read: 'all', update: 'all' } as const
    const member = (collections: Readonly<Record<string, unknown>>) => people.member(shop, { collections })

    it('of the junction hides the field, its links, or some of them', async () => {
      const without = await member({ films: all, actors: all })
      const half = await member({ films: all, actors: all, filmActor: { read: { fields: ['filmId', 'film'] } } })
      const some = await member({ films: all, actors: all, filmActor: { read: { filter: { part: { _eq: 'lead' } } } } })

      for (const one of [without, half]) {
        expect(await films('fields=actors.name', one)).toBe(403)
        expect(await films('fields=title&filter[actors][name][_eq]=Bo', one)).toBe(403)
        expect(await films('fields=title&filter[actors][_none][name][_eq]=Bo', one)).toBe(403)
      }
      expect(await films('fields=title,actors.name', some)).toEqual([
        { title: 'Alien', actors: { data: [{ name: 'Ada' }] } },
        { title: 'Brazil', actors: { data: [{ name: 'Bo' }] } },
        { title: 'Cube', actors: { data: [] } },
      ])
      expect(await films('fields=title&filter[actors][name][_eq]=Bo', some)).toEqual([{ title: 'Brazil' }])
    })

    it('of the other side hides it, its rows, and what they would tell', async () => {
      const none = await member({ films: all, filmActor: all })
      const some = await member({ films: all, filmActor: all, actors: { read: { filter: { name: { _eq: 'Ada' } } } } })

      expect(await films('fields=actors.name', none)).toBe(403)
      expect(await films('fields=title,actors.name&filter[actors][_every][name][_eq]=Ada', some)).toEqual([
        { title: 'Alien', actors: { data: [{ name: 'Ada' }] } },
        { title: 'Brazil', actors: { data: [] } },
        { title: 'Cube', actors: { data: [] } },
      ])
      expect(await films('fields=title&filter[actors][id][_eq]=2', some)).toEqual([])
    })

    it('of fields admits it by its name, and a condition may lead through it', async () => {
      const title = await member({ films: { read: { fields: ['title'] } }, actors: all, filmActor: all })
      const named = await member({ films: { read: { fields: ['title', 'actors'] } }, actors: all, filmActor: all })
      const narrowed = await member({ films: { read: { filter: { actors: { name: { _eq: 'Bo' } } } } } })

      expect(await films('fields=actors.name', title)).toBe(403)
      expect(await films('fields=title,actors.name&limit=1', named)).toEqual([
        { title: 'Alien', actors: { data: [{ name: 'Ada' }, { name: 'Bo' }] } },
      ])
      expect(await films('fields=title', narrowed)).toEqual([{ title: 'Alien' }, { title: 'Brazil' }])
    })

    it('of the junction decides who may link', async () => {
      const link = { actors: [{ _connect: { keys: [{ id: 3 }] } }] }
      const unlink = { actors: [{ _disconnect: {} }] }
      const reader = await member({ films: all, actors: all, filmActor: { read: 'all' } })
      const halfWriter = await member({
        films: all,
        actors: all,
        filmActor: { read: 'all', create: { fields: ['film', 'part'] } },
      })
      const linker = await member({
        films: all,
        actors: { read: { filter: { id: { _lt: 3 } } } },
        filmActor: { read: 'all', create: 'all', delete: 'all' },
      })

      const statuses = []
      for (const [one, body] of [
        [reader, link],
        [reader, unlink],
        [halfWriter, link],
        [linker, link],
      ] as const) {
        statuses.push((await one.patch('/items/films/3', body)).status)
      }
      const known = await linker.patch('/items/films/3', { actors: [{ _connect: { keys: [{ id: 1 }] } }] })
      const blind = await member({ films: all, actors: all, filmActor: { create: 'all', delete: 'all' } })
      const lead = { part: { _eq: 'lead' } }
      const some = await member({ films: all, actors: all, filmActor: { read: 'all', delete: { filter: lead } } })
      const lacking = [
        await reader.patch('/items/films/3', unlink),
        await some.patch('/items/films/1', unlink),
        await blind.patch('/items/films/3', link),
        await blind.patch('/items/films/3', unlink),
      ]

      expect(statuses).toEqual([403, 403, 403, 422])
      expect(known.status).toBe(200)
      expect(await Promise.all(lacking.map((response) => response.json()))).toMatchObject([
        { meta: { action: 'delete', collection: 'filmActor' } },
        { meta: { action: 'delete', collection: 'filmActor' } },
        { meta: { action: 'update', collection: 'films' } },
        { meta: { action: 'update', collection: 'films' } },
      ])
      expect(await actorsOf(3)).toEqual({ actors: { data: [{ name: 'Ada' }] } })
    })
  })

  it('is renamed, made and deleted by migrations, and goes with its junction', async () => {
    const fields = (await shop.data(
      '/items/ServiceSingleRelationField?fields=id,apiName,collection.apiName,oppositeRelationFieldId&limit=-1',
    )) as { id: string; apiName: string; collection: { apiName: string }; oppositeRelationFieldId: string }[]
    const named = (collection: string, name: string) =>
      fields.find((field) => field.collection.apiName === collection && field.apiName === name)
    const users = (search: string) => listed(shop, `/items/users?${search}`)
    const known = named('users', 'usersByFollower')
    const ids = { firstFieldId: known?.id, secondFieldId: known?.oppositeRelationFieldId }
    await reset()

    const renamed = await shop.migrate({
      kind: 'updateRelationFieldPair',
      data: { ...ids, operations: [{ kind: 'changeApiName', data: { fieldId: known?.id, apiName: 'leaders' } }] },
    })
    const read = await users('fields=leaders.id&limit=1')
    const again = await introspect()
    const deleted = await shop.migrate({ kind: 'deleteRelationFieldPair', data: ids })
    const gone = await users('fields=leaders.id')
    const side = (through: string, apiName: string) => ({ id: crypto.randomUUID(), apiName, throughFieldId: through })
    const made = await shop.migrate({
      kind: 'createManyToManyFieldPair',
      data: {
        firstField: side(named('users', 'followsByFollower')?.id ?? '', 'leaders'),
        secondField: side(named('users', 'followsByFollowed')?.id ?? '', 'followers'),
      },
    })
    const followers = await users('fields=followers.id&filter[id][_eq]=3')
    await servers[provider].run('drop table follows')
    await introspect()

    expect([renamed.status, deleted.status, made.status]).toEqual([200, 200, 200])
    expect(read).toEqual([{ leaders: { data: [{ id: 2 }, { id: 3 }] } }])
    expect(again).toEqual([])
    expect(gone).toBe(422)
    expect(followers).toEqual([{ followers: { data: [{ id: 1 }, { id: 2 }] } }])
    expect(await users('fields=followers.id')).toBe(422)
    expect(await introspect()).toEqual([])
  })
})
