/** Home tells of the license: its state to administrators, each warning in words, and to others that it is locked. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type LicensingLine, openLicensingLine } from '../support/servers/licensing.ts'
import { logIn, picture, violations } from '../support/service/console-page.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { closePages, isWiderThanWindow, openConsole } from './support/pages.ts'

const DAY = 86_400_000
const administrator = { email: 'admin@example.com', password: 'a password of some length' }
const member = { email: 'member@example.com', password: 'another password of some length' }

let stage: TestEnvironment
let line: LicensingLine
let instance: Instance
let key: string

beforeAll(async () => {
  stage = await openTestEnvironment()
  line = await openLicensingLine(stage.clock.now)
  const soft = { limit: 1, kind: 'soft' } as const
  const order = { plan: 'team', term: (30 * DAY) / 1_000, grace: (7 * DAY) / 1_000, entitlements: { workspaces: soft } }
  key = (await line.issue(order)).key
  // Without an address of its own: cookies of this machine are sent without TLS.
  const { SERVICE_BASE_URL: _, ...variables } = line.variables(key)
  instance = await stage.open(variables)
  const admin = await instance.administrator()
  await admin.post('/api/system/workspaces', { apiName: 'shop' })
  await admin.post('/api/shop/invitations', { email: member.email, workspace_roles: [], expiresIn: '7d' })
  const token = await instance.mailedToken(member.email, /workspace shop$/)
  const accepted = await instance.anonymous.post('/api/auth/invitations/accept', { token, password: member.password })
  if (!accepted.ok) throw new Error(await accepted.text())
})

afterEach(closePages)
afterAll(async () => {
  await stage?.close()
  await line?.close()
})

async function home(who = administrator, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openConsole(options)
  await logIn(page, who, instance.url)
  await page.goto(instance.url)
  return page
}

/** Every warning, once there are so many. */
async function warnings(page: Page, count: number): Promise<readonly string[]> {
  const shown = page.getByRole('region', { name: 'Warnings' }).getByRole('status')
  await expect.poll(() => shown.count()).toBe(count)
  return shown.allTextContents()
}

const refresh = async (page: Page) => {
  await page.getByRole('button', { name: 'Check the license now' }).click()
}

it('tells administrators the state, and warns 14 days before its end and of what is above soft limits', async () => {
  const page = await home()
  const state = page.getByRole('region', { name: 'License' })
  await state.getByText('Active').waitFor()
  await state.getByText('Plan team').waitFor()
  expect(await page.getByRole('region', { name: 'Warnings' }).count()).toBe(0)

  const admin = await instance.administrator()
  await admin.post('/api/system/workspaces', { apiName: 'extra' })
  await stage.clock.advance(17.5 * DAY)
  await page.reload()

  expect(await warnings(page, 2)).toEqual([
    'The license expires in 12 days. Renew it before; nothing changes until then.',
    '2 workspaces are in use, and the license allows 1. All of them go on working.',
  ])
  expect(await violations(page)).toEqual([])

  // What was asked before is of then.
  expect((await admin.post('/api/system/license/refresh', {})).status).toBe(200)
  await page.goto(`${instance.url}/-/license`)
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'workspaces', exact: true }) })
  await row.getByText('2 of 1').waitFor()
  expect(await row.getByRole('cell').allTextContents()).toEqual([
    'workspaces',
    '2 of 1',
    'Above the limit',
    'Only a warning: all goes on',
  ])
  expect(await violations(page)).toEqual([])
  await picture(page, 'license-above')
})

it('says that the licensing service is silent, and asks it again', async () => {
  const page = await home()
  line.spoil({ kind: 'down' })
  await refresh(page)
  await expect.poll(async () => (await warnings(page, 3)).join()).toContain('has not answered since')
  line.spoil(line.forged)
  await refresh(page)
  await page.getByText('was not a valid license').waitFor()

  line.spoil({ kind: 'none' })
  await refresh(page)

  await page.getByText('The licensing service has answered.').waitFor()
  expect((await warnings(page, 2)).join()).not.toContain('not a valid license')
})

it('tells of the grace period, of the lock, and that it was lifted, in both languages and at 360 px', async () => {
  await stage.clock.advance(13 * DAY)
  const page = await home()
  expect((await warnings(page, 2))[0]).toMatch(
    /^The license has expired. Everything works until .*; renew it before\.$/,
  )

  await stage.clock.advance(7 * DAY)
  await page.reload()
  await page.getByRole('region', { name: 'License' }).getByText('Locked').waitFor()
  expect((await warnings(page, 2))[0]).toBe(
    'The license has expired: rows can be neither read nor written until it is renewed. Nothing is lost.',
  )
  const theirs = await home(member)
  expect(await warnings(theirs, 1)).toEqual([
    'Rows cannot be read or written now. An administrator of the service has to renew its license.',
  ])
  expect(await theirs.getByRole('region', { name: 'License' }).count()).toBe(0)
  const arabic = await home(administrator, { locale: 'ar-EG', viewport: { width: 360, height: 720 } })
  await arabic.getByText('انتهت الرخصة: لا يمكن قراءة الصفوف ولا كتابتها حتى تُجدَّد.').waitFor()
  expect(await isWiderThanWindow(arabic)).toBe(false)
  expect(await violations(arabic)).toEqual([])

  await line.sell(`/licenses/${key}/renew`, { term: (365 * DAY) / 1_000 })
  await refresh(page)
  await page.getByRole('region', { name: 'License' }).getByText('Active').waitFor()
  expect(await warnings(page, 1)).toEqual([
    '2 workspaces are in use, and the license allows 1. All of them go on working.',
  ])
  await line.sell(`/licenses/${key}/suspend`)
  await refresh(page)
  await page.getByText('The licensing service has withdrawn the license').waitFor()
})
