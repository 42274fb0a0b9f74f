/**
 * Aggregates under policies: what they answer is a fold over the caller's own full read, and what the caller may not see
 * makes no difference to it.
 */
import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import { type AggregateDraft, anyAggregates, argumentsOf, fieldsUsed } from '../../property/support/aggregates.ts'
import { answered, type Folded, fold } from '../../property/support/fold.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import type { Shop } from '../../property/support/shop.ts'
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

const cases = Number(process.env.SERVICE_TEST_CASES ?? 1000)
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

export function readableShop(policies: readonly Policy[], caller: Caller, rows: Rows): Shop {
  const naive = naiveRules(policies, caller, rows)
  const readable = narrowed((collection) => naive.members(collection, 'read'))
  return readable.fields.size === 0 ? shop : readable
}

export function anyDrafts(readable: Shop): Arbitrary<AggregateDraft> {
  const collections = names.filter((name: Name) => (readable.fields.get(name)?.size ?? 0) > 0)
  return anyAggregates({ ...stockOf(readable), isExact: true }, collections)
}
