/** The history of an item in the console: asked for when it is opened, and a former state that goes into the form. */
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { picture, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, signIn } from './support/pages.ts'

const SCRIPT = '<img src=x onerror=alert(1)>'
const CHANGES = '**/changes?*'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'past',
    {
      notes: {
        title: 'string',
        text: 'string?',
        price: 'decimal(20,4)?',
        done: 'boolean?',
        more: 'json?',
        authorId: 'int64?',
      },
      plain: { title: 'string' },
      authors: { name: 'string' },
    },
    ['notes.author(authorId) -> authors.notes'],
  )
  const history = { kind: 'changeHasHistory', data: { hasHistory: true } }
  const data = { id: shop.ids.get('notes'), operations: [history] }
  expect((await shop.migrate({ kind: 'updateCollection', data })).status).toBe(200)
})

afterEach(closePages)

type Note = Readonly<Record<string, unknown>>

async function made(note: Note, ...changes: readonly Note[]): Promise<string> {
  const id = String((await shop.insert('notes', [note]))[0]?.id)
  for (const change of changes) expect((await shop.patch(`/items/notes/${id}`, change)).status).toBe(200)
  return id
}

const at = (id: string, collection = 'notes') => `/${shop.name}/items/${collection}/${id}`
const stored = async (id: string) => (await shop.data(`/items/notes/${id}`)) as Note
const region = (page: Page) => page.getByRole('region', { name: 'History' })
const changes = (page: Page) => region(page).getByRole('listitem')
const open = (page: Page) => page.getByRole('heading', { name: 'History', exact: true }).click()
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const takeBack = (page: Page, index: number) => changes(page).nth(index).getByRole('button', { name: 'Take back' })
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

/** The requests of a page from now on, by method. */
function sentBy(page: Page, method: string, path: RegExp): readonly string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === method && path.test(request.url())) sent.push(request.postData() ?? request.url())
  })
  return sent
}

