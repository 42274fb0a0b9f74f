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
  { email, password }: Account = world.administrator,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openPage({ viewport: { width: 1440, height: 900 }, baseURL: world.url, ...options })
  page.setDefaultTimeout(PATIENCE)
  const answer = await page.context().request.post('/api/auth/login', { data: { credentials: { email, password } } })
  if (!answer.ok()) throw new Error(`Signing in was answered ${answer.status()}: ${await answer.text()}`)
  await page.goto(path)
  return page
}

export function gridOf(shop: Workspace, collection: string): string {
  return `/${shop.name}/items/${collection}`
}

const axe = join(import.meta.dirname, '../../../node_modules/axe-core/axe.min.js')

/** What axe finds wrong with what is shown: the rule and the first element of each. */
export async function violations(page: Page): Promise<unknown> {
  await page.evaluate(await readFile(axe, 'utf8'))
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))')
}

/** Kept where `SERVICE_TEST_PICTURES` names a folder, for whoever looks at it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SERVICE_TEST_PICTURES
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) })
}
