/** What administrators of the service see in the console: users, service accounts, sign-in providers, license and settings. */
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let page: Page

beforeAll(async () => {
  shop = await world.workspace('system', { articles: { title: 'string' }, authors: { name: 'string' } })
})

afterEach(() => page.context().close())

const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const dialog = () => page.getByRole('dialog')
const section = (name: string) => page.getByRole('region', { name, exact: true })
const link = (name: string) => page.getByRole('link', { name, exact: true })

async function looksRight(name: string): Promise<void> {
  expect(await violations(page)).toEqual([])
  await picture(page, `system-${name}`)
}

it('finds a user, suspends and deletes it with what hangs on it', async () => {
  const person = await people.memberWith(shop, [])
  const robot = world.name('robot')
  await person.system.post('/api/system/service-accounts', { name: robot })
  page = await signedInAt('/')
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Users' }).click()
  await page.getByLabel('Name or e-mail').fill(person.email)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await looksRight('users')
  await link(person.email).click()
  await section('Workspaces').getByRole('link', { name: shop.name }).waitFor()
  await link(robot).waitFor()
  await page.getByText(person.userId, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Copy' }).waitFor()
  await looksRight('user')

  await press('Suspend')
  await dialog().getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('button', { name: 'Activate' }).waitFor()
  expect((await person.system.get('/api/system/users/me')).status).toBe(401)
  await press(`Delete ${person.email}`)
  await dialog().getByText(robot).waitFor()
  await dialog().getByText('Conversations with the assistant').waitFor()
  await dialog().getByLabel(`Type ${person.email} to confirm`).fill(person.email)
  await looksRight('delete-user')
  await page.keyboard.press('Enter')

  await page.getByText(`${person.email} is deleted.`).waitFor()
  expect((await world.administrator.get(`/api/system/users/${person.userId}`)).status).toBe(404)
})

it('makes a service account with a role, and a key of it for some actions on one collection', async () => {
  const role = await people.roleWith(shop, { collections: { articles: { read: 'all', create: 'all' } } })
  page = await signedInAt('/-/service-accounts')
  const name = world.name('importer')
  await press('New service account')
  await dialog().getByLabel('Name', { exact: true }).fill(name)
  await dialog().getByLabel('Workspace').selectOption(shop.name)
  const roles = await shop.data(`/roles?filter[id][_eq]=${role}&fields=name`)
  const roleName = String((roles as readonly { readonly name: string }[])[0]?.name)
  await dialog().getByLabel(roleName).check()
  await looksRight('new-account')
  await dialog().getByRole('button', { name: 'Create' }).click()

  await press('New key')
  await dialog().getByLabel('Name', { exact: true }).fill('nightly')
  await dialog().getByLabel('Workspace').selectOption(shop.name)
  await dialog().getByLabel('Rights', { exact: true }).selectOption('Only what is chosen here')
  await dialog().getByRole('button', { name: 'Make the key' }).click()
  await dialog().getByText('Choose what the key may do').waitFor()
  await dialog().getByLabel('Read: articles').check()
  await dialog().getByText('Choose what the key may do').waitFor({ state: 'detached' })
  // What the account may not do is not offered.
  const offered = dialog().getByRole('table').getByRole('checkbox')
  const namesOf = () => offered.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  await expect.poll(namesOf).toEqual(['Read: articles', 'Create: articles'])
  expect(await dialog().getByText('See the data model').count()).toBe(0)
  await looksRight('scope')
  await dialog().getByRole('button', { name: 'Make the key' }).click()
  const key = world.bearer((await dialog().locator('code').textContent()) ?? '')
  await press('I have it')
  await page.getByText(`${shop.name} · articles: read`).waitFor()
  await page.getByRole('main').getByLabel(roleName).waitFor()
  expect(await page.getByRole('main').getByText(roleName).count()).toBe(1)
  await looksRight('account')

  const items = `/api/${shop.name}/items/articles`
  expect([(await key.get(items)).status, (await key.post(items, [{ title: 'x' }])).status]).toEqual([200, 403])
  await press(`Delete ${name}`)
  await dialog().getByLabel(`Type ${name} to confirm`).fill(name)
  await page.keyboard.press('Enter')
  await page.getByText(`${name} is deleted.`).waitFor()
  expect((await key.get(items)).status).toBe(401)
})

it('adds a provider, never shows its secret again, and asks for it with another address', async () => {
  page = await signedInAt('/-/providers?new')
  const name = world.name('corporate').replaceAll('_', '-').toLowerCase()
  await page.getByLabel('Kind').selectOption('Other provider (OpenID Connect)')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByText(`${world.url}/api/auth/providers/${name}/callback`).waitFor()
  await page.getByLabel('Issuer URL').fill('https://login.example.com')
  await page.getByLabel('Client ID').fill('shop')
  await page.getByLabel('Client secret').fill('a secret of it')
  await page.reload()
  await page.getByLabel('Kind').selectOption('Other provider (OpenID Connect)')
  expect(await page.getByLabel('Issuer URL').inputValue()).toBe('https://login.example.com')
  await page.getByLabel('Client secret').fill('a secret of it')
  const widths = ['Kind', 'Name', 'Issuer URL'].map(async (label) => {
    const box = await page.getByLabel(label, { exact: true }).boundingBox()
    return box?.width
  })
  expect(new Set(await Promise.all(widths)).size).toBe(1)
  await looksRight('new-provider')
  await press('Add')
  await link('Sign in by it in a new tab').waitFor()
  expect(await page.getByLabel('Client secret').inputValue()).toBe('')
  await looksRight('provider')
  await page.getByLabel('People can sign in by it').uncheck()
  await press('Save')
  await page.getByText('It is off.').waitFor()
  await page.getByLabel('Issuer URL').fill('https://other.example.com')
  await page.getByText('With another address the secret has to be given again.').waitFor()
  await press('Cancel')
  expect(await page.getByLabel('Issuer URL').inputValue()).toBe('https://login.example.com')
  await link('All providers').click()
  await page.getByRole('row').filter({ hasText: name }).getByText('Off').waitFor()
  expect(await (await world.administrator.delete(`/api/system/providers/${name}`)).status).toBe(204)
})

it('shows the usage of the license, the variables without secrets, and whether mail works', async () => {
  page = await signedInAt('/-/license')
  await section('Usage').getByRole('cell', { name: 'workspaces' }).waitFor()
  await looksRight('license')
  await link('Settings').click()
  await page.getByLabel('Find a variable').fill('setup')
  const row = page.getByRole('row').filter({ hasText: 'SERVICE_SETUP_TOKEN' })
  await row.getByText('Not shown').waitFor()
  await looksRight('settings')
  await press('Send a mail to yourself')
  await page.getByText('was accepted for delivery').waitFor()
  // As the dialog of an invitation says it where no mail goes out.
  const saysOf = async (mail: string) => {
    await page.unrouteAll()
    await page.route('**/api/system/info', async (sent) => {
      const response = await sent.fetch()
      await sent.fulfill({ response, json: { ...(await response.json()), mail } })
    })
    await page.reload()
  }
  await saysOf('log')
  await page.getByText('No mail goes out: SERVICE_MAIL__URL says that mails are printed').waitFor()
  await press('Send a mail to yourself')
  await page.getByText('The mail is in the log of the service.').waitFor()
  await saysOf('none')
  await page.getByText('No mail goes out: SERVICE_MAIL__URL is not set.').waitFor()
  expect(await page.getByRole('button', { name: 'Send a mail to yourself' }).count()).toBe(0)
  await looksRight('settings-mailless')
})

it('refuses to others in words what is for administrators', async () => {
  const person = await people.memberWith(shop, [])
  page = await signedInAt('/-/users', person)
  await page.getByText('For administrators of the service only.').waitFor()
  expect(
    await page.getByRole('navigation', { name: 'Account and service' }).getByRole('link').allTextContents(),
  ).toEqual(['Your account', 'Service accounts'])
  await page.keyboard.press('Control+k')
  await page.keyboard.type('sign-in prov')
  await page.locator('[role=option][aria-disabled=true]').getByText('Sign-in providers').waitFor()
})
