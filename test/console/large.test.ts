/** Tables and models that are large: what is drawn stays small, and all of it can be reached. */
import { afterEach, expect, it } from 'vitest'
import { gridOf, signedInAt, violations } from '../support/service/console-page.ts'
import { world } from '../support/service/world.ts'
import { closePages } from './support/pages.ts'

afterEach(closePages)

it('draws what is seen of a table of 300 columns, and goes to the last by a key', async () => {
  const names = Array.from({ length: 299 }, (_, at) => `f${String(at).padStart(3, '0')}`)
  const shop = await world.workspace('columns', { wide: Object.fromEntries(names.map((name) => [name, 'int32?'])) })
  const row = Object.fromEntries(names.map((name, at) => [name, at + 1_000]))
  await shop.insert(
    'wide',
    Array.from({ length: 150 }, () => row),
  )
  const page = await signedInAt(gridOf(shop, 'wide'))
  await page.getByRole('gridcell', { name: '1000', exact: true }).first().waitFor()

  expect(await page.getByRole('columnheader').count()).toBeLessThan(20)
  expect(await page.getByRole('gridcell').count()).toBeLessThan(800)
  expect(await page.getByRole('grid').getAttribute('aria-colcount')).toBe('301')
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  await page.getByRole('gridcell', { name: '1298', exact: true }).first().waitFor()
  expect(await page.getByRole('columnheader').count()).toBeLessThan(20)
  expect(await violations(page)).toEqual([])
  await page.context().close()
})

it('finds one of 500 collections by a part of its name, and shows its rows with one request', async () => {
  const name = (at: number) => `things${String(at).padStart(3, '0')}`
  const shape = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [name(at), { title: 'string' }]))
  const shop = await world.workspace('many', shape)
  await shop.insert(name(499), [{ title: 'The last of all' }])
  const page = await signedInAt(`/${shop.name}`)
  const links = page.getByRole('list', { name: 'Collections' }).getByRole('link')
  await links.first().waitFor()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes(`/api/${shop.name}/items/things`)) asked.push(request.url())
  })

  expect(await links.count()).toBe(200)
  await page.getByLabel('Find a collection').fill('499')
  await links.first().click()
  await page.getByText('The last of all').waitFor()
  expect(asked.length).toBe(1)
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('498')
  await page.getByRole('option', { name: name(498) }).waitFor()
  await page.context().close()
})
