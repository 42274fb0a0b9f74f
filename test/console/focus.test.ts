/** Where the focus is after each step of somebody who uses keys alone, and what the window is called there. */
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { gridOf, picture, signedInAt } from '../support/service/console-page.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, submitSignIn } from './support/pages.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('focus', {
    books: { title: 'string', pages: 'int32?' },
    authors: { name: 'string' },
  })
  await shop.insert(
    'books',
    Array.from({ length: 150 }, (_, at) => ({ title: `Volume ${at + 1}`, pages: at + 1 })),
  )
  const collectionId = shop.ids.get('authors')
  await shop.insert('ServiceCollectionMeta', [{ collectionId, displayName: 'Those who write' }])
  await shop.post('/policies', { name: 'Reads books', content: { collections: { books: { read: 'all' } } } })
})

afterEach(closePages)

const focused = (page: Page, role: 'heading' | 'button' | 'link' | 'grid' | 'combobox' | 'textbox', name: string) =>
  page.getByRole(role, { name, exact: true }).and(page.locator(':focus')).first().waitFor()

/** What the grid says is active. */
async function active(page: Page, role: 'columnheader' | 'gridcell' | 'rowheader', name: string): Promise<void> {
  await page.getByRole('grid').and(page.locator(':focus')).waitFor()
  const cell = page.getByRole(role, { name, exact: true }).and(page.locator('[data-active]'))
  await cell.waitFor()
  const id = await page.getByRole('grid').getAttribute('aria-activedescendant')
  expect(await cell.getAttribute('id')).toBe(id)
}

async function choose(page: Page, text: string, option: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.insertText(text)
  await page.getByRole('option', { name: option, selected: true }).waitFor()
  await page.keyboard.press('Enter')
}

