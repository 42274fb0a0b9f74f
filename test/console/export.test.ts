/** All rows of a view as a file: exactly, page after page, ended or gone on with. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { chooseFromMenu } from './support/menu.ts'

let shop: Workspace
const open: Page[] = []

beforeAll(async () => {
  shop = await world.workspace(
    'export',
    {
      makers: { name: 'string' },
      things: {
        title: 'string?',
        makerId: 'int64?',
        price: 'decimal(20,4)?',
        big: 'int64?',
        at: 'dateTimeWithTimezone?',
        data: 'json?',
        tags: 'string[]?',
      },
      many: { title: 'string', size: 'int32' },
    },
    ['things.maker(makerId) -> makers.things'],
  )
  const [ada] = await shop.insert('makers', [{ name: '=Ada' }])
  await shop.insert('things', [
    {
      title: 'A "quoted", text\nof two lines',
      makerId: ada?.id,
      price: '-12345678901234.5000',
      big: '9007199254740993',
      at: '2026-01-31T11:45:00.123456Z',
      tags: ['x', 'y, z'],
    },
    { title: '=HYPERLINK("http://example.com")', price: '0.1000' },
    { title: "''=1", data: '=1' },
    { title: '' },
    { title: null },
  ])
  await shop.send('PATCH', '/items/things/1?fields=id', {
    body: '{"data": {"n": 12345678901234567890, "d": 1.50}}',
    headers: { 'Content-Type': 'application/json' },
  })
  const many = Array.from({ length: 600 }, (_, at) => ({ title: `Thing ${at}`, size: at }))
  await shop.insert('many', many)
  await shop.insert('many', many)
})

afterEach(async () => {
  for (const page of open.splice(0)) await page.context().close()
})

async function dialogOf(path: string, ...others: readonly unknown[]): Promise<Page> {
  const page = await signedInAt(path, ...(others as []))
  open.push(page)
  await page.getByRole('rowheader').first().waitFor()
  await chooseFromMenu(page, 'More', 'Export…')
  await page.getByLabel('Format').waitFor()
  return page
}

async function saved(page: Page): Promise<{ readonly name: string; readonly text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).press('Enter'),
  ])
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

const sorted = '?sort=id&columns=title,price,big,at,data,tags,maker.name'

const exact = [
  'title,price,big,at,data,tags,maker.name',
  '"A ""quoted"", text\nof two lines",-12345678901234.5000,9007199254740993,2026-01-31T11:45:00.123456Z,' +
    '"{""d"":1.50,""n"":12345678901234567890}","[""x"",""y, z""]",=Ada',
  '"=HYPERLINK(""http://example.com"")",0.1000,,,,,',
  `''=1,,,,"""=1""",,`,
  '"",,,,,,',
  ',,,,,,',
  '',
]

describe('as CSV', () => {
  it('is as it is stored, null told from an empty text', async () => {
    const page = await dialogOf(gridOf(shop, 'things') + sorted)
    await page.getByRole('checkbox', { name: 'For a spreadsheet' }).uncheck()

    const { name, text } = await saved(page)

    expect(name).toBe('things.csv')
    expect(text.split('\r\n')).toEqual(exact)
  })

  it('begins no text like a formula for a spreadsheet, and changes no number', async () => {
    const page = await dialogOf(gridOf(shop, 'things') + sorted)

    const { text } = await saved(page)

    const safe = exact.map((line) =>
      line.replace('=Ada', "'=Ada").replace('"=HYPER', `"'=HYPER`).replace("''=1", "'''=1"),
    )
    expect(text).toBe(`\uFEFF${safe.join('\r\n')}`)
  })
})

it('as JSON keeps every digit, and has what its filter meets in its order', async () => {
  const filter = encodeURIComponent('{"price":{"_null":false}}')
  const page = await dialogOf(`${gridOf(shop, 'things')}?sort=-id&columns=title&filter=${filter}`)
  await page.getByLabel('Format').selectOption('json')
  await page.getByLabel('Columns', { exact: true }).selectOption('all')

  const { name, text } = await saved(page)

  expect(name).toBe('things.json')
  expect(text).toMatch(/"data":\{[^}]*12345678901234567890/)
  expect(text).toContain('1.50')
  const items = JSON.parse(text) as Record<string, unknown>[]
  expect(items.map(({ price }) => price)).toEqual(['0.1000', '-12345678901234.5000'])
  expect(items[1]).toMatchObject({ big: '9007199254740993', maker: { name: '=Ada' }, tags: ['x', 'y, z'] })
  expect(items[1]).not.toHaveProperty('_etag')
})

describe('of many pages', () => {
  it('has every row once, goes on where a page failed, and tells how many there are', async () => {
    const page = await dialogOf(`${gridOf(shop, 'many')}?sort=-size`)
    let asked = 0
    await page.route(/items\/many\?.*limit=500/, (sent) => {
      asked += 1
      return asked === 2 ? sent.fulfill({ status: 500, json: { message: 'Internal error' } }) : sent.continue()
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByText('500 rows written').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Try again' }).click(),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')

    await page.getByRole('status').getByText('1,200 rows are in the file.').waitFor()
    expect(lines.length).toBe(1_201)
    expect(new Set(lines).size).toBe(1_201)
    expect(lines[1]).toMatch(/,Thing 599,599$/)
    expect(asked).toBe(4)
    expect(await page.getByRole('link', { name: 'Save the file' }).getAttribute('download')).toBe('many.csv')
  })

  it('is ended by a key, and nothing more is asked', async () => {
    const page = await dialogOf(gridOf(shop, 'many'))
    const stopped = Promise.withResolvers<void>()
    let asked = 0
    await page.route(/items\/many\?.*limit=500/, async (sent) => {
      asked += 1
      if (asked > 1) await stopped.promise
      await sent.continue().catch(() => undefined)
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByText('500 rows written').waitFor()
    await page.getByRole('button', { name: 'Stop' }).press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    stopped.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    expect(asked).toBe(2)
  })
})

it('is there for who does not see the model, of what they may read', async () => {
  const reader = await people.member(shop, { collections: { things: { read: { fields: ['id', 'title', 'price'] } } } })
  const page = await dialogOf(gridOf(shop, 'things'), reader)
  await page.getByRole('checkbox', { name: 'For a spreadsheet' }).uncheck()

  const { text } = await saved(page)

  expect(text.split('\r\n').at(-3)).toBe('4,"",')
  expect(text).toContain('-12345678901234.5000')
})

it.each([
  ['en-US', 'light', 'More', /^Export/, 'Export'],
  ['ar', 'dark', 'المزيد', /^تصدير/, 'تصدير'],
] as const)('fits 360 px without faults for axe, %s and %s', async (locale, colorScheme, menu, item, start) => {
  const options = { locale, colorScheme, viewport: { width: 360, height: 720 } }
  const page = await signedInAt(gridOf(shop, 'many'), world.administrator, options)
  open.push(page)
  await page.getByRole('rowheader').first().waitFor()
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByRole('dialog').getByRole('checkbox').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, `export-${locale}`)
  await page.getByRole('dialog').getByRole('button', { name: start, exact: true }).click()
  await page.getByRole('dialog').getByRole('link').waitFor()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await picture(page, `export-done-${locale}`)
})
