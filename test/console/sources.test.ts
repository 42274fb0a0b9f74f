/** Data sources in the console: a database and a connector attached, looked at, imported, and their secrets. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { connect, sourceInputFor, startSystem } from '../support/service/connected.ts'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver
let system: ExternalSystem

beforeAll(async () => {
  ;[postgres, system] = await Promise.all([startPostgres(), startSystem()])
  driver = openPostgres({ connectionString: postgres.url })
  await run('create table customers (id int primary key, name text not null)')
  await run("insert into customers values (1, 'Ada')")
  await run('create table orders (id int primary key, total numeric)')
})

afterAll(async () => {
  await driver.close()
  await Promise.all([postgres.close(), system.close()])
})

const run = (text: string) => driver.query({ text, params: [] })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Which of the colours for states this one is written in. */
function toneOf(page: Page, state: string): Promise<string | undefined> {
  return page.evaluate(`(() => {
    const all = [...document.querySelectorAll('[data-state], [data-mark]')]
    const shown = all.find(({ textContent }) => textContent === ${JSON.stringify(state)})
    const { color } = getComputedStyle(shown)
    const probe = shown.appendChild(document.createElement('i'))
    const tone = ['--good', '--warning', '--danger'].find((name) => {
      probe.style.color = 'var(' + name + ')'
      return getComputedStyle(probe).color === color
    })
    probe.remove()
    return tone
  })()`)
}

async function attach(shop: Workspace, sent: object): Promise<string> {
  const answer = await shop.post('/sources/data', sent)
  const { data } = (await answer.json()) as { data: { id: string } }
  return data.id
}

