/** A workspace is renamed and deleted where it is shown, by whoever may, who sees what goes with it. */
import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'
import { closePages, isWiderThanWindow, openConsole, signIn } from './support/pages.ts'

let page: Page

afterEach(async () => {
  await page.context().close()
  await closePages()
})

const settings = () => page.getByRole('region', { name: 'Workspace', exact: true })
const dialog = () => page.getByRole('dialog')
const press = (name: string) => settings().getByRole('button', { name, exact: true }).click()

async function looksRight(name: string): Promise<void> {
  expect(await violations(page)).toEqual([])
  await picture(page, `workspace-${name}`)
}

it('is renamed and deleted with what goes with it, once its name is typed', async () => {
  const shop = await world.workspace('settings', { articles: { title: 'string' }, authors: { name: 'string' } })
  await people.memberWith(shop, [])
  page = await signedInAt(`/${shop.name}`)
  await press('Rename the workspace')
  await dialog().getByLabel('Name').fill('The shop')
  await dialog().getByText('Addresses, keys and programs go on working').waitFor()
  await looksRight('rename')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The shop', exact: true }).waitFor()
  await looksRight('settings')

  await press('Delete the workspace')
  const goes = dialog().getByRole('listitem')
  await goes.getByText('with all rows: 2').waitFor()
  await goes.getByText('Members, whose accounts stay: 2').waitFor()
  await goes.getByText('Files: 0').waitFor()
  await dialog()
    .getByRole('heading', { name: `Delete the workspace The shop (${shop.name})` })
    .waitFor()
  await dialog().getByText('The button works once exactly this is typed.').waitFor()
  const confirm = dialog().getByRole('button', { name: 'Delete the workspace' })
  await dialog().getByLabel(`Type ${shop.name} to confirm`).fill('The shop')
  expect(await confirm.isDisabled()).toBe(true)
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await isWiderThanWindow(page)).toBe(false)
  await looksRight('delete')
  await page.emulateMedia({ colorScheme: 'dark' })
  await looksRight('delete-dark')
  await dialog().getByLabel(`Type ${shop.name} to confirm`).fill(shop.name)
  await confirm.click()

  await page.getByText(`The workspace ${shop.name} is deleted.`).waitFor()
  await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()
  expect((await shop.get('/members')).status).toBe(404)
})

it('offers a member what their entitlements allow', async () => {
  const shop = await world.workspace('settings', { articles: { title: 'string' } })
  const editor = await people.member(shop, {
    entitlements: ['workspace:edit'],
    collections: { articles: { read: 'all' } },
  })
  const reader = await people.member(shop, { collections: { articles: { read: 'all' } } })
  page = await openConsole()
  await signIn(page, `/${shop.name}`, editor)
  await settings().getByRole('button', { name: 'Rename the workspace' }).waitFor()
  expect(await settings().getByRole('button').count()).toBe(1)

  const other = await openConsole()
  await signIn(other, `/${shop.name}`, reader)
  await other.getByText('Choose a collection to see its rows.').waitFor()
  await expect.poll(() => other.getByRole('navigation').getByRole('link').count()).toBeGreaterThan(0)
  expect(await other.getByRole('region', { name: 'Workspace', exact: true }).count()).toBe(0)
})

it('is found by its name among many, which are sorted and stand in the middle', async () => {
  const numbers = Array.from({ length: 13 }, (_, at) => 13 - at)
  const run = crypto.randomUUID().slice(0, 8)
  for (const number of numbers) {
    const made = await world.administrator.post('/api/system/workspaces', { apiName: `many${number}_${run}` })
    expect(made.status).toBe(201)
  }
  page = await signedInAt('/')
  await page.getByLabel('Find a workspace').fill(run)
  const cards = page.getByRole('main').locator('ul strong')
  await expect.poll(() => cards.count()).toBe(numbers.length)
  expect(await cards.allTextContents()).toEqual(numbers.toReversed().map((number) => `many${number}_${run}`))
  const gaps = await page.evaluate(`(() => {
    const { left, right } = document.querySelector('main h1').parentElement.getBoundingClientRect()
    return Math.round(left - (innerWidth - right))
  })()`)
  expect(gaps).toBe(0)
  await looksRight('many')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await isWiderThanWindow(page)).toBe(false)
  await looksRight('many-narrow-dark')
  await page.getByLabel('Find a workspace').fill('nothing of this name')
  await page.getByText('No workspace is called that.').waitFor()
})
