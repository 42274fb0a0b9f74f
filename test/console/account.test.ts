/** One's own account in the console: what is changed there holds at once, for the API too. */
import { afterEach, beforeAll, expect, it } from 'vitest'
import { picture } from '../support/service/console-page.ts'
import { type Person, people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, signIn, storedTexts } from './support/pages.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('account', { articles: { title: 'string' } })
  await shop.insert('articles', [{ title: 'One' }])
})

afterEach(closePages)

async function opened(person: Person) {
  const page = await openConsole()
  await signIn(page, '/-/account', person)
  await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor()
  return page
}

const member = () =>
  people.member(shop, {
    collections: { articles: { read: 'all', create: 'all' } },
  })

it('changes one’s name', async () => {
  const person = await member()
  const page = await opened(person)

  await page.getByLabel('Full name').fill('Ada Lovelace')
  await page.getByLabel('Full name').press('Enter')
  await page.getByText('Saved.').waitFor()

  const me = (await (await person.system.get('/api/system/users/me')).json()) as { data: object }
  expect(me.data).toMatchObject({ fullName: 'Ada Lovelace' })
})

it('changes one’s password by the current one, and keeps what was typed where that is wrong', async () => {
  const person = await member()
  const page = await opened(person)
  const [current, next] = [page.getByLabel('Current password'), page.getByLabel('New password')]

  await current.fill('not the password')
  await next.fill('another password')
  await next.press('Enter')
  await page.getByText('The current password is wrong.').waitFor()
  expect(await next.inputValue()).toBe('another password')
  await current.fill(person.password)
  await current.press('Enter')
  await page.getByText('The password was changed.').waitFor()

  expect((await person.system.get('/api/system/users/me')).status).toBe(401)
  const credentials = { email: person.email, password: 'another password' }
  expect((await world.anonymous.post('/api/auth/login', { credentials, mode: 'json' })).status).toBe(200)
  expect(await storedTexts(page)).not.toContain('another password')
})

it('ends a session, and is itself the one that stays', async () => {
  const person = await member()
  const page = await opened(person)
  const sessions = page.getByRole('table', { name: 'Sessions' })

  await sessions.getByRole('cell', { name: 'This one' }).waitFor()
  await page.getByRole('button', { name: 'End all others' }).click()
  await page.getByText('All other sessions have ended.').waitFor()
  await expect.poll(() => sessions.getByRole('row').count()).toBe(2)

  expect((await person.system.get('/api/system/users/me')).status).toBe(401)
})

it('makes a key by the keyboard, shows it once, switches it off and deletes it', async () => {
  const page = await opened(await member())

  await page.getByRole('button', { name: 'New key' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Reports')
  await dialog.getByLabel('Workspace').selectOption(shop.name)
  await dialog.getByRole('option', { name: 'Only reading its rows' }).waitFor({ state: 'attached' })
  await dialog.getByLabel('Rights').selectOption('read')
  await dialog.getByLabel('Name').press('Enter')
  await dialog.getByText('shown this once').waitFor()
  const key = (await dialog.locator('code').textContent()) ?? ''
  const client = world.bearer(key)
  const items = `/api/${shop.name}/items/articles`

  expect((await client.get(items)).status).toBe(200)
  expect((await client.post(items, [{ title: 'x' }])).status).toBe(403)
  await page.getByRole('button', { name: 'I have it' }).click()
  await page.getByRole('button', { name: 'Switch off Reports' }).click()
  await page.getByRole('button', { name: 'Switch on Reports' }).waitFor()
  expect(await page.content()).not.toContain(key)
  expect((await storedTexts(page)).join()).not.toContain(key)
  expect((await client.get(items)).status).toBe(401)
  await page.getByRole('button', { name: 'Delete Reports' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No keys yet.').waitFor()
})

it('keeps a key’s form where the service refuses it', async () => {
  const page = await opened(await member())

  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Wrong')
  await dialog.getByLabel('Only from addresses').fill('nowhere')
  await dialog.getByRole('button', { name: 'Make the key' }).click()

  await dialog.getByRole('alert').waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Wrong')
})

const moments = [360, 1440].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })))

it.each(moments)('covers nothing with what it says, $width px, $scheme', async ({ width, scheme }) => {
  const page = await opened(await member())
  await page.setViewportSize({ width, height: 740 })
  await page.emulateMedia({ colorScheme: scheme })
  await page.route(/users\/me\/sessions/, (sent) =>
    sent.request().method() === 'DELETE' ? sent.abort() : sent.continue(),
  )
  const screen = page.getByRole('main')
  const notice = page.getByRole('region', { name: 'Notifications' })
  const dismiss = notice.getByRole('button', { name: 'Dismiss' })
  const dialog = page.getByRole('dialog')
  const heightOf = async (one: typeof screen) => (await one.boundingBox())?.height
  const isAbove = async (one: typeof screen) => {
    const [{ y = 0, height = 0 }, top] = [(await one.boundingBox()) ?? {}, (await notice.boundingBox())?.y ?? 0]
    return y + height <= top
  }
  const end = page.getByRole('button', { name: 'End all others' })
  await end.waitFor()
  const before = await heightOf(screen)
  const length = await page.evaluate('document.documentElement.scrollHeight')
  await end.focus()
  await page.keyboard.press('Enter')
  await dismiss.waitFor()

  expect(await heightOf(screen)).toBe(before)
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(length)
  await picture(page, `toast-${width}-${scheme}`)
  const toEnd = 'document.querySelector("main").scrollTo(0, 1e6)'
  await page.evaluate(toEnd)
  await expect.poll(() => isAbove(screen.getByRole('button').last())).toBe(true)
  await dismiss.press('Enter')
  await dismiss.waitFor({ state: 'detached' })
  await end.and(page.locator(':focus')).waitFor()

  await page.setViewportSize({ width, height: 520 })
  await end.press('Enter')
  await dismiss.waitFor()
  await page.getByRole('button', { name: 'New key' }).click()
  await dialog.getByLabel('Name').fill('Reports')
  await dialog.getByRole('alert').getByRole('button', { name: 'Dismiss' }).waitFor()
  const covered = await heightOf(dialog)
  await dialog.getByRole('button', { name: 'Cancel' }).click({ trial: true })
  await picture(page, `toast-on-dialog-${width}-${scheme}`)
  await dismiss.click()
  await dismiss.waitFor({ state: 'detached' })
  expect(await heightOf(dialog)).toBe(covered)
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  await dialog.getByText('shown this once').waitFor()
})
