/** The items of a collection on the days of a month, by their pictures, and summarised. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { isWiderThanWindow } from './support/pages.ts'

let shop: Workspace
const open: Page[] = []

beforeAll(async () => {
  shop = await world.workspace('layouts', {})
  const fields = {
    id: 'int64 auto',
    title: 'string',
    day: 'date?',
    at: 'dateTimeWithTimezone?',
    poster: { to: 'ServiceFile?', opposite: 'posterOf' },
  }
  const sales = {
    id: 'int64 auto',
    status: 'string?',
    price: 'decimal(10,2)?',
    at: 'dateTimeWithTimezone?',
    show: { to: 'shows?', opposite: 'sales' },
  }
  const model = { version: 1, collections: { shows: { fields }, sales: { fields: sales } } }
  const planned = (await (await shop.post('/schema/plan', { model })).json()) as { data: { plan: string } }
  const applied = await shop.post('/schema/apply', { model, plan: planned.data.plan })
  if (!applied.ok) throw new Error(await applied.text())
  const raw = await readFile('docs/pictures/console-light.png')
  const sent = await shop.send('POST', '/assets?fileName=poster.png', { raw })
  const { data: file } = (await sent.json()) as { data: { id: string } }
  const busy = ['Rehearsal', 'Matinee', 'Talk', 'Evening', 'Party'].map((title) => ({ title, day: '2026-03-14' }))
  await shop.insert('shows', [
    { title: 'Opening <b>', day: '2026-03-01', at: '2026-03-01T23:30:00Z', posterId: file.id },
    { title: 'حفل الربيع', day: '2026-03-05' },
    ...busy,
    { title: 'Last of winter', day: '2026-02-28' },
    { title: 'In April', day: '2026-04-20' },
    { title: 'Some day' },
  ])
  const [show] = (await shop.data('/items/shows?fields=id&filter[title][_eq]=Party')) as readonly { id: string }[]
  await shop.insert('sales', [
    { status: 'paid', price: '10.00', at: '2026-01-31T23:30:00Z', showId: show?.id },
    { status: 'paid', price: '20.50', at: '2026-02-01T00:30:00Z' },
    { status: 'open', price: '99.90', at: '2026-02-02T00:30:00Z', showId: show?.id },
    { price: null },
  ])
})

afterEach(async () => {
  for (const page of open.splice(0)) await page.context().close()
})

async function shown(search: string, ...others: readonly unknown[]): Promise<Page> {
  const page = await signedInAt(gridOf(shop, 'shows') + search, ...(others as []))
  open.push(page)
  return page
}

async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menu', { name: menu, exact: true }).getByText(item, { exact: true }).click()
}

const march = '?layout=calendar.day&month=2026-03'
const dayOf = (page: Page, name: string) => page.getByRole('gridcell', { name })

describe('a calendar', () => {
  it('is chosen, shows items on their days by what they are called, opens one and adds one to a day', async () => {
    const page = await shown('')
    await choose(page, 'Layout: Table', 'Calendar (day)')
    await page.getByRole('button', { name: 'Layout: Calendar (day)' }).waitFor()
    await page.goto(gridOf(shop, 'shows') + march)
    await page.getByRole('grid', { name: 'March 2026' }).waitFor()
    await dayOf(page, 'Sunday, March 1, 2026').getByRole('link', { name: 'Opening <b>' }).waitFor()
    const busy = dayOf(page, 'Saturday, March 14, 2026')
    expect(await busy.getByRole('listitem').count()).toBe(3)
    await busy.getByRole('button', { name: '2 more' }).click()
    expect(await busy.getByRole('listitem').count()).toBe(5)

    await dayOf(page, 'Thursday, March 5, 2026').getByRole('link', { name: 'حفل الربيع' }).click()
    await page.getByRole('heading', { name: 'حفل الربيع', exact: true }).waitFor()
    await page.goBack()
    await dayOf(page, 'Friday, March 20, 2026').hover()
    await page.getByRole('link', { name: 'Add on Friday, March 20, 2026' }).click()
    expect(await page.getByLabel('day', { exact: true }).inputValue()).toBe('2026-03-20')
    await page.getByLabel('title', { exact: true }).fill('Added')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Added', exact: true }).waitFor()
    await page.goBack()
    await dayOf(page, 'Friday, March 20, 2026').getByRole('link', { name: 'Added' }).waitFor()
  })

  it('opens on the month of the item that is nearest to today, and goes to any other at once', async () => {
    const page = await shown('?layout=calendar.day')
    await page.getByRole('grid', { name: 'April 2026' }).waitFor()
    await page.getByRole('link', { name: 'In April' }).waitFor()
    await page.getByLabel('Month', { exact: true }).selectOption('February')
    await page.getByRole('grid', { name: 'February 2026' }).waitFor()
    await page.getByLabel('Year').fill('1998')
    await page.keyboard.press('Enter')
    await page.getByRole('grid', { name: 'February 1998' }).waitFor()
    expect(page.url()).toContain('month=1998-02')
    expect(await violations(page)).toEqual([])
    await picture(page, 'calendar-month')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 360, height: 720 })
    expect(await isWiderThanWindow(page)).toBe(false)
    await picture(page, 'calendar-month-narrow-dark')
    await page.getByRole('button', { name: 'Today' }).click()
    await page.getByText('0 items').waitFor()
    // Days without anything are not in the way, unless somebody asks for them.
    const days = page.locator('[data-day]').filter({ visible: true })
    expect(await days.count()).toBe(1)
    await page.getByRole('button', { name: /^Show \d+ days without items$/ }).click()
    await expect.poll(() => days.count()).toBeGreaterThan(27)
  })

  it('keeps a year that is typed while items arrive', async () => {
    const page = await shown(march)
    await page.getByRole('link', { name: 'Opening <b>' }).waitFor()
    const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>()
    await page.route('**/items/shows**', async (route) => {
      await arrives
      await route.continue()
    })
    await page.getByLabel('Month', { exact: true }).selectOption('April')
    await page.getByRole('grid', { name: 'April 2026' }).waitFor()
    await page.getByLabel('Year').fill('1998')
    arrive()
    await page.getByRole('link', { name: 'In April' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('grid', { name: 'April 1998' }).waitFor()
  })

  it('goes from day to day and month to month by keys, and opens and adds by them', async () => {
    const page = await shown(march)
    await dayOf(page, 'Sunday, March 1, 2026').focus()
    const focused = () => page.evaluate(`document.activeElement.dataset.day ?? document.activeElement.textContent`)
    const pressed = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key)
      return focused()
    }
    expect(await pressed('ArrowRight', 'ArrowDown')).toBe('2026-03-09')
    expect(await pressed('End', 'Home')).toBe('2026-03-08')
    await pressed('PageDown')
    await page.getByRole('grid', { name: 'April 2026' }).waitFor()
    await expect.poll(focused).toBe('2026-04-08')
    await pressed('PageUp', 'ArrowUp', 'ArrowUp')
    await page.getByRole('grid', { name: 'February 2026' }).waitFor()
    await expect.poll(focused).toBe('2026-02-22')
    await pressed('End')
    await page.getByRole('link', { name: 'Last of winter' }).waitFor()
    await pressed('Tab', 'Tab')
    expect(await focused()).toContain('Last of winter')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Last of winter', exact: true }).waitFor()
    await page.goBack()
    await dayOf(page, 'Tuesday, February 10, 2026').focus()
    await page.keyboard.press('Enter')
    expect(await page.getByLabel('day', { exact: true }).inputValue()).toBe('2026-02-10')
    await page.getByRole('link', { name: 'Cancel', exact: true }).click()
    await page.getByRole('grid', { name: 'February 2026' }).waitFor()
  })

  it('shows moments on the day that they are in the reader’s zone, with their time', async () => {
    const page = await shown('?layout=calendar.at&month=2026-03', world.administrator, { timezoneId: 'Asia/Tokyo' })
    const link = dayOf(page, 'Monday, March 2, 2026').getByRole('link', { name: 'Opening' })
    expect(await link.textContent()).toBe('08:30 Opening <b>')
  })

  it('keeps the filter and is kept by a saved view, and lets nobody add who may not', async () => {
    const collections = { shows: { read: 'all' } }
    const reader = await people.member(shop, { collections })
    const filter = encodeURIComponent('{"title":{"_eq":"Matinee"}}')
    const page = await shown(`${march}&filter=${filter}`, reader)
    await dayOf(page, 'Saturday, March 14, 2026').waitFor()
    expect(await page.getByRole('link', { name: /^Add on/ }).count()).toBe(0)
    await choose(page, 'Views', 'Save as a view…')
    await page.getByRole('dialog').getByLabel('Name').fill('Matinees')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Views: Matinees' }).waitFor()
    await page.goto(gridOf(shop, 'shows'))
    await choose(page, 'Views', 'Matinees')
    await page.getByRole('button', { name: 'Layout: Calendar (day)' }).waitFor()
    const { data } = (await (await reader.get('/items/ServiceView?fields=layout')).json()) as { data: object[] }
    expect(data).toEqual([{ layout: { kind: 'calendar', field: 'day' } }])
  })
})

