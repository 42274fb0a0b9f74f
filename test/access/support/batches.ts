/**
 * Batches at random: each is answered as its operations alone are, one after the other, and as the naive rules say; one
 * that fails names an operation that cannot be and leaves every row as it was, wherever that operation stands.
 */
import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import { anyDraft, type Draft, type Request, requestOf } from '../../property/support/request.ts'
import type { Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import type { Opened } from './access.ts'
import { expectSame, inOrder, scopeOf } from './agreement.ts'
import { runBatch } from './batch.ts'
import { anyRows, junction, model, type Name, stockOf } from './library.ts'
import { naiveRules } from './naive.ts'
import { anyCaller, anyPolicies, type Caller, type Policy } from './policies.ts'
import { withReferences } from './references.ts'
import { dump, load, openService, type Service, withoutJoining } from './service.ts'
import { anyWrite, everything, type Scope, type Write } from './writes.ts'

type Act = { readonly kind: 'draft'; readonly draft: Draft } | { readonly kind: 'write'; readonly write: Write }

type Case = {
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly rows: Rows
  readonly acts: readonly Act[]
}

/** Each runs some thirty requests and more. */
const cases = Number(process.env.SERVICE_TEST_CASES ?? 40)

/** Each runs a batch for each of its operations. */
const broken = Math.ceil(cases / 4)

/** What always fails, when it runs: one statement, steps, and a constraint. */
const missings: readonly object[] = [
  { kind: 'read', collection: 'posts', key: -1 },
  { kind: 'delete', collection: 'posts', key: -1 },
  { kind: 'update', collection: 'notes', key: -1, data: { text: 'x' } },
  { kind: 'create', collection: 'badges', data: [{ id: 99, label: 'x', personId: -1 }] },
]

const limits = { default: 100, max: 10_000 }

export function describeBatches(opened: () => Opened): void {
  it(`answers ${cases} batches as their operations alone, and leaves nothing of those that fail`, async () => {
    const { driver, dialect } = opened()
    const database = { driver, dialect: withoutJoining(dialect) }
    const seen = new Map<string, number>()
    let references = 0
    const property = fc.asyncProperty(anyCase(), async ({ policies, caller, rows, acts }) => {
      const told = JSON.stringify(acts.map(operationOf))
      await load(database, rows)
      const alone = await runAlone(openService(database, policies, caller), acts)
      const after = await dump(database)
      const naive = naiveOf(acts, { policies, caller, rows, isMariadb: dialect.title === 'MariaDB' })

      await load(database, rows)
      const batch = await runBatch(database, { policies, caller }, acts.map(operationOf))

      seen.set(`${batch.status}`, (seen.get(`${batch.status}`) ?? 0) + 1)
      if (alone.failed === undefined) {
        expectSame(batch, { status: 200, answers: alone.answers }, told)
        expectSame(await dump(database), after, told)
        expectSame(plain(after), plain(inOrder(naive.rows)), told)
        if (policies[0] === everyRight) {
          const writes = acts.map((act) => (act.kind === 'write' ? act.write : undefined))
          const { operations, count } = withReferences(acts.map(operationOf), writes)
          references += count
          await load(database, rows)
          const referring = await runBatch(database, { policies, caller }, operations)
          expectSame(referring, { status: 200, answers: alone.answers }, JSON.stringify(operations))
          expectSame(await dump(database), after, JSON.stringify(operations))
        }
      } else {
        const { operation = -1, status } = batch
        expectSame(plain(await dump(database)), plain(inOrder(rows)), told)
        expect(naive.failed?.operation, told).toBe(alone.failed.operation)
        // What cannot be planned is told before what fails when it runs.
        expect(operation, told).toBeGreaterThanOrEqual(alone.failed.operation)
        if (operation === alone.failed.operation) expect(status, told).toBe(alone.failed.status)
        else expect([403, 404, 422], told).toContain(status)
      }
    })
    await fc.assert(property, { seed, numRuns: cases })
    const times = [...seen].map(([name, count]) => `${name} ${count}×`)
    console.log(`${dialect.title}: batches ${times.join(', ')}, with ${references} references`)
    expect(seen.has('200')).toBe(true)
    expect(references).toBeGreaterThan(0)
  })

  it(`leaves nothing of ${broken} batches, at whichever operation they fail`, async () => {
    const { driver, dialect } = opened()
    const database = { driver, dialect: withoutJoining(dialect) }
    let faults = 0
    const property = fc.asyncProperty(anyCase(), async ({ policies, caller, rows, acts }) => {
      const operations = acts.map(operationOf)
      const who = { policies: [everyRight, ...policies], caller }
      await load(database, rows)
      const before = await dump(database)
      for (let index = 0; index <= operations.length; index += 1) {
        const missing = missings[index % missings.length] ?? {}

        const { status, operation = -1 } = await runBatch(database, who, operations.toSpliced(index, 0, missing))

        const about = `fault ${index} of ${JSON.stringify(operations)}`
        expect(status, about).not.toBe(200)
        expect(operation, about).toBeGreaterThanOrEqual(0)
        expectSame(await dump(database), before, about)
        faults += 1
      }
    })
    await fc.assert(property, { seed, numRuns: broken, endOnFailure: true })
    console.log(`${dialect.title}: ${faults} faults in ${broken} batches`)
  })
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
        .map(({ mayFail, ...drawn }) => (mayFail ? drawn : { ...drawn, acts: possible(drawn) }))
    })
}

