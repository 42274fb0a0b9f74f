/** The three longest tasks by keyboard alone: the set-up to rows of one's own database, a new item with its relations, a filtered view. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { gridOf, signedInAt } from '../support/service/console-page.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { cellsOf } from './support/cells.ts'
import { closePages, openConsole } from './support/pages.ts'

const setupToken = 'the-token-of-this-set-up-0123456789'

let environment: TestEnvironment
let instance: Instance
let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  environment = await openTestEnvironment()
  instance = await environment.open({
    SERVICE_ADMIN__EMAIL: '',
    SERVICE_ADMIN__PASSWORD: '',
    SERVICE_SETUP_TOKEN: setupToken,
    SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true',
  })
  shop = await world.workspace(
    'keys',
    { authors: { name: 'string' }, books: { title: 'string', authorId: 'int64?', pages: 'int32?' } },
    ['books.author(authorId) -> authors.books'],
  )
  await shop.insert('authors', [{ name: 'Ada' }, { name: 'Grace' }])
})

afterEach(closePages)
afterAll(async () => {
  await environment?.close()
  await servers?.close()
})

/** More stops than any screen has. */
const MOST = 80

/** Goes there by Tab, as often as it takes; without an end it cannot be reached. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let count = 0; count < MOST; count += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target} is not reached by Tab`)
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}

/** What a field already has is typed over. */
async function fill(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

it('sets the service up, attaches a database and edits a row of it', async () => {
  const { config, run } = servers.postgres
  await run(
    'create table parts (id int primary key, name varchar(80) not null)',
    "insert into parts values (1, 'Bolt')",
  )
  const page = await openConsole()
  await page.goto(instance.url)

  await fill(page, page.getByLabel('E-mail'), 'ada@example.com')
  await fill(page, page.getByLabel('Full name'), 'Ada Lovelace')
  await fill(page, page.getByLabel('Password', { exact: true }), 'a long password')
  await fill(page, page.getByLabel('Set-up token'), setupToken)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The first workspace', exact: true }).waitFor()
  await fill(page, page.getByLabel('Name', { exact: true }), 'Shop')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The data', exact: true }).waitFor()
  await press(page, button(page, /^Connect a database/))
  await fill(page, page.getByLabel('Connection string'), (config as { connectionString: string }).connectionString)
  await page.keyboard.press('Enter')
  await page.getByText(/are chosen\./).waitFor()
  await press(page, button(page, 'Import'))

  await page.getByRole('gridcell', { name: 'Bolt' }).waitFor()
  await tabTo(page, page.getByRole('grid'))
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('F2')
  await page.getByLabel('name', { exact: true }).and(page.locator('input')).waitFor()
  await page.keyboard.insertText('s')
  await page.keyboard.press('Enter')
  await expect.poll(() => run('select name from parts')).toEqual([['Bolts']])
})

it('makes an item with what it refers to, changes it, and deletes it', async () => {
  const page = await signedInAt(`/${shop.name}`)
  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.insertText('books')
  await page.getByRole('option', { name: 'books', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await press(page, page.getByRole('link', { name: 'New' }))
  await fill(page, page.getByLabel('title', { exact: true }), 'Notes')
  await press(page, button(page, 'Choose author'))
  const dialog = page.getByRole('dialog', { name: 'Choose author' })
  await dialog.getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.insertText('grace')
  await dialog.getByRole('option', { name: 'Grace', selected: true }).waitFor()
  await expect.poll(() => dialog.getByRole('option').count()).toBe(1)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await fill(page, page.getByLabel('pages', { exact: true }), '12')
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
  const stored = () => shop.data('/items/books?fields=title,pages,author.name')
  expect(await stored()).toEqual([{ title: 'Notes', pages: 12, author: { name: 'Grace' } }])
  await fill(page, page.getByLabel('title', { exact: true }), 'Sketches')
  await page.keyboard.press('Enter')
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect(await stored()).toMatchObject([{ title: 'Sketches' }])
  await press(page, button(page, 'Delete'))
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }))
  await page.getByText('Deleted.', { exact: true }).waitFor()
  expect(await stored()).toEqual([])
  await page.context().close()
})

it('filters and sorts rows, undoes an edit, and saves what is seen as a view for all', async () => {
  await shop.insert('books', [
    { title: 'Short', pages: 10 },
    { title: 'Long', pages: 500 },
    { title: 'Longer', pages: 700 },
  ])
  const { goTo, type } = cellsOf(['id', 'title', 'authorId', 'author', 'pages'])
  const page = await signedInAt(gridOf(shop, 'books'))
  await page.getByText('3 rows', { exact: true }).waitFor()
  await press(page, button(page, 'Filter'))
  await tabTo(page, page.getByLabel('Field'))
  await page.keyboard.type('pages')
  await tabTo(page, page.getByLabel('Operator'))
  await page.keyboard.type('is greater')
  await fill(page, page.getByLabel('Value'), '100')
  await page.keyboard.press('Enter')
  await page.getByText('2 rows', { exact: true }).waitFor()
  await tabTo(page, page.getByRole('grid'))
  await type(page, 'pages', '600')
  const longs = () => shop.data('/items/books?fields=pages&filter[title][_eq]=Long')
  await expect.poll(longs).toEqual([{ pages: 600 }])
  await page.keyboard.press('Control+Z')
  await expect.poll(longs).toEqual([{ pages: 500 }])
  await goTo(page, 'pages')

  await page.keyboard.press('Shift+Tab')
  await press(page, button(page, 'Views'))
  await page.locator('[role=menuitemradio]:focus').waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.insertText('Long ones')
  await tabTo(page, page.getByLabel('Who sees it'))
  await page.keyboard.type('Everybody')
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Save' }))

  await expect.poll(() => button(page, 'Views: Long ones').count()).toBe(1)
  const views = '/items/ServiceView?fields=name,userId,query&filter[name][_eq]=Long%20ones'
  expect(await shop.data(views)).toEqual([
    { name: 'Long ones', userId: null, query: { filter: { pages: { _gt: 100 } } } },
  ])
  await page.context().close()
})
