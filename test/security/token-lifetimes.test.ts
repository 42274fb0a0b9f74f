/** docs/contract.md#tokens: how long what a sign-in gives lasts, with a clock in hand. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

const MINUTE = 60_000
const login = { credentials: { email: 'admin@example.com', password: 'a password of some length' }, mode: 'json' }

let stage: TestEnvironment
let instance: Instance

beforeAll(async () => {
  stage = await openTestEnvironment('node')
  instance = await stage.open({ SERVICE_ACCESS_TOKEN_TTL: '10m', SERVICE_REFRESH_TOKEN_TTL: '2h' })
})

afterAll(() => stage?.close())

it('lets a refresh token live as long as SERVICE_REFRESH_TOKEN_TTL says, from its own beginning', async () => {
  const first = (await (await instance.anonymous.post('/api/auth/login', login)).json()) as Tokens

  await stage.clock.advance(119 * MINUTE)
  const inTime = await instance.anonymous.post('/api/auth/refresh', { refreshToken: first.refreshToken })
  const second = (await inTime.json()) as Tokens
  await stage.clock.advance(121 * MINUTE)
  const late = await instance.anonymous.post('/api/auth/refresh', { refreshToken: second.refreshToken })

  expect([inTime.status, late.status]).toEqual([200, 401])
})

it('lets an access token live as long as SERVICE_ACCESS_TOKEN_TTL and the answer say', async () => {
  const tokens = (await (await instance.anonymous.post('/api/auth/login', login)).json()) as Tokens
  const me = () =>
    fetch(`${instance.url}/api/system/users/me`, { headers: { Authorization: `Bearer ${tokens.accessToken}` } })

  await stage.clock.advance(9 * MINUTE)
  const inTime = await me()
  await stage.clock.advance(2 * MINUTE)
  const late = await me()

  expect(tokens.expires).toBe(600)
  expect([inTime.status, late.status]).toEqual([200, 401])
})

it('lets a token that is over do nothing in a workspace, whose rights are remembered', async () => {
  await (await instance.administrator()).post('/api/system/workspaces', { apiName: 'lifetimes' })
  const { accessToken } = (await (await instance.anonymous.post('/api/auth/login', login)).json()) as Tokens
  const items = () =>
    fetch(`${instance.url}/api/lifetimes/items/nothing`, { headers: { Authorization: `Bearer ${accessToken}` } })

  const statuses = [(await items()).status, (await items()).status]
  await stage.clock.advance(11 * MINUTE)
  // By anybody's request the state of the workspace is known anew.
  await instance.anonymous.get('/api/lifetimes/items/nothing')
  const late = await items()

  expect([...statuses, late.status]).toEqual([404, 404, 401])
})

type Tokens = { readonly accessToken: string; readonly refreshToken: string; readonly expires: number }
