/** The data model in the console: made by hand, as a file, looked at as a diagram, and reviewed before it changes. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>

beforeAll(async () => {
  postgres = await startPostgres()
})

afterAll(() => postgres.close())

const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click()
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

async function add(page: Page): Promise<void> {
  await press(page, 'Add to the changes')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

async function makeCollection(page: Page, name: string, key?: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Data model' }).click()
  await press(page, 'New collection')
  await page.getByLabel('Name', { exact: true }).fill(name)
  if (key !== undefined) await page.getByLabel('Key', { exact: true }).selectOption(key)
  await add(page)
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

type FieldInput = {
  readonly type?: string
  readonly bounds?: Readonly<Record<string, string>>
  readonly checked?: readonly string[]
  readonly fill?: string
  readonly value?: string
}

async function makeField(page: Page, name: string, given: FieldInput = {}): Promise<void> {
  await press(page, 'New field')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill(name)
  if (given.type !== undefined) await dialog.getByLabel('Type').selectOption(given.type)
  for (const [label, value] of Object.entries(given.bounds ?? {})) await dialog.getByLabel(label).fill(value)
  for (const label of given.checked ?? []) await dialog.getByLabel(label).check()
  if (given.fill !== undefined) await dialog.getByLabel('Filled with').selectOption(given.fill)
  if (given.value !== undefined) await dialog.getByLabel('Value', { exact: true }).fill(given.value)
  await add(page)
}

type RelationInput = {
  readonly kind: string
  readonly to: string
  readonly opposite: string
  readonly isRequired?: true
  readonly onDelete?: string
}

async function makeRelation(page: Page, name: string, given: RelationInput): Promise<void> {
  await press(page, 'New relation')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Kind').selectOption(given.kind)
  await dialog.getByLabel('Leads to').selectOption(given.to)
  await dialog.getByLabel('Name', { exact: true }).fill(name)
  await dialog.getByLabel('Name on the other side').fill(given.opposite)
  if (given.isRequired) await dialog.getByLabel('Every row must have one').check()
  if (given.onDelete) await dialog.getByLabel('Where the other row is deleted').selectOption(given.onDelete)
  await add(page)
}

/** Relations to one, to many, one to one, many to many over a junction that is made, and to the same collection. */
const file = {
  authors: { fields: { id: 'uuid auto', name: 'string(80)', bornOn: 'date?' } },
  tags: { fields: { id: 'int64 auto', label: 'string' }, indexes: ['unique label'] },
  books: {
    fields: {
      id: 'int64 auto',
      title: 'string',
      price: 'decimal(10,2)',
      status: { type: 'string', default: 'draft' },
      editedAt: 'dateTime always',
      keywords: 'string[]?',
      author: { to: 'authors?', onDelete: 'setNull' },
      sequel: { to: 'books?', opposite: 'prequel', unique: true },
      tags: { many: 'tags' },
    },
  },
  shops: { fields: { id: 'string', parent: { to: 'shops?', opposite: 'branches' } } },
}

const modelOf = async (shop: Workspace) => (await shop.get('/schema/model?ids=false')).json() as Promise<object>

