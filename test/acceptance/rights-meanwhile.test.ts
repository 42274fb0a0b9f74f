/**
 * A request may be on its way for long: what its sender holds when it is decided counts, not what they held when it began
 * (docs/decisions/042). So nobody brings back by a slow body what is taken from them meanwhile.
 */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { sendSlowly } from '../support/run/slow-request.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type Person, people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('meanwhile', { articles: { title: 'string' } })
const held = {
  entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'],
  collections: { articles: { read: 'all' } },
}
const accounts = '/api/system/service-accounts'

describe('a manager who loses their rights while the body is on its way', () => {
  it.each([
    ['whose role is taken', (id: string) => shop.patch(`/members/${id}`, { roles: [] })],
    ['who is suspended', (id: string) => shop.patch(`/members/${id}`, { status: 'suspended' })],
    ['who is removed', (id: string) => shop.delete(`/members/${id}`)],
  ])('changes no rights any more: %s', async (_, take) => {
    const manager = await people.member(shop, held)
    const friend = await people.memberWith(shop, [])
    const [policy, role] = [await people.policy(shop, held), await people.roleWith(shop, held)]
    const robot = await made(manager.system.post(accounts, { name: 'robot' }))
    const other = await made(
      manager.system.post(accounts, { name: 'other', roles: [{ workspace: shop.name, roleId: role }] }),
    )
    const name = world.name('late')

    const { statuses, control } = await meanwhile(
      manager,
      [
        ['POST', `/api/${shop.name}/policies`, { name, content: held }],
        ['PATCH', `/api/${shop.name}/policies/${policy}`, { name }],
        ['POST', `/api/${shop.name}/roles`, { name, policies: [policy] }],
        ['PATCH', `/api/${shop.name}/roles/${role}`, { policies: [] }],
        ['PATCH', `/api/${shop.name}/members/${friend.userId}`, { roles: [role] }],
        ['PATCH', `/api/${shop.name}/members/${manager.userId}`, { roles: [role], status: 'active' }],
        ['POST', `/api/${shop.name}/invitations`, { email: people.email(), workspace_roles: [role] }],
        ['PATCH', `${accounts}/${robot}`, { roles: [{ workspace: shop.name, roleId: role }] }],
        ['PATCH', `${accounts}/${other}`, { roles: [] }],
      ],
      () => take(manager.userId),
    )

    expect(control.status).toBeLessThan(300)
    expect(statuses.filter((status) => ![403, 404].includes(status))).toEqual([])
    expect(await shop.data(`/policies?filter[name][_eq]=${name}`)).toEqual([])
    expect(await shop.data(`/roles?filter[name][_eq]=${name}`)).toEqual([])
    expect(await rolesOf(friend.userId)).toEqual([])
  })
})