it('attaches a database by single fields and a secret, and says beside a field what is wrong with it', async () => {
  const shop = await world.workspace('fields', {})
  const { hostname, port, pathname, username, password } = new URL(postgres.url)
  await shop.send('PUT', '/secrets/stock_password', { body: { value: password } })
  const page = await signedInAt(`/${shop.name}`)
  await page.getByRole('link', { name: 'Data sources' }).click()
  await page.getByText('Nothing is attached yet').waitFor()
  await page.getByRole('link', { name: 'Attach a source' }).click()
  await page.getByLabel('Given as').selectOption('Single fields')
  await page.getByLabel('Host', { exact: true }).fill(hostname)
  await page.getByLabel('Port').fill(port)
  await page.getByLabel('Database', { exact: true }).fill('nowhere')
  await page.getByLabel('User', { exact: true }).fill(username)
  await page.getByLabel('Encryption').selectOption('off')
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await press(page, 'Test')
  await page.getByRole('alert').getByText('the database refuses the user or the password').waitFor()
  expect(await page.getByLabel('Password', { exact: true }).getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Password from').selectOption('stock_password')
  await press(page, 'Test')
  await page.getByRole('alert').getByText('the database does not exist').waitFor()
  expect(await page.getByLabel('Database', { exact: true }).getAttribute('aria-invalid')).toBe('true')
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-fields')
  // What is no secret is still there.
  await page.reload()
  await expect.poll(() => page.getByLabel('Host', { exact: true }).inputValue()).toBe(hostname)
  expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe(username)
  await page.getByLabel('Password from').selectOption('stock_password')
  await page.getByLabel('Database', { exact: true }).fill(pathname.slice(1))
  let answer = () => {}
  await page.route('**/sources/data/test', async (route) => {
    await new Promise<void>((done) => {
      answer = done
    })
    await route.continue()
  })
  await press(page, 'Test')
  await page.getByRole('progressbar').waitFor()
  // What would do nothing while something else is under way cannot be pressed.
  expect(await page.getByRole('button', { name: 'Connect', exact: true }).isDisabled()).toBe(true)
  answer()
  await page.getByText('It answers.').waitFor()
  await press(page, 'Connect')
  await page.getByLabel('Name of the source').fill('stock')
  await page.getByLabel(/orders/).uncheck()
  await press(page, 'Import')
  await page.getByRole('gridcell', { name: 'Ada' }).waitFor()

  await page.getByRole('link', { name: 'Data sources' }).click()
  const row = page.getByRole('row').filter({ hasText: 'stock' })
  await row.getByText('Works', { exact: true }).waitFor()
  await row.getByText(`${hostname}:${port}`).waitFor()
  expect(await toneOf(page, 'Works')).toBe('--good')
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-list')
  await page.context().close()
})

it('shows what has changed, imports more, and deletes a source with its name typed', async () => {
  const shop = await world.workspace('drifting', {})
  const sent = { apiName: 'stock', provider: 'postgres', config: { connectionString: postgres.url } }
  const id = await attach(shop, sent)
  await shop.post(`/schema/introspect/${id}`, { tables: { include: ['customers'] } })
  await run('alter table customers add column city text')
  const [customers] = (await shop.data('/items/ServiceCollection?fields=id&filter[apiName][_eq]=customers')) as [
    { id: string },
  ]
  const view = { name: 'All customers', collectionId: customers.id, query: {} }
  expect((await shop.post('/items/ServiceView', [view])).status).toBe(200)
  const test = { name: 'Nobody reads them', as: 'anonymous', collection: 'customers', action: 'read' }
  expect((await shop.post('/access/tests', { ...test, expect: { allowed: false } })).status).toBe(201)
  const page = await signedInAt(`/${shop.name}/sources/${id}`)
  await page.getByText('Works. Its tables changed: 1 change to import').waitFor()
  const imports = region(page, 'Import')
  await imports.getByText('customers.city').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-drift')
  await press(page, 'Import')
  const review = page.getByRole('dialog', { name: /^Import from stock/ })
  await review.getByText('customers.city').waitFor()
  await run('alter table customers add column street text')
  await review.getByRole('button', { name: 'Import', exact: true }).click()
  // What was not shown is not imported.
  await review.getByText('Something has changed since this plan was made.').waitFor()
  await review.getByText('customers.street').waitFor()
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 740 })
  await picture(page, 'sources-moved')
  await page.setViewportSize({ width: 1440, height: 900 })
  await review.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('One change was imported.').waitFor()
  await imports.getByText('Everything is imported as it is there.').waitFor()

  await press(page, 'Choose tables')
  await imports.getByText('1 of 2 are chosen').waitFor()
  await imports.getByLabel(/orders/).check()
  await imports.getByLabel(/customers/).uncheck()
  expect(await violations(page)).toEqual([])
  await press(page, 'Show what changes')
  await imports.getByText('customers: the collection disappears with all of its fields').waitFor()
  await imports.getByText('Will be deleted').waitFor()
  await picture(page, 'sources-choice')
  const held = Promise.withResolvers<void>()
  await page.route('**/schema/introspect/*', async () => held.promise, { times: 1 })
  await press(page, 'Import and delete customers')
  await page.getByRole('dialog', { name: 'Import from stock: customers is deleted' }).waitFor()
  await review.getByText('customers: the collection disappears with all of its fields').waitFor()
  expect(await page.getByText('One change was imported.').count()).toBe(0)
  const broken = review.getByRole('list', { name: 'What it breaks' })
  await broken.getByText('All customers').waitFor()
  await broken.getByText('Nobody reads them').waitFor()
  // There is no more to say of a collection that goes, or of one without known fields.
  expect(await review.locator('details').count()).toBe(0)
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-review')
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await review.getByRole('button', { name: 'Import and delete customers' }).isDisabled()).toBe(true)
  await review.getByLabel('To go on, type customers').fill('customers')
  await review.getByRole('button', { name: 'Import and delete customers' }).click()
  await imports.getByText('Importing, all at once.').waitFor()
  await press(page, 'Stop')
  await imports.getByText('Stopped. What was already under way').waitFor()
  held.resolve()
  await press(page, 'Import and delete customers')
  await review.getByLabel('To go on, type customers').fill('customers')
  await page.keyboard.press('Enter')
  await region(page, 'Collections').getByRole('link', { name: 'orders' }).waitFor()
  expect((await shop.get('/items/customers')).status).toBe(404)

  const [orders] = (await shop.data('/items/ServiceCollection?fields=id&filter[apiName][_eq]=orders')) as [
    { id: string },
  ]
  await shop.insert('ServiceView', [{ ...view, name: 'All orders', collectionId: orders.id }])
  const asOrders = { ...test, collection: 'orders', expect: { allowed: false } }
  expect((await shop.post('/access/tests', asOrders)).status).toBe(201)
  await press(page, 'Delete stock')
  const dialog = page.getByRole('dialog', { name: /^Delete stock\?$|^stock cannot be deleted$/ })
  await dialog.getByText('orders').waitFor()
  await dialog.getByText('1 collection is deleted:').waitFor()
  await dialog.getByText('The saved views and access tests of its collections are deleted with them.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true)
  expect(await dialog.getByText('These policies name its collections.').count()).toBe(0)
  await dialog.getByLabel('Type stock to confirm').fill('stock')
  const content = { collections: { orders: { read: 'all' } } }
  const made = await shop.post('/policies', { name: 'Reads orders', content })
  const { data: policy } = (await made.json()) as { data: { id: string } }
  await page.keyboard.press('Enter')
  await dialog
    .getByRole('alert')
    .getByText('The source was not deleted: collection orders is used by the policy Reads orders.')
    .waitFor()
  const naming = dialog.getByRole('list', { name: 'These policies name its collections.' }).getByRole('link')
  await naming.and(page.getByText('Reads orders')).waitFor()
  expect(await naming.getAttribute('href')).toBe(`/${shop.name}/access/policies/${policy.id}`)
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-delete')
  await page.getByRole('dialog', { name: 'stock cannot be deleted' }).getByText('Close').click()
  await press(page, 'Delete stock')
  // Before it is tried as well.
  await naming.waitFor()
  expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0)
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'sources-delete-narrow-dark')
  await shop.delete(`/policies/${policy.id}`)
  await page.getByRole('dialog', { name: 'stock cannot be deleted' }).getByText('Close').click()
  await press(page, 'Delete stock')
  await dialog.getByLabel('Type stock to confirm').fill('stock')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is attached yet').waitFor()
  expect(await shop.data('/items/ServiceDataSource?fields=apiName')).toEqual([{ apiName: '_system' }])
  expect(await shop.data('/items/ServiceView?fields=name')).toEqual([])
  expect(await shop.data('/access/tests')).toEqual([])
  await page.context().close()
})

