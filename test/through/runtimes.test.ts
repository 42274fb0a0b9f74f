/** That the files about items are asked by the client, by its calls on items, and where the project says. */
import { expect, inject, it } from 'vitest'
import { world } from '../support/service/world.ts'
import { askingThrough } from '../support/through/through.ts'

const runtime = inject('through') ?? 'node'
const agents = { node: /^Node\.js/, workerd: /^Cloudflare-Workers/, chromium: /HeadlessChrome/ }

it('asks in the runtime of the project, by calls on items where there are some', async () => {
  const shop = await world.workspace('runtimes', { articles: { title: 'string' } })
  const ask = await askingThrough(runtime, world.page)
  const headers = { Authorization: `Bearer ${world.administrator.token}` }
  const send = (method: string, path: string, body?: object) =>
    ask({
      method,
      origin: world.url,
      path: `/api/${shop.name}/${path}`,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })

  const made = await send('POST', 'items/articles?fields=title', [{ title: 'A' }])
  const list = await send('GET', 'items/articles?filter[title][_eq]=A&sort[0][title][direction]=desc&meta=totalCount')
  const counted = await send('GET', 'aggregates/articles?aggregate={"n":{"count":"*"}}')
  const changed = await send('PATCH', 'items/articles/1?fields=title', { title: 'B' })
  const gone = await send('DELETE', 'items/articles?filter[title][_eq]=B')
  const malformed = await send('GET', 'items/articles?filter[title')

  const asked = [made, list, counted, changed, gone, malformed]
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 204, 400])
  expect(asked.map(({ isItems }) => isItems)).toEqual([true, true, true, true, true, false])
  expect(asked.map(({ agent }) => agent)).toEqual(asked.map(() => expect.stringMatching(agents[runtime])))
  expect(JSON.parse(list.body)).toEqual({ data: [{ id: '1', title: 'A' }], meta: { totalCount: 1 } })
})
