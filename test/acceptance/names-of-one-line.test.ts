/** docs/contract.md#api-names: a name is one line without control characters, wherever one is given. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('lines', { articles: { title: 'string' } })
const collectionId = shop.ids.get('articles') ?? ''
const { administrator } = world
const expectation = { action: 'read', expect: { allowed: false } }

it.each<[string, string, (name: string) => Promise<Response>]>([
  ['a role', 'name', (name) => shop.post('/roles', { name })],
  ['a role that is renamed', 'name', async (name) => shop.patch(`/roles/${await people.role(shop, [])}`, { name })],
  ['a policy', 'name', (name) => shop.post('/policies', { name, content: {} })],
  [
    'a policy of the model file',
    'model.policies',
    (name) => shop.post('/schema/plan', { model: { version: 1, policies: { [name]: {} } } }),
  ],
  [
    'a collection of the model file',
    'displayName',
    (displayName) => shop.post('/schema/plan', { model: { version: 1, names: { articles: { displayName } } } }),
  ],
  [
    'an access test',
    'name',
    (name) => shop.post('/access/tests', { name, as: 'anonymous', collection: 'articles', ...expectation }),
  ],
  ['an API key', 'name', (name) => administrator.post('/api/system/api-keys', { name })],
  ['a service account', 'name', (name) => administrator.post('/api/system/service-accounts', { name })],
  [
    'a workspace',
    'displayName',
    (displayName) => administrator.post('/api/system/workspaces', { apiName: 'never_made', displayName }),
  ],
  [
    'a user',
    'fullName',
    async (fullName) =>
      administrator.patch(`/api/system/users/${(await people.member(shop, {})).userId}`, { fullName }),
  ],
  ['oneself', 'fullName', (fullName) => administrator.patch('/api/system/users/me', { fullName })],
  [
    'an invited user',
    'fullName',
    (fullName) =>
      world.anonymous.post('/api/auth/invitations/accept', { token: 'x', password: 'long enough 1', fullName }),
  ],
  [
    'a file',
    'title',
    async (title) => {
      const made = await shop.send('POST', '/assets?fileName=a.txt', { raw: 'a' })
      const { data } = (await made.json()) as { data: { id: string } }
      return shop.patch(`/items/ServiceFile/${data.id}`, { title })
    },
  ],
  [
    'a file that is sent',
    'fileName',
    (name) => shop.send('POST', `/assets?fileName=${encodeURIComponent(name)}`, { raw: 'a' }),
  ],
  ['a model of the assistant', 'chatModel', (chatModel) => shop.patch('/ai/settings', { chatModel })],
  [
    'a key of the assistant',
    'connectorCredentials.apiKey',
    (apiKey) => shop.patch('/ai/settings', { connector: 'openai', connectorCredentials: { apiKey } }),
  ],
  ['a device', 'name', (name) => world.anonymous.post('/api/auth/device', { name })],
  ['a view', 'name', (name) => shop.post('/items/ServiceView', [{ name, collectionId, query: {} }])],
  [
    'a collection',
    'displayName',
    (displayName) => shop.post('/items/ServiceCollectionMeta', [{ collectionId, displayName }]),
  ],
  [
    'a field',
    'displayName',
    (displayName) => shop.post('/items/ServiceFieldMeta', [{ fieldId: shop.ids.get('articles.title'), displayName }]),
  ],
])('refuses control characters in the name of %s', async (_, field, send) => {
  for (const sign of ['\n', '\r', '\u001b', '\u007f', '\u0085', '\u2028', '\u2029']) {
    const response = await send(`one${sign}two`)

    expect(response.status, JSON.stringify(sign)).toBe(422)
    const text = await response.text()
    expect(text).toContain(field)
    expect(text).toContain('must not have control characters')
  }
})

it('takes every other sign in names, and lines in descriptions', async () => {
  const name = 'Größe „x“ – 数 👩‍🚀'
  const response = await shop.post('/roles', { name, description: 'one\ntwo' })

  expect(response.status).toBe(201)
  expect(await response.json()).toMatchObject({ data: { name, description: 'one\ntwo' } })
})
