/** The examples of the documents are what the service answers. */
import { beforeAll, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

type Responses = Readonly<
  Record<string, { readonly content: { readonly 'application/json': { readonly example: unknown } } }>
>

let shop: Workspace
let responses: Responses

beforeAll(async () => {
  shop = await world.workspace('examples', { articles: { title: 'string' } })
  const document = await (await world.administrator.get('/api/system/openapi')).json()
  responses = (document as { components: { responses: Responses } }).components.responses
})

it.each<[name: string, status: number, ask: () => Promise<Response>]>([
  ['BadRequest', 400, () => world.administrator.get('/api/system/info?access_token=another')],
  ['Unauthenticated', 401, () => world.bearer('wrong').get('/api/system/workspaces')],
  ['Forbidden', 403, () => shop.anonymous.get('/items/articles')],
  ['NotFound', 404, () => shop.get('/items/articles/999')],
  ['Conflict', 409, () => shop.post('/roles', { name: 'Administrator' })],
  ['TooLarge', 413, () => shop.post('/roles', { name: 'x'.repeat(70_000) })],
  [
    'UnsupportedMediaType',
    415,
    () => shop.send('POST', '/roles', { body: '{}', headers: { 'Content-Type': 'text/plain' } }),
  ],
  ['Invalid', 422, () => shop.get('/items/articles?filter[title][_foo]=x')],
])('%s', async (name, status, ask) => {
  const response = await ask()

  expect(response.status).toBe(status)
  expect(await response.json()).toEqual(responses[name]?.content['application/json'].example)
})
