/** Files as a person has them: uploaded, dropped, looked at, found, put into fields, replaced and lent. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { gridOf, picture, signedInAt, violations } from '../support/service/console-page.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { isWiderThanWindow } from './support/pages.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('pictures', {})
  const fields = {
    id: 'int64 auto',
    title: 'string',
    poster: { to: 'ServiceFile?', opposite: 'posterOf' },
    stills: { many: 'ServiceFile' },
  }
  const model = { version: 1, collections: { films: { fields } } }
  const planned = (await (await shop.post('/schema/plan', { model })).json()) as { data: { plan: string } }
  const applied = await shop.post('/schema/apply', { model, plan: planned.data.plan })
  if (!applied.ok) throw new Error(await applied.text())
})

const files = () => gridOf(shop, 'ServiceFile')
const image = async () => ({
  name: 'Poster „A".png',
  mimeType: 'image/png',
  buffer: await readFile('docs/pictures/console-light.png'),
})
const text = (name: string, content = name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
const stored = async () =>
  (await shop.data('/items/ServiceFile?fields=id,fileName&limit=-1')) as {
    id: string
    fileName: string
  }[]

type Sent = Awaited<ReturnType<typeof image>>

/** Chooses files where a button asks for them. */
async function choose(page: Page, button: string, ...sent: readonly Sent[]): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: button, exact: true }).click()
  await (await chooser).setFiles([...sent])
}