it('tells two sources of the same database apart', async () => {
  const shop = await world.workspace('twice', {})
  await run('create schema archive')
  await run('create table archive.letters (id int primary key)')
  const sent = { provider: 'postgres', config: { connectionString: postgres.url } }
  for (const [apiName, include] of [
    ['main', 'customers'],
    ['main2', 'archive.*'],
  ]) {
    const id = await attach(shop, { ...sent, apiName })
    expect((await shop.post(`/schema/introspect/${id}`, { tables: { include: [include] } })).status).toBe(200)
  }
  const { host } = new URL(postgres.url)
  const page = await signedInAt(`/${shop.name}/sources`)
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  await row('main').getByText(`${host} · public`).waitFor()
  await row('main2').getByText(`${host} · archive`).waitFor()
  await picture(page, 'sources-twice')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await picture(page, 'sources-twice-narrow-dark')
  await page.goto(`/${shop.name}/model`)
  await press(page, 'New collection')
  const source = page.getByRole('dialog').getByLabel('Data source')
  await source.getByRole('option', { name: 'main2 · PostgreSQL · 1 collection' }).waitFor({ state: 'attached' })
  await source.selectOption({ label: 'main2 · PostgreSQL · 1 collection' })
  await picture(page, 'model-sources-twice-narrow-dark')
  await run('drop schema archive cascade')
  await page.context().close()
})

