/** docs/contract.md#permission-handshake and #connector-permissions: the handshake, the test, the preview, the list. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { grantFor, readAnswer, sourceInputFor, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem
let count = 0

beforeAll(async () => {
  system = await startSystem()
  shop = await world.workspace('connectors', {})
})

afterAll(() => system.close())

const UNTESTED = 'Failed to connect to data source with the provided configuration'

const create = async (wish: object) => {
  count += 1
  return readAnswer(await shop.post('/sources/data', { apiName: `s${count}`, ...wish }))
}
const test = async (wish: object) => readAnswer(await shop.post('/sources/data/test', wish))
const preview = async (wish: object) => readAnswer(await shop.post('/sources/data/introspect', wish))

const manifest = { permission: 'net:docs.example.com', reason: 'the manifest says so' }
const mismatch = (permissions: readonly object[]) => ({
  status: 422,
  body: { message: 'Invalid extension permissions', code: '7001', meta: { permissions } },
})

describe('the handshake', () => {
  it.each(['create', 'test', 'preview'] as const)('answers the complete required set to %s', async (route) => {
    const attempt = { create, test, preview }[route]
    const { permissions, ...wish } = sourceInputFor(system)

    const answers = [
      await attempt(wish),
      await attempt({ ...wish, permissions: permissions.slice(1) }),
      await attempt({ ...wish, permissions: [...permissions, { permission: 'net:a.com', reason: 'why not' }] }),
    ]

    // A call without the system's grant cannot ask it, so only the set tells.
    expect(answers).toEqual([mismatch(permissions), mismatch(permissions), mismatch(permissions)])
  })

  it('creates nothing and does not run setup before it is done', async () => {
    const { permissions, ...wish } = sourceInputFor(system)
    const more = [...permissions, { permission: 'net:a.com', reason: 'why not' }]
    system.instruct('setup', { do: 'throw', class: 'AccessDenied' })

    const answer = await create({ ...wish, permissions: more })
    const sources = await shop.data(`/items/ServiceDataSource?fields=id&filter[apiName][_eq]=s${count}`)
    system.instruct('setup', null)

    // The grant includes the system, so a setup that ran would have failed by what it was told.
    expect(answer).toEqual(mismatch(permissions))
    expect(sources).toEqual([])
  })

  it('is done by sending that set, whatever its reasons and spelling', async () => {
    const sent = grantFor(system).map(({ permission }) => ({
      permission: permission.replace('docs', 'DOCS'),
      reason: 'approved',
    }))

    const answer = await create({ ...sourceInputFor(system), permissions: sent })

    expect(answer).toEqual({ status: 200, body: { data: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } } })
  })

  it('compares targets as written: neither a port nor a wildcard stands for another', async () => {
    const withPreflight = (permission: string) => ({
      provider: 'scripted',
      config: { preflight: { do: 'answer', value: { permissions: [{ permission, reason: 'asked' }] } } },
    })
    const sent = (permission: string) => [manifest, { permission, reason: 'sent' }]

    const answers = [
      await test({ ...withPreflight('net:a.com:443'), permissions: sent('net:a.com') }),
      await test({ ...withPreflight('net:b.a.com'), permissions: sent('net:*.a.com') }),
      await test({ ...withPreflight('net:[2001:DB8:0::1]'), permissions: sent('net:[2001:db8::2]') }),
    ]

    expect(answers).toEqual([
      mismatch([manifest, { permission: 'net:a.com:443', reason: 'asked' }]),
      mismatch([manifest, { permission: 'net:b.a.com', reason: 'asked' }]),
      mismatch([manifest, { permission: 'net:[2001:db8::1]', reason: 'asked' }]),
    ])
  })

  it('keeps the first reason, the manifest’s before preflight’s', async () => {
    const permissions = [
      { permission: 'net:DOCS.example.com', reason: 'preflight' },
      { permission: 'net:a.com', reason: 'first' },
      { permission: 'net:A.com', reason: 'second' },
    ]

    const answer = await create({
      provider: 'scripted',
      config: { preflight: { do: 'answer', value: { permissions } } },
    })

    expect(answer).toEqual(mismatch([manifest, { permission: 'net:a.com', reason: 'first' }]))
  })

  it.each([
    [{ permission: 'NET:a.com', reason: 'why' }, 'permissions[0].permission', 'must begin with net: in lower case'],
    [
      { permission: 'net:https://a.com', reason: 'why' },
      'permissions[0].permission',
      'must not be a URL: a target is a host, without a scheme',
    ],
    [
      { permission: 'net:unix:/s', reason: 'why' },
      'permissions[0].permission',
      'must not be a socket: a target is a host',
    ],
    [{ permission: 'net:a.com:0', reason: 'why' }, 'permissions[0].permission', 'must have a port from 1 to 65535'],
    [{ permission: 'net:', reason: 'why' }, 'permissions[0].permission', 'must name a target after net:'],
    [{ permission: 'net:::1', reason: 'why' }, 'permissions[0].permission', 'must have an IPv6 address in brackets'],
    [{ permission: 'net:a.com', reason: ' ' }, 'permissions[0].reason', 'must say why the connection is needed'],
    [{ permission: 'net:a.com' }, 'permissions[0].reason', 'must be given'],
    [
      { permission: 'net:a.com', reason: 'why', port: 1 },
      'permissions[0]',
      'unknown field port; allowed: permission, reason',
    ],
  ])('refuses %j before it', async (item, place, reason) => {
    const answer = await create({ ...sourceInputFor(system), permissions: [item] })

    expect(answer).toEqual({
      status: 422,
      body: {
        message: expect.stringContaining('Failed to read the JSON body: '),
        source: { message: place, source: { message: reason } },
      },
    })
  })

  it('comes after the file was loaded, so that a request at module scope without a grant fails before it', async () => {
    const permissions = [{ permission: 'net:127.0.0.1:65001', reason: 'asks while it is loaded' }]

    const answers = [await create({ provider: 'eager' }), await create({ provider: 'eager', permissions })]

    expect(answers[0]).toMatchObject({
      status: 422,
      body: {
        message: 'The extension could not be started',
        source: { message: 'Invalid extension permissions', code: '2003' },
      },
    })
    expect(answers[1]?.status).toBe(200)
  })

  it('knows only connectors that are installed', async () => {
    const { status, body } = await create({ provider: 'nobody' })

    expect(status).toBe(422)
    expect(body).toMatchObject({ message: expect.stringContaining('Failed to read the JSON body: ') })
  })
})

/** What goes wrong at a start, under the outer message of each route. */
const startFaults: readonly (readonly [string, object | undefined, object, number, object])[] = [
  [
    'InvalidConfiguration from setup',
    { do: 'throw', class: 'InvalidConfiguration' },
    {},
    422,
    {
      message: 'Invalid extension configuration',
      code: '2001',
      source: { message: 'the extension returned an error: as told' },
    },
  ],
  [
    'AccessDenied from setup',
    { do: 'throw', class: 'AccessDenied' },
    {},
    422,
    {
      message: 'Invalid extension configuration',
      code: '2002',
      source: { message: 'the extension returned an error: as told' },
    },
  ],
  [
    'another class from setup',
    { do: 'throw', class: 'ConnectionFailed' },
    {},
    422,
    { message: 'Invalid extension configuration', source: { message: 'the extension returned an error: as told' } },
  ],
  [
    'a plain error from setup',
    { do: 'plain' },
    {},
    422,
    { message: 'Invalid extension configuration', source: { message: 'the extension returned an error: as told' } },
  ],
  [
    'a permission denial in a cause chain of setup',
    { do: 'denied' },
    {},
    422,
    {
      message: 'Invalid extension permissions',
      code: '2003',
      source: { message: 'the extension returned an error: as told' },
    },
  ],
  [
    'a plain error from preflight',
    undefined,
    { preflight: { do: 'plain' } },
    422,
    { message: 'Invalid extension configuration', source: { message: 'the extension returned an error: as told' } },
  ],
  [
    'InvalidConfiguration from preflight',
    undefined,
    { preflight: { do: 'throw', class: 'InvalidConfiguration' } },
    422,
    {
      message: 'Invalid extension configuration',
      code: '2001',
      source: { message: 'the extension returned an error: as told' },
    },
  ],
  [
    'a permission denial in preflight',
    undefined,
    { preflight: { do: 'denied' } },
    422,
    {
      message: 'Invalid extension permissions',
      code: '2003',
      source: { message: 'the extension returned an error: as told' },
    },
  ],
  [
    'a target of preflight that is none',
    undefined,
    { preflight: { do: 'answer', value: { permissions: [{ permission: 'net:http://a.com', reason: 'why' }] } } },
    500,
    {
      message: 'Invalid extension response',
      source: {
        message:
          'preflight answered with something this protocol does not define: permissions[0].permission must not be a URL: a target is a host, without a scheme',
      },
    },
  ],
  [
    'a blank reason of preflight',
    undefined,
    { preflight: { do: 'answer', value: { permissions: [{ permission: 'net:a.com', reason: ' ' }] } } },
    500,
    {
      message: 'Invalid extension response',
      source: {
        message:
          'preflight answered with something this protocol does not define: permissions[0].reason must say why the connection is needed',
      },
    },
  ],
  [
    'an asynchronous preflight',
    undefined,
    { preflight: { do: 'promise', value: { permissions: [] } } },
    500,
    { message: 'Invalid extension response', source: { message: 'preflight must answer synchronously' } },
  ],
  [
    'a preflight without an answer',
    undefined,
    { preflight: { do: 'answer' } },
    500,
    { message: 'Invalid extension response', source: { message: 'preflight returned no value' } },
  ],
  [
    'a preflight that answers something else',
    undefined,
    { preflight: { do: 'answer', value: { hosts: [] } } },
    500,
    {
      message: 'Invalid extension response',
      source: {
        message:
          'preflight answered with something this protocol does not define: unknown field hosts, expected permissions',
      },
    },
  ],
  [
    'setup without an object',
    { do: 'answer', value: 5 },
    {},
    500,
    { message: 'Invalid extension response', source: { message: 'setup did not return a handler object' } },
  ],
  [
    'setup without handlers',
    { do: 'answer', value: {} },
    {},
    500,
    {
      message: 'Invalid extension response',
      source: { message: 'the connector returned no introspect, query handler' },
    },
  ],
  [
    'setup without query',
    undefined,
    { without: ['query'] },
    500,
    { message: 'Invalid extension response', source: { message: 'the connector returned no query handler' } },
  ],
]

