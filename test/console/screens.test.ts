/**
 * Every screen, dialog and state: for those who do not see it, in both colour schemes, in both languages, on a telephone, with text
 * of twice the size, without motion. All texts in it are scripts where people may write them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { access as arAccess } from '../../console/src/messages/ar/access.ts'
import { account as arAccount } from '../../console/src/messages/ar/account.ts'
import { model as arModel } from '../../console/src/messages/ar/model.ts'
import { sources as arSources } from '../../console/src/messages/ar/sources.ts'
import { system as arSystem } from '../../console/src/messages/ar/system.ts'
import { ar } from '../../console/src/messages/ar.ts'
import { access as enAccess } from '../../console/src/messages/en/access.ts'
import { account as enAccount } from '../../console/src/messages/en/account.ts'
import { model as enModel } from '../../console/src/messages/en/model.ts'
import { sources as enSources } from '../../console/src/messages/en/sources.ts'
import { system as enSystem } from '../../console/src/messages/en/system.ts'
import { en, type Messages } from '../../console/src/messages/en.ts'
import { firstOf } from '../support/run/cases.ts'
import { effort } from '../support/run/effort.ts'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { sourceInputFor, startSystem } from '../support/service/connected.ts'
import { logIn, picture, violations } from '../support/service/console-page.ts'
import { type Person, people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'
import { closePages, endingUnseen, enlarge, isWiderThanWindow, openConsole, signIn } from './support/pages.ts'

const script = '<img src=x onerror="window.hasRun=1">'

let shop: Workspace
let person: Person
let article: string
let view: string
let file: string
let system: ExternalSystem
let library: Workspace
let attached: string
let robot: string

beforeAll(async () => {
  shop = await world.workspace(
    'shop',
    {
      articles: { title: 'string', note: 'string?', authorId: 'int64?', data: 'json?', day: 'date?', at: 'dateTime?' },
      authors: { name: 'string' },
      empty: { title: 'string' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
  const id = shop.ids.get('articles')
  const history = { kind: 'changeHasHistory', data: { hasHistory: true } }
  expect((await shop.migrate({ kind: 'updateCollection', data: { id, operations: [history] } })).status).toBe(200)
  await shop.insert('authors', [{ name: script }, { name: 'عن المحركات' }])
  const made = await shop.insert('articles', [
    {
      title: script,
      note: script,
      authorId: 1,
      data: { [script]: script },
      day: '2026-01-31',
      at: '2026-01-31T13:45:00',
    },
    { title: 'عن المحركات', authorId: 2 },
  ])
  article = String(made[0]?.id)
  await shop.patch(`/items/articles/${article}`, { note: `${script} ${script}`, authorId: null, data: null })
  await shop.patch(`/items/articles/${article}`, { note: script, authorId: 1, data: { [script]: script } })
  const saved = { name: script, collectionId: shop.ids.get('articles'), query: {}, layout: null }
  view = String((await shop.insert('ServiceView', [saved]))[0]?.id)
  const [collectionId] = [shop.ids.get('authors')]
  await shop.insert('ServiceCollectionMeta', [{ collectionId, displayName: script, icon: '✍️', color: script }])
  person = await people.member(shop, { collections: { articles: { read: 'all' } } })
  await person.system.patch('/api/system/users/me', { fullName: script })
  await person.system.post('/api/system/api-keys', { name: script })
  const account = await person.system.post('/api/system/service-accounts', { name: script, description: script })
  robot = ((await account.json()) as { readonly data: { readonly id: string } }).data.id
  const claimed = { issuer: 'https://login.example.com', clientId: script, clientSecret: script }
  await world.administrator.post('/api/system/providers', { name: 'corporate', ...claimed, enabled: false })
  file = await uploaded('kept.txt')
  await shop.delete(`/items/ServiceFile/${await uploaded('dropped.txt')}`)
  system = await startSystem()
  library = await world.workspace('library', {})
  const permissions = sourceInputFor(system).permissions.map((one) => ({ ...one, reason: script }))
  const answer = await library.post('/sources/data', { apiName: 'books', ...sourceInputFor(system), permissions })
  attached = ((await answer.json()) as { readonly data: { readonly id: string } }).data.id
  await library.send('PUT', '/secrets/key', { body: { value: script } })
})

afterAll(async () => {
  await world.administrator.delete('/api/system/providers/corporate')
  await system.close()
})

afterEach(closePages)

/** Answers the id of the file. */
async function uploaded(name: string): Promise<string> {
  const answer = await shop.send('POST', `/assets?fileName=${name}`, { raw: name })
  return ((await answer.json()) as { readonly data: { readonly id: string } }).data.id
}

type Show = (page: Page, t: Messages) => Promise<void>

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).first().waitFor()
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const alert = (page: Page) => page.getByRole('alert').first().waitFor()

/** At a path, signed in. */
async function at(
  page: Page,
  path: string,
  who: { readonly email: string; readonly password: string } = world.administrator,
) {
  await logIn(page, who)
  await page.goto(world.url + path)
}

async function visit(page: Page, path: string, name: string): Promise<void> {
  await page.goto(world.url + path)
  await title(page, name)
}

