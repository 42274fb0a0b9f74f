/** What a junction links, as a list of links in the form of an item, and references over several fields. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

/** `genres` leads over a junction by a field of its own, `tags` to the rows of a junction. */
const links = (to: string, opposite: string) => ({
  fields: {
    from: { to, onDelete: 'cascade', opposite },
    to: { to: 'tags', onDelete: 'cascade', opposite: to },
  },
  key: ['from', 'to'],
})

const collections = {
  films: {
    fields: {
      id: 'int64 auto',
      title: 'string',
      genres: { many: 'genres', over: 'labels.genre', opposite: 'films' },
    },
  },
  tags: { fields: { id: 'int32 auto', name: 'string' } },
  genres: { fields: { id: 'int32 auto', name: 'string' } },
  labels: {
    fields: {
      film: { to: 'films', onDelete: 'cascade', opposite: 'labels' },
      genre: { to: 'genres', onDelete: 'cascade', opposite: 'labels' },
    },
    key: ['film', 'genre'],
  },
  halls: { fields: { city: 'string(20)', no: 'int32', name: 'string' }, key: ['city', 'no'] },
  films_tags: links('films', 'tags'),
  sagas: { fields: { id: 'int64 auto', title: 'string' } },
  sagas_tags: links('sagas', 'constructor'),
  shows: { fields: { id: 'int64 auto', title: 'string', hall: { to: 'halls?' } } },
}

beforeAll(async () => {
  shop = await world.workspace('links', {})
  const model = { version: 1, collections }
  const planned = await shop.post('/schema/plan', { model })
  const { plan } = ((await planned.json()) as { data: { plan: unknown } }).data
  const applied = await shop.post('/schema/apply', { model, plan })
  expect(applied.status, await applied.clone().text()).toBe(200)
  await shop.insert('tags', [{ name: 'old' }, { name: 'new' }, { name: 'ألف' }])
  await shop.insert('genres', [{ name: 'Drama' }, { name: 'Noir' }])
})

const film = async (item: object) => String((await shop.insert('films', [item]))[0]?.id)
const namesIn = (data: unknown, field: string, within?: string) => {
  const rows = (data as Record<string, { data: Record<string, Record<string, string>>[] }>)[field]?.data ?? []
  return rows.map((row) => (within ? row[within]?.name : row.name)).sort()
}
const stored = async (id: string) => {
  const data = await shop.data(`/items/films/${id}?fields=title,tags.to.name,genres.name`)
  return { tags: namesIn(data, 'tags', 'to'), genres: namesIn(data, 'genres') }
}
const group = (page: Page, name: string) => page.getByRole('group', { name, exact: true })

async function add(page: Page, to: string, name: string): Promise<void> {
  await page.getByRole('button', { name: `Add to ${to}` }).click()
  const dialog = page.getByRole('dialog', { name: `Choose ${to}` })
  await dialog.getByRole('combobox').fill(name)
  await expect.poll(() => dialog.getByRole('option').count()).toBe(1)
  await dialog.getByRole('option', { name }).click()
  await dialog.waitFor({ state: 'detached' })
}

const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

