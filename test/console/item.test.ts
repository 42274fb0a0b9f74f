/** One item: read, changed, made and deleted as a person does it, and chosen where others refer to it. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'item',
    {
      authors: { name: 'string', note: 'string?' },
      books: {
        title: 'string',
        authorId: 'int64?',
        price: 'decimal(20,4)?',
        isOut: 'boolean?',
        data: 'json?',
        note: 'string?',
      },
      shelves: { id: 'string(40)', place: 'string' },
      boxes: { id: 'uuid', place: 'string' },
      loans: { title: 'string', isOver: 'boolean', due: 'date?', at: 'dateTime?', since: 'dateTimeWithTimezone?' },
    },
    ['books.author(authorId) -> authors.books'],
  )
})

const made = async (collection: string, item: object) => String((await shop.insert(collection, [item]))[0]?.id)
const stored = async (collection: string, id: string) =>
  (await shop.data(`/items/${collection}/${id}`)) as Record<string, unknown>
const at = (collection: string, id: string) => `${gridOf(shop, collection)}/${id}`
const only = (collection: string, id: string) =>
  `${gridOf(shop, collection)}?filter=${encodeURIComponent(JSON.stringify({ id: { _eq: id } }))}`
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

/** Requests to such addresses fail with a status, by a lost connection for 0. */
async function fail(page: Page, route: string, status: number): Promise<void> {
  await page.route(route, (sent) =>
    status === 0 ? sent.abort() : sent.fulfill({ status, json: { message: 'Refused', code: '1' } }),
  )
}

async function choose(page: Page, text: string, name: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Choose author' })
  await dialog.getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.insertText(text)
  await dialog.getByRole('option', { name }).waitFor()
  await expect.poll(() => dialog.getByRole('option').count()).toBe(1)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
}

