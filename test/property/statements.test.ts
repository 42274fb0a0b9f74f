/** The text of a read's statement depends on the shape of the request alone: no value ever becomes part of it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planAggregates } from '../../src/core/plan/aggregate.ts'
import { planList } from '../../src/core/plan/read.ts'
import { parseAggregateQuery } from '../../src/core/query/aggregate-query.ts'
import { parseListArguments } from '../../src/core/query/parse-json.ts'
import { unbound } from '../../src/core/query/placeholder.ts'
import { mysql } from '../../src/core/sql/mysql/dialect.ts'
import { compileGroups, withAggregatesInLists } from '../../src/core/sql/read/aggregate.ts'
import { binder } from '../../src/core/sql/statement.ts'
import { build } from '../support/data/build.ts'
import { casesOr } from '../support/run/cases.ts'
import { type AggregateDraft, anyAggregates, argumentsOf } from './support/aggregates.ts'
import { mariadbDatabase, postgresDatabase } from './support/database.ts'
import type { Inside } from './support/inside.ts'
import { anyListAggregates, listArguments } from './support/list-aggregates.ts'
import { contextOf, statementOf } from './support/reading.ts'
import { anyDraft, type Draft, operandTexts, type Stock } from './support/request.ts'
import type { Operand } from './support/rows.ts'
import { announce, seed } from './support/seed.ts'
import { fieldOf, modelOf, type Shop } from './support/shop.ts'

announce('statements')

const numRuns = casesOr(500)

describe.each([postgresDatabase, mariadbDatabase, { ...mariadbDatabase, dialect: mysql }])(
  'the statement of a read on $dialect.title',
  ({ shop, dialect }) => {
    const model = modelOf(shop)
    const drafts = anyDraft(conspicuous(shop), Object.keys(shop.collections))

    it('never holds a value of the request', () => {
      const property = fc.property(drafts, (draft) => {
        const { text, params } = statementOf(model, dialect, draft)

        expect(text).not.toContain('§')
        expect(operandTexts(draft.request).filter((value) => value.length > 5 && text.includes(value))).toEqual([])
        expect(params.every((value) => value === null || typeof value === 'string')).toBe(true)
      })
      fc.assert(property, { seed, numRuns })
    })

    it('has one text for requests that differ in values only', () => {
      const property = fc.property(drafts, (draft) => {
        const [one, other] = [statementOf(model, dialect, draft, 0), statementOf(model, dialect, draft, 1)]

        expect(other.text).toBe(one.text)
        expect(other.params).toHaveLength(one.params.length)
      })
      fc.assert(property, { seed, numRuns })
    })
  },
)

describe.each([postgresDatabase, mariadbDatabase, { ...mariadbDatabase, dialect: mysql }])(
  'the statement of aggregates on $dialect.title',
  ({ shop, dialect }) => {
    const model = modelOf(shop)
    const drafts = anyAggregates({ ...conspicuous(shop), isExact: false }, Object.keys(shop.collections))

    async function grouped(draft: AggregateDraft, side: 0 | 1) {
      const context = contextOf(model, { collection: draft.collection, limits: { default: 10, max: 10_000 } })
      const plan = planAggregates(context, parseAggregateQuery(argumentsOf(draft, side)))
      if (plan.grouping === undefined) throw new Error('nothing is grouped')
      const template = compileGroups(plan, plan.grouping, { dialect, syntax: await dialect.aggregates() })
      return binder(template)(unbound)
    }

    it('never holds a value of the request, and is one for requests that differ in values only', async () => {
      const property = fc.asyncProperty(drafts, async (draft) => {
        const [one, other] = [await grouped(draft, 0), await grouped(draft, 1)]

        expect(one.text).not.toContain('§')
        expect(operandTexts(draft.filter).filter((value) => value.length > 5 && one.text.includes(value))).toEqual([])
        expect(one.params.every((value) => value === null || typeof value === 'string')).toBe(true)
        expect(other.text).toBe(one.text)
        expect(other.params).toHaveLength(one.params.length)
      })
      await fc.assert(property, { seed, numRuns })
    })
  },
)

describe.each([postgresDatabase, mariadbDatabase, { ...mariadbDatabase, dialect: mysql }])(
  'the statement of a list with aggregates on $dialect.title',
  ({ shop, dialect }) => {
    const model = modelOf(shop)
    const drafts = anyListAggregates({ ...conspicuous(shop), isExact: false }, Object.keys(shop.collections))
    if (drafts === undefined) throw new Error('no collection has lists')

    it('never holds a value of the request, and is one for requests that differ in values only', async () => {
      const loaded = withAggregatesInLists(dialect, await dialect.aggregates())
      const property = fc.property(drafts, fc.constantFrom('alone', 'beside'), (draft, shown) => {
        const context = contextOf(model, { collection: draft.collection, limits: { default: 10, max: 10_000 } })
        const [one, other] = ([0, 1] as const).map((side) => {
          const plan = planList(context, parseListArguments(listArguments(draft, shown, { side })))
          return build.statement(plan, loaded)
        })

        expect(one?.text).not.toContain('§')
        expect(operandTexts(draft.of.filter).filter((value) => value.length > 5 && one?.text.includes(value))).toEqual(
          [],
        )
        expect(other?.text).toBe(one?.text)
        expect(other?.params).toHaveLength(one?.params.length ?? -1)
      })
      fc.assert(property, { seed, numRuns })
    })
  },
)

describe('the statement of a read on PostgreSQL', () => {
  const { shop, dialect } = postgresDatabase
  const model = modelOf(shop)
  const drafts = anyDraft(conspicuous(shop), ['samples'])
  const textOf = (draft: Draft, page: PageSent, list: readonly number[]) =>
    statementOf(model, dialect, paged(draft, page, list)).text

  it.each([
    {
      title: 'pages of more than a hundred items and long lists of operands',
      requests: fc.tuple(largePages, longLists),
    },
    { title: 'pages of about the same size, after about as many rows, with as many operands', requests: usual },
  ])('has one text for all $title', ({ requests }) => {
    const property = fc.property(drafts, requests, (draft, [pages, lists]) => {
      expect(textOf(draft, pages[1], lists[1])).toBe(textOf(draft, pages[0], lists[0]))
    })
    fc.assert(property, { seed, numRuns })
  })

  it.each([
    { title: 'sizes of pages', most: 27, page: (n: number) => ({ limit: n, offset: 500 }), length: () => 20 },
    { title: 'rows to skip', most: 20, page: (n: number) => ({ limit: 10, offset: n * n }), length: () => 20 },
    { title: 'operands', most: 10, page: () => ({ limit: 10, offset: 500 }), length: (n: number) => n },
  ])('has few texts for all $title', ({ most, page, length }) => {
    const property = fc.property(drafts, (draft) => {
      const texts = Array.from({ length: 300 }, (_, n) => textOf(draft, page(n + 1), Array(length(n + 1)).fill(7)))
      expect(new Set(texts).size).toBeLessThanOrEqual(most)
    })
    fc.assert(property, { seed, numRuns: casesOr(20) })
  })
})

type PageSent = { readonly limit: number; readonly offset: number }

const twice = <T>(one: fc.Arbitrary<T>) => fc.tuple(one, one)
const listOf = (minLength: number, maxLength: number) =>
  fc.array(fc.integer({ min: 1, max: 9999 }), { minLength, maxLength })
const between = (min: number, max: number) => fc.integer({ min, max })

// 0 and -1 ask for as many as there may be.
const largePages = twice(
  fc.record({ limit: fc.oneof(between(101, 9999), fc.constantFrom(0, -1)), offset: between(1, 99_999) }),
)
const longLists = twice(listOf(10, 30))

/** Both between the same two usual sizes, so far down that keys are chosen first, between the same two powers of two. */
const usual = fc
  .record({
    size: fc.constantFrom<[number, number]>([13, 14], [16, 19], [21, 24], [51, 99]),
    skipped: between(12, 16),
    operands: between(1, 9),
  })
  .chain(({ size, skipped, operands }) =>
    fc.tuple(
      twice(fc.record({ limit: between(...size), offset: between(2 ** skipped + 1, 2 ** (skipped + 1)) })),
      twice(listOf(operands, operands)),
    ),
  )

