/** docs/contract.md#system and #first-start: what the instance tells of itself, and its set-up. */
import { expect, inject, it } from 'vitest'
import { world } from '../support/service/world.ts'

it('answers ping', async () => {
  const response = await world.anonymous.get('/ping')

  expect(response.status).toBe(200)
})

it('is live, without a credential', async () => {
  const response = await world.anonymous.get('/api/system/live')

  expect(response.status).toBe(200)
})

it('is ready once it has started and its system database responds, check by check', async () => {
  const response = await world.anonymous.get('/api/system/ready')

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    status: 'ready',
    checks: { accepting_traffic: 'ok', startup: 'ok', system_db: 'ok' },
  })
})

it('asks for a first user until there is one', async () => {
  const response = await world.anonymous.get('/api/system/info')

  expect(world.first.info).toEqual({
    status: 200,
    body: { name: 'service', onboarding: { requireCreateUser: true } },
  })
  expect(await response.json()).toEqual({ name: 'service' })
})

it('tells its version and time to whoever is signed in', async () => {
  const response = await world.administrator.get('/api/system/info')

  expect(await response.json()).toEqual({
    name: 'service',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    // Of what other tests change behind the service's back, too.
    warnings: expect.any(Array),
    now: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    license: expect.objectContaining({ status: 'active' }),
  })
})

it('tells administrators which variables are set, and no secret', async () => {
  const response = await world.administrator.get('/api/system/settings')
  const text = await response.text()

  expect(response.status).toBe(200)
  expect((JSON.parse(text) as { data: readonly object[] }).data).toEqual(
    expect.arrayContaining([
      { name: 'SERVICE_SETUP_TOKEN', isSet: true, value: null },
      { name: 'SERVICE_SECRET', isSet: true, value: null },
      { name: 'SERVICE_DATABASE_URL', isSet: true, value: null },
      { name: 'SERVICE_AUDIT__RETENTION', isSet: false, value: '365d' },
      // It listens where it is reached; a Worker does not listen.
      expect.objectContaining({
        name: 'PORT',
        value: inject('served').platform === 'node' ? new URL(world.url).port : null,
      }),
    ]),
  )
  expect(text).not.toContain(world.setupToken)
  expect((await world.anonymous.get('/api/system/settings')).status).toBe(403)
})

it('makes no first administrator without the set-up token', () => {
  expect(world.first.bootstrapWithoutToken).toEqual({
    status: 403,
    body: { message: 'The set-up token is missing or wrong' },
  })
})

it('makes the first administrator with the set-up token', () => {
  expect(world.first.bootstrap).toEqual({
    status: 201,
    body: { data: { id: expect.any(String), email: world.administrator.email } },
  })
})

it('makes no second first administrator', async () => {
  const response = await world.anonymous.post('/api/system/bootstrap', {
    email: 'second@example.com',
    password: 'long enough to be one',
    setupToken: world.setupToken,
  })

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({ message: 'The first administrator already exists' })
})

it('answers 422 for a set-up body that is wrong, naming the place', async () => {
  const response = await world.anonymous.post('/api/system/bootstrap', {
    email: 'second@example.com',
    password: 'short',
  })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: 'password', source: { message: 'must have at least 10 characters' } },
  })
})
