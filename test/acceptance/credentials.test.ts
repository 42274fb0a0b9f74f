/** Seed, "Authentication", rule 3: exactly one credential source. */
import { expect, it } from 'vitest'
import { world } from '../support/world.ts'

const { token } = world.administrator
const path = '/api/system/api-keys'
const header = { Authorization: `Bearer ${token}` }
const cookie = { Cookie: `other=1; service_session=${token}` }

it.each([
  ['the Authorization header', path, header],
  ['the query parameter access_token', `${path}?access_token=${token}`, {}],
  ['the session cookie', path, cookie],
])('takes a token from %s', async (_, address, headers) => {
  const response = await world.anonymous.send('GET', address, { headers })

  expect(response.status).toBe(200)
})

it.each([
  ['the header and access_token', `${path}?access_token=${token}`, header],
  ['the header and the cookie', path, { ...header, ...cookie }],
  ['access_token and the cookie', `${path}?access_token=${token}`, cookie],
  ['all three', `${path}?access_token=${token}`, { ...header, ...cookie }],
  ['access_token twice', `${path}?access_token=${token}&access_token=${token}`, {}],
  ['access_token twice, one of them empty', `${path}?access_token=&access_token=${token}`, {}],
  [
    'access_token twice, one of them written with an escape',
    `${path}?access_token=${token}&access%5Ftoken=${token}`,
    {},
  ],
  ['a malformed header and access_token', `${path}?access_token=${token}`, { Authorization: 'Bearer' }],
  ['a malformed header and the cookie', path, { Authorization: 'Basic YTpi', ...cookie }],
])('answers 400 for %s', async (_, address, headers) => {
  const response = await world.anonymous.send('GET', address, { headers })

  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ message: 'Invalid request' })
})

it.each([
  ['an empty access_token', `${path}?access_token=`, {}],
  ['an empty cookie', path, { Cookie: 'service_session=' }],
  ['a header of another scheme', path, { Authorization: `Basic ${token}` }],
  ['a header without a token', path, { Authorization: 'Bearer' }],
  ['a header with two tokens', path, { Authorization: `Bearer ${token}, Bearer ${token}` }],
  ['a token that is no JWT', path, { Authorization: 'Bearer nonsense' }],
  ['a token whose signature is wrong', path, { Authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` }],
  ['a token without a signature', path, { Authorization: `Bearer ${unsigned()}` }],
])('answers 401 for %s', async (_, address, headers) => {
  const response = await world.anonymous.send('GET', address, { headers })

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({ message: 'Invalid token' })
})

it('answers 401 for a bad token on every address that asks who is calling, also where anyone may come in', async () => {
  const response = await world.bearer('nonsense').get('/api/system/info')

  expect(response.status).toBe(401)
})

it('keeps access_token away from the other parameters of a list', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })
  await shop.insert('articles', [{ title: 'Lamp' }])

  const response = await shop.anonymous.get(`/items/articles?fields=title&access_token=${token}&limit=1`)

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ data: [{ title: 'Lamp' }] })
})

it('takes nobody for the anonymous caller whose token is bad', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })

  const anonymous = await shop.anonymous.get('/items/articles')
  const bad = await world.bearer('nonsense').get(`/api/${shop.name}/items/articles`)

  expect(anonymous.status).toBe(403)
  expect(bad.status).toBe(401)
})

function unsigned(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none', typ: 'at+jwt' })}.${token.split('.')[1]}.`
}
