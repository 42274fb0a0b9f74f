/**
 * docs/contract.md#migrations: while one process gives a name to something else, another one, which has not seen that yet, never
 * answers what is hidden under the name of what may be read: the columns of two fields, the rows of two workspaces.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { casesOr } from '../support/run/cases.ts'
import { type Client, client, migrate, signIn, type Workspace } from './support/client.ts'
import { plainCollection } from './support/collections.ts'
import { compileReplica, type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'

const SWAPS = casesOr(6)

let instance: Instance
let replicas: readonly Replica[]

beforeAll(async () => {
  await compileReplica()
  instance = await openInstance()
  replicas = [await startReplica(instance), await startReplica(instance)]
})

afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.kill()))
  await instance?.close()
})

it('shows no hidden column by the name of another, while another process swaps their names', async () => {
  const [here = '', there = ''] = replicas.map(({ url }) => url)
  const administrator = await signIn(instance.administrator, here)
  const workspace = await administrator.workspace('names')
  const articles = plainCollection(workspace, 'articles', 6)
  const idOf = (name: string) =>
    articles.data.operations.find(({ data }) => 'apiName' in data && data.apiName === name)?.data.id
  await migrate(administrator, workspace, articles)
  const created = await administrator.send('POST', '/api/names/items/articles', [{ field0: 'shown', field5: 'hush' }])
  expect(created).toMatchObject({ status: 200, body: { data: [{ field0: 'shown' }] } })
  await open(administrator, workspace, ['id', 'field0'])

  const anybody = client(there, '')
  const answers = new Set<string>()
  const read = async () => {
    const { status, body } = await anybody.send('GET', '/api/names/items/articles?fields=field0')
    answers.add(status === 200 ? JSON.stringify(body) : String(status))
  }
  const rename = async (field: string, dbName: string) => {
    const operations = [
      {
        kind: 'updatePrimitiveField',
        data: { id: idOf(field), operations: [{ kind: 'changeDbName', data: { dbName } }] },
      },
    ]
    const migration = { kind: 'updateCollection', data: { id: articles.data.id, operations } }
    const answer = await migrate(administrator, workspace, migration)
    return answer.status === 200 ? 200 : JSON.stringify(answer.body)
  }
  for (let swap = 0; swap < SWAPS; swap += 1) {
    const [first, second] = swap % 2 === 0 ? ['field0', 'field5'] : ['field5', 'field0']
    // A read in between would find no column, and look for the new model.
    await read()
    expect(await rename('field0', 'aside')).toBe(200)
    expect(await rename('field5', String(first))).toBe(200)
    await read()
    expect(await rename('field0', String(second))).toBe(200)
    await read()
  }

  expect([...answers]).toEqual([JSON.stringify({ data: [{ field0: 'shown' }] })])
})

it('shows no rows of a workspace by the rights of another that had its name', async () => {
  const [here = '', there = ''] = replicas.map(({ url }) => url)
  const administrator = await signIn(instance.administrator, here)
  const anybody = client(there, '')
  const answers = new Set<string>()
  const read = async () => {
    const { status, body } = await anybody.send('GET', '/api/again/items/articles?fields=field0')
    answers.add(status === 200 ? JSON.stringify(body) : String(status))
  }
  const begin = async (text: string) => {
    const workspace = await administrator.workspace('again')
    await migrate(administrator, workspace, plainCollection(workspace, 'articles', 1))
    const created = await administrator.send('POST', '/api/again/items/articles', [{ field0: text }])
    expect(created.status).toBe(200)
    return workspace
  }

  for (let turn = 0; turn < SWAPS; turn += 1) {
    const former = await begin('shown')
    await open(administrator, former, ['id', 'field0'])
    await expect.poll(async () => (await anybody.send('GET', '/api/again/items/articles')).status).toBe(200)
    await read()
    expect((await administrator.send('DELETE', `/api/system/workspaces/${former.id}`)).status).toBe(204)
    const latter = await begin('hush')
    await read()
    expect((await administrator.send('DELETE', `/api/system/workspaces/${latter.id}`)).status).toBe(204)
  }

  expect(answers).toContain(JSON.stringify({ data: [{ field0: 'shown' }] }))
  expect([...answers].filter((answer) => answer.includes('hush'))).toEqual([])
})

/** Anybody reads these fields of the articles. */
async function open({ send }: Client, { apiName }: Workspace, fields: readonly string[]): Promise<void> {
  const content = { collections: { articles: { read: { fields } } } }
  const policy = await send('POST', `/api/${apiName}/policies`, { name: 'reading', content })
  const filter = encodeURIComponent(JSON.stringify({ name: { _eq: 'Public' } }))
  const roles = await send('GET', `/api/${apiName}/roles?fields=id&filter=${filter}`)
  const {
    data: [role],
  } = roles.body as { data: [{ id: string }] }
  const policies = [(policy.body as { data: { id: string } }).data.id]
  expect((await send('PATCH', `/api/${apiName}/roles/${role.id}`, { policies })).status).toBe(200)
}
