/** Pages of the console for tests: each has cookies and storage of its own. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openPage, PATIENCE } from '../../support/browser.ts'
import { logIn } from '../../support/service/console-page.ts'
import { world } from '../../support/service/world.ts'

const open = new Set<Page>()
const complaints: string[] = []

/** A page in English, in which nothing is opened yet. What its policy refuses and what its script throws fails `closePages`. */
export async function openConsole(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openPage({ locale: 'en-US', viewport: { width: 1440, height: 900 }, ...options })
  page.setDefaultTimeout(PATIENCE)
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
  })
  open.add(page)
  return page
}

/** After each test. */
export async function closePages(): Promise<void> {
  for (const page of open) await page.context().close()
  open.clear()
  const heard = complaints.splice(0)
  if (heard.length > 0) throw new Error(heard.join('\n'))
}

type Credentials = { readonly email: string; readonly password: string }

/** As the administrator of the suite or somebody else, to a screen with the menu of the account. */
export async function signIn(page: Page, path = '/', who: Credentials = world.administrator): Promise<void> {
  await logIn(page, who)
  await page.goto(world.url + path)
  await isSignedIn(page)
}

/** As `signIn`, by the form. */
export async function signInByForm(page: Page, path = '/', who: Credentials = world.administrator): Promise<void> {
  await submitSignIn(page, path, who)
  await isSignedIn(page)
}

async function isSignedIn(page: Page): Promise<void> {
  try {
    await page.getByRole('button', { name: 'Account' }).waitFor()
  } catch (cause) {
    throw new Error(`nobody is signed in where the page says: ${await page.locator('body').innerText()}`, { cause })
  }
}

/** By the form, to a screen without the menu of the account: what it shows is for the caller to wait for. */
export async function submitSignIn(page: Page, path: string, who: Credentials = world.administrator): Promise<void> {
  await page.goto(world.url + path)
  await page.getByLabel('E-mail').fill(who.email)
  await page.getByLabel('Password').fill(who.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** All that a script of the page can read of what it keeps. */
export function storedTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    '[document.cookie, ...Object.entries(localStorage).flat(), ...Object.entries(sessionStorage).flat(), JSON.stringify(history.state)]',
  )
}

/** Letters of twice the size from the beginning on, as somebody has them who needs them. */
export async function enlarge(page: Page): Promise<void> {
  const enlarged = "document.documentElement.style.fontSize = '200%'"
  const isThere = 'if (document.documentElement) '
  await page.addInitScript(
    `new MutationObserver(() => { ${isThere}${enlarged} }).observe(document, { childList: true })`,
  )
}

/** Lists and dialogs that go on below, or above, what is seen of them, and do not show it at their edge. */
export function endingUnseen(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('body *:not(main, textarea, [role=grid])')]
    .filter((one) => one.checkVisibility() && one.scrollHeight > one.clientHeight + 1)
    .filter((one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowY))
    .filter((one) => !getComputedStyle(one).backgroundImage.includes('gradient'))
    .map((one) => one.outerHTML.slice(0, 100))`)
}

/** Whether something can be scrolled to the side that is not meant to be. */
export function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.evaluate(`document.documentElement.scrollWidth > innerWidth ||
    [...document.querySelectorAll('dialog[open]')].some((one) => one.scrollWidth > one.clientWidth)`)
}