describe('a start that fails', () => {
  it.each(startFaults)('%s', async (_, instruction, config, status, cause) => {
    system.instruct('setup', instruction ?? null)
    const answer = await create(sourceInputFor(system, config))
    system.instruct('setup', null)

    expect(answer).toEqual({ status, body: { message: 'The extension could not be started', source: cause } })
  })

  it('is told by each route under its own outer message', async () => {
    system.instruct('setup', { do: 'throw', class: 'AccessDenied' })
    const answers = [await preview(sourceInputFor(system)), await test(sourceInputFor(system))]
    system.instruct('setup', null)

    expect(answers).toMatchObject([
      { body: { message: 'The extension could not be started', source: { code: '2002' } } },
      { body: { message: UNTESTED, source: { message: 'Invalid extension configuration', code: '2002' } } },
    ])
  })

  it('does not block the next attempt', async () => {
    system.instruct('setup', { do: 'throw', class: 'AccessDenied' })
    const first = await test(sourceInputFor(system))
    system.instruct('setup', null)

    expect(first.status).toBe(422)
    expect(await test(sourceInputFor(system))).toEqual({ status: 204, body: undefined })
  })
})

describe('the connection test', () => {
  it('answers 204 without a body where it passes', async () => {
    expect(await test(sourceInputFor(system))).toEqual({ status: 204, body: undefined })
  })

  it('answers 422 with code 7002 where the connector has none, which can be created all the same', async () => {
    const wish = sourceInputFor(system, { without: ['testConnection'] })

    expect(await test(wish)).toEqual({
      status: 422,
      body: { message: 'The connector has no connection test', code: '7002' },
    })
    expect((await create(wish)).status).toBe(200)
  })

  it.each<[object, number, object]>([
    [{ do: 'answer', value: { ok: false } }, 422, { message: 'the extension reports that the connection failed' }],
    [{ do: 'answer', value: { ok: false, message: 'no' } }, 422, { message: 'the extension returned an error: no' }],
    [{ do: 'throw', class: 'ConnectionFailed' }, 500, { message: 'Failed to connect to the database', code: '5001' }],
    [{ do: 'throw', class: 'AccessDenied' }, 422, { message: 'Invalid extension configuration', code: '2002' }],
    [{ do: 'denied' }, 422, { message: 'Invalid extension permissions', code: '2003' }],
    [{ do: 'plain' }, 500, { message: 'Failed to query the database' }],
    [
      { do: 'answer' },
      500,
      { message: 'Invalid extension response', source: { message: 'testConnection returned no value' } },
    ],
    [
      { do: 'answer', value: { ok: true, extra: 1 } },
      500,
      {
        message: 'Invalid extension response',
        source: {
          message:
            'testConnection answered with something this protocol does not define: unknown field extra, expected ok or message',
        },
      },
    ],
  ])('%j fails it', async (instruction, status, cause) => {
    system.instruct('testConnection', instruction)

    const answer = await test(sourceInputFor(system))
    system.instruct('testConnection', null)

    expect(answer).toEqual({ status, body: { message: UNTESTED, source: expect.objectContaining(cause) } })
  })
})

