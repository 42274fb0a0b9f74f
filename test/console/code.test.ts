/** The code panel: what it shows of a screen is sent as it stands, and does what the screen would do. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { gridOf, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('code', { books: { title: 'string', pages: 'int32?' } })
  await shop.insert('books', [{ title: 'On engines', pages: 7 }, { title: "Ada's notes" }])
})

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Code' })

async function codeOf(page: Page, kind: string): Promise<string> {
  const dialog = dialogOf(page)
  if ((await dialog.count()) === 0) await page.getByRole('button', { name: 'Code' }).click()
  await dialog.getByRole('button', { name: kind, exact: true }).click()
  await dialog.getByRole('region', { name: kind, exact: true }).waitFor()
  return (await dialog.locator('pre').textContent()) ?? ''
}

/** Sends what a command of curl would, as the administrator. */
function send(curl: string): Promise<Response> {
  const [, method = 'GET'] = /-X (\w+)/.exec(curl) ?? []
  const [, body] = /-d '([^']*)'/.exec(curl) ?? []
  const headers = [...curl.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name = '', value = '']) => [name, value])
  const address = curl.slice(curl.lastIndexOf(" '") + 2, -1)
  const sent = { headers: Object.fromEntries(headers), ...(body !== undefined && { body: JSON.parse(body) }) }
  return world.administrator.send(method, address.slice(world.url.length), sent)
}

it('reads an item, and saves what was typed of it and is not saved yet', async () => {
  const page = await signedInAt(`${gridOf(shop, 'books')}/1`)
  const read = await send(await codeOf(page, 'curl'))
  expect([read.status, await read.json()]).toMatchObject([200, { data: { title: 'On engines', pages: 7 } }])
  expect(await codeOf(page, 'Typed client')).toContain('await db.books.get(')
  await page.keyboard.press('Escape')

  await page.getByLabel('title').fill("Ada's engines")
  const [python, client, mcp] = [
    await codeOf(page, 'Python'),
    await codeOf(page, 'Typed client'),
    await codeOf(page, 'MCP'),
  ]
  expect(python).toContain('method="PATCH"')
  expect(python).toContain(String.raw`"title": "Ada\u0027s engines"`)
  expect(client).toContain('"title": "Ada\'s engines"')
  const { params } = JSON.parse(mcp) as { params: { arguments: object } }
  expect(params).toMatchObject({
    name: 'update_item',
    arguments: { collection: 'books', data: { title: "Ada's engines" } },
  })
  const curl = await codeOf(page, 'curl')
  const saved = await send(curl)
  expect([saved.status, (await shop.data('/items/books/1?fields=title')) as object]).toEqual([
    200,
    { title: "Ada's engines" },
  ])
  expect((await send(curl)).status, 'the tag is that of what was read').toBe(412)
  await page.context().close()
})

it('makes the item that is typed', async () => {
  const page = await signedInAt(`/${shop.name}/new/books`)
  await page.getByLabel('title').fill('Typed')
  const made = await send(await codeOf(page, 'curl'))
  expect(made.status).toBe(200)
  expect(await shop.data(`/items/books?fields=pages&filter[title][_eq]=Typed`)).toEqual([{ pages: null }])
  const { params } = JSON.parse(await codeOf(page, 'MCP')) as { params: object }
  expect(params).toEqual({ name: 'create_items', arguments: { collection: 'books', data: [{ title: 'Typed' }] } })
  await page.context().close()
})

it('connects an agent by settings that lead to the server of the workspace', async () => {
  const agent = await people.member(shop, { entitlements: ['ai:mcp'], collections: { books: { read: 'all' } } })
  const filter = encodeURIComponent('{"pages":{"_eq":7}}')
  const page = await signedInAt(`${gridOf(shop, 'books')}?sort=-title&filter=${filter}`)
  const { mcpServers } = JSON.parse(await codeOf(page, 'Connect an agent')) as {
    mcpServers: Record<string, { url: string; headers: object }>
  }
  const server = mcpServers[shop.name]
  expect(server?.headers).toEqual({ Authorization: 'Bearer TOKEN' })
  expect(await violations(page)).toEqual([])
  expect(await codeOf(page, 'curl')).toContain('fields=*,_etag')
  const call = JSON.parse(await codeOf(page, 'MCP')) as object
  const headers = { Accept: 'application/json, text/event-stream' }
  const answer = await agent.system.send('POST', server?.url.slice(world.url.length) ?? '', { body: call, headers })
  expect(await answer.json()).toMatchObject({ result: { structuredContent: { data: [{ pages: 7 }] } } })
  await page.context().close()
})

const others = [
  // Workspaces of other tests may stand before one's own.
  ['home', () => '/', 'system(db).workspaces.list()', () => '"apiName"'],
  ['a workspace', () => `/${shop.name}`, 'workspace(db).access()', () => '"books"'],
  [
    'an audit log',
    () => `/${shop.name}/audit-log?action=workspace.create.v1`,
    'workspace(db).auditLog.list({',
    () => 'workspace.create.v1',
  ],
  [
    'the log of the instance',
    () => '/-/audit-log?action=workspace.create.v1',
    'system(db).auditLog.list({',
    () => 'workspace.create.v1',
  ],
  ['an account', () => '/-/account', 'system(db).me.sessions()', () => 'createdAt'],
] as const

it.each(firstOf(others, 2))('of %s is what it asks', async (_, path, call, answer) => {
  const page = await signedInAt(path())
  const sent = await send(await codeOf(page, 'curl'))
  expect(sent.status).toBe(200)
  expect(await sent.text()).toContain(answer())
  expect(await codeOf(page, 'Typed client')).toContain(call)
  expect(await dialogOf(page).getByRole('button', { name: 'MCP' }).count()).toBe(0)
  await page.context().close()
})

it('connects an agent from the palette', async () => {
  const page = await signedInAt(`/${shop.name}`)
  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.insertText('connect an agent')
  await page.getByRole('option', { name: 'Connect an agent', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('"mcpServers"').waitFor()
  await page.context().close()
})

it('leads to the explorer of those who may read what it explores', async () => {
  const reader = await people.member(shop, { collections: { books: { read: 'all' } } })
  const page = await signedInAt(gridOf(shop, 'books'))
  await codeOf(page, 'curl')
  const link = dialogOf(page).getByRole('link', { name: 'Try all requests in the API explorer' })
  const answer = await world.anonymous.get((await link.getAttribute('href')) ?? '')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])

  const theirs = await signedInAt(gridOf(shop, 'books'), reader)
  const text = await codeOf(theirs, 'Connect an agent')
  expect(text).toContain('mcpServers')
  await theirs.getByText('You may not use MCP in this workspace').waitFor()
  expect(await theirs.getByRole('link', { name: 'Try all requests in the API explorer' }).count()).toBe(0)
  for (const one of [page, theirs]) await one.context().close()
})
