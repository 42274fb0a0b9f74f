/** The guided set-up, from an installation that nobody has claimed to rows. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { world } from '../support/service/world.ts'
import { closePages, isWiderThanWindow, openConsole, violationsOf } from './support/pages.ts'

const setupToken = 'the-token-of-this-set-up-0123456789'

let environment: TestEnvironment
let instance: Instance
let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
  environment = await openTestEnvironment()
  instance = await environment.open({
    SERVICE_ADMIN__EMAIL: '',
    SERVICE_ADMIN__PASSWORD: '',
    SERVICE_SETUP_TOKEN: setupToken,
  })
})

afterEach(closePages)
afterAll(async () => {
  await environment?.close()
  await servers?.close()
})

it('leads from nothing to rows, and can be left and taken up again', async () => {
  const page = await openConsole({ viewport: { width: 360, height: 720 }, reducedMotion: 'reduce' })
  await page.goto(instance.url)
  await page.getByRole('heading', { name: 'The first administrator' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  expect(await isWiderThanWindow(page)).toBe(false)
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('Full name').fill('Ada Lovelace')
  await page.getByLabel('Password').fill('a long password')
  await page.getByLabel('Set-up token').fill('wrong')
  await page.getByRole('button', { name: 'Create the administrator' }).click()
  await page.getByText('The set-up token is missing or wrong.').waitFor()
  await page.getByLabel('Set-up token').fill(setupToken)
  await page.getByRole('button', { name: 'Create the administrator' }).click()

  await page.getByRole('heading', { name: 'The first workspace' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('link', { name: 'Later' }).click()
  await page.getByRole('link', { name: 'Go on with the set-up' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Bücher & Co.')
  await expect.poll(() => page.getByLabel('Name in addresses').inputValue()).toBe('bucher_co')
  await page.getByRole('button', { name: 'Create the workspace' }).click()

  await page.getByRole('heading', { name: 'The data' }).waitFor()
  await page.getByRole('button', { name: /^Connect a database/ }).click()
  await page.getByLabel('Connection string').fill('postgres://nobody:nothing@127.0.0.1:1/none')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByRole('alert').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByRole('button', { name: /^Sample data/ }).click()

  await page.getByText('The Left Hand of Darkness').waitFor()
  await expect.poll(() => page.url()).toBe(`${instance.url}/bucher_co/items/books`)
})

it.each(['postgres', 'mysql'] as const)(
  'attaches a database of %s: tables are chosen, and a row is edited',
  async (provider) => {
    const { config, run } = servers[provider]
    await run(
      'create table customers (id int primary key, name varchar(80) not null)',
      'create table orders (id int primary key, customer_id int references customers (id), total decimal(10,2))',
      'create table secrets_of_others (id int primary key)',
      "insert into customers values (1, 'Ada'), (2, 'Grace')",
    )
    const shop = await world.workspace('attached', { albums: { title: 'string' } })
    const page = await signedInAt(`/-/set-up?workspace=${shop.name}`)
    await page.getByRole('button', { name: /^Connect a database/ }).click()
    await page.getByLabel('Connection string').fill((config as { connectionString: string }).connectionString)
    await expect.poll(() => page.getByLabel('Provider').inputValue()).toBe(provider)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('3 of 3 are chosen.').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByLabel('secrets_of_others').uncheck()
    await page.getByText('2 of 3 are chosen.').waitFor()
    await picture(page, `connect-${provider}`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()

    await page.getByRole('gridcell', { name: 'Grace' }).dblclick()
    await page.keyboard.insertText(' H.')
    await page.keyboard.press('Enter')
    await expect.poll(() => run('select name from customers where id = 2')).toEqual([['Grace H.']])
    const links = page.getByRole('list', { name: 'Collections' }).getByRole('link')
    await expect.poll(() => links.allTextContents()).toEqual(['albums', 'customers', 'orders'])
    await page.context().close()
  },
)