/** Drops files in the middle of the page, and holds them over it first. */
async function drop(page: Page, ...sent: readonly Sent[]): Promise<void> {
  const named = JSON.stringify(sent.map(({ name, buffer }) => [name, buffer.toString()]))
  // The types of the browser are not among those of the tests.
  const held = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    for (const [name, content] of ${named}) transfer.items.add(new File([content], name))
    return transfer
  })()`)
  await page.dispatchEvent('main', 'dragover', { dataTransfer: held })
  await page.getByText('Drop to upload').waitFor()
  await page.dispatchEvent('main', 'drop', { dataTransfer: held })
}

describe('the files of a workspace', () => {
  it('are uploaded by a button or dropped anywhere, found by name and by being unused, and opened', async () => {
    const page = await signedInAt(files())
    await page.getByRole('heading', { name: 'Files', exact: true }).waitFor()
    await page.getByText('Drop files anywhere on this page').waitFor()

    await choose(page, 'Upload', await image(), text('letter.txt'))
    await page.getByRole('link', { name: /letter.txt/ }).waitFor()
    await drop(page, text('dropped.txt'))
    await page.getByRole('link', { name: /dropped.txt/ }).waitFor()
    await page.getByText('3 files').waitFor()
    await page
      .getByRole('link', { name: /Poster/ })
      .locator('img')
      .waitFor()
    await picture(page, 'files')
    expect(await violations(page)).toEqual([])
    const id = (await stored()).find(({ fileName }) => fileName.startsWith('Poster'))?.id
    await shop.insert('films', [{ title: 'One', posterId: id }])
    await page.getByLabel('Only unused').check()
    await page.getByText('2 files').waitFor()
    await page.getByLabel('Find by name').fill('LETTER')
    await page.getByText('1 file', { exact: true }).waitFor()
    await page.getByRole('link', { name: /letter.txt/ }).click()

    await page.getByRole('heading', { name: 'letter.txt', exact: true }).waitFor()
    await page.getByText('There is no preview of this type.').waitFor()
  })

  it('go on after a part was lost, and leave nothing where they are given up', async () => {
    const page = await signedInAt(files())
    let isDown = true
    await page.route('**/assets/uploads/*/2', (sent) => (isDown ? sent.abort() : sent.continue()))
    const large = text('large.txt', 'x'.repeat(9 * 1024 ** 2))

    await choose(page, 'Upload', large)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
    await picture(page, 'files-failed')
    isDown = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: /large.txt/ }).waitFor()
    isDown = true
    await choose(page, 'Upload', { ...large, name: 'given up.txt' })
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    const forgotten = page.waitForResponse((response) => response.request().method() === 'DELETE')
    await page.getByRole('button', { name: 'Cancel the upload of given up.txt' }).click()

    expect((await forgotten).status()).toBe(204)
    expect((await stored()).map(({ fileName }) => fileName)).not.toContain('given up.txt')
  })

  it('are not replaced by who has not seen what somebody else has put there', async () => {
    const { id } = await (await shop.send('POST', '/assets?fileName=seen.txt', { raw: 'first' }))
      .json()
      .then((body) => (body as { data: { id: string } }).data)
    const page = await signedInAt(`${files()}/${id}`, world.administrator)
    await page.getByRole('button', { name: 'Replace' }).waitFor()
    await shop.send('PUT', `/assets/${id}?fileName=theirs.txt`, { raw: 'theirs' })

    await choose(page, 'Replace', { ...(await image()), name: 'mine.png' })
    await page.getByText('Somebody has replaced this file since it was shown').waitFor()
    await page.getByRole('heading', { name: 'theirs.txt', exact: true }).waitFor()
    const content = await shop.get(`/assets/${id}`)
    expect(await content.text()).toBe('theirs')
    await choose(page, 'Replace', { ...(await image()), name: 'mine.png' })
    await page.getByText('Replaced.', { exact: true }).waitFor()
    expect((await shop.get(`/assets/${id}`)).headers.get('Content-Type')).toBe('image/png')
  })

  it('are replaced again at once, which is nobody else’s doing', async () => {
    const { id } = await (await shop.send('POST', '/assets?fileName=twice.txt', { raw: 'first' }))
      .json()
      .then((body) => (body as { data: { id: string } }).data)
    const page = await signedInAt(`${files()}/${id}`, world.administrator)
    const replace = page.getByRole('button', { name: 'Replace' })
    await replace.waitFor()
    await page.route(`**/assets/${id}`, async (sent) => {
      if (sent.request().method() === 'HEAD') await page.waitForTimeout(500)
      await sent.continue()
    })
    for (const name of ['one.png', 'two.png']) {
      await choose(page, 'Replace', { ...(await image()), name })
      await page.getByRole('heading', { name, exact: true }).waitFor()
    }
    expect(await page.getByText('Somebody has replaced this file').count()).toBe(0)

    const reader = await people.member(shop, {
      entitlements: ['dataModel:read'],
      collections: { ServiceFile: { read: 'all' } },
    })
    const theirs = await signedInAt('/', reader)
    const asked: string[] = []
    theirs.on('request', (request) => {
      if (request.method() === 'HEAD') asked.push(request.url())
    })
    await theirs.goto(`${files()}/${id}`)
    await theirs.getByRole('link', { name: 'Download' }).waitFor()
    await theirs.waitForLoadState('networkidle')
    expect(asked).toEqual([])
  })

  it('are replaced, lent by a link, deleted and restored', async () => {
    const { id } = await (await shop.send('POST', '/assets?fileName=plan.txt', { raw: 'first' }))
      .json()
      .then((body) => (body as { data: { id: string } }).data)
    const page = await signedInAt(`${files()}/${id}`, world.administrator, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByRole('heading', { name: 'plan.txt', exact: true }).waitFor()

    await choose(page, 'Replace', await image())
    await page.getByRole('img', { name: /Poster/ }).waitFor()
    await picture(page, 'file')
    await page.getByRole('button', { name: 'Make a link' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Anybody who has the link reads the file').waitFor()
    await dialog.getByLabel('It works for').selectOption('An hour')
    await dialog.getByRole('button', { name: 'Make the link' }).click()
    await dialog.getByText('it is shown this once').waitFor()
    expect(await violations(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    await picture(page, 'file-link')
    await page.setViewportSize({ width: 1440, height: 900 })
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('?link=')
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    await dialog.getByRole('button', { name: 'Close', exact: true }).first().click()
    expect(await page.content()).not.toContain(link)
    await page.getByLabel('Title', { exact: true }).fill('The plan')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
    expect((await fetch(link)).headers.get('content-type')).toBe('image/png')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()

    await page.getByRole('heading', { name: 'Files', exact: true }).waitFor()
    expect((await shop.get(`/assets/${id}`)).status).toBe(404)
    await page.getByRole('button', { name: 'Deleted files' }).click()
    const restore = dialog.getByRole('button', { name: /^Restore Poster/ })
    await restore.waitFor()
    expect(await violations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, 'files-deleted')
    await restore.click()
    await dialog.getByText('No file was deleted lately.').waitFor()
    await page.getByText(/^Poster.* is restored/).waitFor()
    expect((await shop.get(`/assets/${id}`)).status).toBe(200)
  })
})

describe('a deleted file', () => {
  it('is restored by who deleted it in this visit, without the audit log', async () => {
    const person = await people.member(shop, {
      collections: { ServiceFile: { read: 'all', create: 'all', delete: 'all' } },
    })
    const { id } = await (await shop.send('POST', '/assets?fileName=note.txt', { raw: 'note' }))
      .json()
      .then((body) => (body as { data: { id: string } }).data)
    const page = await signedInAt(`${files()}/${id}`, person)
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Deleted files' }).click()
    await dialog.getByText('since this page was loaded').waitFor()
    await dialog.getByRole('button', { name: 'Restore note.txt' }).click()

    await page.getByText('note.txt is restored.').waitFor()
    expect((await shop.get(`/assets/${id}`)).status).toBe(200)
  })
})

describe('a field that leads to files', () => {
  it('takes an upload, to one and to many, and shows it in the grid', async () => {
    const [film] = await shop.insert('films', [{ title: 'Two' }])
    const page = await signedInAt(`${gridOf(shop, 'films')}/${film?.id}`)

    await choose(page, 'Upload a file for poster', await image())
    const poster = page.getByRole('group', { name: 'poster' })
    await poster.getByRole('link', { name: 'Poster „A".png' }).waitFor()
    await poster.getByText('Files', { exact: true }).waitFor()
    expect(await poster.getByRole('textbox').count()).toBe(0)
    await poster.getByRole('button', { name: 'Remove Poster „A".png' }).click()
    await poster.getByRole('link').waitFor({ state: 'detached' })
    await choose(page, 'Upload a file for poster', await image())
    await poster.getByRole('link', { name: 'Poster „A".png' }).waitFor()
    await choose(page, 'Upload a file for stills', text('still 1.txt'), text('still 2.txt'))
    await page.getByRole('group', { name: 'stills' }).getByRole('link', { name: 'still 2.txt' }).waitFor()
    await page.getByRole('group', { name: 'stills' }).getByText('Files', { exact: true }).waitFor()
    await picture(page, 'file-fields')
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()

    const saved = await shop.data(`/items/films/${film?.id}?fields=poster.fileName,stills.fileName`)
    expect(saved).toMatchObject({
      poster: { fileName: 'Poster „A".png' },
      stills: { data: [{ fileName: 'still 1.txt' }, { fileName: 'still 2.txt' }] },
    })
    await page.goto(gridOf(shop, 'films'))
    const all = page.getByRole('gridcell', { name: /Poster/ }).locator('img')
    await all.nth(1).waitFor()
    await expect
      .poll(() =>
        all.evaluateAll((those) =>
          those.map((one) => (one as unknown as { readonly naturalWidth: number }).naturalWidth > 0),
        ),
      )
      .toEqual([true, true])
    const shown = all.first()
    const middleOf = async (one: typeof shown) => {
      const { y = 0, height = 0 } = (await one.boundingBox()) ?? {}
      return y + height / 2
    }
    const cell = page.getByRole('gridcell', { name: /Poster/ }).first()
    expect(Math.abs((await middleOf(shown)) - (await middleOf(cell)))).toBeLessThanOrEqual(1)
    await picture(page, 'file-grid')
  })

  it('offers no upload to whoever may make no files, and no files to whoever reads none', async () => {
    const film = String((await shop.insert('films', [{ title: 'Three' }]))[0]?.id)
    const all = { read: 'all', update: 'all' } as const
    const [editor, reader] = await Promise.all([
      people.member(shop, {
        collections: { films: all, ServiceFile: { read: 'all' } },
      }),
      people.member(shop, { collections: { films: all } }),
    ])
    const page = await signedInAt(`${gridOf(shop, 'films')}/${film}`, editor)
    await page.getByRole('button', { name: 'Choose poster' }).waitFor()
    await page.getByRole('link', { name: 'Files' }).waitFor()

    const other = await signedInAt(`${gridOf(shop, 'films')}/${film}`, reader)
    await other.getByLabel('title', { exact: true }).waitFor()

    expect(await page.getByRole('button', { name: /^Upload/ }).count()).toBe(0)
    expect(await other.getByRole('link', { name: 'Files' }).count()).toBe(0)
  })
})

it('is usable on a telephone and from right to left', async () => {
  const page = await signedInAt(files(), world.administrator, {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
  })
  await page.getByRole('heading', { name: 'Files', exact: true }).waitFor()
  await page.evaluate(() => localStorage.setItem('console.language', 'ar'))
  await page.reload()
  await page.getByRole('heading', { name: 'الملفات', exact: true }).waitFor()
  await page.getByRole('list', { name: 'الملفات' }).waitFor()
  await picture(page, 'files-telephone')

  expect(await isWiderThanWindow(page)).toBe(false)
  expect(await violations(page)).toEqual([])
})