it('links and unlinks with the fields of an item, by one request', async () => {
  const id = await film({
    title: 'M',
    tags: [{ _create: { data: [{ toId: 1 }] } }],
    genres: [{ _connect: { keys: [{ id: 1 }] } }],
  })
  const page = await signedInAt(`${gridOf(shop, 'films')}/${id}`)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') sent.push(request.postData() ?? '')
  })
  await group(page, 'tags').getByRole('link', { name: 'old' }).waitFor()
  expect(await page.getByRole('region', { name: 'What refers to it' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Remove old' }).click()
  await add(page, 'tags', 'new')
  await add(page, 'genres', 'Noir')
  await page.getByLabel('title', { exact: true }).fill('M, 1931')
  expect(await violations(page)).toEqual([])
  await picture(page, 'links')
  await page.getByRole('navigation').getByRole('link', { name: 'genres' }).click()
  await page.goBack()
  await group(page, 'genres').getByRole('link', { name: 'Noir' }).waitFor()
  await save(page)
  await page.getByText('Saved.', { exact: true }).waitFor()

  expect(await stored(id)).toEqual({ tags: ['new'], genres: ['Drama', 'Noir'] })
  expect(sent.length).toBe(1)
  await page.reload()
  await group(page, 'genres').getByRole('link', { name: 'Noir' }).waitFor()
  await expect.poll(() => group(page, 'tags').getByRole('link').allTextContents()).toEqual(['new'])
  await page.context().close()
})

it('keeps links that could not be saved, until they are tried again', async () => {
  const id = await film({ title: 'Kept' })
  const page = await signedInAt(`${gridOf(shop, 'films')}/${id}`)
  await add(page, 'tags', 'old')
  await page.route('**/items/films/**', (route) => route.abort())
  await save(page)
  await page.getByText('“tags” is not saved: “+ old”.').waitFor()
  await page.unroute('**/items/films/**')
  await add(page, 'tags', 'new')
  await save(page)
  await expect.poll(async () => (await stored(id)).tags).toEqual(['new'])

  await page.getByRole('button', { name: 'Try again' }).click()

  await expect.poll(async () => (await stored(id)).tags).toEqual(['new', 'old'])
  await page.goto(gridOf(shop, 'films'))
  await page.context().close()
})

it('makes a new item with its links, and shows what will be sent', async () => {
  const page = await signedInAt(`/${shop.name}/new/films`)
  await page.getByLabel('title', { exact: true }).fill('Linked')
  await add(page, 'tags', 'ألف')
  await add(page, 'genres', 'Drama')
  await page.getByRole('button', { name: 'Code' }).click()
  await page.getByText('"_connect"').waitFor()
  await page.keyboard.press('Escape')
  await save(page)
  await page.getByRole('heading', { name: 'Linked', exact: true }).waitFor()

  const id = page.url().split('/').at(-1) ?? ''
  expect(await stored(id)).toEqual({ tags: ['ألف'], genres: ['Drama'] })
  await page.context().close()
})

it('links by a relation that is called as what every object has', async () => {
  const page = await signedInAt(`/${shop.name}/new/sagas`)
  await page.getByLabel('title', { exact: true }).fill('Named')
  await add(page, 'constructor', 'old')
  await save(page)
  await page.getByRole('heading', { name: 'Named', exact: true }).waitFor()
  await add(page, 'constructor', 'new')
  await save(page)
  await page.getByText('Saved.', { exact: true }).waitFor()

  const id = page.url().split('/').at(-1) ?? ''
  expect(namesIn(await shop.data(`/items/sagas/${id}?fields=constructor.to.name`), 'constructor', 'to')).toEqual([
    'new',
    'old',
  ])
  await page.context().close()
})

it('shows links in no order where the data source cannot sort by what is behind them', async () => {
  const id = await film({ title: 'Far', genres: [{ _connect: { keys: [{ id: 1 }, { id: 2 }] } }] })
  const page = await signedInAt('/')
  let sorted = 0
  await page.route(/\/items\/genres\?.*sort=/, async (route) => {
    sorted += 1
    await route.fulfill({ status: 422, json: { message: 'Failed to execute query', code: '4010' } })
  })
  await page.goto(`${gridOf(shop, 'films')}/${id}`)

  await group(page, 'genres').getByRole('link', { name: 'Noir' }).waitFor()
  expect((await group(page, 'genres').getByRole('link').allTextContents()).sort()).toEqual(['Drama', 'Noir'])
  expect(sorted).toBeGreaterThan(0)
  await page.context().close()
})

it('shows links, and no control that fails, to whoever may not change them', async () => {
  const reader = await people.member(shop, {
    collections: { films: { read: 'all' }, genres: { read: 'all' }, labels: { read: 'all', create: 'all' } },
  })
  const id = await film({ title: 'Read', genres: [{ _connect: { keys: [{ id: 1 }] } }] })
  const page = await signedInAt(`${gridOf(shop, 'films')}/${id}`, reader)
  await group(page, 'genres').getByRole('link', { name: 'Drama' }).waitFor()

  expect(await page.getByRole('button', { name: /^(Add to|Remove)/ }).count()).toBe(0)
  expect(await group(page, 'tags').count()).toBe(0)
  await page.context().close()
})

it('lets a member link who may make rows of the junction, and unlink who may delete them', async () => {
  const linker = await people.member(shop, {
    collections: {
      films: { read: 'all', update: { fields: ['title', 'genres'] } },
      genres: { read: 'all' },
      labels: { read: 'all', create: 'all' },
    },
  })
  const id = await film({ title: 'Linking', genres: [{ _connect: { keys: [{ id: 1 }] } }] })
  const page = await signedInAt(`${gridOf(shop, 'films')}/${id}`, linker)
  await add(page, 'genres', 'Noir')
  expect(await page.getByRole('button', { name: 'Remove Drama' }).count()).toBe(0)
  await save(page)

  await expect.poll(async () => (await stored(id)).genres).toEqual(['Drama', 'Noir'])
  await page.context().close()
})

it('chooses an item whose key has several fields', async () => {
  await shop.insert('halls', [
    { city: 'Cairo', no: 1, name: 'Nile' },
    { city: 'Cairo', no: 2, name: 'Palm' },
  ])
  const id = String((await shop.insert('shows', [{ title: 'Late' }]))[0]?.id)
  const page = await signedInAt(`${gridOf(shop, 'shows')}/${id}`)
  await page.getByRole('button', { name: 'Choose hall' }).click()
  const dialog = page.getByRole('dialog', { name: 'Choose hall' })
  await dialog.getByRole('combobox').fill('palm')
  await dialog.getByRole('option', { name: 'Palm' }).click()
  await page.getByRole('link', { name: 'Palm' }).waitFor()
  await save(page)
  const hall = () => shop.data(`/items/shows/${id}?fields=hallCity,hallNo`)
  await expect.poll(hall).toEqual({ hallCity: 'Cairo', hallNo: 2 })

  await page.getByRole('button', { name: 'Choose hall' }).click()
  await dialog.getByRole('option', { name: 'null' }).click()
  await save(page)

  await expect.poll(hall).toEqual({ hallCity: null, hallNo: null })
  await page.context().close()
})
