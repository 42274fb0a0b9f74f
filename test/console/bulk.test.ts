/** Many rows of a grid at once: chosen, changed, deleted, and taken back where that can be done. */
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect, startSystem } from '../support/service/connected.ts'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { chooseFromMenu } from './support/menu.ts'

let shop: Workspace
const open: Page[] = []

beforeEach(async () => {
  shop = await world.workspace('bulk', { things: { title: 'string', size: 'int32?', note: 'string?', data: 'json?' } })
})

afterEach(async () => {
  for (const page of open.splice(0)) await page.context().close()
})

const made = (count: number) =>
  shop.insert(
    'things',
    Array.from({ length: count }, (_, at) => ({ title: `Thing ${String(at).padStart(4, '0')}`, size: at })),
  )

async function grid(search = '', ...others: readonly unknown[]): Promise<Page> {
  const page = await signedInAt(`${gridOf(shop, 'things')}${search}`, ...(others as []))
  open.push(page)
  await page.getByRole('rowheader').first().waitFor()
  return page
}

const filtered = (filter: object) => `?filter=${encodeURIComponent(JSON.stringify(filter))}`
const sizes = async () =>
  ((await shop.data('/items/things?fields=size&limit=0')) as { size: number | null }[]).map(({ size }) => size)
const dialog = (page: Page) => page.getByRole('dialog')

/** By the keys of the grid alone, from its first row on. */
async function choose(page: Page, from: number, to: number): Promise<void> {
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+Home')
  for (let at = 0; at < from; at += 1) await page.keyboard.press('ArrowDown')
  for (let at = from; at < to; at += 1) await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+Space')
}

/** All of them, as far as the grid goes. */
async function chooseAll(page: Page, count: number): Promise<void> {
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('Shift+Control+End')
  await page.getByRole('rowheader', { name: String(count) }).waitFor()
  await page.keyboard.press('Shift+Space')
  await page.getByText(`${count} rows chosen`).waitFor()
}

const fromMenu = (page: Page, name: string) => chooseFromMenu(page, 'More', name)

