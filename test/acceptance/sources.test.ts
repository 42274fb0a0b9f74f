/** docs/contract.md#data-sources: SQL databases as data sources, by the providers that are built in. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sqlProviders } from '../../src/core/sql/address.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { messagesOf } from '../support/service/messages.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let config: { readonly connectionString: string }
const close: (() => Promise<void>)[] = []

beforeAll(async () => {
  const postgres = await startPostgres()
  const gateway = await startNeonGateway(postgres.url)
  close.push(gateway.close, postgres.close)
  config = { connectionString: gateway.url }
  shop = await world.workspace('sources', {})
})

afterAll(async () => {
  for (const end of close) await end()
})

it('creates a data source and answers its id', async () => {
  const response = await shop.post('/sources/data', { apiName: 'stock', provider: 'neon', config })

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ data: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
  expect(await shop.data('/items/ServiceDataSource?fields=apiName,provider&filter[apiName][_eq]=stock')).toEqual([
    { apiName: 'stock', provider: 'neon' },
  ])
})

it('lends the AWS keys of the server to no workspace by itself', async () => {
  const place = { host: 'db.eu-west-1.rds.amazonaws.com', database: 'd', user: 'u' }
  const roleArn = 'arn:aws:iam::123456789012:role/unlisted'
  for (const auth of [{}, { roleArn }]) {
    const aws = { ...place, auth: { kind: 'aws-iam', region: 'eu-west-1', ...auth } }
    for (const path of ['/sources/data/test', '/sources/data/introspect']) {
      const response = await shop.post(path, { provider: 'postgres', config: aws })
      expect(response.status).toBe(422)
    }
    const response = await shop.post('/sources/data', { apiName: 'aws', provider: 'postgres', config: aws })
    expect(response.status).toBe(422)
  }
})

it('answers 204 without a body to a test that passes', async () => {
  const response = await shop.post('/sources/data/test', { provider: 'neon', config, permissions: [] })

  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
})

it('refuses a grant that is not the required one, and names the required one', async () => {
  const permissions = [{ permission: 'net:example.com', reason: 'why not' }]

  const response = await shop.post('/sources/data', { apiName: 'granted', provider: 'neon', config, permissions })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: 'Invalid extension permissions',
    code: '7001',
    meta: { permissions: [] },
  })
})

it('answers 409 where the name is taken', async () => {
  const made = { apiName: 'twice', provider: 'neon', config }
  await shop.post('/sources/data', made)

  const response = await shop.post('/sources/data', made)

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({ message: 'A data source of this name already exists' })
})

it('deletes a source', async () => {
  const made = await shop.post('/sources/data', { apiName: 'gone', provider: 'neon', config })
  const { data } = (await made.json()) as { data: { id: string } }

  const first = await shop.delete(`/sources/data/${data.id}`)
  const second = await shop.delete(`/sources/data/${data.id}`)

  expect(first.status).toBe(204)
  expect(second.status).toBe(404)
  expect(await second.json()).toEqual({ message: 'Source does not exist' })
  expect(await shop.data('/items/ServiceDataSource?fields=id&filter[apiName][_eq]=gone')).toEqual([])
})

it('does not delete the source that every workspace has', async () => {
  const response = await shop.delete(`/sources/data/${shop.sourceId}`)

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({
    message: 'The data source cannot be deleted: it is the workspace’s own',
    source: { message: 'it is the workspace’s own' },
  })
})

it('needs dataSource:create, dataSource:delete and extension:read', async () => {
  const reader = await people.member(shop, { entitlements: ['dataModel:edit', 'dataSource:read'] })
  const wish = { provider: 'neon', config }

  const answers = await Promise.all([
    reader.post('/sources/data', { apiName: 'mine', ...wish }),
    reader.post('/sources/data/test', wish),
    reader.post('/sources/data/introspect', wish),
    reader.delete(`/sources/data/${shop.sourceId}`),
    reader.get('/connectors/data'),
  ])

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
})

it('lists the providers', async () => {
  const connectors = (await shop.data('/connectors/data')) as { id: string; isAvailable: boolean }[]

  const available = connectors.filter(({ isAvailable }) => isAvailable).map(({ id }) => id)
  expect(connectors.map(({ id }) => id)).toEqual(expect.arrayContaining([...sqlProviders]))
  expect(available).toEqual(expect.arrayContaining([...sqlProviders]))
})

it('lists presets of well-known services, which only say how their addresses look', async () => {
  const connectors = (await shop.data('/connectors/data')) as { id: string; presets: { id: string }[] }[]
  const preset = connectors.find(({ id }) => id === 'neon')?.presets

  expect(preset).toEqual([{ id: 'neon', name: 'Neon', hint: '<endpoint>.<region>.aws.neon.tech' }])
  expect(connectors.flatMap(({ presets }) => presets).length).toBeGreaterThan(5)
})

const UNREADABLE = 'Failed to read the JSON body'

it.each<[string, object, readonly unknown[]]>([
  [
    'an unknown member',
    { provider: 'neon', surprise: 1 },
    [expect.stringContaining('unknown field surprise; allowed: provider')],
  ],
  ['an unknown provider', { provider: 'oracle' }, ['provider', 'is not a data connector that is installed']],
  ['no provider', {}, ['provider', 'must be given']],
  ['a configuration that is no object', { provider: 'neon', config: 'x' }, ['config', 'must be an object']],
  ['no configuration', { provider: 'neon' }, ['config.host', 'must be given']],
  [
    'an unknown setting',
    { provider: 'neon', config: { hots: 'x' } },
    ['config', 'unknown field hots; did you mean host?'],
  ],
  [
    'an address under a wrong name',
    { provider: 'neon', config: { url: 'postgres://u:p@h/d' } },
    [
      'config',
      'unknown field url; allowed: host, port, database, user, password, tls, auth, or connectionString alone',
    ],
  ],
  [
    'an unknown setting beside the others',
    { provider: 'neon', config: { host: 'h', database: 'd', user: 'u', password: 'p', pool: 3 } },
    ['config', expect.stringContaining('unknown field pool; allowed: host')],
  ],
  [
    'a setting beside a connection string',
    { provider: 'neon', config: { connectionString: 'postgres://u:p@h/d', host: 'h' } },
    ['config', 'unknown field host; allowed: connectionString'],
  ],
  [
    'a string of another database',
    { provider: 'neon', config: { connectionString: 'mysql://u:p@h/d' } },
    ['config.connectionString', 'must be an address that begins with postgres://'],
  ],
  [
    'a string that would take any certificate',
    { provider: 'neon', config: { connectionString: 'postgres://u:p@h/d?sslmode=no-verify' } },
    ['config.connectionString', 'has the parameter sslmode, which is not supported so'],
  ],
  [
    'a host that is none',
    { provider: 'neon', config: { host: 'a/b@c', database: 'd', user: 'u', password: 'p' } },
    ['config.host', 'must be the name or the address of a host'],
  ],
  [
    'a port that is none',
    { provider: 'neon', config: { host: 'h', port: 0, database: 'd', user: 'u', password: 'p' } },
    ['config.port', 'must be at least 1'],
  ],
  [
    'no password',
    { provider: 'neon', config: { host: 'h', database: 'd', user: 'u' } },
    ['config.password', 'must be given'],
  ],
  [
    'a token where there are none',
    {
      provider: 'neon',
      config: { host: 'h', database: 'd', user: 'u', auth: { kind: 'aws-iam', region: 'eu-west-1' } },
    },
    ['config.auth', 'is not supported by neon'],
  ],
  [
    'half a pair of keys',
    {
      provider: 'neon',
      config: { host: 'h', database: 'd', user: 'u', auth: { kind: 'aws-iam', region: 'eu-west-1', accessKeyId: 'a' } },
    },
    ['config.auth', 'accessKeyId and secretAccessKey must be given together'],
  ],
])('answers 422 naming the place: %s', async (_what, wish, messages) => {
  for (const path of ['/sources/data/test', '/sources/data/introspect']) {
    const response = await shop.post(path, wish)
    expect(response.status).toBe(422)
    expect(messagesOf(await response.json())).toEqual([UNREADABLE, ...messages])
  }
})

it.each([
  [{ apiName: '1st' }, 'apiName'],
  [{}, 'apiName'],
  [{ apiName: '_system' }, 'apiName'],
])('names a source by the rule of API names: %j', async (wish, place) => {
  const response = await shop.post('/sources/data', { ...wish, provider: 'neon', config })

  expect(response.status).toBe(422)
  expect(messagesOf(await response.json()).slice(0, 2)).toEqual([UNREADABLE, place])
})

it.each([
  [{ permission: 'net:example.com' }],
  [{ permission: 'net:example.com', reason: '  ' }],
  [{ permission: 'NET:example.com', reason: 'r' }],
  [{ permission: 'net:', reason: 'r' }],
  [{ permission: 'net:https://example.com', reason: 'r' }],
  [{ permission: 'net:example.com', reason: 'r', more: 1 }],
])('refuses a malformed permission without a handshake: %j', async (permission) => {
  const response = await shop.post('/sources/data/test', { provider: 'neon', config, permissions: [permission] })

  const body = (await response.json()) as object
  expect(response.status).toBe(422)
  expect(body).not.toHaveProperty('code')
  expect(body).not.toHaveProperty('meta')
})

const UNTESTED = 'Failed to connect to data source with the provided configuration'

it('answers 500 where nothing listens, and creates nothing', async () => {
  const wish = { provider: 'neon', config: { connectionString: 'postgres://u:canary-password@127.0.0.1:9/d' } }
  const body = {
    message: UNTESTED,
    source: { message: 'Failed to connect to the database', code: '5001' },
  }

  const test = await shop.post('/sources/data/test', wish)
  const create = await shop.post('/sources/data', { apiName: 'nowhere', ...wish })
  const preview = await shop.post('/sources/data/introspect', wish)

  expect([test.status, await test.json()]).toEqual([500, body])
  expect([create.status, await create.json()]).toEqual([500, body])
  expect([preview.status, await preview.json()]).toEqual([500, { ...body, message: 'Query failed' }])
  expect(await shop.data('/items/ServiceDataSource?fields=id&filter[apiName][_eq]=nowhere')).toEqual([])
})

it('answers 422 where the credentials are refused', async () => {
  const wrong = config.connectionString.replace(/:[^:@/]+@/, ':canary-password@')

  const response = await shop.post('/sources/data/test', { provider: 'neon', config: { connectionString: wrong } })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: UNTESTED,
    source: {
      message: 'Invalid extension configuration',
      code: '2002',
      source: { message: 'the database refuses the user or the password' },
    },
  })
})

const address = { host: '127.0.0.1', port: 9, database: 'd', user: 'u' }
const OF_A_WORKER = 'a Worker trusts public certificate authorities only: run the service on Node, or use Hyperdrive'

it.each([
  [
    'an authority of its own',
    { ...address, password: 'p', tls: { ca: '-----BEGIN CERTIFICATE-----' } },
    { workerd: ['config.tls.ca', `is not supported: ${OF_A_WORKER}`] },
  ],
  [
    'tokens of AWS IAM',
    { ...address, auth: { kind: 'aws-iam', region: 'eu-west-1', accessKeyId: 'a', secretAccessKey: 's' } },
    { workerd: ['config.auth', `needs the authorities of AWS, and ${OF_A_WORKER}`] },
  ],
  [
    'a Hyperdrive binding',
    { hyperdrive: 'NOWHERE' },
    {
      workerd: ['config.hyperdrive', 'is not a Hyperdrive binding that this workspace may use'],
      node: [
        'config.hyperdrive',
        'names a binding of a Worker, and this instance runs on Node: give the address of the database',
      ],
    },
  ],
])('refuses %s where the platform cannot use it, with the reason', async (_, config, reasons) => {
  for (const provider of ['postgres', 'mysql', 'mariadb']) {
    const response = await shop.post('/sources/data', { apiName: 'refused', provider, config })

    const reason = (reasons as Readonly<Record<string, readonly string[]>>)[world.platform]
    const messages = messagesOf(await response.json())
    if (reason === undefined) expect([response.status, messages[0]]).toEqual([500, UNTESTED])
    else expect([response.status, messages]).toEqual([422, [UNREADABLE, ...reason]])
  }
})

it('refuses a Hyperdrive binding with anything besides, and for databases over HTTP', async () => {
  const wish = { apiName: 'refused', provider: 'postgres', config: { hyperdrive: 'NOWHERE', user: 'u' } }
  const besides = await shop.post('/sources/data', wish)
  const overHttp = await shop.post('/sources/data', { ...wish, provider: 'neon' })

  expect(messagesOf(await besides.json())).toEqual([UNREADABLE, 'config', 'unknown field user; allowed: hyperdrive'])
  expect(messagesOf(await overHttp.json())).toEqual([UNREADABLE, 'config.hyperdrive', 'is not supported by neon'])
})

it('never shows what a source was created with', async () => {
  const made = await shop.post('/sources/data', { apiName: 'secretive', provider: 'neon', config })
  const { data } = (await made.json()) as { data: { id: string } }
  const password = new URL(config.connectionString).password

  const answers = await Promise.all(
    [
      '/items/ServiceDataSource?fields=*',
      `/items/ServiceDataSource/${data.id}`,
      '/schema/structure/sources',
      '/schema',
      '/audit-log?filter[action][_contains]=source.create',
    ].map(async (path) => (await shop.get(path)).text()),
  )
  const selected = await shop.get('/items/ServiceDataSource?fields=credentials')

  expect(answers.filter((text) => text.includes(password))).toEqual([])
  expect(answers.at(-1)).toContain('"source.create.v1"')
  expect(selected.status).toBe(422)
  const log = readFileSync(world.logFile, 'utf8')
  expect(log).not.toContain(password)
  // Of the attempts above that failed.
  expect(log).not.toContain('canary-password')
})

it('records a source that is created, introspected and deleted', async () => {
  const made = await shop.post('/sources/data', { apiName: 'recorded', provider: 'neon', config })
  const { data } = (await made.json()) as { data: { id: string } }
  await shop.send('POST', `/schema/introspect/${data.id}`)
  await shop.delete(`/sources/data/${data.id}`)

  const fields = 'fields=action,targetType,payload&sort[0][time][direction]=asc'
  const response = await shop.get(`/audit-log?${fields}&filter[targetId][_eq]=${data.id}`)

  expect(await response.json()).toMatchObject({
    data: [
      { action: 'source.create.v1', targetType: 'source', payload: { apiName: 'recorded', provider: 'neon' } },
      { action: 'schema.introspect.v1', targetType: 'source', payload: { source: 'recorded' } },
      { action: 'source.delete.v1', targetType: 'source', payload: { apiName: 'recorded' } },
    ],
  })
})

it('records what was tried out and looked at, and where, also where that failed', async () => {
  const own = await world.workspace('tried', {})
  const closed = {
    provider: 'neon',
    config: { connectionString: 'postgres://someone:canary-password@127.0.0.1:1/none' },
  }
  for (const path of ['/sources/data/test', '/sources/data/introspect']) {
    await own.post(path, { provider: 'neon', config })
    await own.post(path, closed)
    await own.post(path, { provider: 'neon', config: {} })
  }
  await own.post('/sources/data', { apiName: 'closed', ...closed })

  const fields = 'fields=action,outcome,actorType,payload&sort[0][time][direction]=asc'
  const answer = await own.get(`/audit-log?${fields}&filter[action][_starts_with]=source.`)

  const of = (action: string, outcome: string, payload: object) => ({ action, outcome, actorType: 'user', payload })
  const [reached, missed] = [
    { provider: 'neon', host: '127.0.0.1', port: expect.any(Number) },
    { provider: 'neon', host: '127.0.0.1', port: 1 },
  ]
  expect(await answer.json()).toEqual({
    data: [
      of('source.test.v1', 'success', reached),
      of('source.test.v1', 'failure', missed),
      of('source.preview.v1', 'success', reached),
      of('source.preview.v1', 'failure', missed),
      of('source.create.v1', 'failure', { apiName: 'closed', ...missed }),
    ],
  })
})

it('has no list of sources', async () => {
  const list = await shop.get('/sources/data')
  const put = await shop.send('PUT', `/sources/data/${shop.sourceId}`, { body: { config } })

  expect([list.status, list.headers.get('Allow')]).toEqual([405, 'POST'])
  expect([put.status, put.headers.get('Allow')]).toEqual([405, 'GET, HEAD, PATCH, DELETE'])
})

it('replaces the configuration of a source once it has passed its test', async () => {
  const postgres = await startPostgres()
  const first = await startNeonGateway(postgres.url)
  const second = await startNeonGateway(postgres.url)
  close.push(second.close, postgres.close)
  const driver = openPostgres({ connectionString: postgres.url })
  await driver.query({ text: 'create table crates (id integer primary key)', params: [] })
  await driver.query({ text: 'insert into crates values (7)', params: [] })
  await driver.close()
  const own = await world.workspace('moved', {})
  const made = await own.post('/sources/data', {
    apiName: 'crates',
    provider: 'neon',
    config: { connectionString: first.url },
  })
  const { data } = (await made.json()) as { data: { id: string } }
  const path = `/sources/data/${data.id}`
  expect((await own.post(`/schema/introspect/${data.id}`, undefined)).status).toBe(200)

  const wrong = new URL(second.url)
  wrong.password = 'canary-password'
  const refused = await own.patch(path, { config: { connectionString: wrong.href } })
  expect([refused.status, await refused.text()]).toEqual([422, expect.not.stringContaining('canary')])
  expect((await own.patch(path, { config: { host: 'only' } })).status).toBe(422)
  expect((await own.patch(path, { config: {}, permissions: [] })).status).toBe(422)
  expect(await own.data('/items/crates?fields=id')).toEqual([{ id: 7 }])

  const { hostname, port, pathname, username, password } = new URL(second.url)
  await own.send('PUT', '/secrets/crates', { body: { value: password } })
  const parts = { host: hostname, port: Number(port), database: pathname.slice(1), user: username, tls: false }
  const changed = await own.patch(path, { config: { ...parts, password: { $secret: 'crates' } } })
  expect(changed.status).toBe(204)
  await first.close()
  expect(await own.data('/items/crates?fields=id')).toEqual([{ id: 7 }])
  expect(await own.data(path)).toMatchObject({ host: hostname, port: Number(port), secrets: ['crates'] })
  expect((await own.delete('/secrets/crates')).status).toBe(409)
  expect((await own.patch(path, { config: { connectionString: second.url } })).status).toBe(204)
  expect((await own.delete('/secrets/crates')).status).toBe(204)

  const sorted = 'sort[0][time][direction]=asc&filter[action][_eq]=source.update.v1'
  const attempts = await own.data(`/audit-log?fields=outcome,payload&${sorted}`)
  const place = { apiName: 'crates', provider: 'neon', host: hostname, port: Number(port) }
  const success = { outcome: 'success', payload: place }
  expect(attempts).toEqual([{ outcome: 'failure', payload: place }, success, success])
})

it('has no other configuration for the workspace’s own source, nor for whom the right is lacking', async () => {
  const other = await people.member(shop, { entitlements: ['dataSource:read', 'dataSource:delete', 'dataModel:edit'] })
  const manager = await people.member(shop, { entitlements: ['dataSource:create'] })
  const path = `/sources/data/${shop.sourceId}`

  expect((await shop.patch(path, { config })).status).toBe(409)
  expect(await (await manager.patch(path, { config })).json()).toEqual({
    message: 'Only Administrators of the workspace or of the instance choose where a data source leads',
  })
  expect((await other.patch(path, { config })).status).toBe(403)
  expect((await shop.patch(`/sources/data/${crypto.randomUUID()}`, { config })).status).toBe(404)
})

it('tells where a source leads, what it was granted and which secrets it uses, and nothing else of it', async () => {
  const own = await world.workspace('told', {})
  const { hostname: host, port, pathname, username: user, password } = new URL(config.connectionString)
  const parts = { host, port: Number(port), database: pathname.slice(1), user, password: { $secret: 'told' } }
  await own.send('PUT', '/secrets/told', { body: { value: password } })
  await own.send('PUT', '/secrets/address', { body: { value: config.connectionString } })
  const attach = async (apiName: string, sent: object) => {
    const made = await own.post('/sources/data', { apiName, provider: 'neon', config: sent })
    return ((await made.json()) as { data: { id: string } }).data.id
  }
  const ids = [
    await attach('whole', config),
    await attach('parts', { ...parts, tls: false }),
    await attach('hidden', { connectionString: { $secret: 'address' } }),
  ]
  const reader = await people.member(own, { entitlements: ['dataSource:read', 'dataSource:delete', 'dataModel:edit'] })

  const answers = await Promise.all(ids.map(async (id) => own.data(`/sources/data/${id}`)))

  const place = { host, port: Number(port) }
  expect(answers).toEqual([
    { id: ids[0], apiName: 'whole', provider: 'neon', ...place, permissions: [], secrets: [], mayChange: true },
    { id: ids[1], apiName: 'parts', provider: 'neon', ...place, permissions: [], secrets: ['told'], mayChange: true },
    { id: ids[2], apiName: 'hidden', provider: 'neon', permissions: [], secrets: ['address'], mayChange: true },
  ])
  expect(await own.data(`/sources/data/${own.sourceId}`)).toMatchObject({
    permissions: [],
    secrets: [],
    mayChange: false,
  })
  expect((await reader.get(`/sources/data/${ids[0]}`)).status).toBe(403)
  expect((await own.get(`/sources/data/${crypto.randomUUID()}`)).status).toBe(404)
})