it('attaches a connector with the hosts that somebody grants', async () => {
  const shop = await world.workspace('granting', {})
  const page = await signedInAt(`/${shop.name}/sources/connectors`)
  const unusable = page.getByRole('table', { name: 'Extensions that cannot be used' })
  await unusable.getByText('unusable').first().waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-connectors')
  await page.getByRole('link', { name: 'Attach Scripted' }).click()
  await page.getByLabel('Configuration').fill('{')
  await press(page, 'Connect')
  await page.getByText('This is no JSON object.').waitFor()
  await page.getByLabel('Configuration').fill(JSON.stringify({ system: system.url }))
  await press(page, 'Connect')
  await page.getByRole('cell', { name: 'docs.example.com' }).waitFor()
  await page.getByRole('cell', { name: 'the manifest says so' }).waitFor()
  await page.getByRole('heading', { name: 'Hosts asked for', exact: true }).waitFor()
  // Nothing goes on before somebody decides.
  expect(await page.getByRole('button', { name: /^(Connect|Test)$/ }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-grant')
  await press(page, 'Refuse')
  await page.getByText('Nothing was attached.').waitFor()
  await press(page, 'Connect')
  await press(page, 'Grant and go on')
  await page.getByLabel('Name of the source').fill('library')
  await press(page, 'Import')
  await page.getByRole('gridcell', { name: 'Ada' }).waitFor()

  await page.context().close()
})

it('says why a source is off, and starts it by an import', async () => {
  const shop = await world.workspace('revoked', {})
  const id = await attach(shop, { apiName: 'library', ...sourceInputFor(system) })
  system.instruct('setup', { do: 'throw', class: 'AccessDenied', message: 'the key is revoked' })
  const page = await signedInAt(`/${shop.name}/sources/${id}`)
  const state = region(page, 'State')
  await state.getByText('Off', { exact: true }).waitFor()
  expect(await toneOf(page, 'Off')).toBe('--danger')
  await state.getByText('Invalid extension configuration').waitFor()
  await page.getByText('Its extension refuses what the source is set up with.').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-off')
  system.instruct('setup', null)
  await press(page, 'Import')
  await state.getByText('Works', { exact: true }).waitFor()
  await region(page, 'Collections').getByRole('link', { name: 'books' }).waitFor()
  await page.context().close()
})

it('tells which hosts a connector has come to need since it was granted', async () => {
  const shop = await world.workspace('regranting', {})
  const id = await connect(shop, system)
  const [kept] = sourceInputFor(system).permissions
  const added = { permission: 'net:files.example.com', reason: 'pictures' }
  const page = await signedInAt('/')
  await page.route('**/schema/introspect/*', (route) =>
    route.fulfill({
      status: 422,
      json: { message: 'Invalid extension permissions', code: '7001', meta: { permissions: [kept, added] } },
    }),
  )
  await page.goto(`/${shop.name}/sources/${id}`)

  await page.getByText('Off: needs other hosts').waitFor()
  const table = page.getByRole('table', { name: 'Hosts asked for and granted' })
  expect(await toneOf(page, 'Off: needs other hosts')).toBe('--danger')
  const marks = table.locator('[data-mark]')
  await expect.poll(() => marks.allTextContents()).toEqual(['Granted', 'New since the grant', 'Not needed any more'])
  expect(await toneOf(page, 'New since the grant')).toBe('--warning')
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-regrant')
  await page.context().close()
})

it('writes secrets, keeps the old one where a source fails with the new one, and deletes none in use', async () => {
  const shop = await world.workspace('kept', {})
  await shop.send('PUT', '/secrets/stock', { body: { value: postgres.url } })
  await attach(shop, { apiName: 'stock', provider: 'postgres', config: { connectionString: { $secret: 'stock' } } })
  const page = await signedInAt(`/${shop.name}/sources/secrets`)
  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Change stock' }) })
  await row.getByRole('cell').nth(1).getByText('stock').waitFor()
  await press(page, 'Change stock')
  await page.getByLabel('Value').fill('postgres://nobody:nothing@127.0.0.1:1/none')
  await press(page, 'Test and save')
  await page.getByRole('alert').getByText('stock: The database does not answer.').waitFor()
  expect(await page.getByLabel('Value', { exact: true }).getAttribute('aria-invalid')).toBe('true')
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-secret')
  await page.getByLabel('Value').fill(postgres.url)
  await press(page, 'Test and save')
  await page.getByText('Written. Opened anew with it: stock.').waitFor()
  await press(page, 'Delete stock')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alert').getByText('used by stock').waitFor()
  await press(page, 'Cancel')
  await press(page, 'New secret')
  await page.getByLabel('Name', { exact: true }).fill('spare')
  await page.getByLabel('Value').fill('x')
  await press(page, 'Save')
  await press(page, 'Change spare')
  await page.getByText('Nothing uses it yet').waitFor()
  await press(page, 'Cancel')
  await page.getByRole('button', { name: 'Delete spare' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Delete spare' }).waitFor({ state: 'detached' })

  expect(await shop.data('/secrets')).toMatchObject([{ name: 'stock' }])
  await page.context().close()
})

it('changes the password of a source that is attached, and keeps the old connection where the new one fails', async () => {
  const shop = await world.workspace('rotated', {})
  const id = await attach(shop, { apiName: 'stock', provider: 'postgres', config: { connectionString: postgres.url } })
  const page = await signedInAt(`/${shop.name}/sources/${id}`)
  await press(page, 'Change the password or connection')
  const dialog = page.getByRole('dialog', { name: 'Change the connection of stock' })
  await dialog.getByLabel('Given as').selectOption('Single fields')
  const { hostname, port, pathname, username, password } = new URL(postgres.url)
  expect(await dialog.getByLabel('Host', { exact: true }).inputValue()).toBe(hostname)
  expect(await dialog.getByLabel('Port').inputValue()).toBe(port)
  await dialog.getByLabel('Database', { exact: true }).fill(pathname.slice(1))
  await dialog.getByLabel('User', { exact: true }).fill(username)
  await dialog.getByLabel('Encryption').selectOption('off')
  await dialog.getByLabel('Password', { exact: true }).fill('wrong')
  await press(page, 'Test and save')
  await dialog.getByRole('alert').getByText('the database refuses the user or the password').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'sources-connection')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'sources-connection-narrow-dark')
  await shop.send('PUT', '/secrets/stock_password', { body: { value: password } })
  await press(page, 'Cancel')
  await page.reload()
  await press(page, 'Change the password or connection')
  await dialog.getByLabel('Given as').selectOption('Single fields')
  await dialog.getByLabel('Password from').selectOption('stock_password')
  await dialog.getByLabel('Database', { exact: true }).fill(pathname.slice(1))
  await dialog.getByLabel('User', { exact: true }).fill(username)
  await dialog.getByLabel('Encryption').selectOption('off')
  await press(page, 'Test and save')
  await page.getByText('stock was tested and is opened with the new connection.').waitFor()

  // From now on its secret is enough.
  await press(page, 'Change the secret “stock_password”')
  await page.getByRole('dialog', { name: 'Change the secret “stock_password”' }).getByLabel('Value').fill(password)
  await press(page, 'Test and save')
  await page.getByText('Written. Opened anew with it: stock.').waitFor()
  await page.context().close()
})

it('says once at home which workspaces have a changed database, each with a link to its sources', async () => {
  const page = await signedInAt('/')
  const names = ['shop', 'archive', 'stock', 'a_rather_long_name_of_a_workspace', 'archive']
  await page.route('**/api/system/info', async (route) => {
    const answer = await route.fetch()
    const warnings = names.map((workspace, at) => ({ kind: 'schemaDrift', workspace, sourceId: String(at) }))
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), warnings } })
  })
  await page.reload()
  const warning = page.getByRole('region', { name: 'Warnings' }).getByRole('status')
  await warning.filter({ hasText: 'Databases were changed outside of the service.' }).waitFor()

  expect(await warning.count()).toBe(1)
  const links = warning.getByRole('link')
  expect(await links.allTextContents()).toEqual([...new Set(names)].sort())
  expect(await links.first().getAttribute('href')).toBe('/a_rather_long_name_of_a_workspace/sources')
  expect(await violations(page)).toEqual([])
  await picture(page, 'home-drift')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'home-drift-narrow-dark')
  await page.context().close()
})

it('shows what one may not do with its reason', async () => {
  const shop = await world.workspace('looking', {})
  const id = await attach(shop, { apiName: 'stock', provider: 'postgres', config: { connectionString: postgres.url } })
  const person = await people.member(shop, { entitlements: ['dataSource:read'] })
  const page = await signedInAt(`/${shop.name}/sources`, person)

  await page.getByText('You lack the right dataSource:create, dataModel:edit.').waitFor()
  await page.getByRole('link', { name: 'Secrets' }).click()
  await page.getByText('You lack the right dataSource:create.').waitFor()
  await page.goto(`/${shop.name}/sources/${id}`)
  await page.getByText('You lack the right dataSource:delete.').waitFor()
  await page.getByText('You lack the right dataModel:edit.').waitFor()
  expect(await page.getByText('127.0.0.1').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await page.context().close()
})