/** Those that succeed, one after the other. */
function possible({ policies, caller, rows, acts }: Case): readonly Act[] {
  const kept: Act[] = []
  let current = rows
  for (const act of acts) {
    const { rows: next, failed } = naiveOf([act], { policies, caller, rows: current, isMariadb: false })
    if (failed !== undefined) continue
    kept.push(act)
    current = next
  }
  return kept.length === 0 ? acts : kept
}

const everyRight: Policy = {
  entitlements: [],
  collections: Object.fromEntries(
    [...model.collections.values()].map(({ apiName }) => [
      apiName,
      { read: { fields: '*' }, create: { fields: '*' }, update: { fields: '*' }, delete: 'all' },
    ]),
  ),
}

function anyAct(scope: Scope): Arbitrary<Act> {
  return fc.oneof(
    anyDraft(stockOf(scope.readable), [...scope.readable.fields.keys()]).map((draft) => ({
      kind: 'draft' as const,
      draft,
    })),
    anyWrite(scope).map((write) => ({ kind: 'write' as const, write })),
  )
}

/** The operation of a batch. */
function operationOf(act: Act): object {
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

type Failed = { readonly operation: number; readonly status: number }

/** What each answers, one after the other, until one fails. */
async function runAlone(service: Service, acts: readonly Act[]) {
  const answers: unknown[] = []
  for (const [operation, act] of acts.entries()) {
    const { status, text, total } =
      act.kind === 'write'
        ? await service.write(act.write)
        : await service.list(act.draft.collection, () =>
            parseListArguments(requestOf<object>(act.draft.request, 0, 'sent')),
          )
    if (status !== 200) return { answers, failed: { operation, status } satisfies Failed }
    answers.push({ data: text, total })
  }
  return { answers, failed: undefined }
}

type World = {
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly rows: Rows
  readonly isMariadb: boolean
}

function naiveOf(acts: readonly Act[], { policies, caller, rows, isMariadb }: World) {
  let current = rows
  for (const [operation, act] of acts.entries()) {
    const naive = naiveRules(policies, caller, current, isMariadb ? 'MariaDB' : 'PostgreSQL')
    if (act.kind === 'draft') {
      const { collection, request } = act.draft
      const { status } = naive.list(collection as Name, requestOf<Request>(request, 0, 'value'), limits)
      if (status !== 200) return { rows, failed: { operation, status } }
    } else {
      const { answer, rows: next } = naive.write(act.write)
      if (answer.status !== 200) return { rows, failed: { operation, status: answer.status } }
      current = next
    }
  }
  return { rows: current, failed: undefined }
}
