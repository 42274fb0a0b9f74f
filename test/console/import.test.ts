/** Items made of a file: what fits is told before anything is sent, what failed by its lines. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { chooseFromMenu } from './support/menu.ts'

let shop: Workspace
const open: Page[] = []

beforeEach(async () => {
  shop = await world.workspace('import', {
    things: {
      title: 'string',
      note: 'string?',
      price: 'decimal(20,4)?',
      big: 'int64?',
      at: 'dateTimeWithTimezone?',
      data: 'json?',
      tags: 'string[]?',
      isOn: 'boolean?',
    },
  })
})

afterEach(async () => {
  for (const page of open.splice(0)) await page.context().close()
})

const dialog = (page: Page) => page.getByRole('dialog')

async function importing(...others: readonly unknown[]): Promise<Page> {
  const page = await signedInAt(gridOf(shop, 'things'), ...(others as []))
  open.push(page)
  await page.getByRole('heading', { name: 'things', exact: true }).waitFor()
  await chooseFromMenu(page, 'More', 'Import…')
  await page.getByLabel('File').waitFor()
  return page
}

const choose = (page: Page, name: string, text: string | Buffer) =>
  page.getByLabel('File').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })

const press = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).press('Enter')
const all = (fields: string) => shop.data(`/items/things?fields=${fields}&sort[0][id][direction]=asc&limit=0`)

describe('CSV', () => {
  it('is stored exactly, with quotes, lines, nulls and what an export guarded', async () => {
    const page = await importing()
    const text = [
      '\uFEFFTitle;note;price;big;at;data;tags;isOn;unknown',
      `"A ""b""; c\nsecond";'=1+1;-12345678901234.5000;9007199254740993;2026-01-31T13:45:00.123456+02:00;"{""n"":12345678901234567890}";"[""x"",""y, z""]";true;1`,
      'b;"";;;;;;;',
      'c;;;;;;;;',
    ].join('\r\n')
    await choose(page, 'things.csv', text)
    await dialog(page).getByRole('status').getByText('3 lines fit.').waitFor()
    await expect.poll(() => dialog(page).getByLabel('Field for Title').inputValue()).toBe('title')
    expect(await dialog(page).getByLabel('Field for unknown').inputValue()).toBe('')
    await press(page, 'Import 3 rows')
    await dialog(page).getByRole('status').getByText('3 rows were imported.').waitFor()

    expect(await all('title,note,price,big,at,tags,isOn')).toEqual([
      {
        title: 'A "b"; c\nsecond',
        note: '=1+1',
        price: '-12345678901234.5000',
        big: '9007199254740993',
        at: '2026-01-31T11:45:00.123456Z',
        tags: ['x', 'y, z'],
        isOn: true,
      },
      { title: 'b', note: '', price: null, big: null, at: null, tags: null, isOn: null },
      { title: 'c', note: null, price: null, big: null, at: null, tags: null, isOn: null },
    ])
    expect(await (await shop.get('/items/things?fields=data&limit=1')).text()).toContain('12345678901234567890')
    await page.keyboard.press('Escape')
    await page.getByRole('gridcell', { name: '9007199254740993' }).waitFor()
  })

  it('comes back as an export for a spreadsheet has it, with lines that end in a return and heads that are twice', async () => {
    const page = await importing()
    const text = [
      'Title,title,title,note,data',
      `A,a,b,''=1+1,"""12"""`,
      `B,"b\rc",c,'x,12`,
      `C,d,,''-,"""=HYPERLINK()"""`,
    ].join('\r')
    await choose(page, 'things.csv', text)
    await dialog(page).getByRole('status').getByText('3 lines fit.').waitFor()
    expect(await dialog(page).getByLabel('Field for title', { exact: true }).inputValue()).toBe('title')
    expect(await dialog(page).getByLabel('Field for Title', { exact: true }).inputValue()).toBe('')
    expect(await dialog(page).getByLabel('Field for title (2)').inputValue()).toBe('')
    await press(page, 'Import 3 rows')
    await dialog(page).getByRole('status').getByText('3 rows were imported.').waitFor()

    expect(await all('title,note,data')).toEqual([
      { title: 'a', note: "'=1+1", data: '12' },
      { title: 'b\rc', note: "'x", data: 12 },
      { title: 'd', note: "'-", data: '=HYPERLINK()' },
    ])
  })

  it('tells what does not fit by its line before anything is sent, and is mapped by hand', async () => {
    const page = await importing()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/items/things')) sent.push(request.url())
    })
    await choose(page, 'things.csv', 'Name,price\na,1.5\n"b\nb",x\n,2\nd,3\n')
    await dialog(page).getByText('title needs a value, and no column is for it.').waitFor()
    await dialog(page).getByLabel('Field for Name').selectOption('title')
    await dialog(page).getByText('2 lines fit. 2 lines do not fit and are left out.').waitFor()
    const rows = dialog(page)
      .getByRole('table', { name: /do not fit/ })
      .getByRole('row')
    expect(await rows.allTextContents()).toEqual([
      'LineFieldReason',
      '3priceThis is no number.',
      '5titleA value is needed here.',
    ])
    await dialog(page).getByLabel('Field for price').selectOption('title')
    await dialog(page).getByText('Two columns are for title. Leave one of them out.').waitFor()
    expect(
      await dialog(page)
        .getByRole('button', { name: /^Import/ })
        .isDisabled(),
    ).toBe(true)
    await dialog(page).getByLabel('Field for price').selectOption('price')
    expect(sent).toEqual([])
    await press(page, 'Import 2 rows')
    await dialog(page).getByText('2 lines were not imported:').first().waitFor()

    expect(await all('title,price')).toEqual([
      { title: 'a', price: '1.5000' },
      { title: 'd', price: '3.0000' },
    ])
  })

  it('is sent on after a refused line and a lost answer, once, and what failed can be saved', async () => {
    const page = await importing()
    let posts = 0
    await page.route('**/items/things?*', async (sent) => {
      if (sent.request().method() !== 'POST') return sent.continue()
      posts += 1
      if (posts !== 2) return sent.continue()
      await sent.fetch()
      return sent.abort()
    })
    const lines = Array.from({ length: 450 }, (_, at) => `t${at},${at === 77 ? '99999999999999999999' : at}`)
    await choose(page, 'things.csv', `title,big\n${lines.join('\n')}\n`)
    await press(page, 'Import 450 rows')
    await dialog(page).getByText('449 rows were imported.').waitFor()
    const rows = dialog(page)
      .getByRole('table', { name: /not imported/ })
      .getByRole('row')
    expect((await rows.allTextContents())[1]).toMatch(/^79/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog(page).getByRole('link', { name: 'Save the lines that failed' }).click(),
    ])
    const failed = (await readFile(await download.path(), 'utf8')).split('\r\n')

    expect(download.suggestedFilename()).toBe('things-failed.csv')
    expect(failed[0]).toBe('title,big,import_error')
    expect(failed[1]).toMatch(/^t77,99999999999999999999,.*big/)
    expect(failed.length).toBe(3)
    const titles = (await all('title')) as { title: string }[]
    expect(titles.length).toBe(449)
    expect(new Set(titles.map(({ title }) => title)).size).toBe(449)
  })

  it('is stopped, and what is not sent by then stays out', async () => {
    const page = await importing()
    const stopped = Promise.withResolvers<void>()
    let posts = 0
    await page.route('**/items/things?*', async (sent) => {
      posts += sent.request().method() === 'POST' ? 1 : 0
      if (posts > 1) await stopped.promise
      await sent.continue()
    })
    await choose(page, 'things.csv', `title\n${Array.from({ length: 900 }, (_, at) => `t${at}`).join('\n')}\n`)
    await press(page, 'Import 900 rows')
    await dialog(page).getByText('200 rows imported').waitFor()
    await press(page, 'Stop')
    stopped.resolve()
    await dialog(page).getByText('It was stopped; the lines behind are not imported.').waitFor()
    const stored = ((await all('title')) as unknown[]).length
    expect(stored).toBeLessThan(900)
    await dialog(page).getByText(`${stored} rows were imported.`).waitFor()
  })

  it('keeps its key while an earlier request stands against it, and ends with what failed', async () => {
    const page = await importing()
    const keys: (string | undefined)[] = []
    await page.route('**/items/things?*', (sent) => {
      if (sent.request().method() !== 'POST') return sent.continue()
      keys.push(sent.request().headers()['idempotency-key'])
      return keys.length < 5
        ? sent.fulfill({ status: 409, json: { message: 'Running', code: keys.length < 3 ? '4091' : '4092' } })
        : sent.fulfill({ status: 409, json: { message: 'Unknown', code: '4093' } })
    })
    await choose(page, 'things.csv', 'title\na\nb\n')
    await press(page, 'Import 2 rows')
    for (const count of [1, 2, 3, 4]) {
      await dialog(page).getByRole('alert').waitFor()
      expect(keys.length).toBe(count)
      await press(page, 'Try again')
      await expect.poll(() => keys.length).toBe(count + 1)
    }
    await dialog(page).getByRole('link', { name: 'Save the lines that failed' }).waitFor()
    const rows = dialog(page)
      .getByRole('table', { name: /not imported/ })
      .getByRole('row')
    expect((await rows.allTextContents()).slice(1)).toEqual([
      expect.stringMatching(/^2Nobody knows/),
      expect.stringMatching(/^3Nobody knows/),
    ])
    expect(keys.length).toBe(5)
    expect(new Set(keys).size).toBe(1)
  })

  it('tells of what nobody knows whether it was done when it is stopped after a fault', async () => {
    const page = await importing()
    await page.route('**/items/things?*', (sent) =>
      sent.request().method() === 'POST' ? sent.abort() : sent.continue(),
    )
    await choose(page, 'things.csv', 'title\na\n')
    await press(page, 'Import 1 row')
    await dialog(page).getByRole('alert').waitFor()
    await press(page, 'Stop')
    await dialog(page)
      .getByRole('cell', { name: /^Nobody knows/ })
      .waitFor()
    await dialog(page).getByRole('link', { name: 'Save the lines that failed' }).waitFor()
  })

  it('waits for who is not signed in any more, and ends with what is made when it is stopped then', async () => {
    const page = await importing()
    let posts = 0
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/items/things')) posts += 1
    })
    await page.route('**/items/things?*', async (sent) => {
      if (sent.request().method() !== 'POST' || posts !== 2) return sent.continue()
      await page.context().clearCookies()
      return sent.fulfill({ status: 403, json: { message: 'Forbidden', code: '4030' } })
    })
    const lines = Array.from({ length: 250 }, (_, at) => `t${at}`)
    await choose(page, 'things.csv', `title,big\nx,y\n${lines.join('\n')}\n`)
    await press(page, 'Import 250 rows')
    await page.getByRole('dialog', { name: 'You have been signed out' }).waitFor()
    await dialog(page).getByText('200 rows imported').waitFor()
    expect(posts).toBe(2)
    await page.getByLabel('Password').fill(world.administrator.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).press('Enter')
    await expect.poll(() => dialog(page).count()).toBe(1)
    await press(page, 'Stop')

    await dialog(page).getByText('200 rows were imported. It was stopped').waitFor()
    await dialog(page).getByRole('link', { name: 'Save the lines that failed' }).waitFor()
    expect(((await all('title')) as unknown[]).length).toBe(200)
  })

  it('ends with what is made where the file is changed meanwhile', async () => {
    const page = await importing()
    const folder = await mkdtemp(join(tmpdir(), 'import-'))
    try {
      const path = join(folder, 'things.csv')
      await writeFile(path, 'title\na\n')
      await page.getByLabel('File').setInputFiles(path)
      await dialog(page).getByRole('status').getByText('1 line fits.').waitFor()
      await writeFile(path, 'title\nanother\nand another\n')
      await press(page, 'Import 1 row')
      await dialog(page).getByRole('alert').getByText('The file could not be read to its end').waitFor()
      await dialog(page).getByText('0 rows were imported.').waitFor()
      await page.keyboard.press('Escape')
      await dialog(page).waitFor({ state: 'detached' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each([
    ['a quote without its end', 'title\n"a\n', 'Line 2 of the file cannot be read'],
    ['more cells than columns', 'title,note\na,b\na,b,c\n', 'Line 3 of the file cannot be read'],
    ['no UTF-8', Buffer.from([0x74, 0x0a, 0xff, 0xfe, 0x0a]), 'This file is no text in UTF-8'],
    ['nothing in it', '', 'There is nothing in this file'],
    ['JSON that ends behind an object', '[{"title": "a"},\n', 'Line 2 of the file cannot be read'],
    ['broken JSON', '[{"title": "a"},\n{"title": }]', 'Line 2 of the file cannot be read'],
  ])('is refused as a whole with %s', async (_, text, told) => {
    const page = await importing()
    await choose(page, 'file', text)
    await dialog(page).getByRole('alert').getByText(told).waitFor()
    expect(await all('title')).toEqual([])
  })
})

it.each([
  [
    'a list',
    '[\n{"title": "a", "data": {"d": 1.50}, "price": 0.1000, "tags": ["x"]},\n{"title": "b\\"}", "big": 5}\n]',
  ],
  ['lines', '{"title": "a", "data": {"d": 1.50}, "price": 0.1000, "tags": ["x"]}\n{"title": "b\\"}", "big": 5}\n'],
])('JSON as %s is stored exactly', async (_, text) => {
  const page = await importing()
  await choose(page, 'things.json', text)
  await press(page, 'Import 2 rows')
  await dialog(page).getByText('2 rows were imported.').waitFor()

  expect(await all('title,price,tags,big')).toEqual([
    { title: 'a', price: '0.1000', tags: ['x'], big: null },
    { title: 'b"}', price: null, tags: null, big: '5' },
  ])
  expect(await (await shop.get('/items/things?fields=data&limit=1')).text()).toContain('1.50')
})

it('JSON keeps texts that look like JSON, and leaves empty what an object does not have itself', async () => {
  const page = await importing()
  await choose(page, 'things.json', '[{"title": "a", "data": "12", "constructor": "c"}, {"title": "b", "data": [1]}]')
  await dialog(page).getByLabel('Field for constructor').selectOption('note')
  await press(page, 'Import 2 rows')
  await dialog(page).getByText('2 rows were imported.').waitFor()

  expect(await all('title,data,note')).toEqual([
    { title: 'a', data: '12', note: 'c' },
    { title: 'b', data: [1], note: null },
  ])
})

it('JSON in one line tells its objects by their numbers, and what comes late in it', async () => {
  const page = await importing()
  const objects = Array.from({ length: 120 }, (_, at) => ({
    title: at === 3 || at === 5 ? null : `t${at}`,
    ...(at === 110 && { note: 'late' }),
  }))
  await choose(page, 'things.json', JSON.stringify(objects))
  await dialog(page).getByText('118 lines fit. 2 lines do not fit and are left out.').waitFor()
  await dialog(page).getByText('These come late in the file and are left out: “note”.').waitFor()
  const rows = dialog(page)
    .getByRole('table', { name: /do not fit/ })
    .getByRole('row')
  await expect
    .poll(() => rows.allTextContents())
    .toEqual(['NumberFieldReason', '4titleA value is needed here.', '6titleA value is needed here.'])
})

it('is offered with the fields that a member may create, and to nobody else', async () => {
  const content = { entitlements: ['dataModel:read'] }
  const reader = await people.member(shop, { ...content, collections: { things: { read: 'all' } } })
  const clerk = await people.member(shop, {
    ...content,
    collections: { things: { read: 'all', create: { fields: ['title', 'note'] } } },
  })
  const theirs = await signedInAt(gridOf(shop, 'things'), reader)
  open.push(theirs)
  await theirs.getByRole('button', { name: 'More', exact: true }).click()
  await expect.poll(() => theirs.getByRole('menuitem').allTextContents()).toEqual(['Export…'])

  const page = await importing(clerk)
  await choose(page, 'things.csv', 'title,price\na,1\n')
  const options = dialog(page).getByLabel('Field for price').locator('option')
  await expect.poll(() => options.allTextContents()).toEqual(['Leave out', 'title', 'note'])
  await press(page, 'Import 1 row')
  await dialog(page).getByText('1 row was imported.').waitFor()
  expect(await all('title,price')).toEqual([{ title: 'a', price: null }])
})

it.each([
  ['en-US', 'light', 'More', /^Import/],
  ['ar', 'dark', 'المزيد', /^استيراد/],
] as const)('fits 360 px without faults for axe, %s and %s', async (locale, colorScheme, menu, item) => {
  const options = { locale, colorScheme, viewport: { width: 360, height: 720 } }
  const page = await signedInAt(gridOf(shop, 'things'), world.administrator, options)
  open.push(page)
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.locator('input[type=file]').setInputFiles({
    name: 'things.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('title,price,note\na,1,=1\nb,x,\n"مرحبا",2,c\n'),
  })
  await dialog(page).getByRole('table').nth(1).waitFor()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await picture(page, `import-${locale}`)
  await page.setViewportSize({ width: 1440, height: 900 })
  await picture(page, `import-wide-${locale}`)
  await dialog(page).locator('button[type=submit]').click()
  await dialog(page).getByRole('link').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, `import-done-${locale}`)
})
