/** docs/contract.md#system and #credentials: one line per request, without its token. */
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { world } from '../support/service/world.ts'

const { token } = world.administrator

it('says what was asked, how it ended and under which id', async () => {
  const response = await world.anonymous.get('/api/system/api-keys?limit=1')

  expect(await logged(response)).toMatchObject({
    kind: 'request',
    method: 'GET',
    path: '/api/system/api-keys',
    status: 403,
    milliseconds: expect.any(Number),
  })
})

it.each([
  ['access_token', `?fields=id&access_token=${token}&limit=1`],
  ['a name with escapes', `?%61ccess%5Ftoken=${token}`],
  ['a value', '?filter[name][_eq]=queried-value#queried-fragment'],
])('never says what was asked for, as %s', async (_, search) => {
  const response = await world.anonymous.get(`/api/system/api-keys${search}`)

  expect(await logged(response)).toMatchObject({ path: '/api/system/api-keys' })
  const log = await readFile(world.logFile, 'utf8')
  expect(log).not.toContain(token)
  expect(log).not.toContain('queried')
})

it('says neither passwords nor headers nor bodies', async () => {
  const { email, password } = world.administrator
  const response = await world.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })

  await logged(response)

  const log = await readFile(world.logFile, 'utf8')
  expect(log).not.toContain(password)
  expect(log).not.toContain('Bearer')
})

/** The line with the request id of `response`, which may come a moment after the answer. */
async function logged(response: Response): Promise<unknown> {
  const id = response.headers.get('X-Request-Id') ?? ''
  await expect.poll(() => readFile(world.logFile, 'utf8')).toContain(id)
  const lines = (await readFile(world.logFile, 'utf8')).split('\n')
  return JSON.parse(lines.find((line) => line.includes(id)) ?? '')
}
