/** The text of a read's statement depends on the shape of the request alone: no value ever becomes part of it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mysql } from '../../src/core/sql/mysql/dialect.ts'
import { mariadbDatabase, postgresDatabase } from './support/database.ts'
import { statementOf } from './support/reading.ts'
import { anyDraft, type Draft, operandTexts, type Stock } from './support/request.ts'
import type { Operand } from './support/rows.ts'
import { announce, seed } from './support/seed.ts'
import { fieldOf, modelOf, type Shop } from './support/shop.ts'

announce('statements')

const numRuns = 500

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

describe('the statement of a read on PostgreSQL', () => {
  const { shop, dialect } = postgresDatabase
  const model = modelOf(shop)

  it.each([
    { pages: 'up to a hundred items', min: 1, max: 100 },
    { pages: 'more', min: 101, max: 9999 },
  ])('has one text for every page of $pages, and for lists of any length', ({ min, max }) => {
    const drafts = anyDraft(conspicuous(shop), ['samples'])
    // 0 and -1 ask for as many as there may be.
    const limit = max > 100 ? fc.oneof(fc.integer({ min, max }), fc.constantFrom(0, -1)) : fc.integer({ min, max })
    const page = fc.record({ limit, offset: fc.integer({ min: 1, max: 99_999 }) })
    const list = fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 1, maxLength: 20 })
    const property = fc.property(drafts, page, page, list, list, (draft, one, other, short, long) => {
      const texts = [
        statementOf(model, dialect, paged(draft, one, short)),
        statementOf(model, dialect, paged(draft, other, long)),
      ].map(({ text }) => text)

      expect(texts[1]).toBe(texts[0])
    })
    fc.assert(property, { seed, numRuns })
  })
})

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
      const type = fieldOf(shop, collection, field)?.name ?? ''
      const whole = (values[type] ?? []).map((value): Operand => {
        const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
        return { value, sent: value, text }
      })
      return { whole, parts: whole, ascii: whole }
    },
  }
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