describe('rows that are chosen', () => {
  it('are deleted by keys after it was said how many, and none where one was changed meanwhile', async () => {
    const [, second] = await made(5)
    const page = await grid()
    await choose(page, 1, 2)
    await page.getByRole('status').getByText('2 rows chosen').waitFor()
    await expect.poll(() => page.getByRole('rowheader', { selected: true }).count()).toBe(2)
    await shop.patch(`/items/things/${second?.id}`, { note: 'new' })

    await page.getByRole('button', { name: 'Delete…' }).press('Enter')
    await dialog(page).getByRole('heading', { name: 'Delete 2 rows?', exact: true }).waitFor()
    await dialog(page).getByRole('button', { name: 'Delete 2 rows' }).press('Enter')
    await dialog(page).getByRole('alert').getByText('changed or deleted in the meantime').waitFor()
    expect(await sizes()).toEqual([0, 1, 2, 3, 4])
    await page.getByRole('gridcell', { name: 'new', exact: true }).waitFor()
    await dialog(page).getByRole('button', { name: 'Delete 2 rows' }).press('Enter')

    await page.getByText('2 rows were deleted.').waitFor()
    expect(await sizes()).toEqual([0, 3, 4])
    await expect.poll(() => page.getByRole('rowheader').count()).toBe(3)
    await page.getByText('3 rows', { exact: true }).waitFor()
    await expect.poll(() => page.getByText('chosen').isVisible()).toBe(false)
  })

  it('are changed together, more than one batch takes, and taken back by one key', async () => {
    await made(130)
    const page = await grid('?columns=title')
    await chooseAll(page, 130)

    await page.getByRole('button', { name: 'Change…' }).click()
    await dialog(page).getByLabel('Field').selectOption('size')
    await dialog(page).getByLabel('Value', { exact: true }).fill('x')
    await dialog(page).getByRole('button', { name: 'Change 130 rows' }).click()
    await dialog(page).getByText('This is no whole number.').waitFor()
    await dialog(page).getByLabel('Value', { exact: true }).fill('-7')
    await dialog(page).getByRole('button', { name: 'Change 130 rows' }).click()
    await page.getByText('130 rows were changed. Undo, under More or by Ctrl+Z, takes it back.').waitFor()
    expect(new Set(await sizes())).toEqual(new Set([-7]))

    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+z')
    await expect.poll(sizes).toEqual(Array.from({ length: 130 }, (_, at) => at))
  })

  it('are changed, taken back and changed again by fingers alone, to whom no key is named', async () => {
    await made(3)
    const touched = { hasTouch: true, isMobile: true, viewport: { width: 360, height: 740 } }
    const page = await grid('', world.administrator, touched)
    const tap = (name: string) => page.getByRole('button', { name, exact: true }).tap()
    await page.getByRole('rowheader', { name: '2' }).tap()
    await tap('Change…')
    await dialog(page).getByLabel('Field').selectOption('size')
    await dialog(page).getByLabel('Value', { exact: true }).fill('-7')
    await tap('Change 1 row')
    await page.getByText('1 row was changed. Undo, under More, takes it back.').waitFor()
    await expect.poll(sizes).toEqual([0, -7, 2])

    await tap('More')
    await page.getByRole('menuitem', { name: 'Undo' }).tap()
    await expect.poll(sizes).toEqual([0, 1, 2])
    await tap('More')
    await page.getByRole('menuitem', { name: 'Redo' }).tap()
    await expect.poll(sizes).toEqual([0, -7, 2])
    await tap('Help')
    await page.getByText('what you type in a cell is saved at once; Undo, under More').waitFor()
    expect(await page.getByText(/Ctrl/).filter({ visible: true }).count()).toBe(0)
  })

  it.each(['chosen', 'all'])(
    'are changed and taken back, but for numbers of too many digits, where %s',
    async (which) => {
      await shop.insert('things', [
        { title: 'Long', data: { n: 2 ** 60 } },
        { title: 'Short', data: { n: 1 } },
      ])
      const page = await grid()
      if (which === 'chosen') {
        await chooseAll(page, 2)
        await page.getByRole('button', { name: 'Change…' }).click()
      } else await fromMenu(page, 'Change all rows…')
      await dialog(page).getByLabel('Field').selectOption('data')
      await dialog(page).getByLabel('Value', { exact: true }).fill('{"n": 2}')
      await dialog(page).getByText('a number with more digits').waitFor()
      await dialog(page).getByRole('button', { name: 'Change 2 rows' }).click()
      await page
        .getByText('2 rows were changed. Undo, under More or by Ctrl+Z, takes it back. What had a number')
        .waitFor()
      const data = () => shop.data('/items/things?fields=data')
      expect(await data()).toEqual([{ data: { n: 2 } }, { data: { n: 2 } }])
      await page.getByRole('rowheader').first().waitFor()
      await page.getByRole('grid').focus()
      await page.keyboard.press('Control+z')

      await expect.poll(data).toEqual([{ data: { n: 2 } }, { data: { n: 1 } }])
    },
  )

  it('are changed in a column that is hidden and called as what every object has', async () => {
    const named = await world.workspace('named', { things: { title: 'string', constructor: 'string?' } })
    await named.insert('things', [{ title: 'One' }, { title: 'Two' }])
    const page = await signedInAt(`${gridOf(named, 'things')}?columns=title`)
    open.push(page)
    await page.getByRole('rowheader').first().waitFor()
    await choose(page, 0, 1)
    await page.getByRole('button', { name: 'Change…' }).click()
    await dialog(page).getByLabel('Field').selectOption('constructor')
    await dialog(page).getByLabel('Value', { exact: true }).fill('x')
    await dialog(page).getByRole('button', { name: 'Change 2 rows' }).click()
    await page.getByText('2 rows were changed.').waitFor()
    expect(await named.data('/items/things?fields=constructor')).toEqual(Array(2).fill({ constructor: 'x' }))
  })

  it('are deleted piece by piece, and no more once it was closed', async () => {
    await made(130)
    const page = await grid()
    await chooseAll(page, 130)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const asked = page.waitForRequest('**/api/*/items')
    await page.route('**/api/*/items', async (sent) => {
      await released
      await sent.continue()
    })
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog(page).getByRole('button', { name: 'Delete 130 rows' }).click()
    await asked
    await page.keyboard.press('Escape')
    await dialog(page).getByText('This closes once the request that is under way is answered.').waitFor()
    release()

    await page.getByText('100 rows were deleted.').waitFor()
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByText('30 rows chosen').waitFor()
    expect((await sizes()).length).toBe(30)
  })

  it('are told to be gone where a piece behind them fails, and the others are deleted once more', async () => {
    await made(130)
    const page = await grid()
    await chooseAll(page, 130)
    let pieces = 0
    await page.route('**/api/*/items', async (sent) => {
      pieces += 1
      if (pieces === 2) await sent.fulfill({ status: 403, json: { message: 'Refused', code: '4030' } })
      else await sent.continue()
    })
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog(page).getByRole('button', { name: 'Delete 130 rows' }).click()
    const fault = dialog(page).getByRole('alert')
    await fault.getByText('100 rows were deleted, then it ended. Among the others').waitFor()
    expect((await sizes()).length).toBe(30)
    await dialog(page).getByRole('button', { name: 'Delete 30 rows' }).click()

    await page.getByText('130 rows were deleted.').waitFor()
    expect(await sizes()).toEqual([])
  })

  it('are deleted as far as they are loaded, while the next page is on its way, which then is shown', async () => {
    await made(130)
    const page = await grid()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const held = page.waitForRequest(/limit=500/)
    await page.route(/limit=500/, async (sent) => {
      await released
      await sent.continue()
    })
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+Home')
    for (let at = 0; at < 12; at += 1) await page.keyboard.press('Shift+PageDown')
    await held
    await page.keyboard.press('Shift+Space')
    await page.getByText('100 rows chosen').waitFor()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog(page).getByRole('button', { name: 'Delete 100 rows' }).click()
    await page.getByText('100 rows were deleted.').waitFor()
    release()

    await page.getByRole('gridcell', { name: 'Thing 0100' }).waitFor()
    await page.getByText('30 rows', { exact: true }).waitFor()
    expect(await page.getByText('Thing 0099').count()).toBe(0)
  })

  it('are chosen no more once the rows were read from the beginning', async () => {
    await made(130)
    const page = await grid()
    await chooseAll(page, 130)
    await fromMenu(page, 'Change all rows…')
    await dialog(page).getByLabel('Field').selectOption('note')
    await dialog(page).getByLabel('Value', { exact: true }).fill('new')
    await dialog(page).getByRole('button', { name: 'Change 130 rows' }).click()
    await page.getByText('130 rows were changed.').waitFor()

    await expect.poll(() => page.getByText('130 rows chosen').count()).toBe(0)
    await chooseAll(page, 130)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog(page).getByRole('button', { name: 'Delete 130 rows' }).click()
    await page.getByText('130 rows were deleted.').waitFor()
    expect(await sizes()).toEqual([])
  })
})