it('creates nothing where the connection test fails', async () => {
  system.instruct('testConnection', { do: 'throw', class: 'ConnectionFailed' })
  const answer = await readAnswer(await shop.post('/sources/data', { apiName: 'untested', ...sourceInputFor(system) }))
  system.instruct('testConnection', null)

  expect(answer).toMatchObject({ status: 500, body: { message: UNTESTED, source: { code: '5001' } } })
  expect(await shop.data('/items/ServiceDataSource?fields=id&filter[apiName][_eq]=untested')).toEqual([])
})

describe('the preview', () => {
  it('answers the schema and its hash', async () => {
    const { status, body } = await preview(sourceInputFor(system))
    const { data } = body as { data: { schema: { collections: { name: string }[] }; hash: string } }

    expect(status).toBe(200)
    expect(Object.keys(data)).toEqual(['schema', 'hash'])
    expect(data.schema.collections.map(({ name }) => name)).toEqual(['authors', 'books'])
    expect(data.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await preview(sourceInputFor(system))).toEqual({ status, body })
  })

  it.each<[object, number, object]>([
    [{ do: 'plain' }, 500, { message: 'Failed to query the database' }],
    [{ do: 'throw', class: 'AccessDenied' }, 422, { message: 'Invalid extension configuration', code: '2002' }],
    [{ do: 'answer', value: { schema: { tables: [] } } }, 500, { message: 'Invalid extension response' }],
    [
      { do: 'answer', value: null },
      500,
      { message: 'Invalid extension response', source: { message: 'introspect returned no value' } },
    ],
  ])('%j fails it', async (instruction, status, cause) => {
    system.instruct('introspect', instruction)
    const answer = await preview(sourceInputFor(system))
    system.instruct('introspect', null)

    expect(answer).toEqual({ status, body: { message: 'Query failed', source: expect.objectContaining(cause) } })
  })
})