describe('a gallery', () => {
  it('shows items by the file that they lead to, and is a table where the field is gone', async () => {
    const page = await shown('')
    await choose(page, 'Layout: Table', 'Gallery (poster)')
    const tile = page.getByRole('list', { name: 'shows' }).getByRole('link', { name: 'Opening <b>' })
    await expect.poll(() => tile.locator('img').evaluate((image) => 'complete' in image && image.complete)).toBe(true)
    await tile.click()
    await page.getByRole('heading', { name: 'Opening <b>', exact: true }).waitFor()
    await page.goto(`${gridOf(shop, 'shows')}?layout=gallery.cover`)
    await page.getByRole('rowheader').first().waitFor()
  })
})

describe('a summary', () => {
  const summary = (parts: string) => `${gridOf(shop, 'sales')}?layout=summary.${encodeURIComponent(parts)}`
  const opened = async (...given: Parameters<typeof signedInAt>) => {
    const page = await signedInAt(...given)
    open.push(page)
    return page
  }
  const table = (page: Page) => page.getByRole('table', { name: 'Summary of sales' })
  const rowsOf = async (page: Page) => {
    const rows = await table(page).getByRole('row').all()
    return Promise.all(rows.map((row) => row.locator('th, td').allTextContents()))
  }

  it('counts, groups and sums what is filtered, as is chosen, and is kept by the address and a saved view', async () => {
    const page = await opened(gridOf(shop, 'sales'))
    await choose(page, 'Layout: Table', 'Summary')
    await expect.poll(() => rowsOf(page)).toEqual([['Rows'], ['4']])
    await page.getByRole('button', { name: 'Group by a field' }).click()
    await page.getByLabel('Group by', { exact: true }).selectOption('status')
    await page.getByRole('button', { name: 'Add a calculation' }).click()
    await page.getByRole('group').last().getByLabel('Function').selectOption('sum')
    await page.getByRole('group').last().getByLabel('Of', { exact: true }).selectOption('price')
    const titles = ['status', 'Rows', 'Sum of price']
    const [open, paid, none] = [
      ['open', '1', '99.90'],
      ['paid', '2', '30.50'],
      ['null', '1', 'null'],
    ]
    await expect.poll(() => rowsOf(page)).toEqual([titles, open, paid, none])
    await page.getByText('3 groups').waitFor()
    await table(page).getByRole('button', { name: 'Rows' }).focus()
    await page.keyboard.press('Enter')
    await table(page).getByRole('columnheader', { name: 'Rows' }).and(page.locator('[aria-sort=ascending]')).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => rowsOf(page)).toEqual([titles, paid, open, none])
    expect(await table(page).getByRole('columnheader', { name: 'Rows' }).getAttribute('aria-sort')).toBe('descending')

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Field', { exact: true }).selectOption('status')
    await page.getByLabel('Value', { exact: true }).fill('paid')
    await page.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => rowsOf(page)).toEqual([titles, paid])
    await page.reload()
    await expect.poll(() => rowsOf(page)).toEqual([titles, paid])
    await choose(page, 'Views', 'Save as a view…')
    await page.getByRole('dialog').getByLabel('Name').fill('Paid')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Views: Paid' }).waitFor()
    await page.goto(gridOf(shop, 'sales'))
    await choose(page, 'Views', 'Paid')
    await expect.poll(() => rowsOf(page)).toEqual([titles, paid])
  })

  it('is of times by their units and of what rows refer to, and its code answers the same', async () => {
    const page = await opened(summary('by:at:month,by:show.title,avg:price:desc,max:at,countDistinct:status'))
    await expect.poll(async () => (await rowsOf(page)).length).toBe(5)
    const [head, first] = await rowsOf(page)
    expect(head?.slice(0, 3)).toEqual(['at (Month, UTC)', 'show › title', 'Average of price'])
    expect(first?.slice(0, 3)).toEqual(['2026-02', 'Party', '99.9'])
    await page.getByRole('button', { name: 'Code' }).click()
    const code = async (kind: string) => {
      await page.getByRole('dialog').getByRole('button', { name: kind, exact: true }).click()
      await page.getByRole('region', { name: kind, exact: true }).waitFor()
      return (await page.getByRole('dialog').locator('pre').textContent()) ?? ''
    }
    const curl = await code('curl')
    const client = await code('Typed client')
    const { params } = JSON.parse(await code('MCP')) as { params: { name: string; arguments: object } }

    const address = curl.slice(curl.lastIndexOf(" '") + 2, -1)
    const answer = await world.administrator.send('GET', address.slice(world.url.length))
    expect(await answer.json()).toMatchObject({ data: [{ avg_of_price: 99.9 }, {}, {}, {}] })
    const options = client.slice(client.indexOf('.aggregate(') + 11, client.lastIndexOf(').orThrow'))
    expect(JSON.parse(options)).toMatchObject({
      group: [{ at: { trunc: 'month', as: 'at_by_month' } }, { show: ['title'] }],
      sort: [{ avg_of_price: 'desc nulls last' }],
    })
    expect(params).toMatchObject({ name: 'aggregate_items', arguments: { aggregate: { max_of_at: { max: 'at' } } } })
  })

  it('offers a member what their rights give, whatever the address says', async () => {
    const collections = { sales: { read: { fields: ['status'], filter: { status: { _eq: 'paid' } } } } }
    const reader = await people.member(shop, { collections })
    const page = await opened(summary('by:price,by:show.title,by:status,sum:price,count:*'), reader)
    await expect
      .poll(() => rowsOf(page))
      .toEqual([
        ['status', 'Rows'],
        ['paid', '2'],
      ])
    expect(await page.getByLabel('Group by', { exact: true }).locator('option').allTextContents()).toEqual(['status'])
    expect(await page.getByLabel('Function').locator('option').allTextContents()).not.toContain('Sum')
  })
})