describe('all rows of a view', () => {
  it('are changed by one request and taken back, but for what others have changed since', async () => {
    const [first] = await made(120)
    const page = await grid(filtered({ size: { _lt: 110 } }))
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET' && request.url().includes('/items')) asked.push(request.method())
    })
    await fromMenu(page, 'Change all rows that meet the filter…')
    await dialog(page).getByRole('heading', { name: 'Change 110 rows', exact: true }).waitFor()
    await dialog(page).getByLabel('Field').selectOption('note')
    await dialog(page).getByLabel('Value', { exact: true }).fill('=1+1')
    await dialog(page).getByRole('button', { name: 'Change 110 rows' }).press('Enter')
    await page.getByText('110 rows were changed.').waitFor()
    const notes = async () => (await shop.data('/items/things?fields=note&limit=0')) as { note: string | null }[]
    expect((await notes()).filter(({ note }) => note === '=1+1').length).toBe(110)
    expect(asked).toEqual(['POST'])

    await shop.patch(`/items/things/${first?.id}`, { note: 'theirs' })
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+z')
    await page.getByRole('dialog', { name: 'Changed in the meantime' }).getByText('theirs', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Keep theirs' }).click()
    await expect.poll(async () => (await notes()).filter(({ note }) => note !== null)).toEqual([{ note: 'theirs' }])
  })

  it('are deleted by one request as many as were told, and none where there are more', async () => {
    await made(20)
    const page = await grid(filtered({ size: { _gte: 15 } }))
    await fromMenu(page, 'Delete all rows that meet the filter…')
    await dialog(page).getByRole('heading', { name: 'Delete 5 rows?', exact: true }).waitFor()
    await shop.insert('things', [{ title: 'Late', size: 99 }])
    await dialog(page).getByLabel('To go on, type things').fill('thing')
    expect(await dialog(page).getByRole('button', { name: 'Delete 5 rows' }).isDisabled()).toBe(true)
    await dialog(page).getByLabel('To go on, type things').fill('things')
    await dialog(page).getByRole('button', { name: 'Delete 5 rows' }).click()
    await dialog(page).getByRole('alert').getByText('There are more of them by now').waitFor()
    await dialog(page).getByRole('heading', { name: 'Delete 6 rows?', exact: true }).waitFor()
    expect((await sizes()).length).toBe(21)
    await dialog(page).getByRole('button', { name: 'Delete 6 rows' }).click()
    await page.getByText('6 rows were deleted.').waitFor()
    expect((await sizes()).length).toBe(15)

    await page.goto(gridOf(shop, 'things'))
    await page.getByRole('rowheader').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill('Delete all rows')
    await page.keyboard.press('Enter')
    await dialog(page).getByLabel('To go on, type things').fill('things')
    await page.keyboard.press('Enter')
    await page.getByText('15 rows were deleted.').waitFor()
    await page.getByRole('heading', { name: 'No rows', exact: true }).waitFor()
    expect(await sizes()).toEqual([])
  })
})

