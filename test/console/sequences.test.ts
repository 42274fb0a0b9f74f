/** Whatever one person does to a grid in whatever order, it comes to what a model says, in the database and on the screen. */
import fc from 'fast-check'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { casesOr } from '../support/run/cases.ts'
import { gridOf, signedInAt } from '../support/service/console-page.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { cellsOf, paste } from './support/cells.ts'
import {
  anyDeeds,
  anyRows,
  type Block,
  columns,
  type Deed,
  modelOf,
  type Outcome,
  ROWS,
  tabbed,
  textOf,
  type Values,
  within,
} from './support/sequences.ts'

const CASES = casesOr(200)
const MINUTES = 60_000

let shop: Workspace
let page: Page | undefined
/** What is saved waits for it. */
let gate = Promise.withResolvers<void>()
gate.resolve()

const { goTo, type } = cellsOf(['id', ...columns.map(({ name }) => name)])
const makers = ['1', '2']

beforeAll(async () => {
  const things = {
    title: 'string',
    size: 'int16?',
    isOn: 'boolean?',
    day: 'date?',
    price: 'decimal(20,4)?',
    tags: 'string[]?',
    note: 'string?',
    makerId: 'int64?',
  }
  const relations = ['things.maker(makerId) -> makers.things']
  shop = await world.workspace('sequences', { makers: { name: 'string' }, things }, relations)
  await shop.insert('makers', [{ name: 'Ada' }, { name: 'Emmy' }])
})

afterAll(() => page?.context().close())

it(
  `of ${CASES} sequences of edits, pastes, fills, undoing and redoing each ends as the model says`,
  async () => {
    const counts = new Map<string, number>()
    const property = fc.asyncProperty(anyRows(makers), anyDeeds, async (begun, deeds) => {
      for (const what of await tried(begun, deeds)) counts.set(what, (counts.get(what) ?? 0) + 1)
    })
    await fc.assert(property, { numRuns: CASES, includeErrorInReport: true })
    console.log(`sequences: ${JSON.stringify(Object.fromEntries([...counts].sort()))}`)
    // A few sequences may miss one of these.
    const kinds = CASES < 20 ? [] : ['edit', 'paste', 'fill down', 'fill along', 'clear']
    expect(kinds.filter((kind) => !counts.has(`${kind} done`))).toEqual([])
  },
  CASES * MINUTES,
)

/** What each deed came to, where all of it is as the model says. */
async function tried(begun: readonly Values[], deeds: readonly Deed[]): Promise<readonly string[]> {
  const made = await shop.insert('things', begun)
  const model = modelOf(made as Values[])
  const ids = made.map(({ id }) => id)
  const path = `${gridOf(shop, 'things')}?filter=${encodeURIComponent(JSON.stringify({ id: { _in: ids } }))}`
  try {
    page ??= await opened(path)
    await page.goto(path)
    await page
      .getByRole('rowheader')
      .nth(ROWS - 1)
      .waitFor()
    const outcomes: string[] = []
    for (const deed of deeds) {
      const outcome = model.does(deed)
      await does(page, deed, outcome)
      outcomes.push(`${deed.kind} ${outcome}`)
    }
    await released(page)
    const filter = encodeURIComponent(JSON.stringify({ id: { _in: ids } }))
    const fields = columns.map(({ name }) => name).join()
    const stored = await shop.data(`/items/things?filter=${filter}&fields=${fields}&sort[0][id][direction]=asc`)
    expect(stored).toEqual(model.now())
    const names = new Map([...makers.entries()].map(([at, id]) => [id, ['Ada', 'Emmy'][at] ?? '']))
    const shown = model
      .now()
      .map((row) =>
        columns.map(({ name }) => (name === 'makerId' ? (names.get(textOf(row[name])) ?? '') : textOf(row[name]))),
      )
    expect(await copied(page)).toBe(tabbed(shown))
    return outcomes
  } catch (error) {
    // What it could not save would be in the way of the next.
    await page?.context().close()
    page = undefined
    throw error
  }
}

async function does(page: Page, deed: Deed, outcome: Outcome): Promise<void> {
  if (deed.kind === 'edit') {
    await type(page, columns[deed.at.column]?.name ?? '', deed.text, 'Control+Enter', deed.at.row)
    if (outcome === 'wrong') {
      await page.getByRole('grid').getByRole('alert').waitFor()
      await page.keyboard.press('Escape')
    }
  } else if (deed.kind === 'toggle') {
    await goTo(page, 'isOn', deed.row)
    await page.keyboard.press('Space')
  } else if (deed.kind === 'leave and come back') {
    await goTo(page, 'title')
    await page.keyboard.press('Shift+Enter')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goBack()
    await page
      .getByRole('rowheader')
      .nth(ROWS - 1)
      .waitFor()
  } else if (deed.kind === 'hold') {
    gate.resolve()
    gate = Promise.withResolvers()
  } else if (deed.kind === 'release') {
    await released(page)
  } else if ('over' in deed) {
    await choose(page, within(deed.over))
    if (deed.kind === 'paste') await paste(page, `${tabbed(deed.texts)}\n`)
    else await page.keyboard.press({ clear: 'Delete', 'fill down': 'Control+d', 'fill along': 'Control+r' }[deed.kind])
  } else {
    await page.getByRole('grid').focus()
    await page.keyboard.press(deed.kind === 'undo' ? 'Control+z' : 'Control+Shift+Z')
  }
  if (outcome === 'refused by the server') {
    gate.resolve()
    await page.getByRole('button', { name: 'Discard' }).click()
  }
}

async function choose(page: Page, { row, column, down, along }: Block): Promise<void> {
  await goTo(page, columns[column]?.name ?? '', row)
  for (let at = 0; at < down; at += 1) await page.keyboard.press('Shift+ArrowDown')
  for (let at = 0; at < along; at += 1) await page.keyboard.press('Shift+ArrowRight')
}

async function opened(path: string): Promise<Page> {
  const page = await signedInAt(path, world.administrator, {
    viewport: { width: 1900, height: 400 },
    reducedMotion: 'reduce',
  })
  await page.route('**/api/*/items{,/things/*}', async (route) => {
    if (route.request().method() !== 'GET') await gate.promise
    await route.continue()
  })
  return page
}

/** Nothing is under way any more, nor has anything failed: of both the browser keeps what was typed. */
async function released(page: Page): Promise<void> {
  gate.resolve()
  const kept = `Object.keys(localStorage).filter((key) => key.startsWith('console.unsaved'))`
  await expect.poll(() => page.evaluate(kept)).toEqual([])
}

/** What the grid shows, but for the ids. */
async function copied(page: Page): Promise<string> {
  await choose(page, { row: 0, column: 0, down: ROWS - 1, along: columns.length - 1 })
  return page.evaluate(
    `(() => { const data = new DataTransfer()
    document.activeElement.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }))
    return data.getData('text/plain') })()`,
  )
}
