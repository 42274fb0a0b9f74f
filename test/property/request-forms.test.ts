/** Lists and aggregates are the same by whatever form they are asked: brackets, JSON texts in the query string, the body of QUERY. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planAggregates } from '../../src/core/plan/aggregate.ts'
import { planList } from '../../src/core/plan/read.ts'
import { parseAggregateQuery, type RawAggregateQuery } from '../../src/core/query/aggregate-query.ts'
import { readQueryBody } from '../../src/core/query/parse-json.ts'
import { unbound } from '../../src/core/query/placeholder.ts'
import { parseList, type RawListQuery } from '../../src/core/query/raw-query.ts'
import { compileGroups, withAggregatesInLists } from '../../src/core/sql/read/aggregate.ts'
import { binder } from '../../src/core/sql/statement.ts'
import { build } from '../support/data/build.ts'
import { casesOr } from '../support/run/cases.ts'
import { type AggregateDraft, anyAggregates, argumentsOf } from './support/aggregates.ts'
import { mariadbDatabase, postgresDatabase } from './support/database.ts'
import { anyListAggregates, type ListDraft, listArguments } from './support/list-aggregates.ts'
import { printRequest } from './support/print.ts'
import { contextOf, planOfQuery, searchOf } from './support/reading.ts'
import { anyDraft, type Draft, requestOf, type Tree } from './support/request.ts'
import { makeRows } from './support/rows.ts'
import { announce, seed } from './support/seed.ts'
import { modelOf } from './support/shop.ts'
import { stockOf } from './support/stock.ts'

const cases = casesOr(2000)

announce('forms of a request')

describe.each([postgresDatabase, mariadbDatabase])('a list on $dialect.title', (database) => {
  const { dialect, shop, storage } = database
  const model = modelOf(shop)
  const drafts = anyDraft(stockOf(database, makeRows(shop, storage, seed)), Object.keys(shop.collections))
  const statement = (draft: Draft, sent: RawListQuery) =>
    build.statement(planOfQuery(model, draft, parseList(sent)), dialect)

  it('is one statement with the same values, by JSON texts and by a body', () => {
    const property = fc.property(drafts, (draft) => {
      expect(statement(draft, textsOf(draft))).toEqual(statement(draft, bodyOf(draft)))
    })
    fc.assert(property, { seed, numRuns: cases })
  })

  // The values are the same, too, but drawn in other spellings; only JSON has nulls and empty lists.
  it('is one statement by brackets and by a body', () => {
    const inBrackets = drafts.filter(({ form }) => form === 'text')
    const property = fc.property(inBrackets, (draft) => {
      const [brackets, body] = [statement(draft, searchOf(draft)), statement(draft, bodyOf(draft))]

      expect(brackets.text).toBe(body.text)
      expect(brackets.params).toHaveLength(body.params.length)
    })
    fc.assert(property, { seed, numRuns: cases })
  })
})

describe.each([postgresDatabase, mariadbDatabase])('aggregates on $dialect.title', (database) => {
  const { dialect, shop, storage } = database
  const model = modelOf(shop)
  const stock = { ...stockOf(database, makeRows(shop, storage, seed)), isExact: false }
  const collections = Object.keys(shop.collections)

  async function statement({ collection }: AggregateDraft, sent: RawAggregateQuery) {
    const context = contextOf(model, { collection, limits: { default: 10, max: 10_000 } })
    const plan = planAggregates(context, parseAggregateQuery(sent))
    if (plan.grouping === undefined) throw new Error('nothing is grouped')
    return binder(compileGroups(plan, plan.grouping, { dialect, syntax: await dialect.aggregates() }))(unbound)
  }

  it('are one statement with the same values, by JSON texts, by a body and by the arguments of a tool', async () => {
    const property = fc.asyncProperty(anyAggregates(stock, collections), async (draft) => {
      const sent = argumentsOf(draft)
      const body = await statement(draft, readQueryBody(sent))

      expect(await statement(draft, inTexts(sent))).toEqual(body)
      expect(await statement(draft, sent)).toEqual(body)
    })
    await fc.assert(property, { seed, numRuns: Math.ceil(cases / 2) })
  })

  it('are one statement by brackets and by a body', async () => {
    const inBrackets = anyAggregates({ ...stock, form: 'text' }, collections)
    const property = fc.asyncProperty(inBrackets, async (draft) => {
      const brackets = await statement(draft, printRequest(argumentsOf(draft, 0, 'text'), { isDotted: true }))
      const body = await statement(draft, readQueryBody(argumentsOf(draft)))

      expect(brackets.text).toBe(body.text)
      expect(brackets.params).toHaveLength(body.params.length)
    })
    await fc.assert(property, { seed, numRuns: Math.ceil(cases / 2) })
  })
})

describe.each([postgresDatabase, mariadbDatabase])('aggregates in lists on $dialect.title', (database) => {
  const { dialect, shop, storage } = database
  const model = modelOf(shop)
  const stock = { ...stockOf(database, makeRows(shop, storage, seed)), isExact: false }
  const drafts = anyListAggregates(stock, Object.keys(shop.collections))
  const inBrackets = anyListAggregates({ ...stock, form: 'text' }, Object.keys(shop.collections))
  if (drafts === undefined || inBrackets === undefined) throw new Error('no collection has lists')

  async function statement({ collection }: ListDraft, sent: RawListQuery) {
    const context = contextOf(model, { collection, limits: { default: 10, max: 10_000 } })
    return build.statement(
      planList(context, parseList(sent)),
      withAggregatesInLists(dialect, await dialect.aggregates()),
    )
  }

  it('are one statement with the same values, by JSON texts and by a body', async () => {
    const property = fc.asyncProperty(drafts, fc.constantFrom('alone', 'beside'), async (draft, shown) => {
      const { fields, ...rest } = listArguments(draft, shown)
      const texts = inTexts({ ...rest, ...(Array.isArray(fields) && { fields: fields.join(',') }) })

      expect(await statement(draft, texts)).toEqual(await statement(draft, readQueryBody({ fields, ...rest })))
    })
    await fc.assert(property, { seed, numRuns: Math.ceil(cases / 2) })
  })

  it('are one statement by brackets and by a body', async () => {
    const property = fc.asyncProperty(inBrackets, async (draft) => {
      const sent = listArguments(draft, 'alone', { spelling: 'text' })
      const brackets = await statement(draft, printRequest(sent as Tree, { isDotted: true }))
      const body = await statement(draft, readQueryBody(listArguments(draft, 'alone')))

      expect(brackets.text).toBe(body.text)
      expect(brackets.params).toHaveLength(body.params.length)
    })
    await fc.assert(property, { seed, numRuns: Math.ceil(cases / 2) })
  })
})

function bodyOf(draft: Draft): RawListQuery {
  return readQueryBody(requestOf(draft.request, 0, 'sent'))
}

/** `filter`, `sort` and `deep` as one JSON text each. */
function textsOf(draft: Draft): string {
  const { fields, ...rest } = requestOf(draft.request, 0, 'sent')
  return inTexts({ ...rest, ...(fields !== undefined && { fields: fields.join(',') }) })
}

function inTexts(sent: object): string {
  return Object.entries(sent)
    .map(([name, value]) => `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : value)}`)
    .join('&')
}
