/** Who may do what, in the console: people asked in, roles and policies made, and why somebody may or may not. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { tokenIn } from '../support/service/mailed-token.ts'
import { mails } from '../support/service/mails.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { openConsole, storedTexts } from './support/pages.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('governed', {
    notes: { title: 'string', owner: 'uuid?', pages: 'int32?' },
    secrets: { code: 'string?' },
  })
  await shop.insert('notes', [
    { title: 'Long', pages: 90 },
    { title: 'Short', pages: 3 },
  ])
})

const path = (part = '') => `/${shop.name}/access${part}`
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

it('makes a policy in its matrix, a role of it, and asks somebody in', async () => {
  const page = await signedInAt(path())
  await page.getByRole('cell', { name: world.administrator.email, exact: true }).waitFor()
  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  await page.getByRole('link', { name: 'New policy' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Short notes')

  await page.getByLabel('Read: notes').selectOption('Limited')
  const limits = dialog(page, 'Read: notes')
  await limits.getByLabel('Fields', { exact: true }).selectOption('Only these fields')
  for (const name of ['title', 'pages']) await limits.getByRole('checkbox', { name, exact: true }).check()
  await limits.getByRole('button', { name: 'Build a condition: Rows' }).click()
  await limits.getByLabel('Field', { exact: true }).selectOption('pages')
  await limits.getByLabel('Operator').selectOption('_lt')
  await limits.getByLabel('Value').fill('10')
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-limits')
  await limits.getByLabel('Value').fill('ten')
  await limits.getByRole('button', { name: 'Apply' }).click()
  await limits.getByText('A value below does not fit').waitFor()
  await limits.getByLabel('Value').fill('10')
  expect(await limits.getByLabel('Rows as JSON').isVisible()).toBe(false)
  await limits.getByText('As JSON', { exact: true }).click()
  await expect.poll(() => limits.getByLabel('Rows as JSON').inputValue()).toContain('"_lt": 10')
  expect(await violations(page)).toEqual([])
  await limits.getByRole('button', { name: 'Apply' }).click()
  await page.getByLabel('Create: notes').press('ArrowDown')
  expect(await page.getByLabel('Create: notes').inputValue()).toBe('all')
  await page.getByRole('checkbox', { name: 'See the data model' }).check()
  await press(page, 'Save')
  await page.getByRole('heading', { name: 'Short notes', exact: true }).waitFor()

  const policies = (await shop.data('/policies?filter[name]=Short notes')) as { id: string; content: object }[]
  expect(policies.map(({ content }) => content)).toEqual([
    {
      entitlements: ['dataModel:read'],
      collections: { notes: { read: { fields: ['title', 'pages'], filter: { pages: { _lt: 10 } } }, create: 'all' } },
    },
  ])

  await page.getByRole('link', { name: 'Roles', exact: true }).click()
  await press(page, 'New role')
  await dialog(page, 'New role').getByLabel('Name', { exact: true }).fill('Readers')
  // What is typed stays while a policy is made for it.
  await dialog(page, 'New role').getByRole('link', { name: 'New policy' }).click()
  await page.getByRole('heading', { name: 'New policy' }).waitFor()
  await page.getByRole('link', { name: 'Roles', exact: true }).click()
  await press(page, 'New role')
  expect(await dialog(page, 'New role').getByLabel('Name', { exact: true }).inputValue()).toBe('Readers')
  await dialog(page, 'New role').getByRole('checkbox', { name: 'Short notes' }).check()
  await press(page, 'Save')
  await page
    .getByRole('row', { name: /Readers/ })
    .getByText('Short notes')
    .waitFor()

  const email = people.email()
  await page.getByRole('link', { name: 'People', exact: true }).click()
  await press(page, 'Invite')
  await dialog(page, 'Invite').getByLabel('E-mail').fill(email)
  await dialog(page, 'Invite').getByRole('checkbox', { name: 'Readers' }).check()
  await press(page, 'Send the invitation')
  await page
    .getByRole('row', { name: new RegExp(email) })
    .getByText('Readers')
    .waitFor()
  const token = tokenIn(await mails.arrived(email, new RegExp(`^Invitation to the workspace ${shop.name}$`)))
  const sent = { token, password: 'a password of many letters' }
  expect((await world.anonymous.post('/api/auth/invitations/accept', sent)).status).toBe(200)

  const theirs = await signedInAt(`/${shop.name}/items/notes`, { email, password: sent.password })
  await theirs.getByRole('gridcell', { name: 'Short' }).waitFor()
  expect(await theirs.getByRole('gridcell', { name: 'Long' }).count()).toBe(0)
  expect(await theirs.getByRole('link', { name: 'Access', exact: true }).count()).toBe(0)

  await page.reload()
  await press(page, `Suspend ${email}`)
  await dialog(page, `Suspend ${email}`).getByRole('button', { name: 'Suspend', exact: true }).click()
  await page
    .getByRole('row', { name: new RegExp(email) })
    .getByText('Suspended')
    .waitFor()
  expect(await violations(page)).toEqual([])
  await press(page, `Remove ${email}`)
  await press(page, 'Remove')
  await expect.poll(() => page.getByRole('row', { name: new RegExp(email) }).count()).toBe(0)
})

it('tells both ways in where no mail goes out and who invites cannot know whose address it is', async () => {
  const inviter = await people.member(shop, { entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'] })
  const page = await signedInAt('/', inviter, { colorScheme: 'dark', viewport: { width: 360, height: 740 } })
  await page.route('**/api/system/info', async (sent) => {
    const response = await sent.fetch()
    await sent.fulfill({ response, json: { ...(await response.json()), mail: 'none' } })
  })
  await page.goto(path())
  await press(page, 'Invite')
  await page.getByText('who has none gets in only by a sign-in provider', { exact: false }).waitFor()
  await dialog(page, 'Invite').getByLabel('E-mail').fill(people.email())
  await press(page, 'Send the invitation')
  await page.getByText('Without a role', { exact: false }).first().waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-without-role-narrow-dark')
  await press(page, 'Invite without a role')
  await page.getByRole('heading', { name: 'New here' }).waitFor()
  await page.getByRole('heading', { name: 'With an account here' }).waitFor()
  expect(await page.getByLabel('Link for who has an account').inputValue()).toContain('#token=')
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-unmailed-both-narrow-dark')
  await page.context().close()
})

