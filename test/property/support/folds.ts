/** Aggregates on a real database are the fold over a full read of the same rows. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import { planAggregates, planInList } from '../../../src/core/plan/aggregate.ts'
import { planList, type ReadContext } from '../../../src/core/plan/read.ts'
import { parseAggregateQuery } from '../../../src/core/query/aggregate-query.ts'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { openSqlSource } from '../../../src/sources/sql-source.ts'
import { casesOr } from '../../support/run/cases.ts'
import {
  type AggregateDraft,
  anyAggregates,
  argumentsOf,
  fieldsUsed,
  isInexact,
  isSorted,
  outputType,
} from './aggregates.ts'
import { type Database, fill, importedModel } from './database.ts'
import { answered, approximated, type Folded, fold } from './fold.ts'
import {
  aggregatesIn,
  anyListAggregates,
  foldedLists,
  type ListDraft,
  listArguments,
  type Shown,
} from './list-aggregates.ts'
import { singled } from './oracle.ts'
import { makeRows, type Row } from './rows.ts'
import { announce, seed } from './seed.ts'
import { collectionOf, modelOf } from './shop.ts'
import { stockOf } from './stock.ts'

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }
const cases = casesOr(1000)

export function describeFolds(database: Database): void {
  const { dialect, shop, storage } = database
  const title = [dialect.title, database.collation].filter((part) => part !== undefined).join(', ')
  const model = importedModel(modelOf(shop), database)
  const rows = makeRows(shop, storage, seed)
  const stock = { ...stockOf(database, rows), isExact: false }
  const limits = { default: 100, max: 10_000 }
  let driver: SqlDriver
  let close: () => Promise<void>

  beforeAll(async () => {
    announce(`aggregates on ${title}`)
    ;({ driver, close } = await database.start())
    await fill(driver, database, model, rows)
  })

  afterAll(() => close?.())

  function contextOf(name: string): ReadContext {
    const collection = collectionOf(model, name)
    return { viewer: administrator, collection, access: fullAccess, limits, maxRows: Number.POSITIVE_INFINITY }
  }

  async function whole(draft: AggregateDraft): Promise<readonly Row[]> {
    const used = fieldsUsed(draft)
    const { filter } = argumentsOf(draft)
    const query = parseListArguments({ ...(used.length > 0 && { fields: used }), filter, limit: -1 })
    const run = openSqlSource({ driver, dialect }).prepareList(planList(contextOf(draft.collection), query))
    const { data } = await run(unbound)
    return (JSON.parse(data) as Row[]).map((row) => singled(shop, draft.collection, row))
  }

  async function grouped(draft: AggregateDraft) {
    const plan = planAggregates(contextOf(draft.collection), parseAggregateQuery(argumentsOf(draft)))
    const { data, total } = await openSqlSource({ driver, dialect }).prepareList(plan)(unbound)
    return { groups: answered(draft, JSON.parse(data)), total }
  }

  it(`aggregates on ${title} are what a fold over all that is read gives, in ${cases} cases`, async () => {
    let overflows = 0
    const property = fc.asyncProperty(anyAggregates(stock, Object.keys(shop.collections)), async (draft) => {
      const { groups, total, mayOverflow } = fold(draft, await whole(draft), limits.default)
      if (mayOverflow) {
        overflows += 1
        return
      }

      const actual = await grouped(draft)

      const isOrdered = draft.groups.every((one) => isSorted(stock, outputType(one)))
      const inOrder = (list: readonly Folded[]) => (isOrdered ? list : list.toSorted(byGroup))
      const expected = approximated(inOrder(groups), inOrder(actual.groups))
      expectSame({ groups: inOrder(actual.groups), total: actual.total }, { groups: expected, total }, draft)
    })
    await fc.assert(property, { seed, numRuns: cases })
    expect(overflows).toBeLessThan(cases / 2)
  })

  async function listed(draft: ListDraft, shown: Shown): Promise<readonly Row[]> {
    const context = { ...contextOf(draft.collection), planInList }
    const plan = planList(context, parseListArguments(listArguments(draft, shown)))
    const { data } = await openSqlSource({ driver, dialect }).prepareList(plan)(unbound)
    return JSON.parse(data)
  }

  it(`aggregates in lists on ${title} are what a fold over the related items of each item gives`, async () => {
    const drafts = anyListAggregates(stock, Object.keys(shop.collections))
    if (drafts === undefined) throw new Error('no collection has lists')
    let rowsSeen = 0
    const property = fc.asyncProperty(drafts, async (draft) => {
      const items = await listed(draft, 'items')
      const folds = foldedLists(draft, items, (row) => singled(shop, draft.of.collection, row))
      if (folds.some((one) => one?.mayOverflow)) return

      const [beside, alone] = [await listed(draft, 'beside'), await listed(draft, 'alone')]

      const actual = answered(
        draft.of,
        aggregatesIn(draft, beside).filter((one) => one !== null),
      )
      const whole = folds.flatMap((one) => one?.groups ?? [])
      const near = approximated(whole, actual)
      expectSame(actual, near, draft.of)
      const bare = answered(
        draft.of,
        aggregatesIn(draft, alone).filter((one) => one !== null),
      )
      const sorted = (list: readonly Folded[]) => list.map((one) => JSON.stringify(one)).toSorted()
      if (!draft.of.aggregates.some(isInexact)) expectSame(sorted(bare), sorted(actual), draft.of)
      rowsSeen += actual.length
    })
    await fc.assert(property, { seed, numRuns: cases })
    expect(rowsSeen).toBeGreaterThan(cases)
  })
}

function byGroup(one: Folded, other: Folded): number {
  return JSON.stringify(one.group) < JSON.stringify(other.group) ? -1 : 1
}

function expectSame(actual: unknown, expected: unknown, draft: AggregateDraft): void {
  if (isDeepStrictEqual(actual, expected)) return
  expect(actual, `${draft.collection} ${JSON.stringify(argumentsOf(draft))}`).toEqual(expected)
}
