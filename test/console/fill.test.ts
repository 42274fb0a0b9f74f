/** Cells are filled with what stands above or beside them, by keys and by dragging. */
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { cellsOf } from './support/cells.ts'

let shop: Workspace
const open: Page[] = []
const { cell, goTo } = cellsOf(['id', 'title', 'maker', 'price', 'size', 'note'])

beforeEach(async () => {
  shop = await world.workspace(
    'fill',
    {
      makers: { name: 'string' },
      things: { title: 'string', makerId: 'int64?', price: 'decimal(20,4)?', size: 'int32?', note: 'string?' },
    },
    ['things.maker(makerId) -> makers.things'],
  )
  const [ada] = await shop.insert('makers', [{ name: 'Ada' }])
  await shop.insert('things', [
    { title: 'a', makerId: ada?.id, price: '12345678901234.5678', size: 1, note: 'x' },
    { title: 'b', size: 2, note: 'y' },
    { title: 'c', size: 3 },
    { title: 'd', size: 4 },
    { title: 'e', size: 5 },
  ])
})

afterEach(async () => {
  for (const page of open.splice(0)) await page.context().close()
})

async function grid(...others: readonly unknown[]): Promise<Page> {
  const page = await signedInAt(gridOf(shop, 'things'), ...(others as []))
  open.push(page)
  await page.getByRole('rowheader').first().waitFor()
  return page
}

const stored = async (field: string) =>
  ((await shop.data(`/items/things?fields=${field}&sort[0][id][direction]=asc`)) as Record<string, unknown>[]).map(
    (row) => row[field],
  )

async function press(page: Page, keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

describe('by keys', () => {
  it('what is chosen takes the values of its first row, exactly and with what they refer to, in one step', async () => {
    const page = await grid()
    await goTo(page, 'maker')
    await press(page, ['Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowRight', 'Control+d'])

    const price = '12345678901234.5678'
    await expect.poll(() => stored('price')).toEqual([price, price, price, null, null])
    expect(await stored('makerId')).toEqual(['1', '1', '1', null, null])
    await expect.poll(() => cell(page, 'maker', 2).textContent()).toBe('Ada')
    await page.keyboard.press('Control+z')
    await expect.poll(() => stored('price')).toEqual([price, null, null, null, null])
    expect(await stored('makerId')).toEqual(['1', null, null, null, null])
  })

  it('a cell takes what stands above it, or beside it where that fits its type', async () => {
    const page = await grid()
    await goTo(page, 'size', 1)
    await page.keyboard.press('Control+d')
    await expect.poll(() => stored('size')).toEqual([1, 1, 3, 4, 5])
    await goTo(page, 'note', 2)
    await page.keyboard.press('Control+r')
    await expect.poll(() => stored('note')).toEqual(['x', 'y', '3', null, null])
    await goTo(page, 'size')
    await page.keyboard.press('Control+d')
    await goTo(page, 'note', 4)
    await page.keyboard.press('Control+r')
    await expect.poll(() => stored('note')).toEqual(['x', 'y', '3', null, '5'])
    expect(await stored('size')).toEqual([1, 1, 3, 4, 5])
  })

  it('nothing is changed where one of them cannot be', async () => {
    const collections = { things: { read: 'all', update: { fields: ['title'] } }, makers: { read: 'all' } }
    const clerk = await people.member(shop, { collections })
    const page = await grid(clerk)
    await goTo(page, 'maker')
    await press(page, ['Shift+ArrowDown', 'Shift+ArrowLeft', 'Control+d'])
    await page.getByText('“maker” cannot be changed here.').waitFor()
    expect(await stored('title')).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('does nothing for who only reads', async () => {
    const collections = { things: { read: 'all' } }
    const reader = await people.member(shop, { collections })
    const page = await grid(reader)
    await page.getByRole('gridcell', { name: 'b', exact: true }).click()
    await page.keyboard.press('Control+d')
    expect(await page.getByTitle('Drag to fill', { exact: false }).count()).toBe(0)
    expect(await stored('title')).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})

describe('by dragging', () => {
  it('cells are chosen, and their block is repeated over what is dragged to', async () => {
    const page = await grid()
    await cell(page, 'size', 0).hover()
    await page.mouse.down()
    await cell(page, 'note', 1).hover()
    await page.mouse.up()
    await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(4)

    await page.getByTitle('Drag to fill', { exact: false }).hover()
    await page.mouse.down()
    await cell(page, 'note', 2).hover()
    await cell(page, 'note', 4).hover()
    await page.mouse.up()

    await expect.poll(() => stored('size')).toEqual([1, 2, 1, 2, 1])
    expect(await stored('note')).toEqual(['x', 'y', 'x', 'y', 'x'])
    await page.keyboard.press('Control+z')
    await expect.poll(() => stored('size')).toEqual([1, 2, 3, 4, 5])
  })
})

it.each([
  ['en-US', 'light'],
  ['ar', 'dark'],
] as const)('shows its corner without faults for axe, %s and %s', async (locale, colorScheme) => {
  const page = await grid(world.administrator, { locale, colorScheme, viewport: { width: 360, height: 720 } })
  await goTo(page, 'title')
  await press(page, ['Shift+ArrowDown', 'Shift+ArrowDown'])
  await page.locator('[data-fill]').waitFor()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await picture(page, `fill-${locale}`)
})