it('says that no mail goes out, and what to pass on instead', async () => {
  // Their address was verified elsewhere.
  const holder = await people.memberWith(await world.workspace('elsewhere', {}), [])
  const page = await signedInAt(path())
  const without = async (mail: string) => {
    await page.unrouteAll()
    await page.route('**/api/system/info', async (sent) => {
      const response = await sent.fetch()
      await sent.fulfill({ response, json: { ...(await response.json()), mail } })
    })
    await page.reload()
    await press(page, 'Invite')
  }
  await without('log')
  await page.getByText('it is printed in the log of the service', { exact: false }).waitFor()
  await dialog(page, 'Invite').getByLabel('E-mail').fill(people.email())
  await press(page, 'Send the invitation')
  await page.getByText('Without a role they become a member who sees nothing here.', { exact: false }).waitFor()
  await press(page, 'Invite without a role')
  await page.getByText('it is in the log of the service', { exact: false }).waitFor()
  await page.getByText('No other link does.', { exact: false }).waitFor()
  expect(await page.getByLabel('Link for who has an account').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-unmailed-new')
  await without('none')
  await dialog(page, 'Invite').getByLabel('E-mail').fill(holder.email)
  await press(page, 'Send the invitation')
  await press(page, 'Invite without a role')
  await page.getByText('SERVICE_MAIL__URL', { exact: false }).waitFor()
  await page.getByText(`it counts for whoever is signed in as ${holder.email}`, { exact: false }).waitFor()
  await page.getByText('It makes no account.', { exact: false }).waitFor()
  const link = await page.getByLabel('Link for who has an account').inputValue()
  const nobody = await openConsole()
  await nobody.goto(link)
  await nobody.getByLabel('Password').fill('a password of many letters')
  await nobody.getByRole('button', { name: 'Accept' }).click()
  await nobody.getByText('This link makes no account: it counts for whoever is signed in').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-unmailed')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'access-unmailed-narrow-dark')
  expect((await storedTexts(page)).join()).not.toContain(new URL(link).hash.slice('#token='.length, 20))

  const theirs = await signedInAt('/', holder)
  await theirs.goto('about:blank')
  await theirs.goto(link)
  await theirs.getByRole('button', { name: 'Accept' }).click()
  await theirs.getByText(shop.name, { exact: false }).first().waitFor()
  await expect
    .poll(async () => (await shop.data('/members?fields=email')) as object[])
    .toContainEqual({
      email: holder.email,
    })
})

it('says why somebody may, or may not', async () => {
  const reader = await people.member(shop, {
    collections: { notes: { read: { fields: ['id', 'title'], filter: { pages: { _gt: 50 } } } } },
  })
  const [short] = (await shop.data('/items/notes?filter[title]=Short&fields=id')) as { id: string }[]
  const page = await signedInAt(path('/why'))
  await page.getByLabel('Collection').getByRole('option', { name: 'Files' }).waitFor({ state: 'attached' })
  await page.getByLabel('Who', { exact: true }).selectOption(reader.email)
  await page.getByLabel('Collection', { exact: true }).selectOption('notes')
  await page.getByLabel('Field', { exact: true }).selectOption('title')
  await press(page, 'Ask')
  await page.getByText('Allowed.', { exact: true }).waitFor()
  await page.getByRole('cell', { name: 'allows it' }).waitFor()

  await page.getByLabel('Key of the item').fill(String(short?.id))
  await press(page, 'Ask')
  await page.getByText('Not allowed.', { exact: true }).waitFor()
  await page.getByRole('cell', { name: 'not with this item' }).waitFor()
  await page.getByRole('cell', { name: 'pages is greater than 50' }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-why')
  await page.reload()
  await page.getByRole('cell', { name: 'not with this item' }).waitFor()

  // Of a role whose condition names whoever asks.
  const name = `Own ${Math.random()}`
  const own = { notes: { read: { filter: { title: { _eq: '$CURRENT_USER' } } } } }
  await people.role(shop, [await people.policy(shop, { collections: own })], name)
  await page.reload()
  await page.getByLabel('Who', { exact: true }).selectOption(`Role ${name}`)
  await press(page, 'Ask')
  await page.getByText(/^It depends on who asks: /).waitFor()
  await page.getByRole('cell', { name: 'depends on who asks' }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'access-why-role-narrow-dark')
  expect(await page.getByRole('button', { name: 'Keep as a test' }).count()).toBe(0)
  await page.getByLabel('Key of the item').fill('')
  await press(page, 'Ask')
  await page.getByText(/^Allowed\. With which items depends on who asks: /).waitFor()
})

it('tells before a change of a policy, a role or a member who gets and loses what, and makes it when it is confirmed', async () => {
  const policy = await people.policy(shop, {
    entitlements: ['auditLog:read'],
    collections: { notes: { read: { fields: ['id', 'title'] }, create: 'all' } },
  })
  const name = `Writers ${Math.random()}`
  const role = await people.role(shop, [policy], name)
  const readers = await Promise.all(Array.from({ length: 4 }, () => people.memberWith(shop, [role])))
  const [first] = readers
  if (first === undefined) throw new Error('Nobody was made')
  const page = await signedInAt(path(`/policies/${policy}`))
  const effect = page.getByRole('region', { name: 'Effect' })
  const told = async () => (await effect.innerText()).replaceAll(/\s*\n\s*/g, '; ')

  await page.getByLabel('Read: notes', { exact: true }).selectOption('All')
  await page.getByLabel('Create: notes').selectOption('No')
  await page.getByRole('checkbox', { name: 'Read the audit log' }).uncheck()
  await press(page, 'Save')
  await effect.waitFor()
  await page.getByRole('dialog').getByText('Nothing is saved yet.').waitFor()
  expect(await told()).toBe(
    `Role ${name} (4 people); Gets; notes: Read (all items · owner, pages); Loses; Rights in the workspace: Read the audit log; notes: Create`,
  )
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-effect')
  await page.setViewportSize({ width: 360, height: 720 })
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-effect-narrow-dark')
  await page.setViewportSize({ width: 1440, height: 900 })
  const before = await shop.data(`/policies/${policy}?fields=content`)
  await press(page, 'Cancel')
  expect(await shop.data(`/policies/${policy}?fields=content`)).toEqual(before)
  await press(page, 'Save')
  await effect.waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(() => shop.data(`/policies/${policy}?fields=content`))
    .toEqual({ content: { entitlements: [], collections: { notes: { read: 'all' } } } })

  await page.goto(path('/roles'))
  await press(page, `Edit ${name}`)
  await dialog(page, `Edit ${name}`).locator('input:checked').uncheck()
  await press(page, 'Save')
  await effect.waitFor()
  expect(await told()).toBe(`Role ${name} (4 people); Loses; notes: Read`)
  await press(page, 'Cancel')
  await press(page, 'Cancel')
  await press(page, `Delete ${name}`)
  await effect.waitFor()
  expect(await told()).toBe(`Role ${name} (4 people); Loses; notes: Read`)

  await page.goto(path())
  await press(page, `Remove ${first.email}`)
  await effect.waitFor()
  expect(await told()).toBe(`${first.email}; Loses; notes: Read`)
  await press(page, 'Cancel')
  await press(page, `Change roles of ${first.email}`)
  await dialog(page, `Change roles of ${first.email}`).getByRole('checkbox', { name, exact: true }).uncheck()
  await press(page, 'Continue')
  await effect.waitFor()
  expect(await told()).toBe(`${first.email}; Loses; notes: Read`)
  await press(page, 'Cancel')
  await press(page, 'Cancel')
  await press(page, `Suspend ${first.email}`)
  await effect.waitFor()
  expect(await told()).toBe(`${first.email}; Loses; notes: Read`)
  await press(page, 'Suspend')
  await press(page, `Activate ${first.email}`)
  await effect.waitFor()
  expect(await told()).toBe(`${first.email}; Gets; notes: Read (all items)`)
  expect((await first.get('/items/notes')).status).toBe(403)
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-activate')
  // The page does not know yet that they are active.
  const late = Promise.withResolvers<void>()
  await page.route(/\/members/, async (route) => {
    if (route.request().method() === 'GET') await late.promise
    await route.continue()
  })
  await press(page, 'Activate')
  await expect.poll(async () => (await first.get('/items/notes')).status).toBe(200)
  await press(page, `Change roles of ${first.email}`)
  await dialog(page, `Change roles of ${first.email}`).getByRole('checkbox', { name, exact: true }).uncheck()
  await press(page, 'Continue')
  late.resolve()
  await effect.waitFor()
  await press(page, 'Save')
  await expect.poll(async () => (await first.get('/items/notes')).status).toBe(403)
})

it('says that a change changes nobody’s rights, and lets it be made where the effect cannot be told', async () => {
  const collections = { notes: { read: 'all' } }
  const policy = await people.policy(shop, { collections })
  const page = await signedInAt(path(`/policies/${policy}`))
  await page.getByLabel('Create: notes').selectOption('All')
  await press(page, 'Save')
  await page.getByText('This changes nobody’s rights.').waitFor()
  await press(page, 'Cancel')

  await page.context().setOffline(true)
  await press(page, 'Save')
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor()
  expect(await violations(page)).toEqual([])
  await page.context().setOffline(false)
  await press(page, 'Try again')
  await page.getByText('This changes nobody’s rights.').waitFor()

  const rights = ['workspaceMembers:read', 'workspaceMembers:edit'] as const
  const [blind, limited] = [
    await people.member(shop, { entitlements: rights, collections }),
    await people.member(shop, { entitlements: [...rights, 'dataModel:read'], collections }),
  ]
  const role = await people.role(shop, [policy], `Kept ${Math.random()}`)
  const reader = await people.memberWith(shop, [role])
  const theirs = await signedInAt(path(), blind)
  await press(theirs, `Remove ${reader.email}`)
  await theirs.getByText('Who gets and loses what is shown to those who see the data model.').waitFor()
  await press(theirs, 'Remove')
  await expect.poll(() => theirs.getByRole('row', { name: new RegExp(reader.email) }).count()).toBe(0)

  const others = await signedInAt(path(`/policies/${policy}`), limited)
  await others.getByLabel('Delete: secrets').selectOption('All')
  await press(others, 'Save')
  await others.getByText('This changes nobody’s rights.').waitFor()
  await others.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await others.getByRole('alert').getByText('You can give and take only rights that you have yourself').waitFor()
})

it('leads from a cell, a field that is read only and what was refused to why', async () => {
  const collections = { notes: { read: 'all', update: { fields: ['title'] } } }
  const policy = await people.policy(shop, { entitlements: ['workspaceMembers:read', 'dataModel:read'], collections })
  const asker = await people.memberWith(shop, [await people.role(shop, [policy])])
  const [long] = (await shop.data('/items/notes?filter[title]=Long&fields=id')) as { id: string }[]
  const id = String(long?.id)
  const page = await signedInAt(`/${shop.name}/items/notes?sort=-pages`, asker)
  const asked = () => Object.fromEntries(new URL(page.url()).searchParams)
  const theirs = { who: `user:${asker.userId}`, collection: 'notes', key: id }

  await page.getByRole('gridcell', { name: '90' }).click()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('why is')
  await page.getByRole('option', { name: 'Why is this cell so?' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Not allowed.', { exact: true }).waitFor()
  expect(asked()).toEqual({ ...theirs, action: 'update', field: 'pages' })
  expect(await page.getByLabel('Who', { exact: true }).inputValue()).toBe(theirs.who)
  await page.goBack()
  await page.getByRole('gridcell', { name: 'Long' }).click()
  await press(page, 'More')
  await page.getByRole('menuitem', { name: 'Why is this cell so?' }).click()
  await page.getByText('Allowed.', { exact: true }).waitFor()
  expect(asked()).toEqual({ ...theirs, action: 'read', field: 'title' })

  await page.goto(`/${shop.name}/items/notes/${id}`)
  await page.getByRole('link', { name: 'Why? pages cannot be changed' }).waitFor()
  expect(await page.getByRole('link', { name: 'Why? title cannot be changed' }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-why-item')
  await page.setViewportSize({ width: 360, height: 720 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'access-why-item-narrow-dark')
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('link', { name: 'Why? pages cannot be changed' }).press('Enter')
  await page.getByText('Not allowed.', { exact: true }).waitFor()
  expect(asked()).toEqual({ ...theirs, action: 'update', field: 'pages' })
  await page.goBack()
  await page.getByRole('link', { name: 'Why? About this item' }).click()
  await page.getByText('Allowed.', { exact: true }).waitFor()
  expect(asked()).toEqual({ ...theirs, action: 'read' })

  await page.goBack()
  await page.getByLabel('title', { exact: true }).fill('Longer')
  const entitlements = ['workspaceMembers:read', 'dataModel:read']
  const readOnly = { content: { entitlements, collections: { notes: { read: 'all' } } } }
  expect((await shop.patch(`/policies/${policy}`, readOnly)).status).toBe(200)
  await press(page, 'Save')
  await page.getByRole('alert').getByRole('link', { name: 'Why?' }).click()
  await page.getByText('Not allowed.', { exact: true }).waitFor()
  expect(asked()).toEqual({ ...theirs, action: 'update', field: 'title' })

  const other = await people.member(shop, { entitlements: ['dataModel:read'], collections })
  const blind = await signedInAt(`/${shop.name}/items/notes/${id}`, other)
  await blind.getByLabel('title', { exact: true }).waitFor()
  expect(await blind.getByText('Why?').count()).toBe(0)
})

it('keeps an answer as a test, lists what it says, and says which would fail before a change', async () => {
  const own = await world.workspace('kept', { notes: { title: 'string' } })
  const name = `Readers ${Math.random()}`
  const policy = await people.policy(own, { collections: { notes: { read: 'all' } } })
  const role = await people.role(own, [policy], name)
  const reader = await people.memberWith(own, [role])
  const at = (part: string) => `/${own.name}/access/${part}`
  const page = await signedInAt(at('tests'))
  await page.getByText('No tests').waitFor()
  await page.getByRole('link', { name: 'Add test' }).click()
  await page.getByLabel('Who', { exact: true }).selectOption(`Role ${name}`)
  await page.getByLabel('Collection', { exact: true }).selectOption('notes')
  await page.getByLabel('Field', { exact: true }).selectOption('title')
  await press(page, 'Ask')
  await press(page, 'Keep as a test')
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-keep-test')
  await dialog(page, 'Keep as a test').getByLabel('Name', { exact: true }).fill('Readers read titles')
  await dialog(page, 'Keep as a test').getByRole('button', { name: 'Keep as a test' }).click()
  await page.getByText('The test is kept.').waitFor()
  await press(page, 'Keep as a test')
  await dialog(page, 'Keep as a test').getByLabel('Name', { exact: true }).fill('Readers read titles')
  await dialog(page, 'Keep as a test').getByRole('button', { name: 'Keep as a test' }).click()
  await page
    .getByRole('alert')
    .getByText(/already exists/)
    .waitFor()
  await press(page, 'Cancel')

  await page.getByRole('link', { name: 'Access tests', exact: true }).click()
  const row = page.getByRole('row', { name: /Readers read titles/ })
  await row.getByText('Passes').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-tests')
  await page.setViewportSize({ width: 360, height: 720 })
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-tests-narrow-dark')
  await page.setViewportSize({ width: 1440, height: 900 })

  await page.goto(at(`policies/${policy}`))
  await page.getByLabel('Read: notes').selectOption('No')
  await press(page, 'Save')
  await page.getByText('Access tests would fail: Readers read titles').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-effect-tests-dark')
  await press(page, 'Cancel')
  expect((await reader.get('/items/notes')).status).toBe(200)
  await press(page, 'Save')
  await press(page, 'Save, though tests fail')
  await expect.poll(async () => (await reader.get('/items/notes')).status).toBe(403)

  await page.goto(at('tests'))
  await row.getByText('Fails').waitFor()
  await press(page, 'Delete Readers read titles')
  await dialog(page, 'Delete Readers read titles').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No tests').waitFor()
})

it('asks once more where the tests that would fail were not told before', async () => {
  const own = await world.workspace('untold', { notes: { title: 'string' } })
  const collections = { notes: { read: 'all' } }
  const editor = await people.member(own, {
    entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'],
    collections,
  })
  const policy = await people.policy(own, { collections })
  const role = await people.role(own, [policy], 'Told')
  const test = { as: `role:${role}`, collection: 'notes', action: 'read', expect: { allowed: true } }
  expect((await own.post('/access/tests', { name: 'They read', ...test })).status).toBe(201)
  const page = await signedInAt(`/${own.name}/access/roles`, editor)
  expect(await page.getByRole('link', { name: 'Access tests', exact: true }).count()).toBe(0)
  await press(page, 'Edit Told')
  await dialog(page, 'Edit Told').locator('input:checked').uncheck()
  await press(page, 'Save')
  await page.getByText('Who gets and loses what is shown').waitFor()
  await press(page, 'Save')
  await page.getByRole('alert').getByText('Access tests would fail: They read').waitFor()
  await press(page, 'Save, though tests fail')
  await expect.poll(() => own.data(`/roles/${role}?fields=policies`)).toEqual({ policies: [] })
})

it('shows a condition as it is built, and one that cannot be built so as JSON, which begins the other anew', async () => {
  const some = { pages: { _lt: 10 } }
  const nested = { _or: [{ _and: [some, { title: { _eq: 'x' } }] }, { pages: { _eq: 12 } }] }
  const id = await people.policy(shop, {
    collections: { notes: { read: { filter: some }, delete: { filter: nested } } },
  })
  const page = await signedInAt(path(`/policies/${id}`))
  await page.getByRole('button', { name: /^Limits of Read: notes/ }).click()
  const limits = dialog(page, 'Read: notes')
  await expect.poll(() => limits.getByLabel('Value').inputValue()).toBe('10')
  expect(await limits.getByLabel('Rows as JSON').isVisible()).toBe(false)
  await limits.getByText('As JSON', { exact: true }).click()
  await limits.getByLabel('Rows as JSON').fill('{"pages": {"_gt": 7}}')
  await expect.poll(() => limits.getByLabel('Value').inputValue()).toBe('7')
  expect(await limits.getByLabel('Operator').inputValue()).toBe('_gt')
  await press(page, 'Cancel')

  await page.getByRole('button', { name: /^Limits of Delete: notes/ }).click()
  const others = dialog(page, 'Delete: notes')
  await expect.poll(() => others.getByLabel('Rows as JSON').isVisible()).toBe(true)
  expect(await others.getByLabel('Value').count()).toBe(0)
  expect(await violations(page)).toEqual([])
})

it('keeps what was typed into a policy over a reload, and refuses what is no condition', async () => {
  const id = await people.policy(shop, { collections: { notes: { read: 'all' } } })
  const page = await signedInAt(path(`/policies/${id}`))
  await page.getByLabel('Description').fill('For everybody')
  await page.getByLabel('Delete: notes').selectOption('Limited')
  const limits = dialog(page, 'Delete: notes')
  await limits.getByText('As JSON', { exact: true }).click()
  await limits.getByLabel('Rows as JSON').fill('{"pages":')
  await limits.getByRole('button', { name: 'Apply' }).click()
  await limits.getByText('This is no JSON object.').waitFor()
  await limits.getByLabel('Rows as JSON').fill('{"nothing": 1}')
  await limits.getByRole('button', { name: 'Apply' }).click()
  await press(page, 'Save')
  await page
    .getByRole('alert')
    .getByText(/nothing/)
    .waitFor()

  await page.reload()
  expect(await page.getByLabel('Description').inputValue()).toBe('For everybody')
  await press(page, 'Discard changes')
  expect(await page.getByLabel('Description').inputValue()).toBe('')
})

it('shows who may see people and not change them what they may see, and refuses to give what one lacks', async () => {
  const [viewer, manager] = [
    await people.member(shop, { entitlements: ['workspaceMembers:read'] }),
    await people.member(shop, { entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'] }),
  ]
  const page = await signedInAt(path(), viewer)
  await page.getByRole('cell', { name: world.administrator.email, exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Invite' }).count()).toBe(0)
  expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0)

  const theirs = await signedInAt(path(), manager)
  await press(theirs, 'Invite')
  await dialog(theirs, 'Invite').getByLabel('E-mail').fill(people.email())
  await dialog(theirs, 'Invite').getByRole('checkbox', { name: 'Administrator' }).check()
  await press(theirs, 'Send the invitation')
  await theirs.getByRole('alert').getByText('You can give and take only rights that you have yourself').waitFor()
})

it('has what is done to a row and where one is in sight, and every tab that one comes to, at 200 % and in Arabic at 360 px', async () => {
  const page = await signedInAt(path(), undefined, { locale: 'ar', viewport: { width: 720, height: 450 } })
  const isSeen = async (name: RegExp) => {
    const box = await page.getByRole('button', { name }).first().boundingBox()
    return box !== null && box.x >= 0 && box.x + box.width <= (page.viewportSize()?.width ?? 0)
  }
  const remove = /^إزالة/
  await page.getByRole('button', { name: remove }).first().waitFor()
  expect(await isSeen(remove)).toBe(true)
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await isSeen(remove)).toBe(true)
  for (const tab of await page.getByRole('navigation', { name: 'الصلاحيات' }).getByRole('link').all()) {
    await tab.focus()
    const box = await tab.boundingBox()
    expect(box !== null && box.x >= 0 && box.x + box.width <= 360).toBe(true)
  }
  // A name is cut at its own end.
  const style = 'getComputedStyle(document.querySelector("header a[dir=auto]"))'
  expect(await page.evaluate(`[${style}.direction, ${style}.textOverflow]`)).toEqual(['ltr', 'ellipsis'])
  expect(await violations(page)).toEqual([])
  await picture(page, 'access-narrow-arabic')
  await page.context().close()
})
