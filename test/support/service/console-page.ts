/** A page of the console with somebody signed in, and what a person does there that every screen has. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openPage, PATIENCE } from '../browser.ts'
import { type Workspace, world } from './world.ts'

type Account = { readonly email: string; readonly password: string }

/** A page at a path of the console, such as `/shop/items/books`. */
export async function signedInAt(
  path: string,
  who: Account = world.administrator,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openPage({ viewport: { width: 1440, height: 900 }, baseURL: world.url, ...options })
  page.setDefaultTimeout(PATIENCE)
  await logIn(page, who)
  await page.goto(path)
  return page
}

/** Gives a page the session of somebody, as the form of the console does, in a quarter of its time. */
export async function logIn(page: Page, { email, password }: Account, url = world.url): Promise<void> {
  const options = { data: { credentials: { email, password } } }
  const answer = await page.context().request.post(`${url}/api/auth/login`, options)
  if (!answer.ok()) throw new Error(`Signing in was answered ${answer.status()}: ${await answer.text()}`)
}

export function gridOf(shop: Workspace, collection: string): string {
  return `/${shop.name}/items/${collection}`
}

const axe = join(import.meta.dirname, '../../../node_modules/axe-core/axe.min.js')

/**
 * What axe finds wrong with what is shown, by rule and place. It runs beside the page, whose policy lets no script in, is loaded once into
 * each, and hands over no more than that: all that it found right is megabytes.
 */
export async function violations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(`${await readFile(axe, 'utf8')};0`)
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, html, failureSummary }) => [id, JSON.stringify(target), html, failureSummary].join(' '))))`)
}

/** Kept where `SERVICE_TEST_PICTURES` names a folder, for whoever looks at it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SERVICE_TEST_PICTURES
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) })
}
