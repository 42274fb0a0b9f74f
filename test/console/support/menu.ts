/** Menus of the console, by keys. */
import type { Page } from 'playwright-core'

/** A menu takes the focus as soon as it is open; what is pressed before that is not meant for its item. */
export async function chooseFromMenu(page: Page, menu: string, item: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).press('Enter')
  await page.locator('[role=menuitem]:focus').waitFor()
  await page.getByRole('menuitem', { name: item }).press('Enter')
}