it('is made by hand, and is the same as one that is made by its file', async () => {
  const shop = await world.workspace('byhand', {})
  const page = await signedInAt(`/${shop.name}/model`)
  await page.getByText('No collections yet').first().waitFor()
  await makeCollection(page, 'authors', 'uuid')
  await makeField(page, 'name', { bounds: { 'Most characters': '80' } })
  await makeField(page, 'bornOn', { type: 'date', checked: ['May be empty'] })
  await makeCollection(page, 'tags')
  await makeField(page, 'label')
  await page.getByRole('link', { name: 'Indexes' }).click()
  await press(page, 'New index')
  await page.getByLabel('Kind').selectOption('unique')
  await page.getByRole('dialog').getByLabel('label').check()
  await add(page)
  await makeCollection(page, 'books')
  await makeField(page, 'title')
  await makeField(page, 'price', { type: 'decimal', bounds: { 'Digits in all': '10', 'Digits behind the point': '2' } })
  await makeField(page, 'status', { fill: 'value', value: 'draft' })
  await makeField(page, 'editedAt', { type: 'dateTime', fill: 'always' })
  await makeField(page, 'keywords', { checked: ['Holds a list', 'May be empty'] })
  await page.getByRole('link', { name: 'Relations' }).click()
  await makeRelation(page, 'author', { kind: 'toOne', to: 'authors', opposite: 'books', onDelete: 'setNull' })
  await makeRelation(page, 'sequel', { kind: 'oneToOne', to: 'books', opposite: 'prequel' })
  await makeRelation(page, 'tags', { kind: 'manyToMany', to: 'tags', opposite: 'books' })
  // What is collected outlives a reload.
  await page.reload()
  await region(page, 'Relations')
    .getByRole('row', { name: /^sequel / })
    .waitFor()
  await makeCollection(page, 'shops', 'string')
  await page.getByRole('link', { name: 'Relations' }).click()
  await makeRelation(page, 'branches', { kind: 'toMany', to: 'shops', opposite: 'parent' })
  const waiting = region(page, '17 changes are not applied yet').getByRole('listitem')
  await waiting.filter({ hasText: 'New tags: unique index of label' }).waitFor()
  await picture(page, 'model-pending')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await picture(page, 'model-pending-narrow-dark')
  const edge = await page.evaluate(
    '(({ backgroundImage: fade, borderBlockEndStyle: end }) => ({ fade, end }))(getComputedStyle(document.querySelector("main ol")))',
  )
  expect(edge).toEqual({ fade: 'none', end: 'solid' })
  await waiting.last().getByRole('button').click()
  await region(page, '16 changes are not applied yet').waitFor()
  await makeRelation(page, 'branches', { kind: 'toMany', to: 'shops', opposite: 'parent' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
  await press(page, /^Review /)
  await page.getByRole('dialog').getByText('author: A new foreign key: books (authorId) → authors (id).').waitFor()
  const made = page.getByRole('dialog').getByRole('list', { name: 'What it changes' }).locator('> li')
  const authors = made.filter({ hasText: /^New authors/ }).getByRole('listitem')
  expect(await authors.allInnerTexts()).toEqual([
    'id: Random id (UUID), filled by itself when a row is made',
    'bornOn: Date, may be empty',
    'name: Text (string), up to 80 characters',
  ])
  const books = made.filter({ hasText: /^New books/ }).getByRole('listitem')
  expect(await books.allInnerTexts()).toEqual(
    expect.arrayContaining([
      'author: leads to one of authors or to none · when the other row is deleted: empty the field here',
      'price: Decimal number, exact, 10 digits, 2 of them behind the point',
      'keywords: List: Text (string), may be empty',
    ]),
  )
  const tags = made.filter({ hasText: /^New tags/ })
  expect(await tags.locator('details > ul').first().getByRole('listitem').allInnerTexts()).toEqual([
    'id: Whole number (int64), filled by itself when a row is made',
    'label: Text (string)',
    'unique index of label',
  ])
  expect((await tags.innerText()).split('\n')[0]).toBe('New tags')
  const rules = page.getByRole('dialog').getByText('cannot be deleted as long as')
  expect(await rules.allInnerTexts()).toEqual([
    'sequel: A row of books cannot be deleted as long as any row refers to it.',
    'parent: A row of shops cannot be deleted as long as any row refers to it.',
  ])
  await tags.getByText('books: Where a row of either side is deleted, its links go with it.').waitFor()
  await page.getByRole('dialog').getByText('This change loses no data.').waitFor()
  const links = page.getByRole('dialog').getByText('A new table has its links')
  expect(await links.allTextContents()).toEqual([
    'books: A new table has its links: books_tags, with two foreign keys.',
  ])
  await page.getByRole('dialog').getByText('tags: Its links are the rows of books_tags.').waitFor()
  await picture(page, 'model-review')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'model-review-narrow-dark')
  await page.setViewportSize({ width: 1440, height: 900 })
  await press(page, 'Apply')
  await page.getByText('The data model is changed.').waitFor()

  const other = await world.workspace('byfile', {})
  const model = { version: 1, collections: file }
  const planned = (await (await other.post('/schema/plan', { model })).json()) as { data: { plan: string } }
  const { plan } = planned.data
  expect((await other.post('/schema/apply', { model, plan })).status).toBe(200)
  expect(await modelOf(shop)).toEqual(await modelOf(other))
  await page.context().close()
})

it('changes what is there, says what is lost, and takes back what was collected', async () => {
  const shape = { notes: { title: 'string', pages: 'int32?', writerId: 'int64?' }, authors: { name: 'string' } }
  const shop = await world.workspace('changing', shape, ['notes.writer(writerId) -> authors.notes'])
  await shop.insert('notes', [{ title: 'One', pages: 3 }])
  const page = await signedInAt(`/${shop.name}/model`)
  await page.getByLabel('Find a collection').fill('note')
  await region(page, 'The workspace’s own database').getByRole('link', { name: 'notes' }).click()
  await press(page, 'Edit pages')
  const dialog = page.getByRole('dialog')
  const types = await dialog.getByLabel('Type').locator('option').allTextContents()
  expect(types.some((one) => one.includes('(uuid)'))).toBe(false)
  await dialog.getByLabel('Type').selectOption('int64')
  await dialog.getByLabel('Name', { exact: true }).fill('length')
  await add(page)
  await region(page, 'One change is not applied yet').getByText('notes.pages → notes.length').waitFor()
  await press(page, 'Delete title')
  await press(page, 'Switch on history')
  await press(page, 'New field')
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('half')
  await page.reload()
  await press(page, 'New field')
  expect(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('half')
  await add(page)
  await press(page, 'Review 4 changes')
  // Rows are there, and nothing fills what they lack.
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await press(page, 'Take back notes.half')
  await page.getByRole('link', { name: 'Relations' }).click()
  await press(page, 'Edit writer')
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('author')
  await page.getByRole('dialog').getByLabel('Where the other row is deleted').selectOption('cascade')
  await add(page)
  const waiting = region(page, '4 changes are not applied yet').getByRole('listitem')
  await waiting.filter({ hasText: 'Will change notes: its history is recorded' }).waitFor()
  await waiting.filter({ hasText: 'when the other row is deleted: do the same here' }).waitFor()
  await press(page, 'Review 4 changes')
  await page.getByRole('dialog').getByText('1 row', { exact: false }).first().waitFor()
  const changed = page.getByRole('dialog').getByRole('list', { name: 'What it changes' })
  expect((await changed.allInnerTexts()).join().split('\n')).toEqual(
    expect.arrayContaining([
      'Will change notes: its history is recorded',
      'Will be renamed notes.writer → notes.author',
      'Will change notes.author: when the other row is deleted: do the same here · refers by writerId',
      'Will be renamed notes.pages → notes.length',
    ]),
  )
  await page.getByRole('dialog').getByText('loses data').waitFor()
  await picture(page, 'model-lost')
  await page.getByLabel('To go on, type notes').fill('notes')
  // Somebody else changes the model while the review is looked at.
  const anew = {
    id: shop.ids.get('authors.name'),
    operations: [{ kind: 'changeIsNullable', data: { isNullable: true } }],
  }
  const others = { id: shop.ids.get('authors'), operations: [{ kind: 'updatePrimitiveField', data: anew }] }
  expect((await shop.migrate({ kind: 'updateCollection', data: others })).status).toBe(200)
  await press(page, 'Apply')
  await page.getByRole('dialog').getByText('The data model has changed since this was shown.').waitFor()
  expect(await page.getByLabel('To go on, type notes').inputValue()).toBe('')
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-moved')
  expect(await modelOf(shop)).toMatchObject({ collections: { notes: { fields: { title: 'string' } } } })
  await page.getByLabel('To go on, type notes').fill('notes')
  await press(page, 'Apply')
  await page.getByText('The data model is changed.').waitFor()
  expect(await modelOf(shop)).toMatchObject({
    collections: {
      notes: {
        history: true,
        fields: { length: { type: 'int64?', dbName: 'pages' }, author: { to: 'authors?', onDelete: 'cascade' } },
      },
    },
  })

  await page.getByRole('navigation', { name: 'notes' }).getByRole('link', { name: 'Presentation' }).click()
  await press(page, 'Presentation of notes')
  await page.getByLabel('Shown as').fill('Notebook')
  await press(page, 'Choose an icon')
  const find = page.getByRole('combobox', { name: 'Find an icon' })
  await find.pressSequentially('library')
  await page.getByRole('option', { name: '📚 Books' }).waitFor()
  await picture(page, 'model-icons')
  await find.press('Enter')
  await find.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Icon', { exact: true }).inputValue()).toBe('📚')
  await page.getByLabel('Colour', { exact: true }).fill('teal')
  expect(await page.getByLabel('Choose a colour').inputValue()).toBe('#008080')
  await page.getByLabel('Choose a colour').fill('#aa3366')
  expect(await page.getByLabel('Colour', { exact: true }).inputValue()).toBe('#aa3366')
  await picture(page, 'model-presentation')
  await page.getByLabel('What a row is called').fill('{{id}}')
  await press(page, 'Save')
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Notebook' }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-names')
  await page.context().close()
})

it('says what becomes of values, marks what waits, and takes back what was made', async () => {
  const shop = await world.workspace('takenback', { notes: { title: 'string?', pages: 'int32?' } })
  await shop.insert('notes', [{ title: '7', pages: 3 }])
  const before = await modelOf(shop)
  const page = await signedInAt(`/${shop.name}/model/notes`)
  await press(page, 'Edit title')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Type').selectOption('int32')
  await dialog.getByText(/^Each text becomes the value that the database reads in it/).waitFor()
  await picture(page, 'model-type')
  await add(page)
  await press(page, 'Edit pages')
  await dialog.getByLabel('Type').selectOption('int64')
  await dialog.getByText(/^Every value stays as it is\./).waitFor()
  await add(page)
  const marked = region(page, 'Fields').getByRole('row').filter({ hasText: 'Change not applied yet' })
  expect(await marked.count()).toBe(2)
  const waiting = region(page, '2 changes are not applied yet').getByRole('listitem')
  await waiting
    .filter({ hasText: 'Will change notes.title: Text (string), may be empty → Whole number (int32), may be empty' })
    .waitFor()
  await picture(page, 'model-changed')
  await press(page, 'Review 2 changes')
  const changes = dialog.getByRole('list', { name: 'What it changes' }).getByRole('listitem')
  await changes
    .filter({
      hasText: 'notes.title: Text (string), may be empty → Whole number (int32), may be empty Each text becomes',
    })
    .waitFor()
  await changes
    .filter({
      hasText: 'notes.pages: Whole number (int32), may be empty → Whole number (int64), may be empty Every value stays',
    })
    .waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-values')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'model-values-narrow-dark')
  await press(page, 'Apply')
  await page
    .getByText(
      'The data model is changed. You can take this change back later, but data that it deletes or converts does not come back as it was.',
    )
    .waitFor()
  expect(await marked.count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-made-narrow-dark')
  await page.reload()
  await page.goto(`/${shop.name}/model`)
  const back = page.getByRole('button', { name: 'Take the change back' })
  await back.waitFor()
  // Once it is no longer the last change of the model, it is not offered; then it is again.
  const renameTo = (apiName: string) =>
    shop.migrate({
      kind: 'updateCollection',
      data: { id: shop.ids.get('notes'), operations: [{ kind: 'changeApiName', data: { apiName } }] },
    })
  expect((await renameTo('papers')).status).toBe(200)
  await page.reload()
  await page.getByRole('link', { name: 'papers', exact: true }).first().waitFor()
  expect(await back.count()).toBe(0)
  expect((await renameTo('notes')).status).toBe(200)
  await page.reload()
  await back.click()
  await changes
    .filter({
      hasText: 'notes.title: Whole number (int32), may be empty → Text (string), may be empty Every value is kept',
    })
    .waitFor()
  await dialog.getByRole('button', { name: 'Take the change back' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await modelOf(shop)).toEqual(before)
  expect(await shop.data('/items/notes?fields=title,pages')).toEqual([{ title: '7', pages: 3 }])
  await page.context().close()
})

it('says which values are in the way of a change, and how many, before anything runs', async () => {
  const shop = await world.workspace('misfits', { notes: { title: 'string', pages: 'int32' } })
  await shop.insert('notes', [
    { title: '7', pages: 70_000 },
    { title: 'seven', pages: 3 },
    { title: '7x', pages: 4 },
  ])
  const page = await signedInAt(`/${shop.name}/model/notes`)
  const retype = async (field: string, type: string, of: Page = page) => {
    await press(of, `Edit ${field}`)
    await of.getByRole('dialog').getByLabel('Type').selectOption(type)
    await add(of)
    await press(of, 'Review one change')
    return of.getByRole('dialog').getByRole('alert')
  }
  const isRefused = async (of: Page = page) => {
    expect(await of.getByRole('dialog').getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true)
    await of.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await press(of, 'Take back all')
  }
  await (await retype('pages', 'int16')).getByText('Values of notes.pages do not fit its new type: 1 row.').waitFor()
  const rows = page.getByRole('dialog').getByRole('link', { name: 'Show these rows' })
  const found = await signedInAt((await rows.getAttribute('href')) ?? '')
  await found.getByRole('gridcell', { name: '70000' }).waitFor()
  await found.getByText('1 row', { exact: true }).waitFor()
  await found.context().close()
  await isRefused()
  await (await retype('title', 'int32')).getByText('Values of notes.title do not fit its new type: 2 rows.').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-misfits')
  await isRefused()
  await (await retype('title', 'uuid')).getByText('Values of notes.title do not fit its new type: 3 rows.').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'model-misfits-narrow-dark')
  await isRefused()
  await page.goto(`/${shop.name}/model/-/file`)
  const text = page.getByLabel('Model file', { exact: true })
  await text.waitFor()
  await text.fill((await text.inputValue()).replace('"pages": "int32"', '"pages": "int16"'))
  await press(page, 'Show the plan')
  await page.getByText('Values of notes.pages do not fit its new type: 1 row.').waitFor()
  await page.context().close()

  const some = { read: { filter: { pages: { _gt: 3 } } }, create: 'all', update: 'all', delete: 'all' } as const
  const entitlements = ['dataModel:read', 'dataModel:edit'] as const
  const reader = await people.member(shop, { entitlements, collections: { notes: some } })
  const theirs = await signedInAt(`/${shop.name}/model/notes`, reader)
  const told = await retype('pages', 'int16', theirs)
  await told.getByText('Values of notes.pages are in the way. How many is not known, or not told to you.').waitFor()
  await isRefused(theirs)
  expect(await modelOf(shop)).toMatchObject({ collections: { notes: { fields: { title: 'string', pages: 'int32' } } } })
  await theirs.context().close()
})

it('is edited as a file, with the line that is wrong, planned and applied', async () => {
  const shop = await world.workspace('asfile', { notes: { title: 'string' } })
  const page = await signedInAt(`/${shop.name}/model`)
  await page.getByRole('link', { name: 'Model file' }).click()
  const text = page.getByLabel('Model file', { exact: true })
  await text.waitFor()
  const before = await text.inputValue()
  await text.fill(before.replace('"title": "string"', '"title": "sting"'))
  await press(page, 'Show the plan')
  await page.getByText(/^Line \d+$/).waitFor()
  const line = before.split('\n').findIndex((one) => one.includes('"title"')) + 1
  expect(await page.getByText(/^Line \d+$/).textContent()).toBe(`Line ${line}`)
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-file')
  await text.fill(before.replace('"title": "string"', '"title": "string", "pages": "int32?"'))
  await page.reload()
  await page.getByText('It is edited, and not applied yet.').waitFor()
  await press(page, 'Show the plan')
  await page.getByRole('list', { name: 'What it changes' }).getByText('notes.pages').waitFor()
  await press(page, 'Apply')
  await page.getByText('The model file is applied.').waitFor()
  expect(await modelOf(shop)).toMatchObject({ collections: { notes: { fields: { pages: 'int32?' } } } })
  await expect.poll(() => page.getByLabel('Model file', { exact: true }).inputValue()).toContain('"pages"')
  await page.context().close()
})

it('is drawn, and told as a list; who may not change it is told why', async () => {
  const shape = { notes: { title: 'string', writerId: 'int64?' }, authors: { name: 'string' } }
  const shop = await world.workspace('drawn', shape, ['notes.writer(writerId) -> authors.notes'])
  const reader = await people.member(shop, { entitlements: ['dataModel:read'], collections: {} })
  const page = await signedInAt(`/${shop.name}/model`, reader)
  await page.getByText('You lack the right dataModel:edit.').waitFor()
  await page.getByRole('link', { name: 'Diagram' }).click()
  await page.getByRole('row').filter({ hasText: 'writer' }).getByRole('link', { name: 'notes' }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-diagram')
  await page
    .getByRole('region', { name: 'Diagram of' })
    .getByRole('link', { name: /^authors/ })
    .click()
  await page.getByRole('heading', { level: 1, name: 'authors' }).waitFor()
  expect(await page.getByRole('button', { name: 'New field' }).count()).toBe(0)
  await page.context().close()
})

it('is drawn from right to left, too, and grows with the letters', async () => {
  const shape = { notes: { title: 'string', writerId: 'int64?' }, authors: { name: 'string' } }
  const shop = await world.workspace('drawn', shape, ['notes.writer(writerId) -> authors.notes'])
  const page = await signedInAt(`/${shop.name}/model/-/diagram`, undefined, { locale: 'ar-EG' })
  const box = page.getByRole('link', { name: 'notes' }).filter({ hasText: '3 حقول' })
  await box.waitFor()
  await page.evaluate("document.documentElement.style.fontSize = '200%'")

  const around = await box.locator('rect').boundingBox()
  for (const text of await box.locator('text').all()) {
    const { x = 0, width = 0 } = (await text.boundingBox()) ?? {}
    expect(x).toBeGreaterThan(around?.x ?? 0)
    expect(x + width).toBeLessThan((around?.x ?? 0) + (around?.width ?? 0))
  }
  // The number stands before its noun, to the right of it.
  const count = box.locator('text').last()
  const placeOf = (index: number) =>
    count.evaluate((one, at) => {
      const { getStartPositionOfChar } = one as unknown as {
        getStartPositionOfChar(at: number): { readonly x: number }
      }
      return getStartPositionOfChar.call(one, at).x
    }, index)
  const [first, last] = [await placeOf(0), await placeOf('3 حقول'.length - 1)]
  expect(first).toBeGreaterThan(last)
  // What others refer to stands first.
  const start = await page.getByRole('link', { name: 'authors' }).locator('rect').boundingBox()
  expect(start?.x).toBeGreaterThan(around?.x ?? 0)
  await picture(page, 'model-diagram-ar-large')
  await page.context().close()
})

it('leads into another source, and says that a database was changed outside of the service', async () => {
  const shop = await world.workspace('across', { notes: { title: 'string' } })
  const offered = async () => {
    await press(page, 'New field')
    const names = await page.getByRole('dialog').getByLabel('Type').locator('option').allTextContents()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    return names
  }
  const driver = openPostgres({ connectionString: postgres.url })
  const run = (text: string) => driver.query({ text, params: [] })
  await run('create table customers (id int primary key, name text, city text)')
  const sent = { apiName: 'stock', provider: 'postgres', config: { connectionString: postgres.url } }
  const { data } = (await (await shop.post('/sources/data', sent)).json()) as { data: { id: string } }
  expect((await shop.post(`/schema/introspect/${data.id}`, {})).status).toBe(200)
  const page = await signedInAt(`/${shop.name}/model/notes`)
  expect((await offered()).filter((name) => /\(u?int8|\(uint|geometry/.test(name))).toEqual([])
  await page.getByRole('link', { name: 'Relations' }).click()
  await press(page, 'New relation')
  await page.getByRole('dialog').getByLabel('Leads to').selectOption('customers')
  await page.getByText('This relation has no foreign key').waitFor()
  await page.getByRole('dialog').getByLabel('Kind').selectOption('manyToMany')
  await page.getByText('Many to many needs both collections in one data source').waitFor()
  expect(await page.getByRole('button', { name: 'Add to the changes' }).isDisabled()).toBe(true)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await makeRelation(page, 'customer', { kind: 'toOne', to: 'customers', opposite: 'notes' })
  await press(page, 'Review one change')
  const changes = page.getByRole('dialog').getByRole('list', { name: 'What it changes' })
  await changes.getByText('New in the database: customerId.').waitFor()
  await changes
    .getByText('There is no foreign key: no database enforces this relation, and nothing happens here')
    .waitFor()
  await picture(page, 'model-across')
  await press(page, 'Apply')
  await page.getByText('The data model is changed.').waitFor()
  // Of a relation alone that goes nothing goes in the database.
  await press(page, 'Delete customer')
  await press(page, 'Review one change')
  await changes.getByText('Only the model changes; the database stays as it is.').waitFor()
  await changes.getByText('customerId stays, with its values.').waitFor()
  expect(await changes.getByText(/^New /).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-across-deleted')
  await press(page, 'Apply')
  await press(page, 'Take the change back')
  await changes.getByText('It uses customerId, which stays as it is.').waitFor()
  await changes.getByText('Only the model changes; the database stays as it is.').waitFor()
  expect(await changes.getByText(/^Will be deleted /).count()).toBe(0)
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'model-across-back-narrow-dark')
  await page.getByRole('dialog').getByRole('button', { name: 'Take the change back' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
  await region(page, 'Relations')
    .getByRole('row', { name: /^customer .*Nothing: what refers stays/ })
    .waitFor()
  await press(page, 'Edit customer')
  expect(await page.getByRole('dialog').getByLabel('Where the other row is deleted').count()).toBe(0)
  await picture(page, 'model-unheld')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect(await modelOf(shop)).toMatchObject({
    collections: { notes: { fields: { customer: { to: 'customers?', constraint: false } } } },
  })

  await run('alter table customers drop column city')
  await shop.get('/items/customers?fields=city')
  const drifted = async () => ((await shop.data('/schema/drift')) as { sources: unknown[] }).sources.length
  await expect.poll(drifted, { timeout: 30_000 }).toBe(1)
  await page.goto(`/${shop.name}/model`)
  await page.getByText('stock was changed outside of the service.').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'model-drift')
  await page.getByRole('link', { name: 'Look at what changed' }).click()
  await page.getByRole('heading', { level: 1, name: 'stock' }).waitFor()
  await page.goto(`/${shop.name}/audit-log`)
  await page.getByRole('row').filter({ hasText: 'Data model migrated' }).first().getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Data model' }).waitFor()
  await driver.close()
  await page.context().close()
})
