/** The command palette: what it finds, and what it says of what one may not do. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('palette', {
    books: { title: 'string', isbn: 'string?' },
    authors: { name: 'string', born: 'int32?' },
    secrets: { text: 'string' },
  })
  await shop.insert('books', [{ title: 'The Left Hand of Darkness' }, { title: 'Emma' }])
  await shop.insert('authors', [{ name: 'Ursula K. Le Guin' }])
})

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.insertText(text)
}

it('leads to an item of any collection by a part of what it is called, by keyboard alone', async () => {
  const page = await signedInAt(`/${shop.name}`)
  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  await search(page, 'guin')
  await page.getByRole('option', { name: 'Ursula K. Le Guin', selected: true }).waitFor()
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { name: 'Ursula K. Le Guin', exact: true }).waitFor()
  await search(page, 'left hand')
  await page.getByRole('option', { name: 'The Left Hand of Darkness', selected: true }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'palette-items')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The Left Hand of Darkness', exact: true }).waitFor()
  await page.context().close()
})

it('leads to a field of any collection, by which its rows are sorted then', async () => {
  const page = await signedInAt(gridOf(shop, 'books'))
  await page.getByRole('gridcell', { name: 'Emma' }).waitFor()
  await search(page, 'born')
  await page.getByRole('option', { name: 'born authors' }).waitFor()
  await page.keyboard.press('Enter')

  await page.getByRole('columnheader', { name: 'born' }).and(page.locator('[aria-sort=ascending]')).waitFor()
  expect(page.url()).toBe(`${world.url}${gridOf(shop, 'authors')}?sort=born`)
  await page.context().close()
})

it('leads from home to a collection of any workspace, and not to what is for those who make the console', async () => {
  const reader = await people.member(shop, {
    entitlements: ['dataModel:read'],
    collections: { books: { read: 'all' } },
  })
  const page = await signedInAt('/', reader)
  await page.getByRole('main').getByRole('link', { name: shop.name }).waitFor()
  await search(page, 'book')
  const option = page.getByRole('option', { name: `books ${shop.name}` })
  await option.waitFor()
  await picture(page, 'palette-home')
  await page.getByRole('combobox').fill('author')
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('combobox').fill('component')
  await expect.poll(() => page.getByRole('option', { name: 'Components' }).count()).toBe(0)
  await page.getByRole('combobox').fill('book')
  await option.click()
  await page.getByRole('gridcell', { name: 'Emma' }).waitFor()
  await search(page, 'isbn')
  await page.getByText('Nothing matches').waitFor()
  await page.context().close()
})

it('knows where secrets and keys are rotated', async () => {
  const page = await signedInAt(`/${shop.name}`)
  await page.getByRole('main').getByRole('link', { name: 'books' }).waitFor()
  await search(page, 'rotate')
  await page.getByRole('option', { name: 'Rotate an API key: make a new one, end the old one' }).waitFor()
  await page.getByRole('option', { name: `Rotate a secret of data sources ${shop.name}` }).click()
  await page.getByRole('link', { name: 'Secrets', exact: true }).and(page.locator('[aria-current=page]')).waitFor()
  await search(page, 'renew key')
  await page.getByRole('option', { name: /^Rotate an API key/ }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  await page.context().close()
})

it('says what one may not do and why, and does not do it', async () => {
  const reader = await people.member(shop, {
    entitlements: ['dataModel:read'],
    collections: { books: { read: { fields: ['id', 'title'] } } },
  })
  const page = await signedInAt(gridOf(shop, 'books'), reader)
  await page.getByRole('gridcell', { name: 'Emma' }).waitFor()
  const offered = page.getByRole('list', { name: 'Collections' }).getByRole('link')
  await expect.poll(() => offered.allTextContents()).toEqual(['books'])
  await search(page, '')
  const refused = page.locator('[role=option][aria-disabled=true]')
  await expect.poll(() => refused.count()).toBe(12)

  expect(await refused.allTextContents()).toEqual([
    'New in booksYou may not make rows here.',
    'Audit log of the instanceFor administrators of the service only.',
    'AccessYou lack the right workspaceMembers:read.',
    'New policyYou lack the right workspaceMembers:read.',
    'Why?You lack the right workspaceMembers:read.',
    'Data sourcesYou lack the right dataSource:read.',
    'Audit logYou lack the right auditLog:read.',
    'Connect a databaseYou lack the right dataSource:create, dataModel:edit.',
    'Connect an agentYou lack the right ai:mcp.',
    'AssistantYou lack the right ai:mcp.',
    'authorsYou may not read its rows.',
    'secretsYou may not read its rows.',
  ])
  await refused.first().click({ force: true })
  await page.keyboard.press('Enter')
  expect(page.url()).toBe(`${world.url}${gridOf(shop, 'books')}`)
  await page.getByRole('combobox').fill('isbn')
  await page.getByText('Nothing matches').waitFor()
  await page.context().close()
})