it('lists installed connectors with the permissions of their manifests', async () => {
  const listed = (await shop.data('/connectors/data')) as { id: string }[]

  expect(listed.find(({ id }) => id === 'scripted')).toEqual({
    id: 'scripted',
    name: 'Scripted',
    type: 'data-connector',
    origin: 'extension',
    isAvailable: true,
    unavailableReason: null,
    permissions: [manifest],
    presets: [],
  })
})

it('tells administrators of the instance, and nobody else, which extensions cannot be used', async () => {
  const reader = await people.member(shop, { entitlements: ['extension:read'] })

  const answers = [
    await readAnswer(await shop.get('/connectors/data')),
    await readAnswer(await reader.get('/connectors/data')),
  ]

  expect(answers.map(({ body }) => (body as { meta?: unknown }).meta)).toEqual([
    { broken: [{ location: 'extensions/unusable/missing.js', reason: 'is not a file of this extension' }] },
    undefined,
  ])
})

it('tries one configuration of an account at a time, which may be silent, and those of others beside it', async () => {
  const [person, other] = [
    await people.member(shop, { entitlements: ['dataSource:create'] }),
    await people.member(shop, { entitlements: ['dataSource:create'] }),
  ]
  const wish = sourceInputFor(system)
  const { reached, release } = system.hold('testConnection')
  const first = person.post('/sources/data/test', wish)
  await reached

  const routes = ['/sources/data/test', '/sources/data/introspect']
  const more = Array.from({ length: 17 }, (_, at) => person.post(routes[at % 2] ?? '', wish))
  const refused = await readAnswer(await Promise.race(more))
  const beside = await other.post('/sources/data/test', wish)
  release()

  expect(refused).toEqual({
    status: 503,
    body: { message: 'Too much of this is going on at once, try again later', meta: { retryAfter: 5 } },
  })
  expect(beside.status).toBe(204)
  const statuses = (await Promise.all([first, ...more])).map(({ status }) => status)
  expect(statuses.filter((status) => status > 204)).toEqual([503])
})

it('needs dataSource:create for each of the three, and extension:read for the list', async () => {
  const reader = await people.member(shop, { entitlements: ['dataModel:edit', 'dataSource:read'] })
  const wish = sourceInputFor(system)

  const answers = [
    await reader.post('/sources/data', { apiName: 'mine', ...wish }),
    await reader.post('/sources/data/test', wish),
    await reader.post('/sources/data/introspect', wish),
    await reader.get('/connectors/data'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
})
