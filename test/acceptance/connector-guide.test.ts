/** docs/connectors.md, “In the model file, and by the client”: the file is applied, and the client asked as it is written there. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apiKey, createClient } from '../../packages/client/src/index.ts'
import { type ExampleServer, ordersConfig, startOrders } from '../support/servers/example-servers.ts'
import { connectExample } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/connectors.md'), 'utf8')
const [, section = ''] = page.split('## In the model file, and by the client\n')
const [, fileText = ''] = /```json\n(.*?)```/s.exec(section) ?? []
const [, code = ''] = /```ts\n(.*?)```/s.exec(section) ?? []

let server: ExampleServer
let shop: Workspace

beforeAll(async () => {
  server = await startOrders()
  shop = await world.workspace('connector_guide', {})
  await connectExample(shop, { provider: 'json-api', config: ordersConfig(server) })
})
afterAll(() => server?.close())

type File = { readonly collections: Readonly<Record<string, object>> }
type Plan = { readonly plan: string; readonly changes: readonly { readonly path: string }[] }

async function planOf(model: object): Promise<Plan> {
  const response = await shop.post('/schema/plan', { model })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { data: Plan }).data
}

it('relates a collection of the workspace to that of the connector, and reads both at once', async () => {
  const model = JSON.parse(fileText) as File

  const before = (await (await shop.get('/schema/model?ids=false')).json()) as File
  const { plan, changes } = await planOf(model)
  const applied = await shop.post('/schema/apply', { model, plan })
  const after = (await (await shop.get('/schema/model?ids=false')).json()) as File
  const again = await planOf(model)

  expect(before.collections).toEqual({ orders: model.collections.orders })
  expect(changes.map(({ path }) => path)).not.toContain('orders')
  expect([applied.status, await applied.text()]).toEqual([200, expect.any(String)])
  expect(after.collections).toEqual(model.collections)
  expect(again.changes).toEqual([])

  const source = stripTypeScriptTypes(code).replace("workspace: 'shop'", `workspace: '${shop.name}'`)
  const run = new Function(
    ...['createClient', 'apiKey', 'url', 'key'],
    `return (async () => { ${source}\nreturn { notes, paid } })()`,
  )
  const found = await run(createClient, apiKey, world.url, world.administrator.token)

  expect(found).toEqual({
    notes: [{ text: 'call back', order: { status: 'open', total: '10.50' } }],
    paid: [{ id: 2 }, { id: 4 }],
  })
})
