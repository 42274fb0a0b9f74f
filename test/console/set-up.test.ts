/** The guided set-up, from an installation that nobody has claimed to rows. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import {
  type SourceServer,
  type SourceServers,
  startPostgresSources,
  startSourceServers,
} from '../support/servers/source-servers.ts'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, isWiderThanWindow, openConsole } from './support/pages.ts'

const setupToken = 'the-token-of-this-set-up-0123456789'

afterEach(closePages)

describe('an installation that nobody has claimed', () => {
  let environment: TestEnvironment
  let instance: Instance

  beforeAll(async () => {
    environment = await openTestEnvironment()
    instance = await environment.open({
      SERVICE_ADMIN__EMAIL: '',
      SERVICE_ADMIN__PASSWORD: '',
      SERVICE_SETUP_TOKEN: setupToken,
    })
  })

  afterAll(() => environment?.close())

  it('leads from nothing to rows, and can be left and taken up again', async () => {
    const page = await openConsole({ viewport: { width: 360, height: 720 }, reducedMotion: 'reduce' })
    await page.goto(instance.url)
    await page.getByRole('heading', { name: 'The first administrator', exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
    expect(await isWiderThanWindow(page)).toBe(false)
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Full name').fill('Ada Lovelace')
    await page.getByLabel('Password').fill('a long password')
    await page.getByLabel('Set-up token').fill('wrong')
    await page.getByRole('button', { name: 'Create the administrator' }).click()
    await page.getByText('The set-up token is missing or wrong.').waitFor()
    await page.getByLabel('Set-up token').fill(setupToken)
    await page.getByRole('button', { name: 'Create the administrator' }).click()

    await page.getByRole('heading', { name: 'The first workspace', exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'Later' }).click()
    await page.getByRole('link', { name: 'Go on with the set-up' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Bücher & Co.')
    await expect.poll(() => page.getByLabel('Name in addresses').inputValue()).toBe('bucher_co')
    await page.getByRole('button', { name: 'Create the workspace' }).click()

    await page.getByRole('heading', { name: 'The data', exact: true }).waitFor()
    await page.getByRole('button', { name: /^Connect a database/ }).click()
    await page.getByLabel('Connection string').fill('postgres://nobody:nothing@127.0.0.1:1/none')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('alert').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('button', { name: /^Sample data/ }).click()

    await page.getByText('The Left Hand of Darkness').waitFor()
    await expect.poll(() => page.url()).toBe(`${instance.url}/bucher_co/items/books`)
    await page.goto(`${instance.url}/bucher_co`)
    await page.getByRole('heading', { name: 'Bücher & Co.', exact: true }).waitFor()

    // A second workspace is opened when it is made, and is no set-up of the service any more.
    await page.goto(instance.url)
    await page.getByRole('button', { name: 'New workspace' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Second')
    await page.getByRole('button', { name: 'Create the workspace' }).click()
    await page.getByRole('heading', { name: 'Second', exact: true }).waitFor()
    expect(page.url()).toBe(`${instance.url}/second`)
    await page.getByRole('link', { name: 'Add data' }).click()
    await page.getByRole('heading', { name: 'The data', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Go to second' }).waitFor()
    expect(await page.getByText('Set up the service').count()).toBe(0)
  })
})

const providers = firstOf(['postgres', 'mysql'] as const, 1)

describe('a workspace', () => {
  let servers: Partial<SourceServers>

  beforeAll(async () => {
    servers = await (providers.includes('mysql') ? startSourceServers() : startPostgresSources())
  })

  afterAll(() => servers?.close?.())

  it.each(providers)('attaches a database of %s: tables are chosen, and a row is edited', async (provider) => {
    const { config, run } = servers[provider] as SourceServer
    await run(
      'create table customers (id int primary key, name varchar(80) not null)',
      'create table orders (id int primary key, customer_id int references customers (id), total decimal(10,2))',
      'create table secrets_of_others (id int primary key)',
      "insert into customers values (1, 'Ada'), (2, 'Grace')",
      ...(provider === 'mysql' ? ['create table notes (id int primary key) engine = MyISAM'] : []),
    )
    const count = provider === 'mysql' ? 4 : 3
    const shop = await world.workspace('attached', { albums: { title: 'string' } })
    const page = await signedInAt(`/${shop.name}`)
    await page.getByRole('link', { name: 'Add data' }).click()
    await page.getByRole('link', { name: `Go to ${shop.name}` }).waitFor()
    expect(await page.getByText('Step 3 of 3').count()).toBe(0)
    await page.getByRole('button', { name: /^Connect a database/ }).click()
    await page.getByLabel('Connection string').fill((config as { connectionString: string }).connectionString)
    await expect.poll(() => page.getByLabel('Provider').inputValue()).toBe(provider)
    await page
      .getByLabel('Provider')
      .selectOption({ label: provider === 'mysql' ? 'Amazon RDS for MySQL' : 'Supabase' })
    await page.getByText(provider === 'mysql' ? '<instance>.<region>' : 'db.<project>.supabase.co').waitFor()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText(`${count} of ${count} are chosen.`).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByLabel('secrets_of_others').uncheck()
    await page.getByText(`${count - 1} of ${count} are chosen.`).waitFor()
    await picture(page, `connect-${provider}`)
    const held = Promise.withResolvers<void>()
    await page.route('**/schema/introspect/*', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText(`Importing ${count - 1} of ${count} tables, all at once.`).waitFor()
    await page
      .getByRole('timer')
      .getByText(/^\d+ seconds?$/)
      .waitFor()
    expect(await violations(page)).toEqual([])
    held.resolve()
    const told = page.getByText(`${count - 1} collections were made.`)
    await told.waitFor()
    if (provider === 'postgres') expect((await told.boundingBox())?.y).toBeGreaterThan(450)
    if (provider === 'mysql') {
      await page.getByRole('cell', { name: 'is read-only: the engine MyISAM has no transactions' }).waitFor()
      expect(await page.getByRole('row').count()).toBe(2)
      expect(await violations(page)).toEqual([])
      await picture(page, 'connect-left-out')
      await page.getByRole('button', { name: 'Go to the rows' }).click()
    }

    await page.getByRole('gridcell', { name: 'Grace' }).dblclick()
    await page.keyboard.insertText(' H.')
    await page.keyboard.press('Enter')
    await expect.poll(() => run('select name from customers where id = 2')).toEqual([['Grace H.']])
    const links = page.getByRole('list', { name: 'Collections' }).getByRole('link')
    await expect
      .poll(() => links.allTextContents())
      .toEqual(['albums', 'customers', ...(provider === 'mysql' ? ['notes'] : []), 'orders'])
    await page.goto(`/-/set-up?workspace=${shop.name}`)
    await page.getByRole('button', { name: /^Connect a database/ }).click()
    await page.getByLabel('Connection string').fill((config as { connectionString: string }).connectionString)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await expect.poll(() => page.getByLabel('Name of the source').inputValue()).toBe('main2')
    await page.context().close()
  })
})

describe('a model', () => {
  const open = async (shop: Workspace, way: string) => {
    const page = await signedInAt(`/-/set-up?workspace=${shop.name}`)
    await page.getByRole('button', { name: new RegExp(`^${way}`) }).click()
    return page
  }

  it('of two collections is made by a form, with its plan, and the keyboard alone', async () => {
    const shop = await world.workspace('formed', { albums: { title: 'string' } })
    const page = await open(shop, 'Begin with a form')
    await page.getByLabel('Name of the collection').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('albums')
    await page.keyboard.press('Enter')
    await page.getByText('There is a collection albums already.').waitFor()
    await page.getByLabel('Name of the collection').fill('authors')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add a collection' }).press('Enter')
    const second = page.getByRole('group', { name: 'Collection 2' })
    await second.getByLabel('Name of the collection').fill('authors')
    await page.getByRole('button', { name: 'Show the plan' }).press('Enter')
    await second.getByText('There is a collection authors already.').waitFor()
    await second.getByLabel('Name of the collection').fill('books')
    await second.getByRole('button', { name: 'Add a field' }).press('Enter')
    await second.getByLabel('Field 2', { exact: true }).fill('author')
    await second.getByLabel('Type').nth(1).selectOption({ label: 'Refers to authors' })
    await second.getByRole('checkbox').nth(1).press(' ')
    expect(await violations(page)).toEqual([])
    await picture(page, 'set-up-form')
    await page.keyboard.press('Enter')

    await page.getByRole('button', { name: 'Apply' }).waitFor()
    const changes = page.getByRole('list', { name: 'What it changes' }).getByRole('listitem')
    expect(await changes.allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^New authors/), expect.stringMatching(/^New books/)]),
    )
    expect(await violations(page)).toEqual([])
    await picture(page, 'set-up-plan')
    await page.getByRole('button', { name: 'Apply' }).press('Enter')
    await page.getByRole('heading', { name: 'authors', exact: true }).waitFor()
    await shop.insert('authors', [{ name: 'Ada' }])
    expect(await shop.insert('books', [{ name: 'Notes', authorId: 1 }])).toHaveLength(1)
    await page.context().close()
  })

  it('is pasted, tells by its plan what it destroys, and is planned anew where something has moved', async () => {
    const shop = await world.workspace('pasted', { albums: { title: 'string', year: 'int32?' } })
    await shop.insert('albums', [{ title: 'Blue', year: 1971 }])
    const page = await open(shop, 'Paste a model file')
    await page.getByLabel('Model file').fill('{"version": 1, "collections": {"albums": {')
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByText('This is no JSON.').waitFor()
    await page.getByLabel('Model file').fill('{"version": 1, "collections": {"albums": {"fields": {"id": "nothing"}}}}')
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByText('model.collections.albums.fields.id').waitFor()
    await page.getByLabel('Model file').fill('{}')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    const file = {
      version: 1,
      collections: { albums: { fields: { id: 'int64 auto', title: 'string', label: 'string?' } } },
    }
    await page.getByLabel('Model file').fill(JSON.stringify(file))
    await page.getByRole('button', { name: 'Show the plan' }).click()

    await page.getByText('This loses data').first().waitFor()
    await page.getByText('1 row').waitFor()
    expect(await page.getByRole('button', { name: 'Apply' }).isEnabled()).toBe(false)
    await page.getByText('SQL that it runs').click()
    await page.getByText('drop column "year"').waitFor()
    expect(await violations(page)).toEqual([])
    await picture(page, 'set-up-destructive')
    const model = (await (await shop.get('/schema/model?ids=false')).json()) as { readonly collections: object }
    const other = { ...model, collections: { ...model.collections, extra: { fields: { id: 'int64 auto' } } } }
    const planned = await shop.post('/schema/plan', { model: other })
    const { data } = (await planned.json()) as { readonly data: { readonly plan: string } }
    expect((await shop.post('/schema/apply', { model: other, plan: data.plan })).status).toBe(200)
    await page.getByLabel('Lose this data').check()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Something has changed since this plan was made.').waitFor()
    await page.getByRole('list', { name: 'What it changes' }).getByText('extra', { exact: true }).waitFor()
    await page.getByLabel('Lose this data').check()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('columnheader', { name: 'label' }).waitFor()
    await page.getByRole('gridcell', { name: 'Blue' }).waitFor()
    await page.context().close()
  })
})
