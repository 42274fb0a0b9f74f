/** Signing in, out, and losing a session, as people meet it. */
import type { Page } from 'playwright-core'
import { afterEach, expect, inject, it } from 'vitest'
import { picture } from '../support/service/console-page.ts'
import { linkFor } from '../support/service/sign-in-link.ts'
import { world } from '../support/service/world.ts'
import { closePages, openConsole, signInByForm, storedTexts } from './support/pages.ts'

afterEach(closePages)

const { email, password } = world.administrator

/** What is asked of the service, by method and path. */
function requestsOf(page: Page): readonly string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    asked.push(origin === world.url ? pathname : request.url())
  })
  return asked
}

it('asks nothing but system/info before somebody has signed in, and no other origin', async () => {
  const page = await openConsole()
  const asked = requestsOf(page)

  await page.goto(`${world.url}/shop/items/articles`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()

  expect(asked.filter((path) => path.startsWith('/api'))).toEqual(['/api/system/info'])
  expect(asked.filter((path) => !path.startsWith('/'))).toEqual([])
})

it('signs in and out by keyboard alone', async () => {
  const page = await openConsole()
  await page.goto(world.url)
  await page.getByLabel('E-mail').and(page.locator(':focus')).waitFor()

  await page.keyboard.type(email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Account' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('[role=menuitem]:focus').waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()

  expect(await page.context().cookies()).toEqual([])
})

it('keeps no token where a script could read it', async () => {
  const page = await openConsole()
  await signInByForm(page)

  const kept = await storedTexts(page)

  expect(kept.filter((text) => /eyJ|token|secret/i.test(text))).toEqual([])
  expect(page.url()).toBe(`${world.url}/`)
})

it('says that a password is wrong, and keeps what was typed', async () => {
  const page = await openConsole()
  await page.goto(world.url)

  await page.getByLabel('E-mail').fill(`${world.name('nobody')}@example.com`)
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByText('E-mail or password is wrong.').waitFor()
  expect(await page.getByLabel('Password').inputValue()).toBe('not the password')
})

it.each([
  [429, { 'Retry-After': '17' }, 'Too many attempts. Try again in 17 seconds.'],
  [503, {}, 'The service is not ready.'],
  [500, {}, 'The service failed.'],
])('says what to do at %i', async (status, headers, text) => {
  const page = await openConsole()
  await page.goto(world.url)
  await page.route('**/api/auth/login', (route) =>
    route.fulfill({ status, headers, json: { message: 'Internal error' } }),
  )

  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByText(text).waitFor()
})

it('says that there is no connection, and goes on when there is one', async () => {
  const page = await openConsole()
  await page.goto(world.url)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)

  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('The service cannot be reached.').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()
})

it('says that there is no connection where a screen was not loaded yet, and opens it when there is one', async () => {
  const page = await openConsole()
  await signInByForm(page, '/')
  await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()
  await page.waitForLoadState('networkidle')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Your account' }).click()
  await page.getByText('There is no connection.', { exact: false }).waitFor()
  await picture(page, 'offline')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The service cannot be reached.').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor()
})

it('takes the secret of a link out of the address before the first request', async () => {
  const link = (await linkFor(inject('served'), email)) ?? ''
  const page = await openConsole()
  const addresses: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api')) addresses.push(page.url(), request.url())
  })

  await page.goto(link)
  await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()

  expect(addresses.filter((address) => address.includes('sign-in='))).toEqual([])
  expect(page.url()).toBe(`${world.url}/`)
  await page.goBack()
  expect(page.url()).not.toContain('sign-in=')
})

it('says that a link was used before', async () => {
  const link = (await linkFor(inject('served'), email)) ?? ''
  const [first, second] = [await openConsole(), await openConsole()]
  await first.goto(link)
  await first.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()

  await second.goto(link)

  await second.getByText('This sign-in link no longer counts').waitFor()
  await second.getByLabel('E-mail').waitFor()
})

it('notices that the session is gone, and goes on where one was', async () => {
  // The button stands where there is a workspace already; whichever file ran before.
  await world.workspace('kept', {})
  const page = await openConsole()
  await signInByForm(page)
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Kept')
  await page.context().clearCookies()

  // Another request of the page may notice it first; then the button is behind the dialog already.
  await page.getByRole('button', { name: 'Create the workspace' }).dispatchEvent('click')
  const dialog = page.getByRole('dialog', { name: 'You have been signed out' })
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })

  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Kept')
})

it('shows the ways of other providers when they are asked for', async () => {
  const page = await openConsole()
  await page.goto(world.url)

  await page.getByText('Look for other ways to sign in').click()

  await page
    .getByText('There are none here: sign in with e-mail and password.')
    .or(page.getByRole('link', { name: /^Sign in with/ }).first())
    .waitFor()
})

it('says what a provider has answered', async () => {
  const page = await openConsole()

  await page.goto(`${world.url}/?error=not_allowed`)

  await page.getByText('there is no account for you here').waitFor()
})
