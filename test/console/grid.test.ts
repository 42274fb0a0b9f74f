/** The grid of a collection, as a person reads it. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'grid',
    {
      authors: { name: 'string', born: 'int32?' },
      books: { title: 'string', authorId: 'int64?', price: 'decimal(20,4)?', big: 'int64?', isOut: 'boolean?' },
    },
    ['books.author(authorId) -> authors.books'],
  )
  const [ada] = await shop.insert('authors', [{ name: 'Ada' }])
  const books = Array.from({ length: 1_200 }, (_, index) => ({
    title: `Book ${String(index).padStart(4, '0')}`,
    authorId: ada?.id,
    price: '12345678901234.5678',
    big: '9007199254740993',
    isOut: index % 2 === 0,
  }))
  await shop.insert('books', books.slice(0, 600))
  await shop.insert('books', books.slice(600))
})

const open = signedInAt

const cell = (page: Page, text: string) => page.getByRole('gridcell', { name: text, exact: true })

const activeText = (page: Page) =>
  page.evaluate('document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.textContent')

describe('a grid', () => {
  it('shows rows by one request, exactly, with the items that they refer to', async () => {
    const page = await open('/')
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/') && request.url().includes('/items/books')) asked.push(request.url())
    })
    await page.goto(gridOf(shop, 'books'))
    await cell(page, 'Book 0000').waitFor()

    expect(await cell(page, 'Ada').first().isVisible()).toBe(true)
    expect(await cell(page, '12345678901234.5678').first().isVisible()).toBe(true)
    expect(await cell(page, '9007199254740993').first().isVisible()).toBe(true)
    expect(asked.filter((url) => !/meta=total(Estimate|Count)/.test(url)).length).toBe(1)
    await page.context().close()
  })

  it('counts all rows at once where that is cheap, and else where that is asked for', async () => {
    const page = await open('/')
    // The service finds its figure within a moment, or none: here it says one whatever else runs beside it.
    const estimate = async (totalEstimate: number) => {
      await page.route(/meta=totalEstimate/, (sent) => sent.fulfill({ json: { data: [], meta: { totalEstimate } } }))
      await page.goto(gridOf(shop, 'books'))
    }
    await estimate(1_200)
    await page.getByText('1,200 rows', { exact: true }).waitFor()
    await estimate(90_000)
    await page.getByText('About 90,000 rows', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Count exactly' }).click()
    await page.getByText('1,200 rows', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Count exactly' }).count()).toBe(0)
    await page.context().close()
  })

  it('goes to the last of all rows and back by keys, with one stop for Tab', async () => {
    const page = await open(gridOf(shop, 'books'))
    const grid = page.getByRole('grid', { name: 'books' })
    await cell(page, 'Book 0000').waitFor()
    expect(await grid.locator('[tabindex="0"]').count()).toBe(0)

    await grid.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => activeText(page)).toBe('Book 0001')
    await page.keyboard.press('Control+End')
    await cell(page, 'Book 1199').waitFor()
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('1201')
    await page.getByText('1,200 rows', { exact: true }).waitFor()
    await expect.poll(async () => (await page.getByRole('row').count()) < 80).toBe(true)
    await page.keyboard.press('Control+Home')
    await expect.poll(() => activeText(page)).toBe('1')
    await page.context().close()
  })

  it('has each row below the one before where the text is of twice the size', async () => {
    const page = await open(gridOf(shop, 'books'))
    await cell(page, 'Book 0000').waitFor()
    await page.evaluate("document.documentElement.style.fontSize = '200%'")
    const boxOf = async (text: string) => {
      const box = await cell(page, text).boundingBox()
      return { top: box?.y ?? 0, bottom: (box?.y ?? 0) + (box?.height ?? 0) }
    }

    await expect.poll(async () => (await boxOf('Book 0001')).top - (await boxOf('Book 0000')).top).toBe(64)
    const [first, second] = [await boxOf('Book 0000'), await boxOf('Book 0001')]
    expect(Math.abs(second.top - first.bottom)).toBeLessThanOrEqual(1)
    // As much of a value is seen as with text of the usual size.
    expect((await cell(page, 'Book 0000').boundingBox())?.width).toBe(440)
    expect((await page.getByRole('columnheader', { name: 'Row', exact: true }).boundingBox())?.width).toBe(144)
    await picture(page, 'grid-large')
    await page.getByRole('grid', { name: 'books' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Control+End')
    await cell(page, 'Book 1199').waitFor()
    await page.context().close()
  })

  it('gives a narrow table with large text to what is read, and keeps the way to open a row in sight', async () => {
    const page = await open(gridOf(shop, 'books'), world.administrator, { viewport: { width: 360, height: 740 } })
    await cell(page, 'Book 0000').waitFor()
    const grid = page.getByRole('grid', { name: 'books' })
    const number = page.getByRole('rowheader').first()
    const leftOf = async (one: typeof number) => (await one.boundingBox())?.x ?? 0
    const isInSight = async () => (await leftOf(number)) >= (await leftOf(grid))
    const widthOf = async (one: typeof number) => (await one.boundingBox())?.width ?? 0
    const active = page.locator('[data-active]')
    // Ids leave the room to what is read.
    const id = page.getByRole('columnheader', { name: 'id', exact: true })
    await expect.poll(() => widthOf(id)).toBeLessThan(110)
    await grid.focus()
    await page.keyboard.press('End')
    await expect.poll(() => grid.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(200)
    expect(await isInSight()).toBe(true)

    await page.evaluate("document.documentElement.style.fontSize = '200%'")
    // The active cell stays in sight where all are larger.
    const rightOf = async (one: typeof number) => (await leftOf(one)) + (await widthOf(one))
    await expect.poll(() => widthOf(active)).toBe(190)
    await expect.poll(async () => (await rightOf(active)) <= (await rightOf(grid))).toBe(true)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    expect(await isInSight()).toBe(true)
    const way = page.getByRole('rowheader').first().getByRole('link', { name: 'Open' })
    const { x = 0, width = 0 } = (await way.boundingBox()) ?? {}
    expect(x).toBeGreaterThan(0)
    expect(x + width).toBeLessThan(180)
    // Where one is and what there is for oneself are in sight, beside each other or below.
    const bar = page.getByRole('banner')
    const place = await bar.getByRole('link', { name: 'books' }).boundingBox()
    expect(place?.width).toBeGreaterThan(64)
    const ends = await bar.getByRole('button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
    expect(Math.max(...ends)).toBeLessThanOrEqual(360)
    // No value ends beyond the table, where nothing would say that it goes on.
    expect(await widthOf(cell(page, 'Book 0000'))).toBeLessThanOrEqual(await widthOf(grid))
    await picture(page, 'grid-200-360')
    // The active cell begins where the numbers end.
    await expect.poll(async () => Math.round((await leftOf(cell(page, 'Book 0000'))) - (await rightOf(number)))).toBe(0)
    await page.context().close()
  })

  it('goes to the last of all rows while a page of them is on its way', async () => {
    const page = await open(gridOf(shop, 'books'))
    await cell(page, 'Book 0000').waitFor()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const held = page.waitForRequest(/limit=500/)
    await page.route(/limit=500/, async (sent) => {
      await released
      await sent.continue()
    })
    await page.getByRole('grid').focus()
    for (const key of ['PageDown', 'PageDown', 'PageDown']) await page.keyboard.press(key)
    await held
    await page.keyboard.press('Control+End')
    release()

    await cell(page, 'Book 1199').waitFor()
    await page.context().close()
  })

  it('sorts by its headers and filters by conditions, which the address keeps', async () => {
    const page = await open(gridOf(shop, 'books'))
    await page.getByRole('columnheader', { name: 'title' }).click()
    await page.getByRole('columnheader', { name: 'title' }).click()
    await cell(page, 'Book 1199').waitFor()
    expect(await page.getByRole('columnheader', { name: 'title' }).getAttribute('aria-sort')).toBe('descending')

    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByLabel('Field').selectOption({ label: 'title' })
    await page.getByLabel('Operator').selectOption('_starts_with')
    await page.getByLabel('Value', { exact: true }).fill('Book 000')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('10 rows', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('10 rows', { exact: true }).waitFor()
    expect(await page.getByRole('gridcell').nth(1).textContent()).toBe('Book 0009')

    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Match').selectOption('any')
    await page.getByLabel('Field').nth(1).selectOption({ label: 'title' })
    await page.getByLabel('Operator').nth(1).selectOption('_eq')
    await page.getByLabel('Value', { exact: true }).nth(1).fill('Book 1000')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('11 rows', { exact: true }).waitFor()
    await page.reload()
    expect(await page.getByLabel('Match').inputValue()).toBe('any')

    const shown = async (filter: object) => {
      await page.goto(`${gridOf(shop, 'books')}?filter=${encodeURIComponent(JSON.stringify(filter))}`)
      await page.getByLabel('Operator').first().waitFor()
      return page
        .getByLabel('Operator')
        .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value))
    }
    const several = { title: { _gt: 'Book 1', _lt: 'Book 2' }, author: { name: { _eq: 'Ada' } } }
    expect(await shown(several)).toEqual(['_gt', '_lt', '_eq'])
    const behind = { author: { name: { _eq: 'Ada' }, born: { _null: true } } }
    expect(await shown(behind)).toHaveLength(1)
    await page.getByText(JSON.stringify(behind)).waitFor()

    const filter = { _not: { title: { _neq: 'Book 1000' } } }
    await page.goto(`${gridOf(shop, 'books')}?filter=${encodeURIComponent(JSON.stringify(filter))}`)
    await page.getByText(JSON.stringify(filter)).waitFor()
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.context().close()
  })

  it('filters by any field of what its rows refer to, and of what refers to them', async () => {
    const [first, second] = await shop.insert('authors', [{ name: 'Bea', born: 1900 }, { name: 'Cy' }])
    await shop.insert('books', [
      { title: 'By Bea', authorId: first?.id },
      { title: 'By Cy', authorId: second?.id },
    ])
    const page = await open(gridOf(shop, 'books'))
    const apply = async (field: string, value: string) => {
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.getByLabel('Field').selectOption({ label: field })
      await page.getByLabel('Operator').selectOption('_eq')
      await page.getByLabel('Value', { exact: true }).fill(value)
      await page.getByRole('button', { name: 'Apply' }).click()
    }
    await apply('author › born', '1900')
    await cell(page, 'By Bea').waitFor()
    await page.getByText('1 row', { exact: true }).waitFor()

    await page.goto(gridOf(shop, 'authors'))
    await apply('books › title', 'By Cy')
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.reload()
    await cell(page, 'Cy').waitFor()
    expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('By Cy')
    await shop.delete(`/items/books?filter=${encodeURIComponent('{"title":{"_starts_with":"By"}}')}`)
    await shop.delete(`/items/authors?filter=${encodeURIComponent('{"name":{"_in":["Bea","Cy"]}}')}`)
    await page.context().close()
  })

  it('tells the request of what is seen, which answers the same, and no token', async () => {
    const filter = encodeURIComponent('{"title":{"_starts_with":"Book 000"}}')
    const page = await open(`${gridOf(shop, 'books')}?sort=-title&filter=${filter}`)
    await cell(page, 'Book 0009').waitFor()
    await page.getByRole('button', { name: 'Code' }).click()
    const dialog = page.getByRole('dialog', { name: 'Code' })
    const curl = (await dialog.locator('pre').textContent()) ?? ''
    const [, address = ''] = /'(http[^']*)'/.exec(curl) ?? []
    const answer = await world.administrator.get(address.slice(world.url.length))
    const { data } = (await answer.json()) as { data: { title: string }[] }
    expect([data.length, data[0]?.title]).toEqual([10, 'Book 0009'])
    expect(curl).toContain('Bearer $TOKEN')
    await dialog.getByRole('button', { name: 'Typed client' }).click()
    await expect.poll(() => dialog.locator('pre').textContent()).toContain('await db.books.list({')
    expect(await violations(page)).toEqual([])
    await picture(page, 'code')
    await page.context().close()
  })

  it('copies cells as text with tabs', async () => {
    const page = await open(gridOf(shop, 'books'))
    await cell(page, 'Book 0000').click()
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('Shift+ArrowDown')
    // The listener is there before the key: what is evaluated and what is pressed reach the page on two ways.
    await page.evaluate(
      'void (window.copied = new Promise((resolve) => document.addEventListener("copy", (event) => resolve(event.clipboardData.getData("text/plain")), { once: true })))',
    )
    await page.keyboard.press('Control+C')
    expect(await page.evaluate('window.copied')).toBe('Book 0000\tAda\nBook 0001\tAda')
    await page.context().close()
  })

  it('shows a member what their rights give, and nothing else', async () => {
    const reader = await people.member(shop, {
      collections: {
        books: {
          read: { fields: ['id', 'title'], filter: { title: { _in: ['Book 0001', 'Book 0002'] } } },
        },
      },
    })
    const page = await open(gridOf(shop, 'books'), reader)
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`)
    })
    await page.reload()
    await cell(page, 'Book 0001').waitFor()
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Row', 'id', 'title'])
    await page.getByText('Read only', { exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'New' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Filter' }).click()
    expect(await page.getByLabel('Field', { exact: true }).locator('option').allTextContents()).toEqual(['id', 'title'])
    await picture(page, 'grid-of-a-member')
    await page.getByRole('link', { name: 'Open' }).first().click()
    await page.getByLabel('title', { exact: true }).waitFor()
    // Nothing is asked that one's rights say would be refused.
    await page.goto(`/${shop.name}`)
    await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
    const without = await open(`/${shop.name}`, await people.member(shop, {}))
    without.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`)
    })
    await without.reload()
    await without.getByRole('main').getByRole('heading').first().waitFor()
    await without.waitForLoadState('networkidle')
    expect(refused).toEqual([])
    await without.context().close()
    await page.goto(gridOf(shop, 'books'))
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page.goto(gridOf(shop, 'authors'))
    await page.getByText('There is no such page').waitFor()
    await page.context().close()
  })

  it.each(firstOf(['dark', 'light'] as const, 1))(
    'is without faults for axe, and fits 360 px, in the %s scheme',
    async (colorScheme) => {
      const page = await open(gridOf(shop, 'books'), world.administrator, {
        colorScheme,
        viewport: { width: 360, height: 720 },
      })
      await cell(page, 'Book 0000').waitFor()
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.getByLabel('Operator').waitFor()
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await picture(page, `grid-360-${colorScheme}`)
      await page.setViewportSize({ width: 1440, height: 900 })
      await picture(page, `grid-1440-${colorScheme}`)
      await page.context().close()
    },
  )
})

it('calls, orders and hides collections and fields as the workspace says, and items by their template', async () => {
  const own = await world.workspace(
    'presented',
    {
      authors: { first: 'string', last: 'string' },
      books: { title: 'string', authorId: 'int64?', seriesId: 'int64?', note: 'string?' },
      series: { code: 'string', name: 'string' },
      drafts: { title: 'string' },
    },
    ['books.author(authorId) -> authors.books', 'books.series(seriesId) -> series.books'],
  )
  const id = (name: string) => own.ids.get(name)
  await own.insert('ServiceCollectionMeta', [
    { collectionId: id('books'), displayName: 'الكتب', icon: '📚', sort: 1 },
    { collectionId: id('authors'), displayTemplate: '{{last}}, {{first}}' },
    { collectionId: id('drafts'), isHidden: true },
  ])
  await own.insert('ServiceFieldMeta', [
    { fieldId: id('books.note'), sort: 1, displayName: 'Remark', description: 'As <b>it</b> was heard' },
    { fieldId: id('books.series'), sort: 2 },
    { fieldId: id('books.seriesId'), isHidden: true },
    { fieldId: id('books.authorId'), isHidden: true },
    { fieldId: id('books.id'), isHidden: true },
  ])
  const [ada] = await own.insert('authors', [{ first: 'Ada', last: 'Lovelace' }])
  const [rivers] = await own.insert('series', [{ code: 'R1', name: 'Rivers' }])
  await own.insert('books', [{ title: 'Notes', authorId: ada?.id, seriesId: rivers?.id }])
  const page = await signedInAt(gridOf(own, 'books'))
  const links = page.getByRole('list', { name: 'Collections' }).getByRole('link')

  await page.getByRole('gridcell', { name: 'Lovelace, Ada' }).waitFor()
  expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Row', 'Remark', 'series', 'title', 'author'])
  expect(await page.getByRole('gridcell', { name: 'Rivers' }).count()).toBe(1)
  expect(await links.allTextContents()).toEqual(['📚الكتب', 'authors', 'series'])
  expect(await page.getByRole('link', { name: 'الكتب', exact: true }).count()).toBe(2)
  await picture(page, 'presented')
  await page.getByRole('link', { name: 'Open' }).first().click()
  await page.getByText('As <b>it</b> was heard', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Lovelace, Ada' }).click()
  await page.getByRole('heading', { name: 'Lovelace, Ada', exact: true }).waitFor()
  await page.context().close()
})

it.each(
  firstOf(
    [
      ['Africa/Cairo', '2026-01-31 13:45:00.000001+02:00'],
      ['America/St_Johns', '2026-01-31 08:15:00.000001-03:30'],
    ],
    1,
  ),
)('shows moments in the zone of the reader, %s, exactly', async (timezoneId, shown) => {
  const own = await world.workspace('zones', { events: { moment: 'dateTimeWithTimezone?', at: 'dateTime?' } })
  await own.insert('events', [{ moment: '2026-01-31T11:45:00.000001Z', at: '2026-01-31T13:45:00.5' }])
  const page = await signedInAt(gridOf(own, 'events'), world.administrator, { timezoneId })
  await cell(page, shown).waitFor()
  expect(await cell(page, '2026-01-31 13:45:00.500000').or(cell(page, '2026-01-31 13:45:00.5')).count()).toBe(1)
  await page.context().close()
})
