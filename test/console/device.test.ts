/** docs/contract.md#devices: the page that signs in a device, which the command line sends people to. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from '../support/service/command-line.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, openConsole, storedTexts } from './support/pages.ts'

let shop: Workspace
const opened: CommandLine[] = []

beforeAll(async () => {
  shop = await world.workspace('devices', { articles: { title: 'string' } })
})
afterEach(closePages)
afterAll(async () => {
  for (const { close } of opened) await close()
})

const { email, password } = world.administrator

/** A device that waits for somebody: where it sends them with which code, and what becomes of it. */
async function openDevice() {
  const line = await openCommandLine()
  opened.push(line)
  const { promise: shown, resolve } = Promise.withResolvers<{ readonly uri: string; readonly code: string }>()
  const told = async (text: string) => {
    const [, uri, code] = /^Open (\S+) in a browser.* the code (\S+)$/m.exec(text) ?? []
    if (uri !== undefined && code !== undefined) resolve({ uri, code })
  }
  const ended = line.governed(['login', '--url', world.url, '--workspace', shop.name, '--browser'], {
    onProgress: told,
  })
  const refused = ended.then(({ stderr }) => Promise.reject(new Error(stderr)))
  return { line, ended, ...(await Promise.race([shown, refused])) }
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText(`You are signed in as ${email}`).waitFor()
}

async function enter(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code that your device shows').fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
}

it('signs in the command line once somebody has signed in, typed its code and approved', async () => {
  const { line, ended, uri, code } = await openDevice()
  const page = await openConsole()
  await page.goto(uri)

  await signIn(page)
  await enter(page, 'NOT-MINE')
  await page.getByRole('status').filter({ hasText: /\w/ }).waitFor()
  const unknown = await page.getByRole('status').textContent()
  await enter(page, code)
  await page.getByText(/^governed on /).waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('The device is signed in.').waitFor()

  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`as ${email}\n`) })
  expect((await line.governed(['doctor'])).stdout).toContain(`${email}, by a session`)
  expect(unknown).not.toBe('')
  expect((await storedTexts(page)).filter((text) => /eyJ|token|secret/i.test(text))).toEqual([])
})

it('declines a device, which keeps nothing', async () => {
  const { ended, uri, code } = await openDevice()
  const page = await openConsole()
  await page.goto(uri)

  await signIn(page)
  await enter(page, code)
  await page.getByRole('button', { name: 'Decline' }).click()
  await page.getByText('Declined. Nothing was signed in.').waitFor()

  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('the sign-in was declined') })
})
