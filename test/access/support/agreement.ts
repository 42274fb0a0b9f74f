/** Whether the service and the naive rules agree, on random policies, rows, queries and writes. */
import { isDeepStrictEqual } from 'node:util'
import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import { searchOf } from '../../property/support/reading.ts'
import { anyDraft, type Draft, type Request, requestOf } from '../../property/support/request.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { anyRows, type Name, names, shop, stockOf } from './library.ts'
import { type Naive, naiveRules } from './naive.ts'
import { anyCaller, anyPolicies, type Caller, narrowed, type Policy } from './policies.ts'
import { dump, load, openService, type Reply, withoutJoining } from './service.ts'
import { checkTags, noTags, tagOfTarget, withTags } from './tags.ts'
import { anyWrite, everything, type Scope, type Write } from './writes.ts'

export type Case = {
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly rows: Rows
  readonly drafts: readonly Draft[]
  readonly write: Write
}

const cases = casesOr(1000)

export function describeAgreement(opened: () => Opened): void {
  it(`agrees with the naive rules on ${cases} combinations of policies, rows, queries and writes`, () =>
    expectAgreement(opened(), cases))

  it(`agrees with them in every fault where each new item has a statement, on ${cases} combinations`, () => {
    const { driver, dialect } = opened()
    return expectAgreement({ driver, dialect: withoutJoining(dialect) }, cases)
  })
}

async function expectAgreement(database: Opened, runs: number): Promise<void> {
  const seen = new Map<string, number>()
  const tags = noTags()
  const property = fc.asyncProperty(
    anyCase(1, everything.newIds),
    async ({ policies, caller, rows, drafts, write }) => {
      await load(database, rows)
      const service = openService(database, policies, caller)
      const naive = naiveRules(policies, caller, rows, database.dialect.title === 'MariaDB' ? 'MariaDB' : 'PostgreSQL')

      for (const draft of drafts) {
        const expected = naive.list(
          draft.collection as Name,
          requestOf<Request>(draft.request, 0, 'value'),
          draft.limits,
        )
        const reply = await service.draft(draft)
        count(seen, `read ${reply.status}`)
        const told = `${draft.form} ${draft.collection}?${searchOf(draft)}`
        expectSame(shapeOf(reply), expected, told)
        const tagged = withTags(draft)
        const shown = naive.list(draft.collection as Name, requestOf<Request>(tagged.request, 0, 'value'), draft.limits)
        expectSame(checkTags(tags, shapeOf(await service.draft(tagged)), shown), shown, `${told} with tags`)
      }

      const tag = await tagOfTarget(service, write)
      if (tag !== undefined) {
        const before = await dump(database)
        const stale = await service.write(write, [tag.split('').reverse().join('')])
        const { status } = naive.write(write).answer
        count(seen, `stale ${stale.status}`)
        expect(status === 200 ? [412] : [412, status], JSON.stringify(write)).toContain(stale.status)
        expectSame(await dump(database), before, 'a write with another tag')
      }
      const reply = await service.write(write, tag === undefined ? undefined : [tag])
      const expected = expectedOf(write, { naive, unlimited: () => naiveRules([everyRight], caller, rows), reply })
      count(seen, `${write.kind}${isNested(write) ? ' nested' : ''} ${reply.status}`)
      const told = `${JSON.stringify(write)} ${reply.text}`
      const isOrdered = ['create', 'upsert', 'updateEach'].includes(write.kind)
      expectSame(sorted(shapeOf(reply), isOrdered), sorted(expected.answer, isOrdered), told)
      expectSame(await dump(database), inOrder(expected.rows), told)
    },
  )
  await fc.assert(property, { seed, numRuns: runs })
  console.log(
    `${database.dialect.title}: ${[...seen]
      .sort()
      .map(([name, times]) => `${name} ${times}×`)
      .join(', ')}`,
  )
  // Few nested changes are allowed: a hundred cases may have none.
  const rare = runs < 1_000 ? [] : ['updateOne nested 200']
  expect([...seen.keys()]).toEqual(expect.arrayContaining(['read 200', 'stale 412', 'create nested 200', ...rare]))
}

/**
 * What the naive rules answer. New items that share a statement are inserted before they are checked, so what the database
 * refuses of a later one may be answered in place of the fault of an earlier one (decision 040): it is what somebody is
 * answered who may do everything.
 */
function expectedOf(
  write: Write,
  { naive, unlimited, reply }: { readonly naive: Naive; readonly unlimited: () => Naive; readonly reply: Reply },
) {
  const first = naive.write(write)
  if (first.answer.status !== 403 || reply.status !== 422 || reply.isJoined !== true) return first
  const inserted = unlimited().write(write)
  return inserted.answer.status === 422 ? inserted : first
}

const everyRight: Policy = {
  entitlements: [],
  collections: Object.fromEntries(
    names.map((name) => [
      name,
      { read: { fields: '*' }, create: { fields: '*' }, update: { fields: '*' }, delete: 'all' },
    ]),
  ),
}

/** Requests and writes that the caller may for the most part ask for. */
export function anyCase(queries: number, newIds: readonly number[]): Arbitrary<Case> {
  return fc
    .tuple(anyPolicies(), anyCaller, anyRows, fc.integer({ min: 0, max: 9 }))
    .chain(([policies, caller, rows, luck]) => {
      const scope: Scope =
        luck === 0 ? { ...everything, newIds } : scopeOf(naiveRules(policies, caller, rows), rows, newIds)
      const drafts = fc.array(anyDraft(stockOf(scope.readable), [...scope.readable.fields.keys()]), {
        minLength: queries,
        maxLength: queries,
      })
      return fc.record({
        policies: fc.constant(policies),
        caller: fc.constant(caller),
        rows: fc.constant(rows),
        drafts,
        write: anyWrite(scope),
      })
    })
}

export function scopeOf(naive: Naive, rows: Rows, newIds: readonly number[]): Scope {
  const readable = narrowed((collection) => naive.members(collection, 'read'))
  return {
    readable: readable.fields.size === 0 ? shop : readable,
    members: (collection, action) => naive.members(collection, action),
    newIds,
    keys(collection) {
      const readable = (rows[collection] ?? []).filter((row) => naive.isReadable(collection, row))
      return readable.length === 0 ? [1, 2, 3] : [...readable, ...readable, { id: 4 }].map(({ id }) => Number(id))
    },
    may: (collection, action) => naive.isAllowed(collection, action),
  }
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1)
}

function isNested(write: Write): boolean {
  return /"_(create|connect|update|disconnect|delete)":/.test(JSON.stringify(write))
}

function shapeOf({ status, text, total }: Reply): { readonly status: number; readonly data?: readonly Row[] } {
  return status === 200 ? { status, data: JSON.parse(text), ...(total !== undefined && { total }) } : { status }
}

/** In which order a write of many answers is not said. */
function sorted<T extends { status: number; data?: readonly Row[] }>(answer: T, isOrdered: boolean): T {
  if (isOrdered || answer.data === undefined) return answer
  const key = (row: Row) => JSON.stringify(Object.entries(row).sort())
  return { ...answer, data: answer.data.toSorted((one, other) => (key(one) < key(other) ? -1 : 1)) }
}

export function inOrder(rows: Rows): Rows {
  return Object.fromEntries(
    names.map((name) => [name, (rows[name] ?? []).toSorted((one, other) => Number(one.id) - Number(other.id))]),
  )
}

export function expectSame(actual: unknown, expected: unknown, told: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  expect(actual, told).toEqual(expected)
  throw new Error(`only identity differs: ${told}`)
}
