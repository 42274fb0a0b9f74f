/** The audit log in the console: filtered, told in words, and offered to those who may read it. */
import { afterEach, beforeAll, expect, it } from 'vitest'
import { actions } from '../../console/src/messages/ar/actions.ts'
import { en } from '../../console/src/messages/en.ts'
import { auditActions, type TargetType } from '../../src/core/audit.ts'
import { logIn, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, signIn } from './support/pages.ts'

const SCRIPT = '<img src=x onerror=alert(1)>'
let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('audited', { articles: { title: 'string' } })
  for (let number = 0; number < 51; number += 1) await people.role(shop, [], `Role ${number}`)
  await people.role(shop, [], SCRIPT)
})

afterEach(closePages)

it('lists what happened, by action and by whom, and tells the details', async () => {
  const page = await openConsole()
  await signIn(page, `/${shop.name}`)
  await page.getByRole('navigation').getByRole('link', { name: 'Audit log' }).click()
  const table = page.getByRole('table', { name: 'Audit log' })
  await table.getByRole('cell', { name: 'Role created' }).first().waitFor()
  const rows = () => table.getByRole('row').count()

  expect(await rows()).toBe(51)
  await page.getByRole('button', { name: 'Older entries' }).click()
  await table.getByRole('cell', { name: 'Workspace created' }).waitFor()
  await table.getByText('Show').first().click()
  await table.getByRole('definition').getByText(SCRIPT).waitFor()

  await page.getByLabel('Action').selectOption('workspace.create.v1')
  await page.getByLabel('By whom').fill(world.administrator.email.slice(0, 5).toUpperCase())
  await page.getByLabel('By whom').press('Enter')
  await expect.poll(rows).toBe(2)
  await table.getByRole('link', { name: shop.name }).waitFor()
  await page.reload()
  await expect.poll(rows).toBe(2)
  expect(await page.getByLabel('Action').inputValue()).toBe('workspace.create.v1')

  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await table.getByRole('link', { name: SCRIPT }).first().click()
  await page
    .getByRole('link', { name: `Audit log: ${SCRIPT}` })
    .first()
    .click()
  await expect.poll(rows).toBe(2)
  expect(await page.getByLabel('About').inputValue()).toMatch(/^[\da-f-]{36}$/)
  await table.getByRole('cell', { name: 'Role created' }).waitFor()

  const until = page.getByLabel('Until', { exact: true })
  await until.fill('31.1.2020')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('A date is written as 2026-01-31.').waitFor()
  await page.getByRole('button', { name: 'Choose the date of Until' }).waitFor()
  await until.fill('2020-01-31')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Nothing is recorded that meets the filter').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await expect.poll(rows).toBe(51)
})

it('is the instance’s for its administrators', async () => {
  const page = await openConsole()
  await signIn(page, '/-/audit-log')

  await page.getByRole('heading', { name: 'Audit log of the instance', exact: true }).waitFor()
  await page.getByRole('cell', { name: world.administrator.email }).first().waitFor()
})

it('calls people and roles by their names, where the reader sees them', async () => {
  const role = await people.role(shop, [], 'Named')
  const person = await people.memberWith(shop, [role])
  const page = await openConsole()
  for (const log of [`/${shop.name}/audit-log`, '/-/audit-log']) {
    await signIn(page, log)
    const table = page.getByRole('table', { name: 'Audit log' })
    await table.getByRole('link', { name: person.email }).first().waitFor()
    // An entry has the address of who acts, while the names of what it is about are still on their way.
    await expect.poll(() => table.getByRole('link', { name: person.userId }).count()).toBe(0)
    await page.context().clearCookies()
  }
})

