/**
 * docs/contract.md#license-status: the table walked edge by edge, with a clock in hand, against the licensing service
 * over HTTP. One instance under a key goes through all of it without a restart; what needs a start has instances of its
 * own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Failure, type LicensingLine, openLicensingLine } from '../support/servers/licensing.ts'
import type { Client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const TERM = 30 * DAY
const GRACE = 7 * DAY
const locked = { message: 'System is locked. Please contact system administrator.' }

let stage: TestEnvironment
let line: LicensingLine
let instance: Instance
let admin: Client
let key: string
/** When the license was issued, and with it when it expires. */
let issuedAt: number

beforeAll(async () => {
  stage = await openTestEnvironment()
  line = await openLicensingLine(stage.clock.now)
  key = await newKey()
  instance = await stage.open(line.variables(key))
  admin = await instance.administrator()
  await admin.post('/api/system/workspaces', { apiName: 'shop' })
})

afterAll(async () => {
  await stage?.close()
  await line?.close()
})

describe('a license by key', () => {
  it('is activated at the first start, and active', async () => {
    expect(line.requests).toEqual(['POST /activations'])
    expect(await info()).toEqual({
      status: 'active',
      plan: 'team',
      source: 'key',
      expiresAt: at(TERM),
      graceEndsAt: at(TERM + GRACE),
      lastValidatedAt: expect.any(String),
      reachable: true,
      warnings: [],
    })
    expect(await items()).toBe(200)
  })

  it('sends the environment id and the public address with the key', () => {
    const [activation] = line.server.registry.find(key)?.activations ?? []

    expect(activation).toMatchObject({
      environmentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      baseUrl: 'https://data.example.com',
    })
  })

  it('is revalidated on its schedule, not before', async () => {
    line.requests.length = 0

    await instance.due()
    const early = [...line.requests]
    await stage.clock.advance(DAY + 2 * 60 * MINUTE)
    await instance.due()
    await instance.due()

    expect(early).toEqual([])
    expect(line.requests).toEqual(['POST /activations/*/validate'])
  })

  it('warns administrators, and nobody else, from 14 days before its expiry', async () => {
    await goTo(TERM - 14 * DAY - MINUTE)
    const before = await kinds()
    await goTo(TERM - 14 * DAY)
    const from = await kinds()

    expect([before, from]).toEqual([[], ['expiry']])
    expect(await (await instance.anonymous.get('/api/system/info')).json()).not.toHaveProperty('license')
  })

  it('goes from active to grace when its expiry is reached, and everything works on', async () => {
    await goTo(TERM - MINUTE)
    const before = [await status(), await items()]
    await goTo(TERM)
    const after = [await status(), await items()]

    expect([before, after]).toEqual([
      ['active', 200],
      ['grace', 200],
    ])
    expect(await kinds()).toEqual(['grace'])
  })

  it('goes from grace to locked when the period that it grants is over', async () => {
    await goTo(TERM + GRACE - MINUTE)
    const before = [await status(), await items()]
    await goTo(TERM + GRACE)
    const after = [await status(), await items()]

    expect([before, after]).toEqual([
      ['grace', 200],
      ['locked', 402],
    ])
    expect(await kinds()).toEqual(['locked'])
  })

  it('while locked, answers 402 to every request for items, whoever sends it', async () => {
    const path = '/api/shop/items/ServiceCollection'
    const answers = [
      await admin.get(path),
      await admin.post(path, [{}]),
      await admin.patch(`${path}/1`, {}),
      await admin.delete(`${path}/1`),
      await admin.patch(path, []),
      await admin.delete(`${path}?filter[_all]=true`),
      await admin.send('QUERY', path, { body: {} }),
      await admin.post('/api/shop/items', { operations: [{ kind: 'read', collection: 'ServiceCollection' }] }),
      await admin.send('PUT', path),
      await admin.get('/api/shop/items/no_such_collection'),
      await admin.get('/api/nowhere/items/things'),
      await admin.get(`${path}/1/and/more`),
      await instance.anonymous.get(path),
      await admin.get('/api/shop/aggregates/ServiceCollection?aggregate[n][count]=*'),
      await admin.send('QUERY', '/api/shop/aggregates/ServiceCollection'),
      await admin.post('/api/shop/aggregates/ServiceCollection', {}),
      await instance.anonymous.get('/api/nowhere/aggregates/things/and/more'),
    ]

    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 402))
    expect(await answers[0]?.json()).toEqual(locked)
  })

  it('while locked, answers agents the same by every tool for items', async () => {
    const collection = 'ServiceCollection'
    const calls = {
      list_items: { collection },
      aggregate_items: { collection, aggregate: { n: { count: '*' } } },
      create_items: { collection, data: [{}] },
      update_item: { collection, key: '1', data: {} },
      delete_item: { collection, key: '1' },
      batch_items: { operations: [{ kind: 'read', collection }] },
    }
    const body = Object.entries(calls).map(([name, sent], id) => {
      return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: sent } }
    })
    const headers = { Accept: 'application/json, text/event-stream' }

    const response = await admin.send('POST', '/api/shop/mcp', { body, headers })

    const answers = (await response.json()) as { readonly result: { readonly structuredContent: object } }[]
    expect(answers.map(({ result }) => result.structuredContent)).toEqual(body.map(() => ({ error: locked })))
  })

  it('while locked, keeps everything else working', async () => {
    const again = await instance.administrator()
    const answers = [
      await again.get('/api/system/ready'),
      await again.get('/api/system/license'),
      await again.get('/api/shop/license'),
      await again.get('/api/system/workspaces'),
      await again.post('/api/shop/roles', { name: 'made while locked', policies: [] }),
      await again.get('/api/shop/schema'),
    ]

    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 201, 200])
  })

  it('is active again once it is renewed and refreshed, without a restart', async () => {
    await renew()

    const response = await admin.post('/api/system/license/refresh', {})

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ data: { status: 'active' } })
    expect([await status(), await items()]).toEqual(['active', 200])
    const audit = await admin.get(
      '/api/system/audit-log?filter[action][_eq]=license.refresh.v1&sort[0][time][direction]=desc',
    )
    expect(await audit.json()).toMatchObject({ data: [{ actorType: 'user', payload: { verdict: 'valid' } }] })
  })

  it('goes from grace to active by a scheduled revalidation', async () => {
    await goTo(TERM + DAY)
    const inGrace = await status()
    await renew()
    await stage.clock.advance(DAY + 2 * 60 * MINUTE)
    await instance.due()

    expect(inGrace).toBe('grace')
    expect(await status()).toBe('active')
  })

  it.each(['suspend', 'cancel'])('is locked at once when a scheduled revalidation reports %s', async (word) => {
    await line.sell(`/licenses/${key}/${word}`)
    const unasked = await status()
    await stage.clock.advance(DAY + 2 * 60 * MINUTE)
    await instance.due()
    const reported = [await status(), await items(), await kinds()]
    await renew()
    await stage.clock.advance(DAY + 2 * 60 * MINUTE)
    await instance.due()

    expect(unasked).toBe('active')
    expect(reported).toEqual(['locked', 402, ['locked']])
    expect([await status(), await items()]).toEqual(['active', 200])
  })

  it('is locked at once from grace when the service reports it as expired', async () => {
    line.spoil(answers(200, '{"status":"expired"}'))
    await goTo(TERM)
    const before = await status()

    await refresh()

    line.spoil({ kind: 'none' })
    expect([before, await status()]).toEqual(['grace', 'locked'])
    await renew()
    await refresh()
    expect(await status()).toBe('active')
  })

  it('keeps its entitlements and warns while the service is down for a week', async () => {
    line.spoil({ kind: 'down' })
    const seen: unknown[] = []
    for (const days of [1, 6]) {
      await stage.clock.advance(days * DAY + 2 * 60 * MINUTE)
      await instance.due()
      const { status: state, reachable } = await info()
      seen.push([state, reachable, await kinds(), await items()])
    }
    line.spoil({ kind: 'none' })
    await refresh()

    const down = ['active', false, ['unreachable'], 200]
    expect(seen).toEqual([down, down])
    await expect.poll(instance.log).toContain('The licensing service cannot be reached')
    expect(await info()).toMatchObject({ status: 'active', reachable: true, warnings: [] })
  })

  it.each([
    ['answers 500', () => answers(500, '{"status":"canceled"}'), false, 'unreachable'],
    ['answers HTML', () => answers(200, '<h1>Hello</h1>'), false, 'unreachable'],
    ['redirects', () => answers(302, ''), false, 'unreachable'],
    ['answers 403', () => answers(403, '{"message":"no"}'), true, 'refused'],
    ['says valid without a license', () => answers(200, '{"status":"valid"}'), true, 'refused'],
    ['sends a forged license', () => line.forged, true, 'refused'],
    ['sends a license of another product', () => line.ofAnotherProduct, true, 'refused'],
  ] as const)('stays as it is and warns where the service %s', async (_, trouble, reachable, kind) => {
    line.spoil(trouble())

    const answer = await refresh()

    line.spoil({ kind: 'none' })
    expect(answer).toMatchObject({ status: 'active', entitlements: { seats: { limit: 50, kind: 'hard' } } })
    expect(await info()).toMatchObject({ status: 'active', reachable })
    expect(await kinds()).toEqual([kind])
    expect(await items()).toBe(200)
  })

  it('stays locked where the service does not answer', async () => {
    await line.sell(`/licenses/${key}/suspend`)
    await refresh()
    line.spoil(answers(302, ''))
    await refresh()
    line.spoil({ kind: 'none' })

    expect([await status(), await items()]).toEqual(['locked', 402])
    await renew()
    await refresh()
  })

  it('is activated anew where the service has forgotten its activation', async () => {
    line.server.registry.change(key, (license) => ({ ...license, activations: [] }))
    line.requests.length = 0

    await refresh()

    expect(line.requests).toEqual(['POST /activations/*/validate', 'POST /activations'])
    expect(await info()).toMatchObject({ status: 'active', reachable: true })
  })

  it('is refreshed by administrators only', async () => {
    expect((await instance.anonymous.post('/api/system/license/refresh', {})).status).toBe(403)
    expect((await instance.anonymous.get('/api/system/license')).status).toBe(403)
    expect((await instance.anonymous.get('/api/shop/license')).status).toBe(403)
  })

  it('is asked about again at the next start, which locks where it is suspended', async () => {
    await line.sell(`/licenses/${key}/suspend`)
    await instance.close()
    line.requests.length = 0

    instance = await stage.open(line.variables(key))
    admin = await instance.administrator()

    expect(line.requests).toEqual(['POST /activations/*/validate'])
    expect([await status(), await items()]).toEqual(['locked', 402])
  })

  it('may be unset: the next start is on the starter plan, which usage fits', async () => {
    await instance.close()
    line.requests.length = 0

    instance = await stage.open()
    admin = await instance.administrator()

    expect(await info()).toMatchObject({ status: 'active', plan: 'starter', source: 'starter', reachable: null })
    expect(await (await admin.get('/api/system/license')).json()).toMatchObject({
      data: {
        entitlements: {
          workspaces: { limit: 10, kind: 'hard' },
          service_accounts: { limit: 25, kind: 'hard' },
          sso_enabled: { limit: true, kind: 'hard' },
          seats: { limit: 25, kind: 'hard' },
          custom_roles: { limit: 25, kind: 'hard' },
          custom_permission_rules_enabled: { limit: true, kind: 'hard' },
          custom_policies: { limit: 100, kind: 'hard' },
        },
      },
    })
    expect(await items()).toBe(200)
    expect((await admin.post('/api/system/license/refresh', {})).status).toBe(409)
    expect(line.requests).toEqual([])
  })
})

