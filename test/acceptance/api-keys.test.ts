/** Contract 6 and seed, "API key": keys act as their user until they are switched off or deleted. */
import { expect, it } from 'vitest'
import { world } from '../support/world.ts'

const path = '/api/system/api-keys'

it('creates a key and shows it once, with everything that is known of it', async () => {
  const response = await world.administrator.post(path, { name: 'robot', description: 'moves boxes' })

  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({
    data: {
      id: expect.any(String),
      name: 'robot',
      description: 'moves boxes',
      active: true,
      userId: expect.any(String),
      expiresAt: null,
      createdAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
      key: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    },
  })
})

it('lists keys without the key itself', async () => {
  const { id, key } = await createKey()

  const response = await world.administrator.get(path)

  const text = await response.text()
  expect(response.status).toBe(200)
  expect(JSON.parse(text).data.map((row: { id: string }) => row.id)).toContain(id)
  expect(text).not.toContain(key)
})

it('lets a key do what its user may do', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })
  const { key } = await createKey()

  const response = await world.bearer(key).post(`/api/${shop.name}/items/articles`, [{ title: 'Lamp' }])

  expect(response.status).toBe(200)
})

it('refuses a key from the next request on once it is switched off, and takes it again when it is back on', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })
  const { id, key } = await createKey()
  const robot = world.bearer(key)
  const items = `/api/${shop.name}/items/articles`

  const before = await robot.get(items)
  const off = await world.administrator.patch(`${path}/${id}`, { active: false })
  const [inWorkspace, inSystem] = [await robot.get(items), await robot.get(path)]
  const on = await world.administrator.patch(`${path}/${id}`, { active: true })
  const after = await robot.get(items)

  expect(before.status).toBe(200)
  expect(await off.json()).toMatchObject({ data: { id, active: false } })
  expect([inWorkspace.status, inSystem.status]).toEqual([401, 401])
  expect(await inWorkspace.json()).toEqual({ message: 'Invalid token' })
  expect(await on.json()).toMatchObject({ data: { id, active: true } })
  expect(after.status).toBe(200)
})

it('refuses a key from the next request on once it is deleted', async () => {
  const { id, key } = await createKey()

  const before = await world.bearer(key).get(path)
  const deletion = await world.administrator.delete(`${path}/${id}`)
  const after = await world.bearer(key).get(path)

  expect(before.status).toBe(200)
  expect(deletion.status).toBe(204)
  expect(await deletion.text()).toBe('')
  expect(after.status).toBe(401)
})

it('refuses a key whose time is over', async () => {
  const { key } = await createKey({ expiresIn: '1ms' })

  const response = await world.bearer(key).get(path)

  expect(response.status).toBe(401)
})

it('changes name and description and leaves alone what is not sent', async () => {
  const { id } = await createKey({ description: 'old' })

  await world.administrator.patch(`${path}/${id}`, { name: 'renamed' })
  const response = await world.administrator.patch(`${path}/${id}`, { description: null })

  expect(await response.json()).toMatchObject({ data: { id, name: 'renamed', description: null, active: true } })
})

it('answers 404 for a key that does not exist', async () => {
  const unknown = `${path}/00000000-0000-4000-8000-000000000000`

  const patched = await world.administrator.patch(unknown, { active: false })
  const deleted = await world.administrator.delete(unknown)
  const noId = await world.administrator.delete(`${path}/nonsense`)

  expect([patched.status, deleted.status, noId.status]).toEqual([404, 404, 404])
})

it('answers 403 to anonymous callers', async () => {
  const listed = await world.anonymous.get(path)
  const created = await world.anonymous.post(path, { name: 'mine' })

  expect([listed.status, created.status]).toEqual([403, 403])
})

it('makes no key for somebody else', async () => {
  const userId = '00000000-0000-4000-8000-000000000000'

  const response = await world.administrator.post(path, { name: 'theirs', userId })

  expect(response.status).toBe(403)
})

it.each([
  ['without a name', {}, 'name'],
  ['with a blank name', { name: ' ' }, 'name'],
  ['with a duration that is none', { name: 'robot', expiresIn: 'soon' }, 'expiresIn'],
  ['with an unknown member', { name: 'robot', admin: true }, 'unknown field admin'],
])('answers 422 for a key %s', async (_, body, place) => {
  const response = await world.administrator.post(path, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ message: 'Failed to read the JSON body', source: { message: place } })
})

async function createKey(wish: object = {}): Promise<{ id: string; key: string }> {
  const response = await world.administrator.post(path, { name: 'robot', ...wish })
  const { data } = (await response.json()) as { data: { id: string; key: string } }
  return data
}
