/** Which columns a grid shows and in which order: chosen by keys, remembered, kept by views. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'chosen',
    {
      authors: { name: 'string' },
      books: { title: 'string', authorId: 'int64?', pages: 'int32?', note: 'string?', price: 'decimal(9,2)?' },
    },
    ['books.author(authorId) -> authors.books'],
  )
  const [ada] = await shop.insert('authors', [{ name: 'Ada' }])
  await shop.insert('books', [{ title: 'Notes', authorId: ada?.id, pages: 7, note: 'n', price: '1.5' }])
})

/** A relation stands for the field that refers. */
const all = ['Row', 'id', 'title', 'author', 'pages', 'note', 'price']
const titles = (page: Page) => page.getByRole('columnheader').allTextContents()
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Columns' })

async function choose(page: Page, hidden: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Columns' }).click()
  for (const name of hidden) await dialog(page).getByRole('checkbox', { name, exact: true }).uncheck()
  await dialog(page).getByRole('button', { name: 'Apply' }).click()
  await dialog(page).waitFor({ state: 'detached' })
}

it('are chosen and moved by keyboard alone, asked for alone, and remembered', async () => {
  const page = await signedInAt(gridOf(shop, 'books'))
  await page.getByRole('gridcell', { name: 'Notes' }).waitFor()
  expect(await titles(page)).toEqual(all)
  await page.getByRole('button', { name: 'Columns' }).press('Enter')
  await dialog(page).waitFor()
  const tabTo = async (role: 'checkbox' | 'button', name: string) => {
    const wanted = dialog(page).getByRole(role, { name, exact: true }).and(page.locator(':focus'))
    for (let at = 0; at < 40 && (await wanted.count()) === 0; at += 1) await page.keyboard.press('Tab')
  }
  await tabTo('checkbox', 'id')
  await page.keyboard.press('Space')
  await tabTo('button', 'Move price up')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Move price up')
  await dialog(page).getByText('price is now 4 of 7.').waitFor({ state: 'attached' })
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/items/books?')) asked.push(new URL(request.url()).searchParams.get('fields') ?? '')
  })
  await tabTo('button', 'Apply')
  await page.keyboard.press('Enter')

  const chosen = ['Row', 'title', 'author', 'price', 'pages', 'note']
  await expect.poll(() => titles(page)).toEqual(chosen)
  await page.getByRole('gridcell', { name: 'Notes' }).waitFor()
  expect(asked[0]?.split(',').toSorted()).toEqual(
    ['_etag', 'author.name', 'authorId', 'id', 'note', 'pages', 'price', 'title'].toSorted(),
  )
  await page.goto(gridOf(shop, 'books'))
  await expect.poll(() => titles(page)).toEqual(chosen)
  const kept = (await page.evaluate('localStorage.getItem("console.columns")')) as string
  expect(kept).not.toMatch(/title|price|books|@/)

  await page.getByRole('gridcell', { name: '1.50' }).click()
  await page.keyboard.type('2.25')
  await page.keyboard.press('Enter')
  await expect.poll(() => shop.data('/items/books?fields=price')).toEqual([{ price: '2.25' }])
  await choose(page, ['price'])
  await expect.poll(() => titles(page)).not.toContain('price')
  await page.getByRole('gridcell', { name: 'Notes' }).click()
  await page.keyboard.press('Control+z')
  await expect.poll(() => shop.data('/items/books?fields=price')).toEqual([{ price: '1.50' }])

  await page.getByRole('button', { name: 'Columns' }).click()
  await dialog(page).getByRole('button', { name: 'All as in the model' }).click()
  await expect.poll(() => titles(page)).toEqual(all)
  await page.goto(gridOf(shop, 'books'))
  await page.getByRole('gridcell', { name: 'Notes' }).waitFor()
  expect(await titles(page)).toEqual(all)
  await page.context().close()
})

it('are sized by dragging and by keys, and remembered', async () => {
  const page = await signedInAt(gridOf(shop, 'books'))
  const header = page.getByRole('columnheader', { name: 'title' })
  const widthOf = async () => (await header.boundingBox())?.width
  await expect.poll(widthOf).toBe(220)
  const box = await header.boundingBox()
  const edge = { x: (box?.x ?? 0) + 218, y: (box?.y ?? 0) + 10 }
  await page.mouse.move(edge.x, edge.y)
  await page.mouse.down()
  await page.mouse.move(edge.x + 40, edge.y)
  await page.mouse.up()
  await expect.poll(widthOf).toBe(260)
  expect(await header.getAttribute('aria-sort')).toBeNull()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+Home')
  for (const key of ['ArrowUp', 'ArrowRight', 'ArrowRight', 'Alt+ArrowLeft']) await page.keyboard.press(key)
  await expect.poll(widthOf).toBe(244)
  await page.reload()
  await expect.poll(widthOf).toBe(244)
  await page.mouse.dblclick(edge.x + 24, edge.y)
  await expect.poll(widthOf).toBe(220)
  await page.context().close()
})