function paged(draft: Draft, page: { limit: number; offset: number }, list: readonly number[]): Draft {
  const request = {
    ...draft.request,
    ...page,
    filter: { _and: [draft.request.filter ?? {}, { id: { _in: list } }] },
  }
  return { ...draft, form: 'json', request, limits: { default: 10, max: 10_000 } }
}

/** Values that cannot be mistaken for anything that a statement says. */
function conspicuous(shop: Shop): Stock {
  return {
    shop,
    unsorted: [],
    operands(collection, field) {
      const { name: type = '', isList = false } = fieldOf(shop, collection, field) ?? {}
      const whole = (values[type] ?? []).map((value): Operand => {
        const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
        return { value, sent: value, text }
      })
      return { whole, parts: whole, ascii: whole, ...insideOf(type, isList, whole) }
    },
  }
}

function insideOf(type: string, isList: boolean, elements: readonly Operand[]): { readonly inside?: Inside } {
  if (isList) return elements.length === 0 ? {} : { inside: { kind: 'list', elements } }
  return type === 'json' ? { inside } : {}
}

const plain = (value: unknown): Operand => ({ value, sent: value, text: JSON.stringify(value) })

/** Of one shape, and of one type, each. */
const inside: Inside = {
  kind: 'json',
  contained: [plain({ '§member': ['§one', '§four'] }), plain({ '§other': ['§two', '§three'] })],
  names: ['§member', "§'other"].map((name) => ({ value: name, sent: name, text: name })),
  paths: [['§member', '§other'], ['§member']],
  scalars: [['§one', "§'two"].map(plain), [918_273, -918_274.5].map(plain)],
}

const values: Readonly<Record<string, readonly unknown[]>> = {
  int8: [101, -102],
  uint8: [201, 202],
  int16: [-31_111, 31_112],
  uint16: [61_111, 61_112],
  int32: [1_222_333_444, -1_222_333_445],
  uint32: [4_222_333_444, 4_222_333_445],
  int64: ['8222333444555666777', '-8222333444555666778'],
  uint64: ['18222333444555666777', '18222333444555666778'],
  float32: [918_273.5, -918_274.5],
  float64: [918_273.645, -1.918273e-100],
  decimal: ['918273.4567', '-918273.4568'],
  string: ['§', "§'; drop table samples; --", '§"`\\', '%§_!'],
  uuid: ['019a0000-0000-7000-8000-0123456789ab', '019a0000-0000-7000-8000-0123456789ac'],
  boolean: [true, false],
  date: ['2917-03-04', '2917-03-05'],
  time: ['13:37:42.123', '13:37:43'],
  dateTime: ['2917-03-04T13:37:42', '2917-03-05T13:37:43.5'],
  dateTimeWithTimezone: ['2917-03-04T13:37:42Z', '2917-03-05T13:37:43.5Z'],
  json: [{ '§': ['§'] }, '§json', 918_273],
}
