/**
 * Two people in the console and an agent over MCP change the same cells, while the network goes, answers are lost, requests
 * are refused and the service is killed. A trigger keeps every value that is ever written: what was acknowledged is among them,
 * what was refused is not, and nobody wrote over a value that they had not seen.
 */
import { Client as Agent } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cellsOf } from '../console/support/cells.ts'
import { createDice, type Dice, seed } from '../fuzz/support/dice.ts'
import { signIn } from '../migration/support/client.ts'
import {
  compileReplica,
  type Instance,
  openInstance,
  type Replica,
  startReplica,
} from '../migration/support/instance.ts'
import { openPage, PATIENCE } from '../support/browser.ts'
import { operationsOf } from '../support/data/model-sketch.ts'
import { casesOr } from '../support/run/cases.ts'
import { freePort } from '../support/servers/free-port.ts'
import { type MailServer, startSmtpServer } from '../support/servers/mail-servers.ts'
import { tokenIn } from '../support/service/mailed-token.ts'

const EDITS = casesOr(200)
const MINUTES = 60_000
const ROWS = [1, 2]
const FIELDS = ['title', 'note']

/** What somebody writes into a cell: a text that nobody else writes. */
type Edit = {
  readonly row: number
  readonly field: string
  readonly value: string
  /** Values that its author knew when it was sent: the one that was there, and those that they were asked about. */
  readonly seen: string[]
  outcome: 'under way' | 'acknowledged' | 'given up'
  /** An answer was lost: it may have been written, even where it was given up later. */
  isUnsure: boolean
}

type Person = {
  readonly page: Page
  edit: Edit | undefined
  /** Of the next request that writes. */
  fault: Fault
  /** Whether the last one reached nobody; one that did may have been written. */
  wasRefused: boolean
}
type Fault = 'none' | 'network gone' | 'answer lost' | 'page left' | 'killed before' | 'killed amid' | 409 | 412 | 429

const FAULTS: readonly Fault[] = [
  'network gone',
  'answer lost',
  'page left',
  'killed before',
  'killed amid',
  409,
  412,
  429,
]

const { cell, goTo } = cellsOf(['id', ...FIELDS])
const edits: Edit[] = []
const counts = new Map<string, number>()
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)

let instance: Instance
let mails: MailServer
let variables: Readonly<Record<string, string>>
let replica: Replica
let isKilled = false
let people: readonly Person[] = []
let agent: Agent
/** What the agent read last, and the fault of its next call. */
let known: ReadonlyMap<number, Readonly<Record<string, unknown>>> = new Map()
let fault: Fault = 'none'

beforeAll(async () => {
  await compileReplica()
  instance = await openInstance()
  const invited = Promise.withResolvers<string>()
  mails = await startSmtpServer(({ text }) => invited.resolve(text))
  variables = { PORT: String(await freePort()), SERVICE_MAIL__URL: mails.url, SERVICE_MAIL__FROM: 'robot@example.com' }
  replica = await startReplica(instance, variables)
  const admin = await signIn(instance.administrator, replica.url)
  const done = async (path: string, body: object) => {
    const answer = await admin.send('POST', path, body)
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return (answer.body as { data: Record<string, string> } | undefined)?.data ?? {}
  }
  const { sourceId } = await admin.workspace('shop')
  const collections = { things: { id: 'int32', title: 'string', note: 'string' } }
  await done('/api/shop/schema/migrate', {
    operations: operationsOf({ collections, keys: {}, relations: [] }, sourceId),
  })
  const begun = ROWS.map((id) => ({ id, title: `title ${id}`, note: `note ${id}` }))
  await done('/api/shop/items/things', begun)
  await watch()

  const rights = { things: { read: 'all', update: 'all' } }
  const content = { entitlements: ['dataModel:read'], collections: rights }
  const policy = await done('/api/shop/policies', { name: 'editors', content })
  const role = await done('/api/shop/roles', { name: 'editors', policies: [policy.id] })
  const ben = { email: 'ben@example.com', password: 'a password of some length' }
  await done('/api/shop/invitations', { email: ben.email, workspace_roles: [role.id] })
  const token = tokenIn(await invited.promise)
  await done('/api/auth/invitations/accept', { token, password: ben.password })
  people = [await personOf(instance.administrator), await personOf(ben)]

  const { key = '' } = await done('/api/system/api-keys', { name: 'agent' })
  agent = new Agent({ name: 'agent', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${replica.url}/api/shop/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
    fetch: failing,
  })
  await agent.connect(transport as Parameters<Agent['connect']>[0])
  await agent.listTools()
})

afterAll(async () => {
  for (const { page } of people) await page.context().close()
  await agent?.close()
  await replica?.kill()
  await mails?.close()
  await instance?.close()
})