it('are kept by a saved view, for others too, and told by the address', async () => {
  const reader = await people.member(shop, {
    collections: { books: { read: { fields: ['id', 'title', 'pages', 'note'] } } },
  })
  const page = await signedInAt(`${gridOf(shop, 'books')}?columns=price,pages,title`)
  await expect.poll(() => titles(page)).toEqual(['Row', 'price', 'pages', 'title'])
  await page.getByRole('button', { name: /^Views/ }).click()
  await page.getByText('Save as a view…').click()
  await page.getByRole('dialog').getByLabel('Name').fill('Short')
  await page.getByRole('dialog').getByLabel('Who sees it').selectOption({ label: 'Everybody in the workspace' })
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => page.getByRole('button', { name: /^Views/ }).textContent()).toBe('Short')

  const theirs = await signedInAt(gridOf(shop, 'books'), reader)
  await theirs.getByRole('button', { name: /^Views/ }).click()
  await theirs.getByRole('menuitemradio', { name: 'Short' }).click()
  await expect.poll(() => titles(theirs)).toEqual(['Row', 'pages', 'title'])
  await choose(theirs, ['pages'])
  await expect.poll(() => titles(theirs)).toEqual(['Row', 'title'])
  await theirs.goto(gridOf(shop, 'books'))
  await expect.poll(() => titles(theirs)).toEqual(['Row', 'id', 'title', 'pages', 'note'])
  for (const each of [page, theirs]) await each.context().close()
})

it('are chosen by who does not see the model, too', async () => {
  const reader = await people.member(shop, { collections: { books: { read: 'all' } } })
  const page = await signedInAt(gridOf(shop, 'books'), reader)
  await page.getByRole('gridcell', { name: 'Notes' }).waitFor()
  await choose(page, ['note', 'price'])
  await expect.poll(() => titles(page)).toEqual(['Row', 'id', 'title', 'authorId', 'pages'])
  await page.reload()
  await expect.poll(() => titles(page)).toEqual(['Row', 'id', 'title', 'authorId', 'pages'])
  await page.context().close()
})

it.each([
  ['en-US', 'light'],
  ['ar', 'dark'],
] as const)('are chosen at 360 px without faults for axe, %s and %s', async (locale, colorScheme) => {
  const options = { locale, colorScheme, viewport: { width: 360, height: 720 } }
  const page = await signedInAt(gridOf(shop, 'books'), world.administrator, options)
  await page.getByRole('button', { name: locale === 'ar' ? 'الأعمدة' : 'Columns' }).click()
  await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await picture(page, `columns-${locale}`)
  await page.context().close()
})

it('stand below their titles in Arabic, with Latin texts, numbers and ids as they are read', async () => {
  const options = { locale: 'ar', viewport: { width: 360, height: 720 } }
  const page = await signedInAt(gridOf(shop, 'books'), world.administrator, options)
  await page.getByRole('gridcell', { name: 'Notes' }).waitFor()
  const look = (of: string) =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('${of}')].map((cell) => [getComputedStyle(cell).direction, getComputedStyle(cell).textAlign].join(' '))`,
    )
  // Titles are Latin, too, and each is above its cells.
  expect(new Set((await look('[role=columnheader][dir]')).map((one) => one.split(' ')[1]))).toEqual(new Set(['right']))
  expect(new Set(await look('[role=gridcell]'))).toEqual(new Set(['ltr right']))
  await picture(page, 'columns-ar-cells')
  await page.context().close()
})

it('of related items are offered to filter by where one may read the relation', async () => {
  const books = { read: { fields: ['id', 'title', 'authorId'] } }
  const reader = (fields: readonly string[]) =>
    people.member(shop, {
      collections: { books, authors: { read: { fields } } },
    })
  const offered = async (fields: readonly string[]) => {
    const page = await signedInAt(gridOf(shop, 'authors'), await reader(fields))
    await page.getByRole('button', { name: 'Filter' }).click()
    const options = page.getByLabel('Field').locator('option')
    await options.first().waitFor({ state: 'attached' })
    const names = await options.allTextContents()
    await page.context().close()
    return names
  }

  expect(await offered(['id', 'name'])).toEqual(['id', 'name'])
  expect(await offered(['id', 'name', 'books'])).toEqual([
    'id',
    'name',
    'books › id',
    'books › title',
    'books › authorId',
  ])
})