it('goes to the title of a screen after signing in, from the palette and from a row', async () => {
  const page = await openConsole()
  await submitSignIn(page, `/${shop.name}`)
  await focused(page, 'heading', shop.name)
  await choose(page, 'books', 'books')
  await focused(page, 'heading', 'books')
  await page.getByRole('gridcell', { name: 'Volume 1', exact: true }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Shift+Enter')
  await focused(page, 'heading', 'Volume 1')
  await choose(page, 'policy', 'New policy')
  await focused(page, 'heading', 'Access')
})

it('stays where rows are sorted and filtered, and goes into a filter and back', async () => {
  const page = await signedInAt(gridOf(shop, 'books'))
  await page.getByRole('gridcell', { name: 'Volume 1', exact: true }).waitFor()
  await page.getByRole('grid').focus()
  for (const key of ['ArrowUp', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
  await active(page, 'columnheader', 'pages')
  await page.keyboard.press('Enter')
  await page.locator('[aria-sort=ascending]').waitFor()
  await active(page, 'columnheader', 'pages')
  await page.keyboard.press('Enter')
  await page.getByRole('gridcell', { name: 'Volume 150', exact: true }).waitFor()
  await active(page, 'columnheader', 'pages')

  await page.getByRole('button', { name: 'Filter', exact: true }).press('Enter')
  await focused(page, 'combobox', 'Field')
  await page.getByLabel('Field').selectOption('title')
  await page.getByLabel('Operator').selectOption('_contains')
  await page.getByLabel('Value', { exact: true }).focus()
  await page.keyboard.insertText('14')
  await page.keyboard.press('Enter')
  await page.getByText('12 rows', { exact: true }).waitFor()
  await focused(page, 'textbox', 'Value')
  await page.getByRole('button', { name: 'Clear the filter' }).press('Enter')
  await page.getByText('12 rows', { exact: true }).waitFor({ state: 'detached' })
  await focused(page, 'combobox', 'Field')
  await page.keyboard.press('Escape')
  await focused(page, 'button', 'Filter')
  expect(await page.getByLabel('Operator').count()).toBe(0)
  await page.context().close()
})

it('comes back to the row, and to the link, that was left', async () => {
  const page = await signedInAt(`${gridOf(shop, 'books')}?sort=pages`)
  await page.getByRole('gridcell', { name: 'Volume 1', exact: true }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Control+ArrowDown')
  await active(page, 'gridcell', 'Volume 150')
  for (let count = 0; count < 10; count += 1) await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Shift+Enter')
  await focused(page, 'heading', 'Volume 140')
  await page.goBack()
  await active(page, 'gridcell', 'Volume 140')
  const row = page.getByRole('gridcell', { name: 'Volume 140', exact: true })
  const { y = 0 } = (await row.boundingBox()) ?? {}
  expect(0 < y && y < 860).toBe(true)
  await picture(page, 'focus-came-back')
  await row.hover()
  await page.getByRole('row').filter({ has: row }).getByRole('link', { name: 'Open' }).click()
  await focused(page, 'heading', 'Volume 140')
  await page.goBack()
  await page.getByRole('grid').and(page.locator(':focus')).waitFor()

  await page.goto(`/${shop.name}/access/policies`)
  await page.getByRole('link', { name: 'Reads books' }).press('Enter')
  await page.getByRole('heading', { name: 'Reads books' }).waitFor()
  await page.goBack()
  await focused(page, 'link', 'Reads books')
  await page.context().close()
})

it('says in the title of the window what is shown, and of which workspace', async () => {
  const page = await signedInAt(`/${shop.name}`)
  const titleAt = async (path: string, title: string) => {
    await page.goto(path)
    await expect.poll(() => page.title()).toBe(`${title}Data service`)
  }
  const place = `${shop.name} · `
  await titleAt('/', 'Workspaces · ')
  await titleAt(`/${shop.name}`, place)
  await titleAt(gridOf(shop, 'authors'), `Those who write · ${place}`)
  await titleAt(`/${shop.name}/new/authors`, `New in Those who write · Those who write · ${place}`)
  await titleAt(`${gridOf(shop, 'books')}/1`, `Volume 1 · books · ${place}`)
  await titleAt(gridOf(shop, 'ServiceFile'), `Files · ${place}`)
  await titleAt(`/${shop.name}/access/roles`, `Roles · Access · ${place}`)
  await titleAt(`/${shop.name}/model/books`, `books · Data model · ${place}`)
  await titleAt(`/${shop.name}/sources`, `Data sources · ${place}`)
  await titleAt(`/${shop.name}/audit-log`, `Audit log · ${place}`)
  await titleAt('/-/users', 'Users · ')
  await titleAt('/-/account', 'Your account · ')
  await titleAt('/-/docs/tutorial', 'From a login to a policy, with curl · Documentation · ')
  await titleAt('/-/nowhere', 'There is no such page · ')
  await page.context().close()
})

it('is at the first field of a dialog, or at the way back where something would be lost', async () => {
  const page = await signedInAt('/')
  await page.getByRole('button', { name: 'New workspace' }).press('Enter')
  await focused(page, 'textbox', 'Name')
  await page.keyboard.press('Escape')
  await focused(page, 'button', 'New workspace')
  await page.goto(`${gridOf(shop, 'books')}/1`)
  await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
  await focused(page, 'button', 'Cancel')
  await picture(page, 'dialog-focus')
  await page.context().close()
})

it.each(['light', 'dark'] as const)(
  'shows the tab of the screen in one line, on a telephone, %s',
  async (colorScheme) => {
    const page = await signedInAt('/-/settings', world.administrator, {
      colorScheme,
      viewport: { width: 360, height: 720 },
    })
    const tabs = page.getByRole('navigation', { name: 'Account and service' })
    const current = tabs.getByRole('link', { name: 'Settings' })
    await current.waitFor()
    const [line, tab] = [await tabs.boundingBox(), await current.boundingBox()]
    expect(line?.height).toBeLessThan(60)
    expect((tab?.x ?? 0) + (tab?.width ?? 999)).toBeLessThanOrEqual(360)
    await picture(page, `tabs-360-${colorScheme}`)
    await page.context().close()
  },
)
