/**
 * The pictures of the console in README.md, taken of the demo: `npm run pictures`. Starts the service with a folder of its
 * own, opens the link of its start-up block, and looks at a grid in both colour schemes.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChromium } from '../../test/support/browser.ts'
import { startLocalRun } from '../../test/support/service/local-run.ts'

const folder = join(import.meta.dirname, '../../docs/pictures')
const filter = encodeURIComponent(JSON.stringify({ delayMinutes: { _gt: 60 } }))
const path = `/demo/items/flights?sort=-delayMinutes&filter=${filter}`

const home = await mkdtemp(join(tmpdir(), 'pictures-'))
const service = await startLocalRun('start:node', { SERVICE_DATA_DIR: home, PORT: '0' })
try {
  await mkdir(folder, { recursive: true })
  const [link = ''] = /http:\S+#sign-in=\S+/.exec(service.output()) ?? []
  const browser = await openChromium()
  const context = await browser.newContext({ viewport: { width: 1280, height: 640 }, locale: 'en-US' })
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(new URL(path, service.url).href)
    await page.getByRole('gridcell').first().waitFor()
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: join(folder, `console-${colorScheme}.png`) })
  }
  await browser.close()
} finally {
  await service.interrupt()
  await rm(home, { recursive: true, force: true })
}