it(
  `of ${EDITS} edits by two people and an agent, under faults, none is lost, invented or written over unseen`,
  async () => {
    const dice = createDice(seed)
    const [ann, ben] = people as readonly [Person, Person]
    while (edits.length < EDITS) {
      const who = dice.pick(['ann', 'ben', 'both', 'agent'])
      if (who === 'agent') await agentEdits(dice)
      else if (who === 'both' && ann.edit && ben.edit) await Promise.all([commit(ann, dice), commit(ben, dice)])
      else await goOn(who === 'ben' ? ben : ann, dice)
    }
    for (const person of people) if (person.edit) await commit(person, dice)
    console.log(`three editors, SERVICE_TEST_SEED=${seed}: ${JSON.stringify(Object.fromEntries([...counts].sort()))}`)

    const written = await readWritten()
    const byValue = new Map(edits.map((edit) => [edit.value, edit]))
    expect(edits.filter(({ outcome }) => outcome === 'under way')).toEqual([])
    for (const { row, field, before, after } of written) {
      const edit = byValue.get(after)
      expect(edit, `who wrote ${after}`).toMatchObject({ row, field })
      expect(edit?.seen, `what the author of ${after} had seen`).toContain(before)
      expect(edit?.outcome === 'acknowledged' || edit?.isUnsure, `whether ${after} was acknowledged`).toBe(true)
    }
    const values = new Set(written.map(({ after }) => after))
    expect(edits.filter(({ outcome, value }) => outcome === 'acknowledged' && !values.has(value))).toEqual([])
    const text = 'select title, note from service_shop_data.things order by id'
    const last = ROWS.map((row) => FIELDS.map((field) => lastOf(written, row, field)))
    expect(await instance.database.query({ text, params: [] })).toEqual(last)
  },
  EDITS * MINUTES,
)

/** Keeps what is written, beside the tables of the service. */
async function watch(): Promise<void> {
  const statements = [
    'create schema watched',
    'create table watched.written (at bigserial primary key, "row" int, field text, before text, after text)',
    `create function watched.keep() returns trigger language plpgsql as $$ begin
      if old.title <> new.title then
        insert into watched.written ("row", field, before, after) values (new.id, 'title', old.title, new.title);
      end if;
      if old.note <> new.note then
        insert into watched.written ("row", field, before, after) values (new.id, 'note', old.note, new.note);
      end if;
      return new; end $$`,
    'create trigger keep after update on service_shop_data.things for each row execute function watched.keep()',
  ]
  for (const text of statements) await instance.database.query({ text, params: [] })
}

type Written = { readonly row: number; readonly field: string; readonly before: string; readonly after: string }

async function readWritten(): Promise<readonly Written[]> {
  const text = 'select "row", field, before, after from watched.written order by at'
  const found = await instance.database.query({ text, params: [] })
  return found.map(([row, field, before, after]) => ({
    row: Number(row),
    field: String(field),
    before: String(before),
    after: String(after),
  }))
}

function lastOf(written: readonly Written[], row: number, field: string): string {
  return written.findLast((one) => one.row === row && one.field === field)?.after ?? `${field} ${row}`
}

async function personOf(credentials: { readonly email: string; readonly password: string }): Promise<Person> {
  const page = await openPage({ baseURL: replica.url, locale: 'en-US', viewport: { width: 1200, height: 700 } })
  page.setDefaultTimeout(PATIENCE)
  const answer = await page.context().request.post('/api/auth/login', { data: { credentials } })
  if (!answer.ok()) throw new Error(await answer.text())
  const person: Person = { page, edit: undefined, fault: 'none', wasRefused: false }
  await page.route('**/api/shop/items/things/*', async (route) => {
    if (route.request().method() === 'GET') return route.continue()
    const fault = person.fault
    person.fault = 'none'
    await answered(person, route, fault)
  })
  await page.goto('/shop/items/things?sort=id')
  await page
    .getByRole('rowheader')
    .nth(ROWS.length - 1)
    .waitFor()
  return person
}

/** As the fault of this request says. */
async function answered(person: Person, route: Route, fault: Fault): Promise<void> {
  person.wasRefused = typeof fault === 'number' || fault === 'network gone'
  if (typeof fault === 'number') {
    const headers: Record<string, string> = fault === 429 ? { 'Retry-After': '1' } : {}
    return route.fulfill({ status: fault, headers, json: { message: 'Refused', code: '1' } })
  }
  if (fault === 'network gone') return route.abort()
  if (fault === 'killed before') await kill()
  const sent = fault === 'none' ? undefined : route.fetch().catch(() => undefined)
  if (fault === 'killed amid') await kill()
  await sent
  // A page that is left hears of nothing any more.
  if (fault !== 'page left') await (fault === 'none' ? route.continue() : route.abort())
}

async function kill(): Promise<void> {
  isKilled = true
  await replica.kill()
}

async function revive(): Promise<void> {
  if (!isKilled) return
  isKilled = false
  replica = await startReplica(instance, variables)
}

function begun(dice: Dice, row: number, field: string, base: string): Edit {
  const value = `${field} ${row}, by edit ${edits.length}, ${dice.below(1_000)}`
  const edit: Edit = { row, field, value, seen: [base], outcome: 'under way', isUnsure: false }
  edits.push(edit)
  return edit
}

