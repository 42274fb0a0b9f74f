/** Cells of a grid are edited by people who do not see each other. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { cellsOf, paste } from './support/cells.ts'

let shop: Workspace

const fields = {
  text: 'string?',
  short: 'int16?',
  long: 'int64?',
  price: 'decimal(20,4)?',
  ratio: 'float64?',
  isOn: 'boolean?',
  uid: 'uuid?',
  day: 'date?',
  hour: 'time?',
  at: 'dateTime?',
  moment: 'dateTimeWithTimezone?',
  data: 'json?',
  tags: 'string[]?',
} as const

beforeAll(async () => {
  shop = await world.workspace('editing', { things: fields })
})

const made = async (...items: readonly object[]) => (await shop.insert('things', items)).map(({ id }) => String(id))
const stored = async (id: string) => (await shop.data(`/items/things/${id}`)) as Record<string, unknown>
const only = (...ids: readonly string[]) =>
  `${gridOf(shop, 'things')}?filter=${encodeURIComponent(JSON.stringify({ id: { _in: ids } }))}`

const names = ['id', ...Object.keys(fields)]

const { cell, goTo, type } = cellsOf(names)

async function open(...ids: readonly string[]): Promise<Page> {
  const page = await signedInAt(only(...ids))
  await page.getByRole('grid').waitFor()
  return page
}

/** Saves are held until they are released; `sent` is what they say. */
async function holdSaves(page: Page) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const sent: unknown[] = []
  await page.route('**/api/*/items/things/*', async (route) => {
    if (route.request().method() === 'PATCH') {
      sent.push(route.request().postDataJSON())
      await released
    }
    await route.continue()
  })
  return { sent, release }
}

