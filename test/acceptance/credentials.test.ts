/** docs/contract.md#credentials: exactly one credential source. */
import { expect, it } from 'vitest'
import { world } from '../support/service/world.ts'

const { token } = world.administrator
const path = '/api/system/users/me'
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

type Given = { readonly at: 'header' | 'query' | 'cookie'; readonly value: string }
type Source = Given & { readonly what: string; readonly alone: number }

/** Each way of presenting something, and what it is answered where it is all that is presented. */
const sources: readonly Source[] = [
  { what: 'a header', alone: 200, at: 'header', value: `Bearer ${token}` },
  { what: 'a header with a bad token', alone: 401, at: 'header', value: 'Bearer nonsense' },
  { what: 'a malformed header', alone: 401, at: 'header', value: 'Bearer' },
  { what: 'a header of another scheme', alone: 401, at: 'header', value: 'Basic YTpi' },
  { what: 'access_token', alone: 200, at: 'query', value: token },
  { what: 'access_token with a bad token', alone: 401, at: 'query', value: 'nonsense' },
  { what: 'an empty access_token', alone: 401, at: 'query', value: '' },
  { what: 'a cookie', alone: 200, at: 'cookie', value: token },
  { what: 'a cookie with a bad token', alone: 401, at: 'cookie', value: 'nonsense' },
  { what: 'an empty cookie', alone: 401, at: 'cookie', value: '' },
]

it('answers every source as the table says where it is alone', async () => {
  const answers = await Promise.all(sources.map((source) => present([source])))

  expect(answers).toEqual(sources.map(({ alone }) => answerOf(alone)))
})

it('answers 400 for every pair of sources, and for each of them twice', async () => {
  const pairs = sources.flatMap((one, index) => sources.slice(index).map((other) => [one, other]))
  const possible = pairs.filter(isPossible)

  const answers = await Promise.all(possible.map(present))

  expect(possible.length).toBe(45)
  expect(named(possible, answers)).toEqual(
    named(
      possible,
      possible.map(() => answerOf(400)),
    ),
  )
})

it('answers 400 for every triple of sources', async () => {
  const triples = sources.flatMap((one, first) =>
    sources.slice(first).flatMap((two, second) => sources.slice(first + second).map((three) => [one, two, three])),
  )
  const possible = triples.filter(isPossible)

  const answers = await Promise.all(possible.map(present))

  expect(possible.length).toBe(140)
  expect(named(possible, answers)).toEqual(
    named(
      possible,
      possible.map(() => answerOf(400)),
    ),
  )
})

it('answers 401 for two Authorization headers, which are one that is malformed', async () => {
  const answer = await present([
    { at: 'header', value: `Bearer ${token}` },
    { at: 'header', value: `Bearer ${token}` },
  ])

  expect(answer).toEqual(answerOf(401))
})

/** Two headers of one name arrive as one. */
function isPossible(combined: readonly Source[]): boolean {
  return combined.filter(({ at }) => at === 'header').length < 2
}

function named(combined: readonly (readonly Source[])[], answers: readonly object[]): readonly unknown[] {
  return combined.map((parts, index) => [parts.map(({ what }) => what).join(' and '), answers[index]])
}

function answerOf(status: number): { readonly status: number; readonly message: string | undefined } {
  const messages: Readonly<Record<number, string>> = { 400: 'Invalid request', 401: 'Invalid token' }
  return { status, message: messages[status] }
}

async function present(
  given: readonly Given[],
): Promise<{ readonly status: number; readonly message: string | undefined }> {
  const values = (at: Given['at']) => given.filter((one) => one.at === at).map(({ value }) => value)
  const search = values('query')
    .map((value) => `access_token=${value}`)
    .join('&')
  const cookies = values('cookie')
    .map((value) => `service_session=${value}`)
    .join('; ')
  const response = await world.anonymous.send('GET', search === '' ? path : `${path}?${search}`, {
    headers: {
      ...(values('header').length > 0 && { Authorization: values('header').join(', ') }),
      ...(cookies !== '' && { Cookie: cookies }),
    },
  })
  const { message } = (await response.json()) as { message?: string }
  return { status: response.status, message }
}

function unsigned(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none', typ: 'at+jwt' })}.${token.split('.')[1]}.`
}
