/** The ways in beside a password that one knows: reset, invitation, a provider, each to its end, and what is said where it fails. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type OpenIdProvider, startOpenIdProvider } from '../support/servers/openid-provider.ts'
import { picture } from '../support/service/console-page.ts'
import { mails } from '../support/service/mails.ts'
import { people } from '../support/service/people.ts'
import { signingIn } from '../support/service/signing-in.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, signInByForm, storedTexts } from './support/pages.ts'

const reading = { collections: { books: { read: 'all' } } } as const
const password = 'a new password of theirs'
const login = signingIn.name('corporate')

let shop: Workspace
let provider: OpenIdProvider

beforeAll(async () => {
  shop = await world.workspace('ways', { books: { title: 'string' } })
  provider = await startOpenIdProvider({ ours: signingIn.callbackOf(login) })
  const { issuer, clientSecret } = provider
  await signingIn.provider({ name: login, issuer, clientId: 'ours', clientSecret })
})

afterEach(closePages)
afterAll(() => provider?.close())

/** The link in the last mail with such a subject. */
async function linkTo(address: string, subject: RegExp): Promise<string> {
  const [link = ''] = /https?:\S+#token=\S+/.exec(await mails.arrived(address, subject)) ?? []
  return world.url + link.slice(new URL(link).origin.length)
}

it('a forgotten password: by the mail to a new one, whose link counts once and leaves the address', async () => {
  const person = await people.member(shop, reading)
  const page = await openConsole()
  await page.goto(world.url)
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('button', { name: 'Send the mail' }).click()
  await page.getByText('If there is an account with this address').waitFor()
  const link = await linkTo(person.email, /^Choose/)

  await page.goto('about:blank')
  await page.goto(link)
  await page.getByLabel('New password').fill(password)
  expect(page.url()).toBe(`${world.url}/-/reset`)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByText('The password was changed').waitFor()
  await signInByForm(page, `/${shop.name}`, { email: person.email, password })
  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  expect((await storedTexts(page)).join()).not.toContain(new URL(link).hash.slice('#token='.length))

  await page.goto('about:blank')
  await page.goto(link)
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByText('This token does not count: it is wrong, used or older than an hour.').waitFor()
})

it('an invitation: by its mail to an account that sees what its role gives', async () => {
  const address = people.email()
  await people.invite(shop, address, [await people.roleWith(shop, reading)])
  const page = await openConsole()
  await page.goto(await linkTo(address, /^Invitation/))

  expect(await page.getByLabel('E-mail').inputValue()).toBe(address)
  expect(page.url()).toBe(`${world.url}/-/invitation`)
  await page.getByLabel('Full name').fill('Ada Lovelace')
  await page.getByText(`invites you to the workspace ${shop.name}.`).waitFor()
  await picture(page, 'invitation')
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Accept' }).click()

  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  expect(page.url()).toBe(`${world.url}/${shop.name}`)
})

it('an invitation of who has an account: by the password that it has', async () => {
  const { email, password: own } = await people.member(await world.workspace('other', { pens: { ink: 'string' } }), {})
  await people.invite(shop, email, [await people.roleWith(shop, reading)])
  const page = await openConsole()
  const link = await linkTo(email, /^Invitation.*ways/)
  await page.goto(link)
  await page.getByText('You have an account here, and sign in to it after this.').waitFor()
  expect(await page.getByLabel('Password').count()).toBe(0)
  await page.getByRole('button', { name: 'Accept' }).click()

  await page.getByText(`You are a member of ${shop.name} now.`).waitFor()
  expect(await page.getByLabel('E-mail').inputValue()).toBe(email)
  await page.getByLabel('Password').fill(own)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  const later = await openConsole()
  await later.goto(link)
  await later.getByText('This token does not count: it is wrong, used or expired.').waitFor()
})

it.each([
  ['a member', 'member', undefined],
  ['a stranger', 'stranger', 'there is no account for you here'],
  ['one who says no', 'refuses', 'The sign-in was cancelled at the provider.'],
])('a provider: %s', async (_, account, fault) => {
  const person = await people.member(shop, reading)
  provider.accounts.set('member', { email: person.email, email_verified: true, name: 'Ada' })
  provider.accounts.set('stranger', { email: people.email(), email_verified: true })
  const page = await openConsole({ extraHTTPHeaders: { 'X-Account': account } })
  await page.goto(`${world.url}/${shop.name}/items/books`)
  await page.getByText('Other ways to sign in').click()
  await page.getByRole('link', { name: `Sign in with ${login}` }).click()

  await page
    .getByText(fault ?? 'No rows')
    .first()
    .waitFor()
  expect(new URL(page.url()).pathname).toBe(`/${shop.name}/items/books`)
})

it('too many attempts: says so and when to try again, and keeps what was typed', async () => {
  const { email } = await people.member(shop, reading)
  const attempt = () => world.anonymous.post('/api/auth/login', { credentials: { email, password: 'wrong' } })
  for (let count = 0; count < 50 && (await attempt()).status !== 429; count += 1);
  const page = await openConsole()
  await page.goto(world.url)

  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill('another try')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByText(/^Too many attempts\. Try again in [\d,]+ (second|minute)s?\.$/).waitFor()
  expect(await page.getByLabel('Password').inputValue()).toBe('another try')
})
