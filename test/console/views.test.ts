/** Saved views of a grid, as those who save them and those who see them meet them. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('saved', { books: { title: 'string', pages: 'int32?' } })
  await shop.insert(
    'books',
    Array.from({ length: 12 }, (_, index) => ({ title: `Book ${String(index).padStart(2, '0')}`, pages: index })),
  )
})

const reading = { collections: { books: { read: 'all' } } } as const
const many = `?sort=-title&filter=${encodeURIComponent('{"pages":{"_gte":5}}')}`
const menu = (page: Page) => page.getByRole('button', { name: /^Views/ })

async function choose(page: Page, name: string): Promise<void> {
  await menu(page).click()
  await page
    .getByRole('menu', { name: /^Views/ })
    .getByText(name, { exact: true })
    .click()
}

async function saveAs(page: Page, name: string, whose?: string): Promise<void> {
  await choose(page, 'Save as a view…')
  const dialog = page.getByRole('dialog', { name: 'Save as a view' })
  await dialog.getByLabel('Name').fill(name)
  if (whose !== undefined) await dialog.getByLabel('Who sees it').selectOption({ label: whose })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
}

const stored = async (name: string) =>
  (await shop.data(
    `/items/ServiceView?fields=name,query,userId,roleId&filter[name][_eq]=${encodeURIComponent(name)}`,
  )) as {
    query: object
    roleId: string | null
  }[]

it('is saved for oneself by a member, chosen again, changed and deleted', async () => {
  const reader = await people.member(shop, reading)
  const page = await signedInAt(`${gridOf(shop, 'books')}${many}`, reader)
  await page.getByText('7 rows', { exact: true }).waitFor()
  await choose(page, 'Save as a view…')
  await page.getByLabel('Name').and(page.locator(':focus')).waitFor()
  expect(await page.getByLabel('Who sees it').count()).toBe(0)
  await page.keyboard.press('Escape')
  await saveAs(page, 'Long books')
  await expect.poll(() => menu(page).textContent()).toBe('Long books')

  await choose(page, 'All rows')
  await page.getByText('12 rows', { exact: true }).waitFor()
  await page.goto(gridOf(shop, 'books'))
  await choose(page, 'Long books')
  await page.getByText('7 rows', { exact: true }).waitFor()
  expect(await page.getByRole('gridcell').nth(1).textContent()).toBe('Book 11')

  await page.getByRole('columnheader', { name: 'title' }).click()
  await choose(page, 'Save changes to Long books')
  await page.getByText('The view was saved.').waitFor()
  await page.reload()
  await expect.poll(() => menu(page).textContent()).toBe('Long books')
  await choose(page, 'Delete the view Long books')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => menu(page).textContent()).toBe('Views')
  const { data } = (await (await reader.get('/items/ServiceView?fields=name')).json()) as { data: object[] }
  expect(data).toEqual([])
  await page.context().close()
})

it('is shared with a role, whose members choose it and cannot change it', async () => {
  const policy = await people.policy(shop, reading)
  const role = await people.role(shop, [policy], 'Librarians')
  const page = await signedInAt(`${gridOf(shop, 'books')}${many}`)
  await page.getByText('7 rows', { exact: true }).waitFor()
  await saveAs(page, 'For librarians', 'The role Librarians')
  await saveAs(page, 'For all', 'Everybody in the workspace')
  expect(await stored('For librarians')).toMatchObject([
    { query: { filter: { pages: { _gte: 5 } }, sort: [{ title: { direction: 'desc' } }] }, userId: null, roleId: role },
  ])

  const librarian = await people.memberWith(shop, [role])
  const theirs = await signedInAt(gridOf(shop, 'books'), librarian)
  await choose(theirs, 'For librarians')
  await theirs.getByText('7 rows', { exact: true }).waitFor()
  await menu(theirs).click()
  const names = await theirs
    .getByRole('menu', { name: /^Views/ })
    .locator('[role^=menuitem]')
    .allTextContents()
  expect(names).toEqual(['All rows', 'For all', 'For librarians', 'Save as a view…'])

  for (const each of [page, theirs]) await each.context().close()
})

it('is chosen, and one of one’s own saved, by a member who may not read the model', async () => {
  const member = await people.member(shop, { collections: { books: { read: { fields: ['id', 'title', 'pages'] } } } })
  const shared = {
    name: 'Last',
    collectionId: shop.ids.get('books'),
    layout: null,
    query: { filter: { pages: { _gte: 9 } } },
  }
  await shop.insert('ServiceView', [shared])
  const page = await signedInAt(gridOf(shop, 'books'), member)
  await page.getByText('12 rows', { exact: true }).waitFor()

  await choose(page, 'Last')
  await page.getByText('3 rows', { exact: true }).waitFor()
  await saveAs(page, 'Mine')
  await page.goto(gridOf(shop, 'books'))
  await choose(page, 'Mine')

  await page.getByText('3 rows', { exact: true }).waitFor()
  await page.context().close()
})

it.each(firstOf(['dark', 'light'] as const, 1))(
  'is without faults for axe, and fits 360 px, in the %s scheme',
  async (colorScheme) => {
    const options = { colorScheme, viewport: { width: 360, height: 720 } }
    const page = await signedInAt(`${gridOf(shop, 'books')}${many}`, world.administrator, options)
    await page.getByText('7 rows', { exact: true }).waitFor()
    await menu(page).click()
    await page.getByRole('menuitem').first().waitFor()
    expect(await violations(page)).toEqual([])
    await picture(page, `views-menu-${colorScheme}`)
    await page.getByText('Save as a view…').click()
    await page.getByRole('option', { name: 'Everybody' }).waitFor({ state: 'attached' })
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await picture(page, `views-save-${colorScheme}`)
    await page.context().close()
  },
)