describe('an item', () => {
  it('opens from its row, by a link and by Shift+Enter, and is changed by one request', async () => {
    const author = await made('authors', { name: 'Ada' })
    const id = await made('books', { title: 'Notes', authorId: author, price: '1.5', note: 'old' })
    const page = await signedInAt(only('books', id))
    await page.getByRole('grid').waitFor()
    await page.getByRole('link', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Shift+Enter')
    await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
    await expect.poll(() => page.url()).toBe(`${world.url}${at('books', id)}`)
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postData() ?? '')
    })

    await page.getByLabel('title', { exact: true }).fill('Sketches')
    await page.getByLabel('price', { exact: true }).fill('12345678901234.5678')
    await page.getByLabel('isOut', { exact: true }).selectOption('true')
    await page.getByLabel('data', { exact: true }).fill('{"a": [1]}')
    await page.getByRole('button', { name: 'Set to null: note' }).click()
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()

    expect(await stored('books', id)).toMatchObject({
      title: 'Sketches',
      price: '12345678901234.5678',
      isOut: true,
      data: { a: [1] },
      note: null,
      authorId: author,
    })
    expect(sent.length).toBe(1)
    expect(await page.getByRole('link', { name: 'Ada' }).getAttribute('href')).toBe(at('authors', author))
    await page.context().close()
  })

  it('switches what is true or false, and takes dates and times from the browser’s picker', async () => {
    const id = await made('loans', { title: 'Notes', isOver: false })
    const page = await signedInAt(at('loans', id))
    const pick = (name: string, value: string) =>
      page
        .getByRole('button', { name: `Choose the date of ${name}` })
        .locator('+ input')
        .fill(value)

    await page.getByRole('switch', { name: 'isOver' }).click()
    await pick('due', '2026-01-31')
    await pick('at', '2026-01-31T13:45')
    await pick('since', '2026-07-31T13:45:07')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()

    const since = await page.evaluate('new Date("2026-07-31T13:45:07").toISOString()')
    expect(await stored('loans', id)).toMatchObject({
      isOver: true,
      due: '2026-01-31',
      at: '2026-01-31T13:45:00',
      since: String(since).replace('.000', ''),
    })
    await page.context().close()
  })

  it('shows times as cells do, in the zone of the reader, and saves only what is typed anew', async () => {
    const id = await made('loans', {
      title: 'Notes',
      isOver: false,
      at: '2026-01-31T13:45:00',
      since: '2026-07-31T11:45:07Z',
    })
    const page = await signedInAt(at('loans', id), world.administrator, { timezoneId: 'Asia/Kolkata' })
    const sent: unknown[] = []
    page.on('request', (one) => one.method() === 'PATCH' && sent.push(one.postDataJSON()))
    const [time, moment] = ['at', 'since'].map((name) => page.getByLabel(name, { exact: true }))
    await moment?.waitFor()
    expect(await time?.inputValue()).toBe('2026-01-31 13:45:00')
    expect(await moment?.inputValue()).toBe('2026-07-31 17:15:07+05:30')
    await picture(page, 'item-times')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 360, height: 740 })
    await moment?.scrollIntoViewIfNeeded()
    await picture(page, 'item-times-narrow-dark')
    await moment?.fill('2026-07-31 18:15:07+05:30')
    await moment?.fill('2026-07-31 17:15:07+05:30')
    await page.getByLabel('title', { exact: true }).fill('Others')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()

    expect(sent).toEqual([{ title: 'Others' }])
    await moment?.fill('2026-07-31 18:15:07+05:30')
    await save(page)
    await expect.poll(() => stored('loans', id)).toMatchObject({ since: '2026-07-31T12:45:07Z' })
    await page.context().close()
  })

  it('merges with what another changed beside it, asks about the same, and keeps what is not saved', async () => {
    const id = await made('books', { title: 'Old', note: 'n' })
    const page = await signedInAt(at('books', id))
    await page.getByLabel('title', { exact: true }).fill('Mine')
    await shop.patch(`/items/books/${id}`, { note: 'theirs' })
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await stored('books', id)).toMatchObject({ title: 'Mine', note: 'theirs' })

    await page.getByLabel('title', { exact: true }).fill('Mine again')
    await shop.patch(`/items/books/${id}`, { title: 'Theirs' })
    await save(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Keep mine' }).click()
    await expect.poll(async () => (await stored('books', id)).title).toBe('Mine again')

    await page.getByLabel('price', { exact: true }).fill('x')
    await save(page)
    await page.getByText('This is no number.').waitFor()
    await page.getByLabel('price', { exact: true }).fill('7')
    await page.route('**/items/books/**', (route) => route.abort())
    await save(page)
    await page.getByText('“price” is not saved: “7”.').waitFor()
    expect(await page.getByLabel('price', { exact: true }).inputValue()).toBe('7')
    await page.unroute('**/items/books/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(async () => (await stored('books', id)).price).toBe('7.0000')
    await page.context().close()
  })

  it.each(firstOf([0, 412, 422, 401, 403, 409, 429, 500], 3))(
    'keeps what was typed where the save fails with %i, to be tried again',
    async (status) => {
      const id = await made('books', { title: 'Old', note: 'n' })
      const page = await signedInAt(at('books', id))
      await page.getByLabel('title', { exact: true }).fill('New')
      await page.getByLabel('note', { exact: true }).fill('m')
      await fail(page, '**/items/books/**', status)
      await save(page)
      await page.getByText('“title” is not saved: “New”.').waitFor()
      expect(await page.getByLabel('title', { exact: true }).inputValue()).toBe('New')
      expect(await page.getByLabel('note', { exact: true }).inputValue()).toBe('m')
      await page.unroute('**/items/books/**')
      await page.getByRole('button', { name: 'Try again' }).click()
      await expect.poll(() => stored('books', id)).toMatchObject({ title: 'New', note: 'm' })
      await page.context().close()
    },
  )

  it('keeps what was typed while one looks elsewhere', async () => {
    const id = await made('books', { title: 'Left' })
    const page = await signedInAt(at('books', id))
    await page.getByLabel('note', { exact: true }).fill('half a sen')
    await page.getByRole('navigation').getByRole('link', { name: 'authors' }).click()
    await page.getByRole('heading', { name: 'authors', exact: true }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('note', { exact: true }).inputValue()).toBe('half a sen')
    await save(page)
    await expect.poll(async () => (await stored('books', id)).note).toBe('half a sen')
    await page.context().close()
  })

  it('keeps what was typed over a reload and a closed tab, until one signs out', async () => {
    const id = await made('books', { title: 'Left', price: '1' })
    const first = await signedInAt(at('books', id))
    await first.getByLabel('note', { exact: true }).fill('half a sen')
    await first.reload()
    const note = (page: Page) => page.getByLabel('note', { exact: true })
    await expect.poll(() => note(first).inputValue()).toBe('half a sen')
    await first.getByLabel('price', { exact: true }).fill('7')
    await fail(first, '**/items/books/**', 0)
    await save(first)
    await first.getByText(/is not saved: .* Nor is 1 other\./).waitFor()
    const context = first.context()
    await first.close()

    const second = await context.newPage()
    await second.goto(at('books', id))
    await second.getByText('The page was left before this was saved.').waitFor()
    expect(await note(second).inputValue()).toBe('half a sen')
    await second.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => stored('books', id)).toMatchObject({ note: 'half a sen', price: '7.0000' })
    await note(second).fill('a secret of mine')
    await second.getByRole('button', { name: 'Account' }).click()
    await second.getByRole('menuitem', { name: 'Sign out' }).click()
    await second.getByLabel('Password').waitFor()
    expect(await second.evaluate('JSON.stringify(localStorage)')).not.toContain('a secret of mine')
    await context.close()
  })

  it('is chosen by what it is called, in the form and in the grid', async () => {
    const grace = await made('authors', { name: 'Grace 100%' })
    const alan = await made('authors', { name: 'Alan M.' })
    const id = await made('books', { title: 'Chosen' })
    const page = await signedInAt(at('books', id))
    await page.getByRole('button', { name: 'Choose author' }).click()
    await choose(page, 'grace 100', 'Grace 100%')
    await page.getByRole('link', { name: 'Grace 100%' }).waitFor()
    await expect.poll(() => page.getByLabel('author', { exact: true }).inputValue()).toBe(grace)
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect((await stored('books', id)).authorId).toBe(grace)
    await page.getByRole('button', { name: 'Choose author' }).click()
    const current = page.getByRole('dialog').locator('[role=option][aria-current=true]')
    await page.getByPlaceholder('Search authors').fill('a')
    await expect.poll(() => current.allTextContents()).toEqual([`Grace 100%${grace}`])
    await page.keyboard.press('Escape')

    await page.goto(only('books', id))
    await page.getByRole('gridcell', { name: 'Grace 100%' }).click()
    await page.keyboard.press('Enter')
    await expect.poll(() => current.allTextContents()).toEqual([`Grace 100%${grace}`])
    await choose(page, 'alan', 'Alan M.')
    await expect.poll(async () => (await stored('books', id)).authorId).toBe(alan)
    await page.getByRole('gridcell', { name: 'Alan M.' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('grid')
    await page.keyboard.press('Control+Z')
    await expect.poll(async () => (await stored('books', id)).authorId).toBe(grace)
    await page.keyboard.press('Delete')
    await expect.poll(async () => (await stored('books', id)).authorId).toBe(null)
    await page.context().close()
  })

  it('is not chosen by Enter among those of another text, before its own are found', async () => {
    await made('authors', { name: 'Aaron' })
    const zoe = await made('authors', { name: 'Zoe' })
    const page = await signedInAt(at('books', await made('books', { title: 'Hasty' })))
    await page.getByRole('button', { name: 'Choose author' }).click()
    const dialog = page.getByRole('dialog', { name: 'Choose author' })
    await dialog.getByRole('option', { name: 'Aaron' }).waitFor()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/items/authors?*', async (route) => {
      await released
      await route.continue()
    })

    await page.keyboard.insertText('zoe')
    await page.keyboard.press('Enter')
    release()
    await expect.poll(() => dialog.getByRole('option').allTextContents()).toEqual([`Zoe${zoe}`])
    await page.keyboard.press('Enter')

    await page.getByRole('link', { name: 'Zoe' }).waitFor()
    await expect.poll(() => page.getByLabel('author', { exact: true }).inputValue()).toBe(zoe)
    await page.context().close()
  })

  it('leads to what refers to it, with how many there are', async () => {
    const author = await made('authors', { name: 'Mary' })
    await shop.insert('books', [
      { title: 'One of two', authorId: author },
      { title: 'Two of two', authorId: author },
    ])
    const page = await signedInAt(at('authors', author))
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'What refers to it' }).getByRole('link', { name: 'books' }).click()
    await page.getByRole('gridcell', { name: 'Two of two' }).waitFor()
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page.context().close()
  })

  it('is given what refers to it, of what refers to none, and takes it away, by one request with its fields', async () => {
    const [author, other] = [await made('authors', { name: 'Giving' }), await made('authors', { name: 'Other' })]
    const [one, two] = [
      await made('books', { title: 'Given 1', authorId: author }),
      await made('books', { title: 'Given 2' }),
    ]
    await made('books', { title: 'Given 3', authorId: other })
    const page = await signedInAt(at('authors', author))
    const books = page.getByRole('form', { name: 'Fields' }).getByRole('group', { name: 'books' })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postData() ?? '')
    })
    await books.getByRole('button', { name: 'Remove Given 1' }).click()
    await books.getByRole('button', { name: 'Add to books' }).click()
    const dialog = page.getByRole('dialog', { name: 'Choose books' })
    await dialog.getByRole('combobox').fill('Given')
    await dialog.getByRole('option').first().waitFor()
    await expect.poll(() => dialog.getByRole('option').allTextContents()).toEqual([`Given 2${two}`])
    await dialog.getByRole('option').click()
    await page.getByLabel('note', { exact: true }).fill('n')
    expect(await violations(page)).toEqual([])
    await picture(page, 'attached')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()

    expect([(await stored('books', one)).authorId, (await stored('books', two)).authorId]).toEqual([null, author])
    expect(await stored('authors', author)).toMatchObject({ note: 'n' })
    expect(sent.length).toBe(1)
    await page.context().close()
  })

  it.each([
    ['a number', 'books', 'x'],
    ['a number in range', 'books', '99999999999999999999'],
    ['a UUID', 'boxes', 'x'],
    ['a key that is there', 'books', '999999'],
  ])('is no page where its address is not %s', async (_, collection, key) => {
    const page = await signedInAt(at(collection, key))
    await page.getByText('There is no such page').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.context().close()
  })

  it.each(firstOf(['..', 'a/b', '"x"', '100%', 'a,b'], 2))('has an address where its key is %s', async (key) => {
    await shop.insert('shelves', [{ id: key, place: `at ${key}` }])
    const page = await signedInAt(only('shelves', key))
    await page.getByRole('link', { name: 'Open' }).click()
    await page.getByLabel('place').waitFor()
    await page.reload()
    expect(await page.getByLabel('place').inputValue()).toBe(`at ${key}`)
    await page.context().close()
  })
})