describe('an offline license', () => {
  it('goes its way by the clock alone, and needs a new token and a restart', async () => {
    await instance.close()
    line.requests.length = 0
    const days = (term: number) => ({ term: (term * DAY) / 1_000, grace: DAY / 1_000 })
    instance = await stage.open(await offline(days(1)))
    admin = await instance.administrator()
    const seen = [await status()]
    for (const _ of [1, 2]) {
      await stage.clock.advance(DAY)
      await instance.due()
      seen.push(await status())
    }
    const whileLocked = await items()
    await instance.close()

    instance = await stage.open(await offline(days(30)))
    admin = await instance.administrator()

    expect(seen).toEqual(['active', 'grace', 'locked'])
    expect(whileLocked).toBe(402)
    expect(await info()).toMatchObject({ status: 'active', source: 'token', reachable: null, lastValidatedAt: null })
    expect(await items()).toBe(200)
    expect((await admin.post('/api/system/license/refresh', {})).status).toBe(409)
    expect(line.requests).toEqual([])
  })
})

describe('an instance that may not start', () => {
  it('says why: the licensing service cannot be reached', async () => {
    await instance.close()
    line.spoil({ kind: 'down' })

    const { reason, statuses } = await stage.refusal(line.variables(key))

    line.spoil({ kind: 'none' })
    expect(reason).toBe('The licensing service cannot be reached (SERVICE_LICENSE__URL): no connection')
    // Where it answers at all: `live` is 200, everything else 503.
    expect([[], [200, 503, 503, 503]]).toContainEqual(statuses)
  })
})

