/** docs/contract.md#openapi: the reference page, as a browser shows it. */
import type { Locator, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { type Item, type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole } from './support/pages.ts'

afterEach(closePages)

it('shows an operation of twenty collections that refer to each other', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `thing${index}`)
  const near = (place: number) => [1, 2, 3].map((step) => names[(place + step) % names.length] ?? '')
  const columns = (place: number) => Object.fromEntries(near(place).map((other) => [`${other}Id`, 'int64?']))
  const shop = await world.workspace(
    'circles',
    Object.fromEntries(names.map((name, place) => [name, { name: 'string', ...columns(place) }])),
    names.flatMap((name, place) => near(place).map((to) => `${name}.${to}(${to}Id) -> ${to}.${name}s`)),
  )

  const page = await openReference(shop)
  const [create] = await operationsOf(page, 'thing7', 'Create items')
  await create?.locator('.opblock-summary-control').click()
  await create?.getByRole('tab', { name: 'Schema' }).first().click()

  await create?.getByText('Thing8', { exact: false }).first().waitFor()
})

/** Every operation of a collection, and of all; first those that write. */
const offers = [
  'Create items of books: 200',
  'Change all matching items of books: 200',
  'Delete all matching items of books: 200',
  'Change one item of books: not sent',
  'Run operations on items, all or none: 200',
  'List items of books: 200',
  'Read one item of books: not sent',
  'Delete one item of books: not sent',
  'Aggregate items of books: 200',
]

it('changes no item by what it offers to send, as it opens', async () => {
  const shop = await world.workspace(
    'tried',
    { authors: { name: 'string' }, books: { title: 'string', price: 'decimal(6,2)?', authorId: 'int64?' } },
    ['books.author(authorId) -> authors.books'],
  )
  await shop.insert('authors', [{ name: 'Ada' }, { name: 'Cy' }])
  await shop.insert('books', [
    { title: 'One', authorId: 1 },
    { title: 'Two', price: '1.50', authorId: 2 },
  ])
  const before = await itemsOf(shop)

  const page = await openReference(shop)
  const statuses: string[] = []
  const expected = firstOf(offers, 5)
  for (const tag of ['books', 'All collections']) {
    for (const operation of await operationsOf(page, tag)) {
      const name = await operation.locator('.opblock-summary-description').innerText()
      if (!expected.some((line) => line.startsWith(name))) continue
      statuses.push(`${name}: ${await tryOut(operation)}`)
    }
  }

  expect(statuses.toSorted()).toEqual(expected.toSorted())
  expect(await itemsOf(shop)).toEqual(before)
})

it('fills in nothing that would change whoever opens the reference of the system', async () => {
  const page = await openConsole()
  await page.goto(`${world.url}/api/system/docs#token=${world.administrator.token}`)
  const operations = await operationsOf(page, 'Users', 'Change one’s own name')
  const statuses = await Promise.all(operations.map(tryOut))

  expect(statuses).toEqual(['422'])
})

async function openReference(shop: Workspace): Promise<Page> {
  const page = await openConsole()
  await page.goto(`${world.url}/api/${shop.name}/docs#token=${world.administrator.token}`)
  return page
}

/** The operations under this heading, unfolded. */
async function operationsOf(page: Page, tag: string, description = '') {
  const section = page.locator('.opblock-tag-section').filter({ has: page.locator(`[data-tag="${tag}"]`) })
  await section.locator('.opblock-tag').click()
  await section.locator('.opblock').first().waitFor()
  return section.locator('.opblock').filter({ hasText: description }).all()
}

/** Executes an operation as it opens; the status that came back. */
async function tryOut(operation: Locator): Promise<string> {
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table, .invalid').first().waitFor()
  const answers = await operation.locator('.live-responses-table .response-col_status').allInnerTexts()
  return answers.at(-1)?.trim() ?? 'not sent'
}

/** What was there at first; items are added behind it. */
async function itemsOf(shop: Workspace): Promise<readonly Item[]> {
  const [authors, books] = await Promise.all(
    ['authors', 'books'].map((name) => shop.data(`/items/${name}?sort[0][id][direction]=asc`)),
  )
  return [...(authors as Item[]), ...(books as Item[]).slice(0, 2)]
}
