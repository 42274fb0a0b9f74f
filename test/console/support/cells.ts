/** The cells of a grid by the names of its fields, reached and typed into by keys. */
import type { Locator, Page } from 'playwright-core'

export type Cells = {
  /** The cell of a field in a row as it is counted from the first. */
  cell(page: Page, field: string, row?: number): Locator
  goTo(page: Page, field: string, row?: number): Promise<void>
  type(page: Page, field: string, text: string, commit?: string, row?: number): Promise<void>
}

/** `names` are all columns, in their order. */
export function cellsOf(names: readonly string[]): Cells {
  const cell = (page: Page, field: string, row = 0) =>
    page.locator(`[role=row][aria-rowindex="${row + 2}"] [aria-colindex="${names.indexOf(field) + 2}"]`)

  const goTo = async (page: Page, field: string, row = 0) => {
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+Home')
    for (let at = 0; at < row; at += 1) await page.keyboard.press('ArrowDown')
    for (let at = 0; at <= names.indexOf(field); at += 1) await page.keyboard.press('ArrowRight')
  }

  /** Keys bring the cell to where it can be seen and typed into. */
  const type = async (page: Page, field: string, text: string, commit = 'Enter', row = 0) => {
    await goTo(page, field, row)
    await page.keyboard.press('Enter')
    const input = page.getByLabel(field, { exact: true }).and(page.locator('input, select, textarea'))
    await input.waitFor()
    if ((await page.locator('select:focus').count()) > 0) await input.selectOption(text)
    else {
      await page.keyboard.press('Control+A')
      await page.keyboard.insertText(text)
    }
    await page.keyboard.press(commit)
  }
  return { cell, goTo, type }
}

/** As from a spreadsheet, into what has the focus. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(
    `{ const data = new DataTransfer(); data.setData('text/plain', ${JSON.stringify(text)});
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })) }`,
  )
}