it('reads and writes nothing any more for whom the right is taken while the body is on its way', async () => {
  const all = { read: 'all', create: 'all', update: 'all', delete: 'all' }
  const entitlements = [
    ...['dataModel:read', 'dataModel:edit', 'dataSource:create', 'workspaceMembers:read', 'ai:mcp'],
    'workspaceSettings:edit',
  ]
  const user = await people.member(shop, { entitlements, collections: { articles: all } })
  const [{ id }] = (await shop.insert('articles', [{ title: 'before' }])) as [{ id: unknown }]
  const at = (path: string) => `/api/${shop.name}/${path}`
  const read = { kind: 'read', collection: 'articles' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_items', arguments: {} } }

  const { statuses, control } = await meanwhile(
    user,
    [
      ['QUERY', at('items/articles'), {}],
      ['QUERY', at('aggregates/articles'), { aggregate: { n: { count: '*' } } }],
      ['POST', at('items'), { operations: [read] }],
      ['POST', at('items/articles'), [{ title: 'late' }]],
      ['PATCH', at(`items/articles/${id}`), { title: 'late' }],
      ['PATCH', at('items/articles?max=9'), { title: 'late' }],
      ['POST', at('mcp'), call],
      ['POST', at('schema/plan'), { model: { version: 1 } }],
      ['POST', at('schema/migrate'), { operations: [] }],
      ['POST', at('access/explain'), { anonymous: true, collection: 'articles', action: 'read' }],
      ['PUT', at('secrets/late'), { value: 'late' }],
      ['POST', at('sources/data/test'), { provider: 'postgres', config: {} }],
      ['PATCH', at('ai/settings'), { chatModel: 'late' }],
    ],
    () => shop.patch(`/members/${user.userId}`, { roles: [] }),
  )

  expect(control.status).toBe(200)
  expect(statuses).toEqual(statuses.map(() => 403))
  expect(await shop.data('/items/articles?filter[title][_eq]=late')).toEqual([])
})

it('keeps no byte of a file, and lends none, for whom the right is taken while the body is on its way', async () => {
  const all = { read: 'all', create: 'all', update: 'all', delete: 'all' }
  const user = await people.member(shop, { collections: { ServiceFile: all } })
  const at = (path: string) => `/api/${shop.name}/assets${path}`
  const part = { part: 'of a file' }
  const late = { fileName: 'late', fileSize: JSON.stringify(part).length }
  const file = await made(user.send('POST', '/assets?fileName=early', { raw: 'early' }))
  const upload = await made(user.send('POST', '/assets/uploads', { body: late }))

  const { statuses, control } = await meanwhile(
    user,
    [
      ['POST', at('?fileName=late'), { late }],
      ['PUT', at(`/${file}?fileName=late`), { late }],
      ['POST', at(`/${file}/link`), { expiresIn: '5m' }],
      ['POST', at('/uploads'), late],
      ['PUT', at(`/uploads/${upload}/1`), part],
    ],
    () => shop.patch(`/members/${user.userId}`, { roles: [] }),
  )

  expect(control.status).toBe(200)
  expect(statuses).toEqual(statuses.map(() => 403))
  expect(await shop.data('/items/ServiceFile?fields=fileName')).toEqual([{ fileName: 'early' }])
})

it('writes nothing by rights that are taken while the write waits for a row that somebody holds', async () => {
  const { url: connectionString, close } = await startPostgres()
  const config = { connectionString }
  const [holder, other] = [new pg.Client(config), new pg.Client(config)]
  try {
    await Promise.all([holder.connect(), other.connect()])
    await holder.query('create table stock (id int primary key, amount int); insert into stock values (1, 1)')
    await shop.post('/sources/data', { apiName: 'depot', provider: 'postgres', config })
    const [depot] = (await shop.data('/items/ServiceDataSource?filter[apiName][_eq]=depot')) as { id: string }[]
    await shop.post(`/schema/introspect/${depot?.id}`, {})
    const user = await people.member(shop, { collections: { stock: { read: 'all', update: 'all' } } })
    await holder.query('begin; select from stock for update')

    const writing = user.patch('/items/stock/1', { amount: 2 })
    const blocked = `select from pg_stat_activity where wait_event_type = 'Lock'`
    await expect.poll(async () => (await other.query(blocked)).rowCount).toBe(1)
    await shop.patch(`/members/${user.userId}`, { roles: [] })

    expect((await writing).status).toBe(403)
    await holder.query('commit')
    expect((await other.query('select amount from stock')).rows).toEqual([{ amount: 1 }])
  } finally {
    await Promise.all([holder.end(), other.end()])
    await close()
  }
})

it('names nothing by rights that are taken while it is looked for which operation of a batch has failed', async () => {
  const { url: connectionString, close } = await startPostgres()
  const gateway = await startNeonGateway(connectionString)
  const database = new pg.Client({ connectionString })
  try {
    await database.connect()
    await database.query(`create table parcels (id int primary key, weight int unique);
      insert into parcels values (1, 1), (2, 2);
      create sequence runs;
      create function slow() returns trigger language plpgsql as $$
        begin perform nextval('runs'), pg_sleep(1); return new; end $$;
      create trigger slow before insert or update on parcels for each row execute function slow()`)
    await shop.post('/sources/data', {
      apiName: 'far_depot',
      provider: 'neon',
      config: { connectionString: gateway.url },
    })
    const [depot] = (await shop.data('/items/ServiceDataSource?filter[apiName][_eq]=far_depot')) as { id: string }[]
    await shop.post(`/schema/introspect/${depot?.id}`, {})
    const rights = { read: 'all', create: 'all', update: 'all' }
    const user = await people.member(shop, { collections: { parcels: rights } })
    const runs = async () => Number((await database.query('select last_value from runs')).rows[0].last_value)

    const operations = [
      { kind: 'create', collection: 'parcels', data: [{ id: 3, weight: 3 }] },
      { kind: 'update', collection: 'parcels', key: 1, data: { weight: 2 } },
    ]
    const writing = user.post('/items', { operations })
    // Two have run, and then each alone.
    await expect.poll(runs, { timeout: 20_000 }).toBeGreaterThan(2)
    await shop.patch(`/members/${user.userId}`, { roles: [] })

    const answer = await writing
    expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringContaining('weight')])
  } finally {
    await database.end()
    await gateway.close()
    await close()
  }
})

it('makes nobody Administrator again who is demoted while the body is on its way', async () => {
  const administrator = await people.administratorRole(shop)
  const demoted = await people.memberWith(shop, [administrator])
  const friend = await people.memberWith(shop, [])

  const { statuses } = await meanwhile(
    demoted,
    [demoted, friend].map(({ userId }) => ['PATCH', `/api/${shop.name}/members/${userId}`, { roles: [administrator] }]),
    () => shop.patch(`/members/${demoted.userId}`, { roles: [] }),
  )

  expect(statuses).toEqual([403, 403])
  expect([await rolesOf(demoted.userId), await rolesOf(friend.userId)]).toEqual([[], []])
})

