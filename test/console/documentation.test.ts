/** The documentation of this version, read in the console, and what leads to it. */
import { join } from 'node:path'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { type DocumentationNodes, documentationPages } from '../../scripts/console/documentation.ts'
import { picture } from '../support/service/console-page.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, signIn } from './support/pages.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('shop', { articles: { title: 'string' } })
})

afterEach(closePages)

it('says of a screen what it is, and leads to its page and on', async () => {
  const page = await openConsole()
  await signIn(page, `/${shop.name}/audit-log`)

  await page.getByRole('button', { name: 'Help', exact: true }).click()
  await page.getByText('Who signed in and who changed rights').waitFor()
  await page.getByRole('menuitem', { name: 'Read about it' }).click()

  const heading = page.getByRole('heading', { name: 'Audit log', exact: true })
  await heading.waitFor()
  expect(page.url()).toMatch(/\/-\/docs\/api\/system#audit-log$/)
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(900)
  await picture(page, 'documentation')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByText('Copied').first().waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Filter operators' }).click()
  await page.getByRole('heading', { level: 1, name: 'Filter operators' }).waitFor()
  await page.goBack()
  await heading.waitFor()
  // Whatever was read in between.
  await page.getByRole('link', { name: `Back to ${shop.name}` }).click()
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  expect(page.url()).toBe(`${world.url}/${shop.name}/audit-log`)
  await page.goto(`${world.url}/-/docs`)
  await page.getByRole('link', { name: 'Back to all workspaces' }).waitFor()
})

it('is found by the palette, from any screen', async () => {
  const page = await openConsole()
  await signIn(page)
  await page.getByRole('main').getByRole('heading', { name: 'Workspaces' }).waitFor()

  await page.keyboard.press('Control+k')
  await page.keyboard.insertText('keyset')
  await page.getByRole('option', { name: 'Keyset pages Items' }).click()

  await page.getByRole('heading', { name: 'Keyset pages' }).waitFor()
})

it('has a page for each document, whose links lead to headings that there are', async () => {
  const pages = await documentationPages(join(import.meta.dirname, '../../docs'))
  const targets = new Set(pages.flatMap(({ path, body }) => [path, ...found('id', body).map((id) => `${path}#${id}`)]))
  const links = pages.flatMap(({ body }) => found('href', body)).filter((href) => href.startsWith('/'))

  expect(links.length).toBeGreaterThan(50)
  expect(links.filter((link) => !targets.has(link.replace('/-/docs/', '')))).toEqual([])
})

const found = (name: string, nodes: DocumentationNodes): readonly string[] =>
  nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [...(name in node[1] ? [String(node[1][name])] : []), ...found(name, node[2])],
  )
