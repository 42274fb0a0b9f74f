/**
 * Aggregates under policies: what they answer is a fold over the caller's own full read, and what the caller may not see
 * makes no difference to it.
 */
import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import { type AggregateDraft, anyAggregates, argumentsOf, fieldsUsed } from '../../property/support/aggregates.ts'
import { answered, type Folded, fold } from '../../property/support/fold.ts'
import {
  aggregatesIn,
  anyListAggregates,
  foldedLists,
  type ListDraft,
  listArguments,
} from '../../property/support/list-aggregates.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import type { Shop } from '../../property/support/shop.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { expectSame } from './agreement.ts'
import { anyRows, type Name, names, shop, stockOf } from './library.ts'
import { naiveRules } from './naive.ts'
import { anyCaller, anyPolicies, type Caller, narrowed, type Policy } from './policies.ts'
import { load, openService, type Reply, type Service } from './service.ts'

type Case = {
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly rows: Rows
  readonly drafts: readonly AggregateDraft[]
}

const cases = casesOr(1000, { share: 1 / 20 })
const DEFAULT_LIMIT = 100

export function describeAggregates(opened: () => Opened): void {
  it(`aggregates what the caller reads, on ${cases} combinations of policies, rows and aggregates`, async () => {
    const seen = { answered: 0, refused: 0, groups: 0 }
    const database = opened()
    const property = fc.asyncProperty(anyCase(), async ({ policies, caller, rows, drafts }) => {
      await load(database, rows)
      const service = openService(database, policies, caller)
      for (const draft of drafts) {
        const read = await wholeRead(service, draft)
        const reply = await service.aggregate(draft.collection, argumentsOf(draft))

        const told = `${draft.collection} ${JSON.stringify(argumentsOf(draft))} ${reply.text}`
        expect(reply.status, told).toBe(read.status)
        if (read.status !== 200) {
          seen.refused += 1
          continue
        }
        const { groups, total } = fold(draft, JSON.parse(read.text) as Row[], DEFAULT_LIMIT)
        seen.answered += 1
        seen.groups += groups.length
        const actual = { groups: answered(draft, JSON.parse(reply.text) as Folded[]), total: reply.total }
        expectSame(actual, { groups, total }, told)
      }
    })
    await fc.assert(property, { seed, numRuns: cases })
    console.log(`${database.dialect.title}: ${JSON.stringify(seen)}`)
    expect(seen.answered).toBeGreaterThan(cases)
  })
}

export function describeListAggregates(opened: () => Opened): void {
  it(`aggregates in lists what the caller reads there, on ${cases} combinations of policies and rows`, async () => {
    const seen = { answered: 0, refused: 0, lists: 0 }
    const property = fc.asyncProperty(anyListCase(), async ({ policies, caller, rows, drafts }) => {
      await load(opened(), rows)
      const service = openService(opened(), policies, caller)
      for (const draft of drafts) {
        const read = (shown: 'alone' | 'beside') =>
          service.list(draft.collection, () => parseListArguments(listArguments(draft, shown)))
        const [beside, alone] = [await read('beside'), await read('alone')]

        const told = `${draft.collection} ${JSON.stringify(listArguments(draft, 'beside'))} ${beside.text}`
        expect(alone.status, told).toBe(beside.status)
        if (beside.status !== 200) {
          seen.refused += 1
          continue
        }
        const shown = JSON.parse(beside.text) as Row[]
        const folds = foldedLists(draft, shown).map((one) => (one === null ? null : one.groups[0]))
        const form = (one: Folded | null) => one && answered(draft.of, [one])[0]
        const texts = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).toSorted()
        const actual = aggregatesIn(draft, shown).map(form)
        seen.answered += 1
        seen.lists += actual.filter((one) => one !== null).length
        expectSame(actual, folds, told)
        expect(texts(aggregatesIn(draft, JSON.parse(alone.text)).map(form)), told).toEqual(texts(actual))
      }
    })
    await fc.assert(property, { seed, numRuns: cases })
    console.log(`${opened().dialect.title}: ${JSON.stringify(seen)}`)
    expect(seen.answered).toBeGreaterThan(cases / 2)
    expect(seen.lists).toBeGreaterThan(cases)
  })
}

/** All items that the filter finds, with the fields that the draft names. */
function wholeRead(service: Service, draft: AggregateDraft): Promise<Reply> {
  const used = fieldsUsed(draft)
  const { filter } = argumentsOf(draft)
  return service.list(draft.collection, () =>
    parseListArguments({
      ...(used.length > 0 && { fields: used }),
      ...(filter !== undefined && { filter }),
      limit: -1,
    }),
  )
}

/** Aggregates that the caller may for the most part ask for. */
function anyCase(): Arbitrary<Case> {
  return fc
    .tuple(anyPolicies(), anyCaller, anyRows, fc.integer({ min: 0, max: 9 }))
    .chain(([policies, caller, rows, luck]) => {
      const drafts = anyDrafts(luck === 0 ? shop : readableShop(policies, caller, rows))
      return fc.record({
        policies: fc.constant(policies),
        caller: fc.constant(caller),
        rows: fc.constant(rows),
        drafts: fc.array(drafts, { minLength: 3, maxLength: 3 }),
      })
    })
}

type ListCase = Omit<Case, 'drafts'> & { readonly drafts: readonly ListDraft[] }

function anyListCase(): Arbitrary<ListCase> {
  return fc
    .tuple(anyPolicies(), anyCaller, anyRows, fc.integer({ min: 0, max: 9 }))
    .chain(([policies, caller, rows, luck]) => {
      const drafts = anyListDrafts(luck === 0 ? shop : readableShop(policies, caller, rows))
      return fc.record({
        policies: fc.constant(policies),
        caller: fc.constant(caller),
        rows: fc.constant(rows),
        drafts: fc.array(drafts, { minLength: 3, maxLength: 3 }),
      })
    })
}

/** Of all collections, where the caller reads no list. */
export function anyListDrafts(readable: Shop): Arbitrary<ListDraft> {
  const drafts =
    anyListAggregates({ ...stockOf(readable), isExact: true }, names) ??
    anyListAggregates({ ...stockOf(shop), isExact: true }, names)
  if (drafts === undefined) throw new Error('the library has lists')
  return drafts
}

export function readableShop(policies: readonly Policy[], caller: Caller, rows: Rows): Shop {
  const naive = naiveRules(policies, caller, rows)
  const readable = narrowed((collection) => naive.members(collection, 'read'))
  return readable.fields.size === 0 ? shop : readable
}

export function anyDrafts(readable: Shop): Arbitrary<AggregateDraft> {
  const collections = names.filter((name: Name) => (readable.fields.get(name)?.size ?? 0) > 0)
  return anyAggregates({ ...stockOf(readable), isExact: true }, collections)
}