it('sends what is said to the assistant nowhere else for an Administrator who is demoted while the body is on its way', async () => {
  const editor = await people.roleWith(shop, { entitlements: ['workspaceSettings:edit'] })
  const demoted = await people.memberWith(shop, [await people.administratorRole(shop), editor])
  const theirs = { connector: 'openai', connectorOptions: { address: 'https://theirs.example.com/v1' } }

  const { statuses } = await meanwhile(
    demoted,
    [theirs, { dataLevel: 'rows' }].map((change) => ['PATCH', `/api/${shop.name}/ai/settings`, change]),
    () => shop.patch(`/members/${demoted.userId}`, { roles: [editor] }),
  )

  expect(statuses).toEqual([403, 403])
  expect(await shop.data('/ai/settings')).toMatchObject({ connector: null, dataLevel: 'model' })
})

it('leaves nothing to an administrator of the instance who is demoted while the body is on its way', async () => {
  const [demoted, friend, victim] = [
    await people.memberWith(shop, []),
    await people.memberWith(shop, []),
    await people.memberWith(shop, [await people.administratorRole(shop)]),
  ]
  const account = (id: string) => `/api/system/users/${id}`
  await world.administrator.patch(account(demoted.userId), { isAdministrator: true })
  const robot = await made(victim.system.post(accounts, { name: 'robot' }))
  const [key] = [await made(victim.system.post('/api/system/api-keys', { name: 'off' }))]
  await victim.system.patch(`/api/system/api-keys/${key}`, { active: false })
  const name = world.name('late')

  const { statuses } = await meanwhile(
    demoted,
    [
      ['PATCH', account(demoted.userId), { isAdministrator: true }],
      ['PATCH', account(friend.userId), { isAdministrator: true }],
      ['POST', '/api/system/api-keys', { name, userId: victim.userId }],
      ['PATCH', `/api/system/api-keys/${key}`, { active: true }],
      ['PATCH', `${accounts}/${robot}`, { owner: demoted.userId }],
      ['POST', accounts, { name, owner: friend.userId }],
      ['POST', '/api/system/workspaces', { apiName: name }],
      ['POST', '/api/system/providers', { ...provider, name: name.replace('_', '-') }],
    ],
    () => world.administrator.patch(account(demoted.userId), { isAdministrator: false }),
  )

  expect(statuses.filter((status) => ![403, 404].includes(status))).toEqual([])
  const found = await world.administrator.get(`/api/system/users?filter[isAdministrator][_eq]=true&limit=-1&fields=id`)
  const { data } = (await found.json()) as { data: { id: string }[] }
  expect(data.filter(({ id }) => id === demoted.userId || id === friend.userId)).toEqual([])
})

it('switches no key on by one that is switched off while the body is on its way', async () => {
  const owner = await people.memberWith(shop, [])
  const answer = await owner.system.post('/api/system/api-keys', { name: 'stolen' })
  const { id, key } = ((await answer.json()) as { data: { id: string; key: string } }).data
  const path = `/api/system/api-keys/${id}`

  const { statuses } = await meanwhile(
    { token: key },
    [
      ['PATCH', path, { active: true }],
      ['POST', '/api/system/api-keys', { name: 'late' }],
    ],
    () => owner.system.patch(path, { active: false }),
  )

  expect(statuses.filter((status) => status < 400)).toEqual([])
  const listed = await owner.system.get('/api/system/api-keys?fields=name,active')
  expect(((await listed.json()) as { data: unknown }).data).toEqual([{ name: 'stolen', active: false }])
})

const provider = {
  issuer: 'https://idp.example.com',
  clientId: 'service',
  clientSecret: 'secret',
  scopes: ['openid', 'email'],
  enabled: false,
}

type Sent = readonly [method: string, path: string, body: object]

/** Does `change` while all requests are half sent. */
async function meanwhile({ token }: Pick<Person, 'token'>, requests: readonly Sent[], change: () => Promise<Response>) {
  const slow = requests.map(([method, path, body]) => sendSlowly({ method, url: world.url + path, token, body }))
  // Long enough for who asks to be known; where it is not, they are refused all the more.
  await wait(1_000)
  const control = await change()
  const statuses: number[] = []
  for (const send of slow) statuses.push(await send())
  return { statuses, control }
}

async function rolesOf(userId: string): Promise<readonly unknown[]> {
  const [member] = (await shop.data(`/members?filter[userId][_eq]=${userId}`)) as { roles: unknown[] }[]
  return member?.roles ?? []
}

async function made(answer: Promise<Response>): Promise<string> {
  const response = await answer
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: { id: string } }).data.id
}