/** Begins to type, or ends it; in between others write. */
async function goOn(person: Person, dice: Dice): Promise<void> {
  if (person.edit) return commit(person, dice)
  const { page } = person
  if (dice.once(6)) {
    await page.reload()
    await page
      .getByRole('rowheader')
      .nth(ROWS.length - 1)
      .waitFor()
  }
  const [row, field] = [dice.pick(ROWS), dice.pick(FIELDS)]
  const base = (await cell(page, field, row - 1).textContent()) ?? ''
  person.edit = begun(dice, row, field, base)
  await goTo(page, field, row - 1)
  await page.keyboard.press('Enter')
  await page.getByLabel(field, { exact: true }).and(page.locator('input')).waitFor()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(person.edit.value)
}

/** Until it is saved, or its author gives it up. */
async function commit(person: Person, dice: Dice): Promise<void> {
  const { page, edit } = person
  if (edit === undefined) return
  person.fault = dice.once(2) ? dice.pick(FAULTS) : 'none'
  count(`fault: ${person.fault}`)
  const isLeft = person.fault === 'page left'
  await page.keyboard.press('Enter')
  if (isLeft) {
    await expect.poll(() => person.fault).toBe('none')
    await page.reload()
    edit.isUnsure = true
  }
  while (edit.outcome === 'under way') await decide(person, edit, dice)
  count(`person: ${edit.outcome}`)
  person.edit = undefined
}

/** One step on the way to an end: an answer to the question whose value stays, or another try. */
async function decide(person: Person, edit: Edit, dice: Dice): Promise<void> {
  const { page } = person
  await expect.poll(() => stateOf(page)).not.toBe('under way')
  const state = await stateOf(page)
  if (state === 'saved') edit.outcome = 'acknowledged'
  if (state === 'failed') {
    edit.isUnsure ||= !person.wasRefused
    const mayDiscard = person.wasRefused && dice.once(3)
    await revive()
    if (mayDiscard) edit.outcome = 'given up'
    await page.getByRole('button', { name: mayDiscard ? 'Discard' : 'Try again' }).click()
  }
  if (state === 'asked') {
    count('asked')
    const theirs = await theirsIn(page)
    const isMine = dice.once(2)
    if (isMine) edit.seen.push(theirs)
    else edit.outcome = 'given up'
    await page.getByRole('button', { name: isMine ? 'Keep mine' : 'Keep theirs' }).click()
    await expect.poll(() => theirsIn(page)).not.toBe(theirs)
  }
}

/** By what the browser keeps of what is typed, which is there before it is drawn. */
async function stateOf(page: Page): Promise<'asked' | 'failed' | 'saved' | 'under way'> {
  return page.evaluate(`(() => {
    if (document.querySelector('dialog[open]')) return 'asked'
    const kept = Object.keys(localStorage).filter((key) => key.startsWith('console.unsaved'))
    const edits = kept.flatMap((key) => JSON.parse(localStorage.getItem(key)))
    return edits.some(({ error }) => error) ? 'failed' : edits.length > 0 ? 'under way' : 'saved'
  })()`)
}

/** The value of others in the question; empty where nothing is asked. */
async function theirsIn(page: Page): Promise<string> {
  return page.evaluate(`document.querySelector('dialog[open] tbody tr td:last-child')?.textContent ?? ''`)
}

/** By what it has read just now or some time ago, with the tag of that. */
async function agentEdits(dice: Dice): Promise<void> {
  if (known.size === 0 || dice.once(2)) {
    const operation = { kind: 'read', collection: 'things', fields: ['id', ...FIELDS, '_etag'] }
    const { structuredContent } = await agent.callTool({ name: 'batch_items', arguments: { operations: [operation] } })
    const [found = []] = (structuredContent as { data: readonly Record<string, unknown>[][] }).data
    known = new Map(found.map((row) => [Number(row.id), row]))
  }
  const [row, field] = [dice.pick(ROWS), dice.pick(FIELDS)]
  const edit = begun(dice, row, field, String(known.get(row)?.[field]))
  const operation = {
    kind: 'update',
    collection: 'things',
    key: row,
    ifMatch: known.get(row)?._etag,
    data: { [field]: edit.value },
  }
  fault = dice.once(3) ? dice.pick(['network gone', 'answer lost', 'killed before', 'killed amid']) : 'none'
  count(`agent fault: ${fault}`)
  const result = await agent
    .callTool({ name: 'batch_items', arguments: { operations: [operation] } })
    .catch(() => undefined)
  fault = 'none'
  await revive()
  edit.isUnsure = result === undefined
  edit.outcome = result !== undefined && result.isError !== true ? 'acknowledged' : 'given up'
  count(`agent: ${edit.outcome}`)
}

/** As the fault of the agent's call says. */
const failing: typeof fetch = async (...asked) => {
  const own = fault
  fault = 'none'
  if (own === 'network gone') throw new TypeError(own)
  if (own === 'killed before') await kill()
  if (own === 'none') return fetch(...asked)
  const sent = fetch(...asked).catch(() => undefined)
  if (own === 'killed amid') await kill()
  await sent
  throw new TypeError(String(own))
}