describe('a member', () => {
  it('who only reads has no control for it', async () => {
    await made(2)
    const collections = { things: { read: { fields: ['id', 'title', 'size'] } } }
    const reader = await people.member(shop, { collections })
    const page = await grid('', reader)
    await choose(page, 0, 1)
    expect(await page.getByText('chosen').isVisible()).toBe(false)
    expect(await page.getByRole('rowheader', { selected: true }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^(Delete|Change)/ }).count()).toBe(0)
  })

  it('who may change one field is offered that, and told where it is not for all rows', async () => {
    await made(4)
    const collections = {
      things: { read: 'all', update: { fields: ['note'], filter: { size: { _lt: 2 } } } },
    }
    const clerk = await people.member(shop, { collections })
    const page = await grid('', clerk)
    await choose(page, 0, 1)
    await page.getByText('2 rows chosen').waitFor()
    expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0)
    await fromMenu(page, 'Change all rows…')
    const fields = dialog(page).getByLabel('Field').locator('option')
    await expect.poll(() => fields.allTextContents()).toEqual(['note'])
    await dialog(page).getByLabel('Value', { exact: true }).fill('mine')
    await dialog(page).getByRole('button', { name: 'Change 4 rows' }).click()
    await dialog(page).getByRole('alert').waitFor()
    expect(await shop.data('/items/things?fields=note')).toEqual(Array(4).fill({ note: null }))
  })
})

it('is offered for no rows of a connector, which takes no batches', async () => {
  const system = await startSystem()
  const elsewhere = await world.workspace('elsewhere', {})
  await connect(elsewhere, system)
  const page = await signedInAt(gridOf(elsewhere, 'authors'))
  open.push(page)
  await page.getByRole('gridcell', { name: 'Ada' }).waitFor()

  await choose(page, 0, 1)

  expect(await page.getByText('chosen').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem').first().waitFor()
  expect(await page.getByRole('menuitem', { name: /^(Delete|Change)/ }).count()).toBe(0)
  await system.close()
})

it.each([
  ['en-US', 'light', 'More', /^Delete all/],
  ['ar', 'dark', 'المزيد', /^حذف كل/],
] as const)('fits 360 px without faults for axe, %s and %s', async (locale, colorScheme, menu, remove) => {
  await made(12)
  const page = await grid('', world.administrator, { locale, colorScheme, viewport: { width: 360, height: 720 } })
  await choose(page, 1, 3)
  await page.getByRole('rowheader', { selected: true }).nth(2).waitFor()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await picture(page, `bulk-chosen-${locale}`)
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitem').first().waitFor()
  // What deletes stands apart from all else.
  expect(await page.locator('[role=menu]:popover-open > hr + *:last-child').textContent()).toMatch(remove)
  await picture(page, `bulk-menu-${locale}`)
  await page.getByRole('menuitem', { name: remove }).click()
  await dialog(page).getByRole('button', { name: /12/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, `bulk-delete-${locale}`)
})