describe('the history of an item', () => {
  it('is shown when it is opened, and puts a former state into the form, which is saved as a new change', async () => {
    const first = { title: 'Draft', text: SCRIPT, price: '12345678901234.5678', done: true, more: { a: [1] } }
    const id = await made(first, { title: 'Final', text: null, price: '2', done: false, more: null })
    const page = await openConsole()
    const asked = sentBy(page, 'GET', /\/changes\?/)
    const written = sentBy(page, 'PATCH', /items/)
    await signIn(page, at(id))
    await field(page, 'title').waitFor()
    expect(asked).toEqual([])

    await open(page)
    await expect.poll(() => changes(page).count()).toBe(2)
    expect(asked.length).toBe(1)
    const newest = await changes(page).nth(0).innerText()
    expect(newest).toMatch(/Changed · you · \w{3} \d+, \d{4}, \d+:\d\d:\d\d/)
    for (const value of ['Draft', 'Final', SCRIPT, 'null', '12345678901234.5678', '2.0000', 'true', 'false'])
      expect(newest).toContain(value)
    expect(await changes(page).nth(1).innerText()).toMatch(/^Created · you/)
    expect(await changes(page).nth(1).getByRole('button').count()).toBe(0)
    expect(await violations(page)).toEqual([])

    await takeBack(page, 0).click()
    await page.getByText('The fields have their values from before the change').waitFor()
    expect(await field(page, 'text').inputValue()).toBe(SCRIPT)
    expect(await field(page, 'price').inputValue()).toBe('12345678901234.5678')
    expect(written).toEqual([])
    await picture(page, 'taken-back')
    expect(await stored(id)).toMatchObject({ title: 'Final', text: null })
    await field(page, 'title').fill('Draft, again')
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()

    expect(await stored(id)).toMatchObject({ ...first, title: 'Draft, again' })
    expect(written.length).toBe(1)
    await expect.poll(() => changes(page).count()).toBe(3)
    expect(await changes(page).nth(0).innerText()).toContain('Draft, again')
  })

  it('tells a text without characters from none', async () => {
    const page = await openConsole()
    await signIn(page, at(await made({ title: 'Of', text: 'a' }, { text: '' }, { text: null })))
    await open(page)

    await expect.poll(() => changes(page).count()).toBe(3)
    expect(await changes(page).locator('dd').first().innerText()).toMatch(/^""\n.*\nnull$/)
    await picture(page, 'history-empty')
  })

  it('says what the items are called that a change refers to', async () => {
    const [ada, grace] = await shop.insert('authors', [{ name: 'Ada' }, { name: 'Grace' }])
    const page = await openConsole()
    await signIn(page, at(await made({ title: 'Of', authorId: ada?.id }, { authorId: grace?.id })))
    await open(page)

    const newest = changes(page).nth(0)
    await newest.getByText('Grace').waitFor()
    await newest.getByText('Ada').waitFor()
    expect(await newest.getByRole('term').allInnerTexts()).toEqual(['author'])
    await picture(page, 'history-relation')
  })

  it('comes in pages, tells who made each change, and is read and taken back by keyboard alone', async () => {
    const other = await people.member(shop, { collections: { notes: { read: 'all', update: 'all' } } })
    const id = await made({ title: '0' }, ...Array.from({ length: 20 }, (_, number) => ({ title: `${number + 1}` })))
    expect((await other.patch(`/items/notes/${id}`, { title: 'x' })).status).toBe(200)
    const page = await openConsole()
    const asked = sentBy(page, 'GET', /\/changes\?/)
    await signIn(page, at(id))
    await field(page, 'title').waitFor()
    const tabTo = async (selector: string) => {
      for (let count = 0; count < 60 && (await page.locator(`${selector}:focus`).count()) === 0; count += 1)
        await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
    }

    await tabTo('summary')
    await expect.poll(() => changes(page).count()).toBe(20)
    expect(await changes(page).nth(0).getByRole('code').innerText()).toBe(other.userId)
    await region(page).getByRole('button', { name: 'Show more' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => changes(page).count()).toBe(22)
    expect(await region(page).getByRole('button', { name: 'Show more' }).count()).toBe(0)
    expect(asked.length).toBe(2)
    expect(await page.evaluate("document.activeElement?.tagName === 'OL'")).toBe(true)

    await takeBack(page, 20).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('form', { name: 'Fields' }).and(page.locator(':focus')).waitFor()
    expect(await field(page, 'title').inputValue()).toBe('0')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    expect(await field(page, 'title').inputValue()).toBe('x')
    await takeBack(page, 0).click()
    await save(page)
    await expect.poll(() => changes(page).nth(0).innerText()).toContain('20')
    await expect.poll(async () => (await stored(id)).title).toBe('20')
    await expect.poll(() => changes(page).count()).toBe(23)
  })

  it('takes back what its caller may change, and nothing else', async () => {
    const read = { fields: ['id', 'title', 'text', 'done'] }
    const [writer, reader] = [
      await people.member(shop, {
        collections: { notes: { read, update: { fields: ['text'] } } },
      }),
      await people.member(shop, { collections: { notes: { read } } }),
    ]
    const id = await made({ title: 'a', text: 'b', price: '1' }, { title: 'c' }, { title: 'd', text: 'e', price: '7' })
    const page = await openConsole()
    await signIn(page, at(id), writer)
    await field(page, 'title').waitFor()
    await open(page)
    await expect.poll(() => changes(page).count()).toBe(3)
    expect(await region(page).getByText('price').count()).toBe(0)
    // Of the title alone, which they may not change.
    expect(await takeBack(page, 1).count()).toBe(0)
    await takeBack(page, 0).click()
    await save(page)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await stored(id)).toMatchObject({ title: 'd', text: 'b', price: '7.0000' })

    const readers = await openConsole()
    await signIn(readers, at(id), reader)
    await field(readers, 'title').waitFor()
    await open(readers)
    await expect.poll(() => changes(readers).count()).toBe(4)
    expect(await region(readers).getByRole('button').count()).toBe(0)
  })

  it('does not overwrite what another changed since it was taken back', async () => {
    const id = await made({ title: 'a', text: 'b' }, { title: 'c' })
    const page = await openConsole()
    await signIn(page, at(id))
    await field(page, 'title').waitFor()
    await open(page)
    await takeBack(page, 0).click()
    await shop.patch(`/items/notes/${id}`, { title: 'theirs' })
    await save(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Keep mine' }).waitFor()
    expect((await stored(id)).title).toBe('theirs')
  })

  it.each([
    [0, 'The service cannot be reached'],
    [403, 'You are not allowed to do this'],
    [404, 'This does not exist, or you may not see it'],
  ])('says what failed with %i, and asks again', async (status, said) => {
    const id = await made({ title: 'a' })
    const page = await openConsole()
    await page.route(CHANGES, (sent) =>
      status === 0 ? sent.abort() : sent.fulfill({ status, json: { message: 'Refused', code: '1' } }),
    )
    await signIn(page, at(id))
    await field(page, 'title').waitFor()
    await open(page)
    await region(page).getByRole('alert').waitFor()
    await region(page).getByText(said).waitFor()
    await page.unroute(CHANGES)
    await region(page).getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => changes(page).count()).toBe(1)
    expect(await field(page, 'title').inputValue()).toBe('a')
  })

  it('is not there where nothing is recorded', async () => {
    const id = String((await shop.insert('plain', [{ title: 'p' }]))[0]?.id)
    const page = await openConsole()
    await signIn(page, at(id, 'plain'))
    await field(page, 'title').waitFor()
    expect(await page.getByRole('heading', { name: 'History' }).count()).toBe(0)
  })
})