it('is offered to nobody who may not read it', async () => {
  const [reader, other] = [
    await people.member(shop, { entitlements: ['auditLog:read'] }),
    await people.member(shop, { collections: { articles: { read: 'all' } } }),
  ]
  const page = await openConsole()
  await signIn(page, `/${shop.name}`, reader)
  await page.getByRole('link', { name: 'Audit log', exact: true }).waitFor()
  await page.goto(`${world.url}/-/audit-log`)
  await page.getByText('There is no such page').waitFor()

  const others = await openConsole()
  await signIn(others, `/${shop.name}`, other)
  await others.getByRole('link', { name: 'articles' }).first().waitFor()
  expect(await others.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  await others.goto(`${world.url}/${shop.name}/audit-log`)
  await others.getByText('You are not allowed to do this').waitFor()
})

it('is told in short where it may be read: of the instance at home, of a workspace in it', async () => {
  const page = await openConsole()
  await signIn(page)
  const recent = page.getByRole('region', { name: 'What changed lately' })
  await expect.poll(() => recent.getByRole('listitem').count()).toBe(5)
  expect(await violations(page)).toEqual([])
  await recent.getByRole('link', { name: 'Go to the audit log' }).click()
  await page.getByRole('heading', { name: 'Audit log of the instance', exact: true }).waitFor()

  const joined = await people.member(shop, { collections: { articles: { read: 'all' } } })
  await page.goto(`${world.url}/${shop.name}`)
  const assigned = recent.getByRole('listitem').filter({ hasText: 'Role assigned' }).first()
  await assigned.getByText(joined.email).waitFor()
  await assigned.getByText('By an invitation').waitFor()
  await recent.getByRole('link', { name: 'Go to the audit log' }).click()
  await page.getByRole('heading', { name: 'Audit log', exact: true }).waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/${shop.name}/audit-log`)
})

it('tells what changed lately, and not who came and went', async () => {
  const page = await openConsole()
  await signIn(page)
  const recent = page.getByRole('region', { name: 'What changed lately' })
  await recent.getByRole('listitem').first().waitFor()
  expect(await recent.getByText(/^Sign-in|^Tokens/).count()).toBe(0)

  // Among all actions other files may have pushed it off the first page.
  await page.goto(`${world.url}/-/audit-log?action=auth.login.v1`)
  await page.getByRole('table').getByText('Sign-in', { exact: true }).first().waitFor()
  const heightOf = async (label: string) => (await page.getByLabel(label, { exact: true }).boundingBox())?.height
  expect(await heightOf('Until')).toBe(await heightOf('By whom'))
})

const targets = {
  accessTest: true,
  apiKey: true,
  conversation: true,
  file: true,
  invitation: true,
  policy: true,
  provider: true,
  role: true,
  secret: true,
  serviceAccount: true,
  session: true,
  source: true,
  user: true,
  workspace: true,
} as const satisfies Readonly<Record<TargetType, true>>

it('names what happened in Arabic', async () => {
  expect(Object.keys(en.audit.targets).sort()).toEqual(Object.keys(targets))
  expect(Object.keys(actions).sort()).toEqual(Object.keys(auditActions).sort())
  const page = await openConsole({ locale: 'ar' })
  await logIn(page, world.administrator)
  await page.goto(`${world.url}/${shop.name}/audit-log`)

  await page.getByRole('cell', { name: 'إنشاء دور' }).first().waitFor()
  await page
    .getByRole('cell', { name: /^الدور / })
    .first()
    .waitFor()
  expect(await page.getByRole('option', { name: 'Role created' }).count()).toBe(0)
})

it('is filtered, read and followed by keyboard alone', async () => {
  const page = await openConsole()
  await signIn(page, `/${shop.name}`)
  const focused = (name: string) => page.getByRole('link', { name }).and(page.locator(':focus'))
  const tabTo = async (isThere: () => Promise<boolean>) => {
    for (let at = 0; at < 60 && !(await isThere()); at += 1) await page.keyboard.press('Tab')
  }
  await page.getByRole('navigation').getByRole('link', { name: 'Audit log' }).waitFor()
  await tabTo(async () => (await focused('Audit log').count()) > 0)
  await page.keyboard.press('Enter')
  const table = page.getByRole('table', { name: 'Audit log' })
  await table.getByRole('cell', { name: 'Role created' }).first().waitFor()

  await tabTo(async () => (await page.getByLabel('By whom').and(page.locator(':focus')).count()) > 0)
  await page.keyboard.type('nobody')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is recorded that meets the filter').waitFor()
  await tabTo(
    async () => (await page.getByRole('button', { name: 'Clear the filter' }).and(page.locator(':focus')).count()) > 0,
  )
  await page.keyboard.press('Enter')
  await table.getByRole('cell', { name: 'Role created' }).first().waitFor()
  await tabTo(async () => (await page.locator('summary:focus').count()) > 0)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('details[open]').count()).toBe(1)
})