const items = (collection = 'articles') => `/${shop.name}/items/${collection}`
const item = () => `${items()}/${article}`

async function rows(page: Page, search = ''): Promise<void> {
  await at(page, items() + search)
  await page.getByRole('gridcell', { name: script }).first().waitFor()
}

/** A dialog about all rows. */
async function more(page: Page, t: Messages, name: string): Promise<void> {
  await rows(page)
  await button(page, t.many.menu).click()
  await page.getByRole('menuitem', { name }).click()
  await page.getByRole('dialog').getByRole('button').nth(1).waitFor()
}

async function form(page: Page): Promise<void> {
  await at(page, item())
  await page.getByLabel('title', { exact: true }).waitFor()
}

async function account(page: Page, t: Messages): Promise<void> {
  await at(page, '/-/account', person)
  await page.getByRole('cell', { name: accountIn(t).thisOne }).waitFor()
}

async function newKey(page: Page, t: Messages): Promise<void> {
  await account(page, t)
  await button(page, accountIn(t).newKey).click()
  await page.getByRole('dialog').getByLabel(accountIn(t).keyName, { exact: true }).waitFor()
}

const modelIn = (t: Messages) => (t === ar ? arModel : enModel)

/** A part of the model of a collection, and a dialog of it. */
async function model(page: Page, part: readonly string[], name: string): Promise<void> {
  await at(page, `/${[shop.name, 'model', 'articles', ...part].join('/')}`)
  await button(page, name).click()
  await page.getByRole('dialog').getByRole('button').nth(1).waitFor()
}

const accessIn = (t: Messages) => (t === ar ? arAccess : enAccess)
const accountIn = (t: Messages) => (t === ar ? arAccount : enAccount)
const sourcesIn = (t: Messages) => (t === ar ? arSources : enSources)

const systemIn = (t: Messages) => (t === ar ? arSystem : enSystem)

async function provider(page: Page, t: Messages): Promise<void> {
  await at(page, '/-/providers?name=corporate')
  await button(page, systemIn(t).deleteOf('corporate')).waitFor()
}

/** A connector in a workspace of its own. */
async function source(page: Page): Promise<void> {
  await at(page, `/${library.name}/sources/${attached}`)
  await region(page, sourcesIn(en).state)
    .or(region(page, sourcesIn(ar).state))
    .locator('[data-state=new]')
    .waitFor()
}

async function secrets(page: Page, t: Messages): Promise<void> {
  await at(page, `/${library.name}/sources/secrets`)
  await button(page, sourcesIn(t).deleteOf('key')).waitFor()
}

/** A page of its own: it opens what it shows. */
const GALLERY = 'screens/gallery.tsx'