describe('a cell', () => {
  it('that cannot be changed looks and is read otherwise, and says why it cannot', async () => {
    const own = await world.workspace('fixed', { notes: { title: 'string', mark: 'int32?' } })
    await own.insert('notes', [{ title: 'Kept', mark: 7 }])
    const writer = await people.member(own, {
      entitlements: ['dataModel:read'],
      collections: { notes: { read: 'all', update: { fields: ['title'] } } },
    })
    const page = await signedInAt(gridOf(own, 'notes'), writer)
    const [title, mark] = ['Kept', '7'].map((name) => page.getByRole('gridcell', { name, exact: true }))
    await title?.waitFor()
    expect(await title?.getAttribute('aria-readonly')).toBe('false')
    expect(await mark?.getAttribute('aria-readonly')).toBe('true')
    await mark?.dblclick()
    await page.getByText('“mark” cannot be changed here. No policy of yours lets you change it.').waitFor()
    await picture(page, 'grid-read-only')
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, 'grid-read-only-dark')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('F2')
    await page.getByText('“id” cannot be changed here.', { exact: false }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.context().close()
  })

  it('has what is wrong with its value inside of the table, however narrow that becomes', async () => {
    const own = await world.workspace('narrowed', {
      notes: { title: 'string', body: 'string?', more: 'string?', at: 'dateTime?' },
    })
    await own.insert('notes', [{ title: 'One' }])
    const page = await signedInAt(gridOf(own, 'notes'))
    const grid = page.getByRole('grid')
    await page.setViewportSize({ width: 900, height: 700 })
    await page.getByRole('gridcell', { name: 'One', exact: true }).waitFor()
    await grid.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('F2')
    await grid.getByRole('textbox').waitFor()
    await page.keyboard.insertText('x')
    await page.keyboard.press('Enter')
    const wrong = page.getByRole('alert').filter({ hasText: 'Date and time are written as' })
    const isInside = async () => {
      const [inner, outer] = await Promise.all([wrong.boundingBox(), grid.boundingBox()])
      return inner !== null && outer !== null && inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width
    }
    await wrong.waitFor()
    await expect.poll(isInside).toBe(true)
    await page.setViewportSize({ width: 360, height: 700 })
    await expect.poll(isInside).toBe(true)
    await page.context().close()
  })

  it('is seen above what is said of it, wherever it was', async () => {
    const own = await world.workspace('seen', { notes: { title: 'string' } })
    await own.insert(
      'notes',
      Array.from({ length: 60 }, (_, at) => ({ title: `Note ${at}` })),
    )
    const page = await signedInAt(
      gridOf(own, 'notes'),
      await people.member(own, { collections: { notes: { read: 'all' } } }),
    )
    await page.getByRole('gridcell', { name: 'Note 0', exact: true }).waitFor()
    const grid = page.getByRole('grid')
    await grid.focus()
    await page.keyboard.press('End')
    for (let row = 0; row < 40; row += 1) await page.keyboard.press('ArrowDown')
    const last = page.getByRole('gridcell', { name: 'Note 40', exact: true })
    const bottomOf = async (one: typeof last) => {
      const { y = 0, height = 0 } = (await one.boundingBox()) ?? {}
      return y + height
    }
    expect(await bottomOf(last)).toBeGreaterThan((await bottomOf(grid)) - 40)
    const end = await bottomOf(grid)
    await page.keyboard.press('F2')
    const notice = page.getByRole('region', { name: 'Notifications' })
    await notice.getByText('“title” cannot be changed here. No policy of yours lets you change it.').waitFor()
    const top = async () => (await notice.boundingBox())?.y ?? 0
    await expect.poll(async () => (await bottomOf(last)) <= (await top())).toBe(true)
    expect(await bottomOf(grid)).toBe(end)
    for (let row = 0; row < 5; row += 1) await page.keyboard.press('ArrowDown')
    const next = page.getByRole('gridcell', { name: 'Note 45', exact: true })
    await expect.poll(async () => (await bottomOf(next)) <= (await top())).toBe(true)
    await picture(page, 'grid-notice')
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, 'grid-notice-dark')
    await page.context().close()
  })

  it('of every type is typed, saved at once and exactly, undone and cleared by keys', async () => {
    const [id = ''] = await made({ text: 'before' })
    const page = await open(id)
    const typed: readonly (readonly [string, string, unknown])[] = [
      ['text', 'A "text" <b>', 'A "text" <b>'],
      ['short', '-12', -12],
      ['long', '9007199254740993', '9007199254740993'],
      ['price', '12345678901234.5678', '12345678901234.5678'],
      ['ratio', '0.5', 0.5],
      ['uid', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
      ['day', '2026-01-31', '2026-01-31'],
      ['hour', '13:45:00', '13:45:00'],
      ['at', '2026-01-31 13:45:00', '2026-01-31T13:45:00'],
      ['moment', '2026-01-31T13:45:00+02:00', '2026-01-31T11:45:00Z'],
    ]
    for (const [field, text] of typed) await type(page, field, text)
    await type(page, 'data', '{"a": [1, null]}', 'Control+Enter')
    await type(page, 'tags', '["x", "y"]', 'Control+Enter')
    await goTo(page, 'isOn')
    await page.keyboard.press('Space')
    const whole = {
      ...Object.fromEntries(typed.map(([field, , value]) => [field, value])),
      isOn: true,
      tags: ['x', 'y'],
    }
    await expect.poll(() => stored(id)).toMatchObject({ ...whole, data: { a: [1, null] } })
    await goTo(page, 'data')
    await page.getByRole('gridcell', { name: '{a: [1, null]}', exact: true }).waitFor()
    await page.getByRole('gridcell', { name: 'x, y', exact: true }).waitFor()

    await page.keyboard.press('Control+Z')
    await expect.poll(async () => (await stored(id)).isOn).toBe(null)
    await goTo(page, 'price')
    await page.keyboard.press('Delete')
    await expect.poll(async () => (await stored(id)).price).toBe(null)
    await page.keyboard.press('Control+Z')
    await expect.poll(async () => (await stored(id)).price).toBe('12345678901234.5678')
    await page.context().close()
  })

  it('is neither emptied nor pasted into where it has a number with more digits than can be brought back', async () => {
    const [id = ''] = await made({ data: { n: 2 ** 60 } })
    const page = await open(id)
    await goTo(page, 'data')
    const told = page.getByText('Row 1, data: There is a number in it with more digits than the browser keeps.')
    await page.keyboard.press('Delete')
    await told.waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await told.waitFor({ state: 'detached' })
    await paste(page, '{}')
    await told.waitFor()
    expect((await stored(id)).data).toEqual({ n: 2 ** 60 })
    await page.context().close()
  })

  it('keeps what does not fit its type, and says what would', async () => {
    const [id = ''] = await made({ moment: '2026-01-01T00:00:00Z' })
    const page = await open(id)
    await type(page, 'moment', '2026-01-31T13:45:00')
    await page.getByRole('alert').getByText('with Z or a zone such as +02:00').waitFor()
    expect(await page.getByLabel('moment').and(page.locator('input')).inputValue()).toBe('2026-01-31T13:45:00')
    await page.keyboard.press('Escape')
    expect((await stored(id)).moment).toBe('2026-01-01T00:00:00Z')
    await page.context().close()
  })

  it('merges with what another changed beside it, and asks about what both changed', async () => {
    const [id = ''] = await made({ text: 'old', short: 1 })
    const page = await open(id)
    await shop.patch(`/items/things/${id}`, { short: 2 })
    await type(page, 'text', 'mine')
    await expect.poll(() => stored(id)).toMatchObject({ text: 'mine', short: 2 })

    await shop.patch(`/items/things/${id}`, { text: 'theirs' })
    await type(page, 'text', 'mine again')
    const dialog = page.getByRole('dialog', { name: 'Changed in the meantime' })
    await dialog.getByText('theirs', { exact: true }).waitFor()
    // Neither is chosen by whoever types on.
    await dialog.getByRole('heading').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    expect(await violations(page)).toEqual([])
    await picture(page, 'conflict')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 360, height: 740 })
    await picture(page, 'conflict-narrow-dark')
    await page.setViewportSize({ width: 1440, height: 900 })
    await dialog.getByRole('button', { name: 'Keep theirs' }).click()
    await expect.poll(() => cell(page, 'text').textContent()).toBe('theirs')
    expect((await stored(id)).text).toBe('theirs')

    await shop.patch(`/items/things/${id}`, { text: 'theirs again' })
    await type(page, 'text', 'mine at last')
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await expect.poll(async () => (await stored(id)).text).toBe('mine at last')

    await shop.patch(`/items/things/${id}`, { at: '2026-01-31T13:45:00' })
    await type(page, 'at', '2026-02-01T10:00:00')
    await dialog.getByRole('cell', { name: '2026-01-31 13:45:00', exact: true }).waitFor()
    await dialog.getByRole('cell', { name: '2026-02-01 10:00:00', exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await expect.poll(async () => (await stored(id)).text).toBe('mine at last')
    await page.context().close()
  })

  it('may be typed into again while it is saved', async () => {
    const [id = ''] = await made({ price: '1' })
    const page = await open(id)
    const { sent, release } = await holdSaves(page)
    await type(page, 'price', '2.5')
    await type(page, 'price', '3.5')
    release()
    await expect.poll(async () => (await stored(id)).price).toBe('3.5000')
    expect(sent).toEqual([{ price: '2.5' }, { price: '3.5' }])
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.context().close()
  })

  it('is undone while it is saved, and not what was changed before it', async () => {
    const [id = ''] = await made({ price: '1', text: 'before' })
    const page = await open(id)
    await type(page, 'text', 'changed first')
    await expect.poll(async () => (await stored(id)).text).toBe('changed first')
    const { sent, release } = await holdSaves(page)
    await type(page, 'price', '2.5')
    await goTo(page, 'price')
    await page.keyboard.press('Control+Z')
    await expect.poll(() => cell(page, 'price').textContent()).toBe('1.0000')
    release()
    await expect.poll(() => sent).toEqual([{ price: '2.5' }, { price: '1.0000' }])
    await expect.poll(() => stored(id)).toMatchObject({ price: '1.0000', text: 'changed first' })

    await page.keyboard.press('Control+Z')
    await expect.poll(async () => (await stored(id)).text).toBe('before')
    await page.context().close()
  })

  it('is one step to undo, however often the same is typed and pasted while it is saved', async () => {
    const [id = ''] = await made({ text: 'before' })
    const page = await open(id)
    const { sent, release } = await holdSaves(page)
    await type(page, 'text', 'new')
    await type(page, 'text', 'new')
    await paste(page, 'new')
    await page.keyboard.press('Control+z')
    release()
    await expect.poll(() => sent).toEqual([{ text: 'new' }, { text: 'before' }])
    await expect.poll(async () => (await stored(id)).text).toBe('before')
    await page.context().close()
  })

  it('is brought again after it was undone, until something else is changed', async () => {
    const [id = ''] = await made({ text: 'one', short: 1 })
    const page = await open(id)
    await type(page, 'text', 'two')
    await type(page, 'text', 'three')
    for (const keys of ['Control+z', 'Control+z', 'Control+Shift+Z']) await page.keyboard.press(keys)
    await expect.poll(async () => (await stored(id)).text).toBe('two')
    await page.keyboard.press('Control+y')
    await expect.poll(async () => (await stored(id)).text).toBe('three')
    await page.keyboard.press('Control+z')
    await type(page, 'short', '2')
    await page.keyboard.press('Control+y')
    await page.getByText('There is nothing to do again.').waitFor()
    await expect.poll(() => stored(id)).toMatchObject({ text: 'two', short: 2 })
    await page.context().close()
  })

  it('is typed over, and undone to what is stored, where a page was left before its answer came', async () => {
    const [id = ''] = await made({ text: 'first' })
    const page = await open(id)
    await page.route('**/api/*/items/things/*', (route) => void route.fetch())
    await type(page, 'text', 'unheard')
    await expect.poll(async () => (await stored(id)).text).toBe('unheard')
    await page.unroute('**/api/*/items/things/*')
    await page.reload()
    await page.getByText('The page was left before this was saved.').waitFor()

    await type(page, 'text', 'last')
    await expect.poll(async () => (await stored(id)).text).toBe('last')
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+z')
    await expect.poll(async () => (await stored(id)).text).toBe('unheard')
    await page.context().close()
  })

  it.each(firstOf([0, 401, 412, 403, 409, 422, 429, 500], 3))(
    'keeps what was typed where the save fails with %i, to be tried again',
    async (status) => {
      const [id = ''] = await made({ text: 'old' })
      const page = await open(id)
      const route = '**/api/*/items/things/*'
      await page.route(route, (sent) =>
        status === 0 ? sent.abort() : sent.fulfill({ status, json: { message: 'Refused', code: '1' } }),
      )
      await type(page, 'text', 'new')
      await page.getByRole('alert').getByText('“text” is not saved: “new”.').waitFor()
      expect(await cell(page, 'text').textContent()).toBe('new')
      expect(await cell(page, 'text').getAttribute('aria-invalid')).toBe('true')
      expect((await stored(id)).text).toBe('old')
      await page.unroute(route)
      await page.getByRole('button', { name: 'Try again' }).click()
      await expect.poll(async () => (await stored(id)).text).toBe('new')
      await page.context().close()
    },
  )

  it('takes a block that is pasted as a whole, or none of it', async () => {
    const ids = await made({ text: 'a' }, { text: 'b' })
    const page = await open(...ids)
    const pasteAt = async (text: string) => {
      await goTo(page, 'text')
      await paste(page, text)
    }
    await pasteAt('one\t1\n"two\nlines"\t2\n')
    await expect.poll(() => stored(ids[1] ?? '')).toMatchObject({ text: 'two\nlines', short: 2 })
    expect(await stored(ids[0] ?? '')).toMatchObject({ text: 'one', short: 1 })
    await pasteAt('three\t3\nfour\tx\n')
    await page.getByText('Nothing was changed. Row 2, short: This is no whole number.').waitFor()
    await pasteAt('five\t5\nsix\t99999\n')
    await page.getByText('“text” is not saved: “five”.').waitFor()
    expect(await stored(ids[0] ?? '')).toMatchObject({ text: 'one', short: 1 })
    await page.getByRole('button', { name: 'Discard' }).click()
    await goTo(page, 'text')
    await page.keyboard.press('Control+Z')
    await expect.poll(() => stored(ids[1] ?? '')).toMatchObject({ text: 'b', short: null })
    await page.context().close()
  })
})
