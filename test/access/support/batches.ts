/**
 * Batches at random: each is answered as its operations alone are, one after the other, and as the naive rules say; one
 * that fails names an operation that cannot be and leaves every row as it was, wherever that operation stands.
 */
import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import type { Cursors } from '../../../src/core/sql/read/row-query.ts'
import { anyDraft, type Draft, type Request, requestOf } from '../../property/support/request.ts'
import type { Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { expectSame, inOrder, scopeOf } from './agreement.ts'
import { runBatch, type Told } from './batch.ts'
import { anyRows, junction, model, type Name, stockOf } from './library.ts'
import { naiveRules } from './naive.ts'
import { anyCaller, anyPolicies, type Caller, type Policy } from './policies.ts'
import { withReferences } from './references.ts'
import { dump, load, openService, type Service, withoutJoining } from './service.ts'
import { anyWrite, everything, type Scope, type Write } from './writes.ts'

export type Act =
  | { readonly kind: 'draft'; readonly draft: Draft; readonly isPaged?: boolean }
  | { readonly kind: 'write'; readonly write: Write }

type Case = {
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly rows: Rows
  readonly acts: readonly Act[]
}

/** Each runs some thirty requests and more. */
const cases = casesOr(40, { least: 16 })

const limits = { default: 100, max: 10_000 }

export function describeBatches(opened: () => Opened): void {
  it(`answers ${cases} batches as their operations alone, and leaves nothing of those that fail`, async () => {
    const { driver, dialect } = opened()
    const database = { driver, dialect: withoutJoining(dialect) }
    const seen = new Map<string, number>()
    let references = 0
    let keys = 0
    let pages = 0
    const property = fc.asyncProperty(anyCase(), async ({ policies, caller, rows, acts }) => {
      await load(database, rows)
      const alone = await runAlone(openService(database, policies, caller), acts)
      const { sent } = alone
      pages += sent.length - acts.length
      const told = JSON.stringify(sent)
      const after = await dump(database)
      const naive = naiveOf(acts, { policies, caller, rows, isMariadb: dialect.title === 'MariaDB' })

      await load(database, rows)
      const batch = await runBatch(database, { policies, caller }, sent)

      seen.set(`${batch.status}`, (seen.get(`${batch.status}`) ?? 0) + 1)
      if (alone.failed === undefined) {
        expectSame(batch, { status: 200, answers: alone.answers }, told)
        expectSame(await dump(database), after, told)
        expectSame(plain(after), plain(inOrder(naive.rows)), told)
        if (policies[0] === everyRight) {
          const { operations, count } = withReferences(sent, alone.writes)
          references += count
          await load(database, rows)
          const referring = await runBatch(database, { policies, caller }, operations)
          expectSame(referring, { status: 200, answers: alone.answers }, JSON.stringify(operations))
          expectSame(await dump(database), after, JSON.stringify(operations))
        }
        if (caller.userId === undefined) return
        keys += 1
        await load(database, rows)
        const first = await runBatch(database, { policies, caller }, sent, `batch ${keys}`)
        expectSame(shownOf(first, sent), shownOf({ ...batch, isReplayed: false }, sent), told)
        const again = await runBatch(database, { policies, caller }, sent, `batch ${keys}`)
        expect([again.status, again.isReplayed], told).toEqual([200, true])
        // What rows decide is read again, as later operations have left it.
        if (policies[0] === everyRight) {
          expectSame(shownOf({ ...again, isReplayed: false }, sent), shownOf(first, sent), told)
        }
        expectSame(await dump(database), after, told)
      } else {
        const { operation = -1, status } = batch
        expectSame(plain(await dump(database)), plain(inOrder(rows)), told)
        expect(naive.failed?.act, told).toBe(alone.failed.act)
        // What cannot be planned is told before what fails when it runs.
        expect(operation, told).toBeGreaterThanOrEqual(alone.failed.operation)
        if (operation === alone.failed.operation) expect(status, told).toBe(alone.failed.status)
        else expect([403, 404, 422], told).toContain(status)
      }
    })
    await fc.assert(property, { seed, numRuns: cases })
    const times = [...seen].map(([name, count]) => `${name} ${count}×`)
    console.log(
      `${dialect.title}: batches ${times.join(', ')}, with ${references} references, ${pages} second pages and ${keys} keys`,
    )
    expect(seen.has('200')).toBe(true)
    for (const count of [references, keys, pages]) expect(count).toBeGreaterThan(0)
  })
}

/** A deletion tells nothing that nobody asked for. */
function shownOf({ answers, ...told }: Told, sent: readonly object[]): unknown {
  const isSilent = (operation: object | undefined) =>
    operation !== undefined && 'kind' in operation && operation.kind === 'delete' && !('fields' in operation)
  return { ...told, answers: answers?.map((answer, index) => (isSilent(sent[index]) ? null : answer)) }
}

function plain(rows: Rows): unknown {
  return JSON.parse(JSON.stringify(rows))
}

function anyCase(): Arbitrary<Case> {
  return fc
    .tuple(anyPolicies(), anyCaller, anyRows, fc.integer({ min: 0, max: 1 }))
    .chain(([policies, caller, rows, luck]) => {
      const own = luck === 0 ? [everyRight, ...policies] : policies
      const scope = scopeOf(naiveRules(own, caller, rows), rows, everything.newIds)
      return fc
        .record({
          policies: fc.constant(own),
          caller: fc.constant(caller),
          rows: fc.constant(rows),
          acts: fc.array(anyAct(scope), { minLength: 1, maxLength: 30, size: 'medium' }),
          mayFail: fc.integer({ min: 0, max: 3 }).map((number) => number === 0),
        })
        .map(({ mayFail, ...drawn }) => (mayFail ? drawn : { ...drawn, acts: somePossible(drawn) }))
    })
}

/** Those that succeed, one after the other. */
export function possible({ policies, caller, rows, acts }: Case): readonly Act[] {
  const kept: Act[] = []
  let current = rows
  for (const act of acts) {
    const { rows: next, failed } = naiveOf([act], { policies, caller, rows: current, isMariadb: false })
    if (failed !== undefined) continue
    kept.push(act)
    current = next
  }
  return kept
}

function somePossible(drawn: Case): readonly Act[] {
  const kept = possible(drawn)
  return kept.length === 0 ? drawn.acts : kept
}

export const everyRight: Policy = {
  entitlements: [],
  collections: Object.fromEntries(
    [...model.collections.values()].map(({ apiName }) => [
      apiName,
      { read: { fields: '*' }, create: { fields: '*' }, update: { fields: '*' }, delete: 'all' },
    ]),
  ),
}

export function anyAct(scope: Scope): Arbitrary<Act> {
  return fc.oneof(
    fc
      .tuple(anyDraft(stockOf(scope.readable), [...scope.readable.fields.keys()]), fc.boolean())
      .map(([draft, isPaged]) => ({ kind: 'draft' as const, draft, isPaged })),
    anyWrite(scope).map((write) => ({ kind: 'write' as const, write })),
  )
}

/** The operation of a batch. */
export function operationOf(act: Act): object {
  if (act.kind === 'draft') {
    return { kind: 'read', collection: act.draft.collection, ...requestOf<object>(act.draft.request, 0, 'sent') }
  }
  const { write } = act
  const { collection, request } = write
  const bound = 'max' in write && write.max !== undefined ? { max: write.max } : {}
  switch (write.kind) {
    case 'create':
      return { kind: 'create', collection, data: write.items, ...request }
    case 'upsert': {
      const fields = collection === junction.name ? junction.key : ['id']
      return { kind: 'upsert', collection, data: write.items, conflict: { fields, do: write.do }, ...request }
    }
    case 'updateEach': {
      const data = write.changes.map(({ key, body }) => ({ id: key, ...body }))
      return { kind: 'update', collection, data, ...request }
    }
    case 'updateOne':
      return { kind: 'update', collection, key: write.key, data: write.body, ...request }
    case 'updateMany':
      return { kind: 'update', collection, data: write.body, ...request, ...bound }
    case 'deleteOne':
      return { kind: 'delete', collection, key: write.key, ...request }
    case 'deleteMany':
      return { kind: 'delete', collection, ...request, ...bound }
  }
}

/** Where an act of those that are run failed: its place among the acts, and among the operations that were sent. */
type Failed = { readonly act: number; readonly operation: number; readonly status: number }

type Alone = {
  /** What the acts are as operations, of which a paged read has two. */
  readonly sent: readonly object[]
  /** The writes among them. */
  readonly writes: readonly (Write | undefined)[]
  readonly answers: readonly Answer[]
  readonly failed: Failed | undefined
}
type Answer = { readonly data: string; readonly total: number | undefined; readonly cursors?: Cursors }

/** What each answers, one after the other, until one fails. */
async function runAlone(service: Service, acts: readonly Act[]): Promise<Alone> {
  const answers: Answer[] = []
  const sent: object[] = []
  const writes: (Write | undefined)[] = []
  const note = (operation: object, write?: Write) => {
    sent.push(operation)
    writes.push(write)
  }
  let failed: Failed | undefined
  for (const [index, act] of acts.entries()) {
    const write = act.kind === 'write' ? act.write : undefined
    if (failed !== undefined) {
      note(operationOf(act), write)
      continue
    }
    for (const { operation, reply } of await repliesTo(service, act)) {
      const { status, text, total, cursors } = reply
      if (status === 200) answers.push({ data: text, total, ...(cursors && { cursors }) })
      else failed = { act: index, operation: sent.length, status }
      note(operation, write)
    }
  }
  return { sent, writes, answers, failed }
}

/** Of a paged read its first two pages, where the caller may have cursors. */
async function repliesTo(service: Service, act: Act) {
  if (act.kind === 'write') return [{ operation: operationOf(act), reply: await service.write(act.write) }]
  const { draft, isPaged } = act
  const read = async (one: Draft) => {
    const reply = await service.list(one.collection, () =>
      parseListArguments(requestOf<object>(one.request, 0, 'sent')),
    )
    return { operation: operationOf({ kind: 'draft', draft: one }), reply }
  }
  if (isPaged === true) {
    const { offset: _, ...request } = draft.request
    const page = (from: Pick<Request, 'after'>): Draft => ({
      ...draft,
      request: { ...request, ...from, limit: 2, meta: 'cursor' },
    })
    const first = await read(page({}))
    const next = first.reply.cursors?.next
    if (typeof next === 'string') return [first, await read(page({ after: next }))]
    if (first.reply.status === 200) return [first]
  }
  return [await read(draft)]
}

type World = {
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly rows: Rows
  readonly isMariadb: boolean
}

function naiveOf(acts: readonly Act[], { policies, caller, rows, isMariadb }: World) {
  let current = rows
  for (const [act, one] of acts.entries()) {
    const naive = naiveRules(policies, caller, current, isMariadb ? 'MariaDB' : 'PostgreSQL')
    if (one.kind === 'draft') {
      const { collection, request } = one.draft
      const { status } = naive.list(collection as Name, requestOf<Request>(request, 0, 'value'), limits)
      if (status !== 200) return { rows, failed: { act, status } }
    } else {
      const { answer, rows: next } = naive.write(one.write)
      if (answer.status !== 200) return { rows, failed: { act, status: answer.status } }
      current = next
    }
  }
  return { rows: current, failed: undefined }
}
