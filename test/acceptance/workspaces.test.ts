/** docs/contract.md#data-model: workspaces. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const path = '/api/system/workspaces'

it('creates a workspace with its own source, namespaces and no collections', async () => {
  const apiName = world.name('shop')

  const response = await world.administrator.post(path, { apiName, displayName: 'The shop' })

  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({ data: { id: expect.any(String), apiName, displayName: 'The shop' } })
  const items = async (address: string) => (await world.administrator.get(`/api/${apiName}/items/${address}`)).json()
  expect(await items('ServiceDataSource?fields=apiName')).toEqual({ data: [{ apiName: '_system' }] })
  expect(await items('ServiceNamespace?fields=dbName,isSystem&sort[0][dbName][direction]=desc')).toEqual({
    data: [
      { dbName: `service_${apiName}_meta`, isSystem: true },
      { dbName: `service_${apiName}_data`, isSystem: false },
    ],
  })
  expect(await items('ServiceCollection?filter[isSystem][_eq]=false')).toEqual({ data: [] })
})

it('needs no display name', async () => {
  const apiName = world.name('shop')

  const response = await world.administrator.post(path, { apiName })

  expect(await response.json()).toMatchObject({ data: { apiName, displayName: null } })
})

it('answers 409 for a name that is taken', async () => {
  const { apiName } = await createWorkspace()

  const response = await world.administrator.post(path, { apiName })

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({ message: 'A workspace of this name already exists' })
})

it.each([
  ['a capital letter', 'Shop'],
  ['a digit in front', '1shop'],
  ['a dash', 'my-shop'],
  ['more than 40 characters', 'a'.repeat(41)],
  ['nothing', ''],
  ['a word of ours', 'system'],
  ['another word of ours', 'auth'],
])('answers 422 for a name with %s', async (_, apiName) => {
  const response = await world.administrator.post(path, { apiName })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: 'apiName' },
  })
})

it('takes one object, not a list, and no unknown members', async () => {
  const list = await world.administrator.post(path, [{ apiName: world.name('shop') }])
  const unknown = await world.administrator.post(path, { apiName: world.name('shop'), owner: 'me' })

  expect(list.status).toBe(422)
  expect(await unknown.json()).toMatchObject({
    source: { message: 'unknown field owner; allowed: apiName, displayName' },
  })
})

it('lists, reads and renames workspaces', async () => {
  const { id, apiName } = await createWorkspace()

  const list = await world.administrator.get(`${path}?limit=0`)
  const renamed = await world.administrator.patch(`${path}/${id}`, { displayName: 'Renamed' })
  const one = await world.administrator.get(`${path}/${id}`)

  expect(await list.json()).toEqual({
    data: expect.arrayContaining([{ id, apiName, displayName: null }]),
  })
  expect(await renamed.json()).toEqual({ data: { id, apiName, displayName: 'Renamed' } })
  expect(await one.json()).toEqual({ data: { id, apiName, displayName: 'Renamed' } })
})

it('pages the list', async () => {
  await createWorkspace()
  await createWorkspace()

  const [first] = await listed('limit=1')
  const [second] = await listed('limit=1&offset=1')

  expect(first).toBeDefined()
  expect(second).toBeDefined()
  expect(first).not.toEqual(second)
})

it('deletes a workspace with everything in it, and its name is free again', async () => {
  const { id, apiName } = await createWorkspace()
  const named = `service_${apiName}_extra`
  const extra = async () => {
    const found = await world.administrator.get(`/api/${apiName}/items/ServiceDataSource?fields=id`)
    const [source] = ((await found.json()) as { data: { id: string }[] }).data
    const data = { id: randomUUID(), sourceId: source?.id, dbName: named }
    const operations = [{ kind: 'createNamespace', data }]
    return (await world.administrator.post(`/api/${apiName}/schema/migrate`, { operations })).status
  }
  expect(await extra()).toBe(200)

  const deletion = await world.administrator.delete(`${path}/${id}`)
  const reading = await world.administrator.get(`${path}/${id}`)
  const entering = await world.administrator.get(`/api/${apiName}/items/ServiceCollection`)
  const again = await world.administrator.post(path, { apiName })
  const enteringAgain = await world.administrator.get(`/api/${apiName}/items/ServiceCollection?fields=id&limit=1`)

  expect(deletion.status).toBe(204)
  expect([reading.status, entering.status]).toEqual([404, 404])
  expect(await entering.json()).toEqual({ message: 'Workspace does not exist' })
  expect(again.status).toBe(201)
  expect(enteringAgain.status).toBe(200)
  expect(await extra()).toBe(200)
})

it('answers 404 for a workspace that does not exist', async () => {
  const id = '00000000-0000-4000-8000-000000000000'

  const answers = [
    await world.administrator.get(`${path}/${id}`),
    await world.administrator.patch(`${path}/${id}`, { displayName: 'x' }),
    await world.administrator.delete(`${path}/${id}`),
    await world.administrator.get(`${path}/nonsense`),
    await world.administrator.get('/api/no_such_workspace/items/articles'),
    await world.anonymous.get('/api/no_such_workspace/items/articles'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404])
})

it('answers 403 to anonymous callers', async () => {
  const { id } = await createWorkspace()

  const answers = [
    await world.anonymous.get(path),
    await world.anonymous.post(path, { apiName: world.name('shop') }),
    await world.anonymous.get(`${path}/${id}`),
    await world.anonymous.delete(`${path}/${id}`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
})

it('lets members do with a workspace what their entitlements there say', async () => {
  const shop = await world.workspace('shop', {})
  const { id } = await found(shop.name)
  const holder = (entitlement: string) => people.member(shop, { entitlements: [entitlement] })
  const [reader, editor, remover] = [
    await holder('workspace:read'),
    await holder('workspace:edit'),
    await holder('workspace:delete'),
  ]

  const read = [await reader.system.get(`${path}/${id}`), await editor.system.get(`${path}/${id}`)]
  const edit = [
    await editor.system.patch(`${path}/${id}`, { displayName: 'Edited' }),
    await reader.system.patch(`${path}/${id}`, { displayName: 'Edited' }),
  ]
  const remove = [await editor.system.delete(`${path}/${id}`), await remover.system.delete(`${path}/${id}`)]

  expect(read.map(({ status }) => status)).toEqual([200, 403])
  expect(await read[1]?.json()).toEqual({ message: 'Requires the entitlement workspace:read' })
  expect(edit.map(({ status }) => status)).toEqual([200, 403])
  expect(remove.map(({ status }) => status)).toEqual([403, 204])
})

it('lists to members the workspaces that they belong to, and tells them of no others', async () => {
  const [own, other] = [await world.workspace('shop', {}), await world.workspace('shop', {})]
  const member = await people.memberWith(own, [])
  const { id } = await found(other.name)

  const listed = await member.system.get(`${path}?fields=apiName&meta=totalCount`)
  const hidden = await member.system.get(`${path}/${id}`)
  const missing = await member.system.get(`${path}/00000000-0000-4000-8000-000000000000`)
  const created = await member.system.post(path, { apiName: world.name('shop') })

  expect(await listed.json()).toEqual({ data: [{ apiName: own.name }], meta: { totalCount: 1 } })
  expect([hidden.status, missing.status, created.status]).toEqual([403, 403, 403])
  expect(await hidden.text()).toBe(await missing.text())
})

it('sorts and filters the list', async () => {
  const { id, apiName } = await createWorkspace()

  const response = await world.administrator.get(`${path}?filter[apiName][_eq]=${apiName}&fields=id`)

  expect(await response.json()).toEqual({ data: [{ id }] })
})

it('knows nothing under the former name of workspaces', async () => {
  const response = await world.administrator.get('/api/system/projects')

  expect(response.status).toBe(404)
})

type Row = { readonly id: string; readonly apiName: string }

async function createWorkspace(): Promise<Row> {
  const response = await world.administrator.post(path, { apiName: world.name('shop') })
  const { data } = (await response.json()) as { data: Row }
  return data
}

async function listed(search: string): Promise<readonly Row[]> {
  const response = await world.administrator.get(`${path}?${search}`)
  const { data } = (await response.json()) as { data: Row[] }
  return data
}

async function found(apiName: string): Promise<Row> {
  const [row] = await listed(`filter[apiName][_eq]=${apiName}`)
  if (row === undefined) throw new Error(`there is no workspace ${apiName}`)
  return row
}