/** How to come to each screen and state, and which routes and files with dialogs it stands for. */
const screens: readonly (readonly [name: string, covers: readonly string[], show: Show])[] = [
  ['sign-in', [], (page, t) => visit(page, '/', t.signIn.title)],
  [
    'other ways to sign in',
    [],
    async (page, t) => {
      await visit(page, '/', t.signIn.title)
      await page.getByText(t.signIn.otherWays).click()
      await page
        .getByText(t.signIn.noOtherWays)
        .or(page.getByRole('link', { name: t.signIn.with('') }))
        .first()
        .waitFor()
    },
  ],
  [
    'a wrong sign-in',
    [],
    async (page) => {
      await page.goto(`${world.url}/?error=sign_in_failed`)
      await alert(page)
    },
  ],
  ['reset', ['reset'], (page, t) => visit(page, '/-/reset', t.reset.requestTitle)],
  ['a new password', [], (page, t) => visit(page, '/-/reset#token=x', t.reset.title)],
  ['invitation', ['invitation'], (page, t) => visit(page, '/-/invitation', t.invitation.title)],
  [
    'an invitation that does not count',
    [],
    async (page, t) => {
      await visit(page, '/-/invitation#token=x', t.invitation.title)
      await alert(page)
    },
  ],
  [
    'home',
    ['home'],
    async (page, t) => {
      await at(page, '/')
      await page.getByRole('region', { name: t.audit.recent }).waitFor()
    },
  ],
  [
    'a new workspace',
    ['screens/home.tsx'],
    async (page, t) => {
      await at(page, '/')
      await button(page, t.home.create).click()
      await page.getByRole('dialog').getByLabel(t.setUp.workspaceName, { exact: true }).waitFor()
    },
  ],
  [
    'a workspace',
    ['workspace'],
    async (page) => {
      await at(page, `/${shop.name}`)
      await page.getByRole('main').getByRole('link', { name: 'articles' }).waitFor()
    },
  ],
  [
    'a workspace that is renamed',
    ['screens/workspace-settings.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}`)
      await button(page, systemIn(t).ofWorkspace.rename).click()
      await page.getByRole('dialog').getByLabel(systemIn(t).ofWorkspace.name).waitFor()
    },
  ],
  [
    'deleting a workspace',
    [],
    async (page, t) => {
      const texts = systemIn(t).ofWorkspace
      await at(page, `/${shop.name}`)
      await button(page, texts.delete).click()
      await page.getByRole('dialog').getByText(texts.goes.countedMembers('2')).waitFor()
    },
  ],
  [
    'deleted files',
    ['screens/files/deleted.tsx'],
    async (page, t) => {
      await at(page, items('ServiceFile'))
      await button(page, t.files.deleted.open).click()
      await button(page, t.files.deleted.restoreOf('dropped.txt')).waitFor()
    },
  ],
  [
    'a link to a file',
    ['screens/files/link.tsx'],
    async (page, t) => {
      await at(page, items(`ServiceFile/${file}`))
      await button(page, t.files.link.open).click()
      await button(page, t.files.link.make).click()
      await page.getByRole('dialog').getByText('?link=').waitFor()
    },
  ],
  [
    'no such workspace',
    [],
    async (page, t) => {
      await at(page, '/nowhere')
      await page.getByText(t.workspace.notFound).waitFor()
    },
  ],
  ['rows', ['collection'], (page) => rows(page)],
  [
    'no rows',
    [],
    async (page, t) => {
      await at(page, items('empty'))
      await page.getByText(t.grid.none).first().waitFor()
    },
  ],
  [
    'rows that do not come',
    [],
    async (page) => {
      await page.route('**/items/articles?*', (route) =>
        route.fulfill({ status: 500, json: { message: 'Internal error' } }),
      )
      await at(page, items())
      await alert(page)
    },
  ],
  [
    'a filter',
    [],
    async (page, t) => {
      await rows(page)
      await button(page, t.grid.filter).click()
      await page.getByLabel(t.grid.operator).first().waitFor()
    },
  ],
  [
    'columns',
    ['screens/grid/choose-columns.tsx'],
    async (page, t) => {
      await rows(page)
      await button(page, t.grid.columns).click()
      await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
    },
  ],
  [
    'views',
    [],
    async (page, t) => {
      await rows(page)
      await button(page, t.views.label).click()
      await page.getByRole('menuitem').first().waitFor()
    },
  ],
  [
    'a new view',
    ['screens/grid/save-view.tsx'],
    async (page, t) => {
      await rows(page)
      await button(page, t.views.label).click()
      await page.getByRole('menuitem', { name: t.views.save }).click()
      await page.getByRole('dialog').getByLabel(t.views.name).waitFor()
    },
  ],
  [
    'deleting a view',
    ['screens/grid/views.tsx'],
    async (page, t) => {
      await rows(page, `?view=${view}`)
      await button(page, t.views.chosen(script)).click()
      await page.getByRole('menuitem', { name: t.views.delete(script) }).click()
      await page.getByRole('dialog').getByText(t.views.deleteShared).waitFor()
    },
  ],
  [
    'code',
    ['screens/code/dialog.tsx'],
    async (page, t) => {
      await rows(page)
      await button(page, t.code.title).click()
      await page.getByRole('dialog').getByText('curl').first().waitFor()
    },
  ],
  [
    'a cell with a wrong value',
    [],
    async (page) => {
      await rows(page)
      await page.locator('[aria-rowindex="2"] [aria-colindex="8"]').dblclick()
      await page.keyboard.press('Control+A')
      await page.keyboard.insertText('x')
      await page.keyboard.press('Enter')
      await alert(page)
    },
  ],
  [
    'what is done to many rows',
    [],
    async (page, t) => {
      await rows(page)
      await button(page, t.many.menu).click()
      await page.getByRole('menuitem', { name: t.many.deleteAll }).waitFor()
    },
  ],
  ['changing many rows', ['screens/bulk/change.tsx'], (page, t) => more(page, t, t.many.changeAll)],
  ['deleting many rows', [], (page, t) => more(page, t, t.many.deleteAll)],
  ['an export', ['screens/export.tsx'], (page, t) => more(page, t, t.many.export)],
  [
    'an import with lines that do not fit',
    ['screens/import.tsx'],
    async (page, t) => {
      await more(page, t, t.many.import)
      const buffer = Buffer.from(`title,day\n${script.replaceAll('"', '')},2026-01-31\nwrong,x\n`)
      await page.getByLabel(t.many.file).setInputFiles({ name: 'articles.csv', mimeType: 'text/csv', buffer })
      await page.getByText(t.many.fits('1', 1)).waitFor()
    },
  ],
  [
    'an item',
    ['item'],
    async (page, t) => {
      await form(page)
      await page.getByRole('form', { name: t.item.fields }).getByRole('link', { name: script }).waitFor()
    },
  ],
  [
    'the history of an item',
    [],
    async (page, t) => {
      await form(page)
      await page.getByRole('heading', { name: t.item.history.title, exact: true }).click()
      await page.getByText(t.item.history.actions.create).waitFor()
      await page.getByText(t.item.history.actions.create).scrollIntoViewIfNeeded()
    },
  ],
  [
    'an item that others refer to',
    [],
    async (page, t) => {
      await at(page, `${items('authors')}/1`)
      await page.getByRole('region', { name: t.item.related }).getByText(t.grid.count('1', 1)).waitFor()
    },
  ],
  [
    'choosing an item',
    ['screens/grid/picker.tsx'],
    async (page, t) => {
      await form(page)
      await button(page, t.item.choose('author')).click()
      await page.getByRole('dialog').getByRole('option', { name: script }).waitFor()
    },
  ],
  [
    'an item that cannot be saved',
    [],
    async (page, t) => {
      await form(page)
      await page.route('**/items/articles/**', (route) => route.abort())
      await page.getByLabel('note', { exact: true }).fill('changed')
      await button(page, t.item.save).click()
      await alert(page)
    },
  ],
  [
    'a conflict',
    ['screens/grid/conflict.tsx'],
    async (page, t) => {
      await form(page)
      await page.getByLabel('note', { exact: true }).fill(`${script} mine`)
      await shop.patch(`/items/articles/${article}`, { note: `${script} ${Math.random()}` })
      await button(page, t.item.save).click()
      await page.getByRole('dialog', { name: t.grid.conflictTitle }).waitFor()
    },
  ],
  [
    'deleting an item',
    ['screens/item/delete.tsx'],
    async (page, t) => {
      await at(page, `${items('authors')}/1`)
      await button(page, t.item.delete).click()
      await page.getByRole('dialog').getByText(t.grid.count('1', 1)).waitFor()
    },
  ],
  [
    'a new item',
    ['new'],
    async (page, t) => {
      await at(page, `/${shop.name}/new/articles`)
      await page.getByLabel('title', { exact: true }).waitFor()
      await button(page, t.item.save).click()
      await alert(page)
    },
  ],
  [
    'audit log',
    ['audit'],
    async (page, t) => {
      await at(page, `/${shop.name}/audit-log`)
      await page.getByText(t.audit.show, { exact: true }).first().click()
    },
  ],
  [
    'audit log of the instance',
    ['audit-log'],
    async (page, t) => {
      await at(page, '/-/audit-log')
      await page.getByText(t.audit.show, { exact: true }).first().waitFor()
    },
  ],
  [
    'nothing in the audit log',
    [],
    async (page, t) => {
      await at(page, `/${shop.name}/audit-log?actor=nobody-at-all`)
      await page.getByText(t.audit.none).waitFor()
    },
  ],
  ['an account', ['account'], account],
  ['a new key', ['screens/account/new-key.tsx'], newKey],
  [
    'a key that was made',
    [],
    async (page, t) => {
      await newKey(page, t)
      await page.getByLabel(accountIn(t).keyName, { exact: true }).fill(script)
      await button(page, accountIn(t).makeKey).click()
      await button(page, accountIn(t).keyKept).waitFor()
    },
  ],
  [
    'deleting a key',
    [],
    async (page, t) => {
      await account(page, t)
      await button(page, accountIn(t).deleteOf(script)).first().click()
      await page.getByRole('dialog').getByText(accountIn(t).deleteText).waitFor()
    },
  ],
  [
    'a key with chosen rights',
    [],
    async (page, t) => {
      await newKey(page, t)
      await page.getByRole('dialog').getByLabel(accountIn(t).workspace, { exact: true }).selectOption(shop.name)
      const chosen = page.getByRole('dialog').getByLabel(accountIn(t).rights, { exact: true })
      await chosen.selectOption(systemIn(t).chosenRights)
      await page.getByLabel(accessIn(t).actionOn(accessIn(t).does.read, 'articles')).check()
    },
  ],
  [
    'users, and inviting one',
    ['users', 'screens/system/users.tsx'],
    async (page, t) => {
      await at(page, `/-/users?q=${encodeURIComponent(person.email)}`)
      await page.getByRole('link', { name: script, exact: true }).waitFor()
      await button(page, systemIn(t).invite).click()
      await page.getByRole('dialog').getByLabel(accountIn(t).workspace, { exact: true }).waitFor()
    },
  ],
  [
    'a user',
    [],
    async (page) => {
      await at(page, `/-/users?id=${person.userId}`)
      await page.getByRole('main').getByRole('link', { name: shop.name }).waitFor()
      await page.getByRole('main').getByRole('link', { name: script }).last().waitFor()
    },
  ],
  [
    'what is for administrators only',
    [],
    async (page, t) => {
      await at(page, '/-/users', person)
      await page.getByText(t.palette.administrators).waitFor()
    },
  ],
  [
    'service accounts, and a new one',
    ['service-accounts', 'screens/system/service-accounts.tsx'],
    async (page, t) => {
      await at(page, '/-/service-accounts')
      await page.getByRole('link', { name: script, exact: true }).first().waitFor()
      await button(page, systemIn(t).newAccount).click()
      await page.getByRole('dialog').getByLabel(accountIn(t).workspace, { exact: true }).selectOption(shop.name)
      await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
    },
  ],
  [
    'a service account',
    [],
    async (page, t) => {
      await at(page, `/-/service-accounts?id=${robot}`)
      await button(page, systemIn(t).deleteOf(script)).waitFor()
    },
  ],
  [
    'sign-in providers',
    ['providers'],
    async (page) => {
      await at(page, '/-/providers')
      await page.getByRole('link', { name: 'corporate', exact: true }).waitFor()
    },
  ],
  ['a sign-in provider', [], provider],
  [
    'a new sign-in provider',
    [],
    async (page, t) => {
      await at(page, '/-/providers?new')
      await page.getByLabel(systemIn(t).kind, { exact: true }).selectOption('github')
      await page.getByText(systemIn(t).claims).click()
      await page.getByLabel(systemIn(t).claim.subject, { exact: true }).waitFor()
    },
  ],
  [
    'deleting a sign-in provider',
    ['screens/system/sure.tsx'],
    async (page, t) => {
      await provider(page, t)
      await button(page, systemIn(t).deleteOf('corporate')).click()
      await page.getByRole('dialog').getByLabel(systemIn(t).typeIt('corporate')).waitFor()
    },
  ],
  [
    'the license',
    ['license'],
    async (page, t) => {
      await at(page, '/-/license')
      await page.getByRole('cell', { name: t.license.entitlements.workspaces ?? '', exact: true }).waitFor()
    },
  ],
  [
    'settings',
    ['settings'],
    async (page) => {
      await at(page, '/-/settings')
      await page.getByRole('cell', { name: 'SERVICE_SECRET' }).waitFor()
    },
  ],
  [
    'palette',
    ['app/palette.tsx'],
    async (page) => {
      await at(page, `/${shop.name}`)
      await page.getByRole('main').getByRole('link', { name: 'articles' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('option', { name: 'articles' }).first().waitFor()
    },
  ],
  [
    'account menu',
    [],
    async (page, t) => {
      await at(page, '/', person)
      await button(page, t.shell.account).click()
      await page.getByRole('menuitem', { name: t.session.signOut }).waitFor()
    },
  ],
  [
    'a session that was lost',
    ['app/app.tsx'],
    async (page, t) => {
      await form(page)
      await page.getByLabel('note', { exact: true }).fill('typed')
      await page.context().clearCookies()
      // Another request of the page may notice it first; then the button is behind the dialog already.
      await button(page, t.item.save).dispatchEvent('click')
      await page.getByRole('dialog', { name: t.session.lostTitle }).waitFor()
    },
  ],
  [
    'set-up: data',
    ['set-up'],
    async (page, t) => {
      await at(page, `/-/set-up?workspace=${shop.name}`)
      await title(page, t.setUp.data)
      await page.waitForLoadState('networkidle')
    },
  ],
  [
    'set-up: a database that does not answer',
    [],
    async (page, t) => {
      await at(page, `/-/set-up?workspace=${shop.name}`)
      await button(page, new RegExp(`^${t.setUp.connect}`)).click()
      await page.getByLabel(t.connect.connectionString).fill('postgres://nobody:nothing@127.0.0.1:1/none')
      await button(page, t.connect.connect).click()
      await alert(page)
    },
  ],
  ...(['form', 'file'] as const).map((way): (typeof screens)[number] => [
    `set-up: a model by a ${way}`,
    [],
    async (page, t) => {
      await at(page, `/-/set-up?workspace=${shop.name}`)
      await button(page, new RegExp(`^${t.setUp[way]}`)).click()
      await button(page, t.model.showPlan).waitFor()
    },
  ]),
  [
    'people of a workspace',
    ['access', 'screens/access/people.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}/access`)
      await button(page, accessIn(t).rolesOf(world.administrator.email)).click()
      await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
    },
  ],
  [
    'an invitation that is made',
    ['screens/access/invite.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}/access`)
      await button(page, accessIn(t).invite).click()
      await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
    },
  ],
  [
    'a new role',
    ['screens/access/roles.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}/access/roles`)
      await button(page, accessIn(t).newRole).click()
      await page.getByRole('dialog').getByLabel(accessIn(t).name, { exact: true }).waitFor()
    },
  ],
  [
    'a member who is removed',
    [],
    async (page, t) => {
      await at(page, `/${shop.name}/access`)
      await button(page, accessIn(t).removeOf(world.administrator.email)).click()
      await page.getByRole('dialog').getByText(accessIn(t).removeText).waitFor()
    },
  ],
  [
    'a policy',
    [],
    async (page, t) => {
      await at(page, `/${shop.name}/access/policies/new`)
      await page.getByLabel(accessIn(t).actionOn(accessIn(t).does.read, 'articles')).waitFor()
    },
  ],
  [
    'the limits of an action',
    ['screens/access/limits.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}/access/policies/new`)
      await page.getByLabel(accessIn(t).actionOn(accessIn(t).does.read, 'articles')).selectOption('some')
      await page
        .getByRole('dialog')
        .getByRole('group', { name: accessIn(t).conditions.filter, exact: true })
        .waitFor()
    },
  ],
  [
    'the effect of a change',
    [],
    async (page, t) => {
      const policy = await people.policy(shop, { collections: { articles: { read: { fields: ['id'] } } } })
      await people.memberWith(shop, [await people.role(shop, [policy])])
      await at(page, `/${shop.name}/access/policies/${policy}`)
      await page
        .getByLabel(accessIn(t).actionOn(accessIn(t).does.delete, 'articles'), { exact: true })
        .selectOption('all')
      await button(page, accountIn(t).save).click()
      await page.getByRole('region', { name: accessIn(t).effect }).waitFor()
    },
  ],
  [
    'why somebody may not',
    [],
    async (page, t) => {
      await at(page, `/${shop.name}/access/why?who=anonymous&collection=articles&action=read`)
      await page.getByText(accessIn(t).notAllowed, { exact: true }).waitFor()
    },
  ],
  [
    'a test that is kept',
    ['screens/access/tests.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}/access/why?who=anonymous&collection=articles&action=read`)
      await button(page, accessIn(t).keepTest).click()
      await page.getByRole('dialog').getByLabel(accessIn(t).name, { exact: true }).waitFor()
    },
  ],
  [
    'tests of rights',
    [],
    async (page, t) => {
      const test = { as: 'anonymous', collection: 'articles', action: 'read', expect: { allowed: false } }
      await shop.post('/access/tests', { name: script, ...test })
      await at(page, `/${shop.name}/access/tests`)
      await page.getByText(accessIn(t).results.passed, { exact: true }).waitFor()
    },
  ],
  [
    'documentation',
    ['docs'],
    async (page) => {
      await at(page, '/-/docs/api/items')
      await page.getByRole('heading', { level: 1, name: 'Items' }).waitFor()
    },
  ],
  [
    'data model',
    ['model'],
    async (page) => {
      await at(page, `/${shop.name}/model`)
      await page.getByRole('link', { name: 'articles', exact: true }).last().waitFor()
    },
  ],
  [
    'a new collection',
    ['screens/model/list.tsx'],
    async (page, t) => {
      await at(page, `/${shop.name}/model`)
      await button(page, modelIn(t).newCollection).click()
      await page.getByRole('dialog').getByLabel(modelIn(t).keyName).waitFor()
    },
  ],
  [
    'a collection that is renamed',
    ['screens/model/collection.tsx'],
    (page, t) => model(page, [], modelIn(t).renameOf('articles')),
  ],
  ['a new field', ['screens/model/fields.tsx'], (page, t) => model(page, [], modelIn(t).newField)],
  ['a new relation', ['screens/model/relations.tsx'], (page, t) => model(page, ['relations'], modelIn(t).newRelation)],
  ['a new index', ['screens/model/indexes.tsx'], (page, t) => model(page, ['indexes'], modelIn(t).newIndex)],
  [
    'how a collection is shown',
    ['screens/model/names.tsx'],
    (page, t) => model(page, ['names'], modelIn(t).presentOf('articles')),
  ],
  [
    'an icon to choose',
    ['screens/model/icon-picker.tsx'],
    async (page, t) => {
      await model(page, ['names'], modelIn(t).presentOf('articles'))
      await button(page, modelIn(t).chooseIcon).click()
      await page.getByRole('option').first().waitFor()
    },
  ],
  [
    'the diagram of the data model',
    [],
    async (page, t) => {
      await at(page, `/${shop.name}/model/-/diagram`)
      await region(page, modelIn(t).relationsList).waitFor()
    },
  ],
  [
    'the model file',
    [],
    async (page, t) => {
      await at(page, `/${shop.name}/model/-/file`)
      await page.getByLabel(modelIn(t).fileLabel).waitFor()
    },
  ],
  [
    'data sources',
    ['sources'],
    async (page, t) => {
      await at(page, `/${library.name}/sources`)
      await page.getByRole('link', { name: 'books', exact: true }).waitFor()
      await page.getByText(sourcesIn(t).states.new).waitFor()
    },
  ],
  ['a data source', [], source],
  [
    'deleting a data source',
    ['screens/sources/delete.tsx'],
    async (page, t) => {
      await source(page)
      await button(page, sourcesIn(t).deleteOf('books')).click()
      await page.getByRole('dialog').getByLabel(sourcesIn(t).typeName('books')).waitFor()
    },
  ],
  [
    'another connection of a data source',
    ['screens/sources/connection.tsx'],
    async (page, t) => {
      await source(page)
      await button(page, sourcesIn(t).changeConnection).click()
      await page.getByRole('dialog').getByLabel(sourcesIn(t).json).waitFor()
    },
  ],
  [
    'what can be attached',
    [],
    async (page, t) => {
      await at(page, `/${library.name}/sources/connectors`)
      await page.getByRole('table', { name: sourcesIn(t).broken }).waitFor()
    },
  ],
  ['secrets', [], secrets],
  [
    'a secret that is changed',
    ['screens/sources/secrets.tsx'],
    async (page, t) => {
      await secrets(page, t)
      await button(page, sourcesIn(t).rotateOf('key')).click()
      await page.getByRole('dialog').getByLabel(sourcesIn(t).value).waitFor()
    },
  ],
  [
    'a source that is attached by single fields',
    [],
    async (page, t) => {
      await at(page, `/${library.name}/sources/new`)
      await page.getByLabel(sourcesIn(t).given).selectOption('parts')
      await page.getByLabel(sourcesIn(t).host, { exact: true }).waitFor()
    },
  ],
  [
    'hosts that a connector asks for',
    [],
    async (page, t) => {
      await at(page, `/${library.name}/sources/new?provider=scripted`)
      await page.getByLabel(sourcesIn(t).json).fill(JSON.stringify({ system: system.url }))
      await button(page, t.connect.connect).click()
      await button(page, sourcesIn(t).grantAll).waitFor()
    },
  ],
  [
    'components',
    ['components', GALLERY],
    async (page, t) => {
      await at(page, '/-/components')
      await title(page, t.gallery.title)
    },
  ],
  [
    'a review',
    ['screens/review/sheet.tsx'],
    async (page) => {
      await at(page, '/-/components')
      await button(page, 'Open a review').click()
      await page.getByRole('dialog').getByRole('textbox').waitFor()
    },
  ],
  [
    'no such page of a workspace',
    ['missing'],
    async (page, t) => {
      await at(page, `/${shop.name}/nothing`)
      await page.getByRole('link', { name: t.shell.toWorkspace(shop.name) }).waitFor()
      await page.getByRole('main').getByText(t.shell.notFound).waitFor()
    },
  ],
  [
    'no such page',
    ['unknown', 'own'],
    async (page, t) => {
      await at(page, '/-/nothing')
      await page.getByText(t.shell.notFound).waitFor()
    },
  ],
]

it('knows every route and every file with a dialog', () => {
  const folder = join(import.meta.dirname, '../../console/src')
  const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  const dialogs = files.filter((name) => /<Dialog\s/.test(textOf(name))).map((name) => name.replaceAll('\\', '/'))
  const routes = ['app/app.tsx', 'app/screens.tsx'].flatMap((name) =>
    [...textOf(name).matchAll(/case '([\w-]+)':|name === '([\w-]+)'/g)].map(([, kind, own]) => kind ?? own),
  )

  expect([...new Set(screens.flatMap(([, covers]) => covers))].sort()).toEqual(
    [...new Set([...routes, ...dialogs])].sort(),
  )
})

/** Each scheme is seen wide and narrow, and in both languages. */
const looks = [
  ['en-US', en, 'light', 'dark'],
  ['ar-EG', ar, 'dark', 'light'],
] as const

/** In the quick tier in English, and of the screens the kinds that others are made of: a form, a page, a grid, an item, a table. */
const seen = firstOf(looks, 1)
const kinds = ['reset', 'home', 'rows', 'an item', 'data model']
const shown = effort() === 'full' ? screens : screens.filter(([name]) => kinds.includes(name))

describe.each(shown)('%s', (name, _, show) => {
  it.each(seen)('can be read, heard and used by everybody, %s', async (locale, texts, wide, narrow) => {
    const page = await openConsole({ locale, reducedMotion: 'reduce', colorScheme: wide })
    const see = (how: string) => picture(page, `${name.replaceAll(/[^a-z]+/g, '-')}-${how}-${locale}`)
    await show(page, texts)

    expect(await violations(page)).toEqual([])
    expect(await page.evaluate("document.getAnimations().filter((one) => one.playState === 'running').length")).toBe(0)
    expect(await page.evaluate("[window.hasRun, document.querySelector('img[src=x]')]")).toEqual([undefined, null])
    // What is open has something in it.
    expect(await page.locator('details[open]:not(:has(> summary + *))').count()).toBe(0)
    await see(`wide-${wide}`)
    await page.evaluate("document.documentElement.style.fontSize = '200%'")
    expect(await isWiderThanWindow(page)).toBe(false)
    expect(await endingUnseen(page)).toEqual([])
    await see('large')
    await page.evaluate("document.documentElement.style.fontSize = ''")
    await page.emulateMedia({ colorScheme: narrow })
    await page.setViewportSize({ width: 360, height: 720 })
    // Of the same words and roles in other colours.
    if (effort() === 'full') expect(await violations(page)).toEqual([])
    expect(await isWiderThanWindow(page)).toBe(false)
    await see(`narrow-${narrow}`)
  })
})

const dialogs = screens.filter(([, covers]) => covers.some((one) => one.endsWith('.tsx') && one !== GALLERY))

it.each(dialogs)('opens at its title in letters of twice the size: %s', async (_, __, show) => {
  const page = await openConsole()
  await enlarge(page)
  await show(page, en)
  const dialog = page.getByRole('dialog').last()

  const title = await dialog.getByRole('heading').first().boundingBox()
  expect(title?.y).toBeGreaterThanOrEqual(0)
  expect((title?.y ?? 0) + (title?.height ?? 0)).toBeLessThanOrEqual(900)
  expect(await dialog.locator('*').evaluateAll((all) => all.filter(({ scrollTop }) => scrollTop > 0).length)).toBe(0)
})

it('is Arabic, from right to left, where the browser asks for it', async () => {
  const page = await openConsole({ locale: 'ar-EG', viewport: { width: 360, height: 720 } })
  await page.goto(world.url)

  await page.getByRole('heading', { name: 'تسجيل الدخول', exact: true }).waitFor()

  expect(await page.evaluate('[document.documentElement.dir, document.documentElement.lang]')).toEqual(['rtl', 'ar'])
  expect(await isWiderThanWindow(page)).toBe(false)
  expect(await violations(page)).toEqual([])
})

it('reaches a collection by the palette, and nothing else than the keyboard', async () => {
  const page = await openConsole()
  await signIn(page, `/${shop.name}`)
  await page.getByRole('link', { name: 'articles' }).first().waitFor()

  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('artic')
  await page.getByRole('option', { name: 'articles', selected: true }).waitFor()
  await page.keyboard.press('Enter')

  await page.getByRole('gridcell', { name: script }).first().waitFor()
  await expect.poll(() => page.url()).toBe(`${world.url}/${shop.name}/items/articles`)
  await page.goBack()
  await expect.poll(() => page.url()).toBe(`${world.url}/${shop.name}`)
})

it('keeps what is on its way as far from the edge as what comes', async () => {
  const page = await openConsole({ viewport: { width: 1440, height: 900 } })
  await signIn(page, `/${shop.name}`)
  await page.getByRole('main').getByRole('link', { name: 'articles' }).waitFor()
  const kept: (() => Promise<void>)[] = []
  const keep = (pattern: string) => page.route(pattern, (route) => void kept.push(() => route.continue()))
  const letGo = async () => {
    await page.unroute('**/-/assets/**')
    for (const one of kept.splice(0)) await one()
  }
  const startOf = async (one: Locator) => (await one.first().boundingBox())?.x ?? 0
  const loading = (within: Locator) => within.getByRole('status').filter({ hasText: 'Loading' }).locator('span').last()
  const beside = page.getByRole('complementary', { name: 'Assistant' })

  await page.route('**/ai/conversations*', () => undefined)
  await button(page, 'Assistant').click()
  await loading(beside).waitFor()
  expect((await startOf(loading(beside))) - (await startOf(beside))).toBeGreaterThanOrEqual(12)
  await picture(page, 'skeleton-assistant')
  await button(page, 'Assistant').click()
  await page.setViewportSize({ width: 360, height: 720 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await keep('**/-/assets/**')
  const main = page.getByRole('main')
  await main.getByRole('link', { name: 'articles' }).click()
  await loading(main).waitFor()
  const start = await startOf(loading(main))
  await picture(page, 'skeleton-narrow-dark')
  await letGo()
  await title(page, 'articles')
  expect(await startOf(main.getByRole('heading'))).toBe(start)
})

it('opens the navigation of a narrow window, and closes it with the choice', async () => {
  const page = await openConsole({ viewport: { width: 360, height: 720 } })
  await signIn(page, `/${shop.name}`)
  const link = page.getByRole('navigation').getByRole('link', { name: 'empty' })

  await page.getByRole('button', { name: 'Menu' }).click()
  await link.click()

  await page.getByText('No rows').waitFor()
  await link.waitFor({ state: 'hidden' })
})

it('shows every part of a short list in a narrow window, and has room for the value of many rows', async () => {
  const page = await openConsole({ locale: 'ar-EG', viewport: { width: 360, height: 720 } })
  await at(page, `/${shop.name}/access`)
  const cells = page.getByRole('table', { name: arAccess.members }).getByRole('cell')
  await cells.first().waitFor()

  const boxes = await Promise.all((await cells.all()).map((cell) => cell.boundingBox()))
  expect(boxes.length).toBeGreaterThan(4)
  expect(boxes.filter((box) => box === null || box.x < 0 || box.x + box.width > 360)).toEqual([])
  await more(page, ar, ar.many.changeAll)
  const value = page.getByRole('dialog').getByLabel(ar.grid.value, { exact: true })
  expect((await value.boundingBox())?.width).toBeGreaterThan(200)
})

it('shows all of where one is, also in letters of twice the size', async () => {
  const page = await openConsole()
  await signIn(page, items('articles'))
  const [workspace, collection] = [shop.name, 'articles'].map((name) =>
    page.getByRole('banner').getByRole('link', { name, exact: true }),
  )
  await page.evaluate("document.documentElement.style.fontSize = '200%'")

  for (const link of [workspace, collection]) {
    expect(
      await link?.evaluate((one) => {
        const { scrollWidth, clientWidth } = one as unknown as { scrollWidth: number; clientWidth: number }
        return scrollWidth - clientWidth
      }),
    ).toBeLessThanOrEqual(0)
  }
})

it('remembers the colour scheme that was chosen', async () => {
  const page = await openConsole({ colorScheme: 'light' })
  await signIn(page)

  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Account' }).waitFor()

  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
})

it('leaves the open menu of the account as it is when more entries arrive', async () => {
  const page = await openConsole({ colorScheme: 'light' })
  const moreEntries = Promise.withResolvers<void>()
  await page.route('**/assets/places-*.js', async (sent) => {
    await moreEntries.promise
    await sent.continue()
  })
  await signIn(page)

  const entries = page.getByRole('menu', { name: 'Account' }).locator('button')
  const users = page.getByRole('menuitem', { name: 'Users' })
  await page.getByRole('button', { name: 'Account' }).click()
  const before = await entries.allInnerTexts()
  const loaded = page.waitForResponse('**/assets/places-*.js')
  moreEntries.resolve()
  await (await loaded).finished()
  // What the browser does with a module that has arrived is done before this import of it resolves.
  await page.evaluate(`import(${JSON.stringify((await loaded).url())})`)
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  expect(await entries.allInnerTexts()).toEqual(before)

  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Account' }).click()
  await users.waitFor()
})