describe('a new item', () => {
  it.each(firstOf([0, 422, 401, 403, 409, 429, 500], 2))(
    'keeps what was typed where its creation fails with %i',
    async (status) => {
      const page = await signedInAt(`/${shop.name}/new/books`)
      await page.getByLabel('title', { exact: true }).fill(`Failed with ${status}`)
      await page.getByLabel('data', { exact: true }).fill('{"a": 1}')
      await fail(page, '**/items/books?*', status)
      await save(page)
      await page.getByRole('alert').waitFor()
      expect(await page.getByLabel('data', { exact: true }).inputValue()).toBe('{"a": 1}')
      await page.unroute('**/items/books?*')
      await save(page)
      await page.getByRole('heading', { name: `Failed with ${status}`, exact: true }).waitFor()
      await page.context().close()
    },
  )

  it('says at its field what the service refuses, as a change of one does', async () => {
    await shop.insert('shelves', [
      { id: 'taken', place: 'one' },
      { id: 'other', place: 'two' },
    ])
    const page = await signedInAt(`/${shop.name}/new/shelves`)
    const key = page.getByLabel('id', { exact: true })
    await key.fill('taken')
    await page.getByLabel('place', { exact: true }).fill('three')
    await save(page)
    await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('place', { exact: true }).getAttribute('aria-invalid')).toBe('false')
    await page.goto(at('shelves', 'other'))
    await key.fill('x'.repeat(41))
    await page.getByLabel('place', { exact: true }).fill('four')
    await save(page)
    await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('place', { exact: true }).getAttribute('aria-invalid')).toBe('false')
    expect(await violations(page)).toEqual([])
    await page.context().close()
  })

  it('is begun as a copy of another, and typed on over a reload', async () => {
    const author = await made('authors', { name: 'Copied' })
    const id = await made('books', { title: 'First', price: '2', data: { a: 1 }, authorId: author })
    const page = await signedInAt(at('books', id))
    await page.getByRole('link', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { name: 'New in books', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Copied' }).waitFor()
    await page.getByLabel('title', { exact: true }).fill('Second')
    await page.reload()
    await expect.poll(() => page.getByLabel('title', { exact: true }).inputValue()).toBe('Second')
    await save(page)

    await page.getByRole('heading', { name: 'Second', exact: true }).waitFor()
    const copy = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    expect(copy).not.toBe(id)
    expect(await stored('books', copy)).toMatchObject({
      title: 'Second',
      price: '2.0000',
      data: { a: 1 },
      authorId: author,
    })
    expect(await stored('books', id)).toMatchObject({ title: 'First' })
    await page.context().close()
  })

  it('has what was typed, and is made once where the answer was lost', async () => {
    const page = await signedInAt(gridOf(shop, 'books'))
    await page.getByRole('link', { name: 'New' }).click()
    await page.getByRole('heading', { name: 'New in books', exact: true }).waitFor()
    await save(page)
    await page.getByRole('alert').getByText('A value is needed here.').waitFor()
    await page.getByLabel('title', { exact: true }).fill('Twice sent')
    await page.getByLabel('isOut', { exact: true }).selectOption('false')
    await page.route('**/items/books?*', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await save(page)
    await page.getByText('The service cannot be reached.').waitFor()
    await page.unroute('**/items/books?*')
    await save(page)
    await page.getByRole('heading', { name: 'Twice sent', exact: true }).waitFor()

    const found = (await shop.data('/items/books?filter[title][_eq]=Twice%20sent')) as object[]
    expect(found).toMatchObject([{ isOut: false, price: null, note: null }])
    await page.context().close()
  })
})

it('says which field has a value that is taken', async () => {
  await shop.insert('shelves', [{ id: 'A1', place: 'Hall' }])
  const page = await signedInAt(`/${shop.name}/new/shelves`)
  await page.getByLabel('id', { exact: true }).fill('A1')
  await page.getByLabel('place', { exact: true }).fill('Cellar')
  await save(page)

  await page.getByText('Unique constraint failed: id').first().waitFor()
  await page.context().close()
})

describe('deleting an item', () => {
  it('says where one is down to the item, on a narrow screen only that', async () => {
    const author = await made('authors', { name: 'Somewhere' })
    const page = await signedInAt(at('authors', author))
    const bar = page.getByRole('banner')
    await bar.getByText('Somewhere', { exact: true }).waitFor()
    await bar.getByRole('link', { name: 'authors' }).waitFor()
    await picture(page, 'place')
    await page.setViewportSize({ width: 360, height: 740 })
    await bar.getByText('Somewhere', { exact: true }).waitFor()
    await bar.getByRole('link', { name: 'authors' }).waitFor({ state: 'hidden' })
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, 'place-narrow-dark')
    // What is above it is in the navigation.
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('heading', { name: 'Collections' }).getByRole('link').click()
    await page.getByRole('heading', { name: shop.name, level: 1 }).waitFor()
    await page.goto(`/${shop.name}/model/authors`)
    await bar.getByText('authors', { exact: true }).waitFor()
    await page.context().close()
  })

  it('asks first, says what refers to it and what is in the way', async () => {
    const author = await made('authors', { name: 'Gone' })
    const book = await made('books', { title: 'In the way', authorId: author })
    const page = await signedInAt(at('authors', author))
    const dialog = page.getByRole('dialog', { name: /Gone/ })
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('1 row', { exact: true }).waitFor()
    await dialog.getByText('As long as there are any, it cannot be deleted.').first().waitFor()
    expect(await violations(page)).toEqual([])
    await picture(page, 'delete')
    await dialog.getByRole('heading', { name: 'Gone cannot be deleted' }).waitFor()
    await dialog.getByText('Change or delete those first.').waitFor()
    expect(await dialog.getByText('refer to it').count()).toBe(1)
    expect(await dialog.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    expect(await dialog.getByText('gone for good').count()).toBe(0)
    await dialog.getByText('Close', { exact: true }).click()
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Delete')
    await shop.delete(`/items/books/${book}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('heading', { name: 'Delete Gone?' }).waitFor()
    await dialog.getByText('0 rows', { exact: true }).waitFor()
    await dialog.getByText('gone for good').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted.', { exact: true }).waitFor()

    expect((await shop.get(`/items/authors/${author}`)).status).toBe(404)
    await expect.poll(() => page.url()).toBe(`${world.url}${gridOf(shop, 'authors')}`)
    await page.context().close()
  })

  it('does not delete what another has changed since it was read', async () => {
    const id = await made('authors', { name: 'Changed' })
    const page = await signedInAt(at('authors', id))
    await page.getByLabel('note', { exact: true }).waitFor()
    await shop.patch(`/items/authors/${id}`, { note: 'keep me' })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText('Something else was changed in the meantime').waitFor()

    expect((await stored('authors', id)).note).toBe('keep me')
    await page.context().close()
  })
})

it('offers a member what their rights give, and no control that fails', async () => {
  const reader = await people.member(shop, {
    collections: { books: { read: { fields: ['id', 'title', 'note'] }, update: { fields: ['note'] } } },
  })
  const id = await made('books', { title: 'Read only', note: 'n' })
  const page = await signedInAt(at('books', id), reader)
  await page.getByLabel('note', { exact: true }).fill('changed')
  expect(await page.getByLabel('title', { exact: true }).getAttribute('readonly')).not.toBe(null)
  expect(await page.getByRole('textbox').count()).toBe(3)
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await save(page)
  await expect.poll(async () => (await stored('books', id)).note).toBe('changed')
  await page.goto(`/${shop.name}/new/books`)
  await page.getByText('There is no such page').waitFor()
  await page.goto(gridOf(shop, 'books'))
  await page.getByRole('link', { name: 'Open' }).first().waitFor()
  expect(await page.getByRole('link', { name: 'New' }).count()).toBe(0)
  await page.context().close()
})

const looks = [
  ['dark', 'ar-EG'],
  ['light', 'en-US'],
  ['dark', 'en-US'],
  ['light', 'ar-EG'],
] as const

it.each(firstOf(looks, 1))(
  'is without faults for axe, and fits 360 px, in the %s scheme and %s',
  async (colorScheme, locale) => {
    const author = await made('authors', { name: 'Ursula K. Le Guin', note: 'a'.repeat(150) })
    const id = await made('books', { title: 'عن المحركات', authorId: author, data: { deep: { a: [1, 2] } } })
    const page = await signedInAt(at('books', id), world.administrator, {
      colorScheme,
      locale,
      viewport: { width: 360, height: 720 },
    })
    const see = async (name: string) => {
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await picture(page, `${name}-360-${colorScheme}-${locale}`)
      await page.setViewportSize({ width: 1440, height: 900 })
      await picture(page, `${name}-1440-${colorScheme}-${locale}`)
      await page.setViewportSize({ width: 360, height: 720 })
    }
    await page.getByLabel('title', { exact: true }).waitFor()
    await see('item')
    await page.locator('form button[aria-haspopup=dialog]').click()
    await page.locator('dialog [role=option]').nth(1).waitFor()
    const input = page.locator('dialog [role=combobox]')
    expect(await input.evaluate((one) => one.matches(':dir(rtl)'))).toBe(locale === 'ar-EG')
    // The keys stand at the end of their rows, whatever the direction of their own text is.
    const gaps = await page.evaluate(`[...document.querySelectorAll('dialog [role=option]')].flatMap((option) => {
      const [row, key] = [option, option.lastElementChild.firstElementChild].map((one) => one.getBoundingClientRect())
      if (key.width === 0) return []
      return [Math.round(document.documentElement.dir === 'rtl' ? key.left - row.left : row.right - key.right)]
    })`)
    expect(new Set(gaps as number[])).toEqual(new Set([8]))
    await see('picker')
    await page.goto(at('authors', author))
    await page.getByLabel('note', { exact: true }).waitFor()
    await see('author')
    await page.goto(`/${shop.name}/new/books`)
    await page.getByLabel('title', { exact: true }).waitFor()
    await see('new')
    await page.context().close()
  },
)

it('shows the key of what is not there or not seen, and no more, in the grid and in the item', async () => {
  const [ada, hidden] = [await made('authors', { name: 'Ada' }), await made('authors', { name: 'Hidden' })]
  const seen = await made('books', { title: 'Seen', authorId: ada })
  const unseen = await made('books', { title: 'Unseen', authorId: hidden })
  const none = await made('books', { title: 'Without' })
  const reader = await people.member(shop, {
    collections: { books: { read: 'all' }, authors: { read: { filter: { name: { _neq: 'Hidden' } } } } },
  })
  const filter = { id: { _in: [seen, unseen, none] } }
  const page = await signedInAt(
    `${gridOf(shop, 'books')}?filter=${encodeURIComponent(JSON.stringify(filter))}&columns=id,title,author.name`,
    reader,
  )
  const cells = (title: string) => page.getByRole('row').filter({ hasText: title }).getByRole('gridcell')
  await cells('Seen').nth(2).getByText('Ada').waitFor()
  const mark = 'not found, or not visible to you'
  expect(await cells('Unseen').nth(2).textContent()).toBe(`${hidden} ${mark}`)
  expect(await cells('Without').nth(2).textContent()).toBe('')
  expect(await violations(page)).toEqual([])
  await picture(page, 'grid-nowhere')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'grid-nowhere-narrow-dark')
  await page.goto(at('books', unseen))
  await page.getByText(mark).waitFor()
  expect(await page.getByText('Hidden').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'item-nowhere-narrow-dark')

  await page.goto(at('books', seen))
  const author = page.getByRole('group', { name: 'author', exact: true })
  await author.getByRole('link', { name: 'Ada', exact: true }).waitFor()
  await author.getByText(String(ada), { exact: true }).waitFor()
  expect(await author.getByRole('textbox').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'item-named-narrow-dark')
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
  await picture(page, 'item-named')
  await page.goto(at('books', none))
  await page.getByRole('heading', { name: 'Without', exact: true }).waitFor()
  expect(await page.getByText(mark).count()).toBe(0)
  await page.context().close()
})