const looks = [
  ['en-US', 'light', 'dark'],
  ['ar-EG', 'dark', 'light'],
] as const

describe.each([
  ['calendar', march, 'Matinee'],
  ['gallery', '?layout=gallery.poster', 'Opening'],
  ['summary', '?layout=summary.by:title,by:at:month,count:*:desc,max:day', 'Matinee'],
])('a %s', (name, search, title) => {
  it.each(firstOf(looks, 1))('can be read, heard and used by everybody, %s', async (locale, wide, narrow) => {
    const page = await shown(search, world.administrator, { locale, colorScheme: wide })
    await page.getByText(title).first().waitFor()
    expect(await violations(page)).toEqual([])
    await picture(page, `${name}-wide-${locale}`)
    await page.emulateMedia({ colorScheme: narrow })
    await page.setViewportSize({ width: 360, height: 720 })
    expect(await violations(page)).toEqual([])
    expect(await isWiderThanWindow(page)).toBe(false)
    await picture(page, `${name}-narrow-${locale}`)
  })
})

it('goes to the side that one reads to, from right to left', async () => {
  const page = await shown(march, world.administrator, { locale: 'ar-EG' })
  // Its first week begins with a day of February on which there is an item.
  await page.getByRole('link', { name: 'Last of winter' }).waitFor()
  const filter = encodeURIComponent('{"day":{"_between":["2026-03-01","2026-03-31"]}}')
  const { length } = (await shop.data(`/items/shows?fields=id&limit=-1&filter=${filter}`)) as unknown[]
  await page.getByRole('status').getByText(`${length} عناصر`, { exact: true }).waitFor()
  await page.locator('[data-day="2026-03-10"]').focus()
  await page.keyboard.press('ArrowLeft')
  expect(await page.evaluate('document.activeElement.dataset.day')).toBe('2026-03-11')
})

it('has all names of a gallery at the start of their cards, whatever their script', async () => {
  const page = await shown('?layout=gallery.poster', world.administrator, { locale: 'ar-EG' })
  await page.getByText('حفل الربيع').waitFor()
  const gaps = await page.evaluate(`[...document.querySelectorAll('main li a')].map((card) => {
    const text = document.createRange()
    text.selectNodeContents(card.querySelector('[dir=auto]'))
    return Math.round(card.getBoundingClientRect().right - text.getBoundingClientRect().right)
  })`)
  expect((gaps as number[]).length).toBeGreaterThan(1)
  expect(new Set(gaps as number[]).size).toBe(1)
})