async function newKey(): Promise<string> {
  const order = {
    term: TERM / 1_000,
    grace: GRACE / 1_000,
    revalidate: DAY / 1_000,
    entitlements: { seats: { limit: 50, kind: 'hard' as const } },
  }
  const issued = await line.issue(order)
  issuedAt = issued.terms.iat * 1_000
  return issued.key
}

function answers(status: number, body: string): Failure {
  return { kind: 'answer', status, body }
}

async function offline(order: object): Promise<Record<string, string>> {
  const { token } = (await line.sell('/tokens', order)) as { token: string }
  return { SERVICE_LICENSE__TOKEN: token, SERVICE_LICENSE__PUBLIC_KEY: line.server.publicKey }
}

async function renew(): Promise<void> {
  const { terms } = (await line.sell(`/licenses/${key}/renew`, { term: TERM / 1_000 })) as { terms: { exp: number } }
  issuedAt = terms.exp * 1_000 - TERM
}

/** Sets the clock to that long after the license was issued or renewed. */
async function goTo(age: number): Promise<void> {
  await stage.clock.advance(issuedAt + age - stage.clock.now())
}

type Info = {
  readonly status: string
  readonly reachable: boolean | null
  readonly warnings: readonly { readonly kind: string }[]
}

async function info(): Promise<Info> {
  const { license } = (await (await admin.get('/api/system/info')).json()) as { license: Info }
  return license
}

async function status(): Promise<string> {
  return (await info()).status
}

async function kinds(): Promise<readonly string[]> {
  return (await info()).warnings.map(({ kind }) => kind)
}

async function items(): Promise<number> {
  return (await admin.get('/api/shop/items/ServiceCollection')).status
}

async function refresh(): Promise<unknown> {
  const { data } = (await (await admin.post('/api/system/license/refresh', {})).json()) as { data: unknown }
  return data
}

function at(age: number): string {
  return new Date(issuedAt + age).toISOString()
}
