/** The laws of a read, for any database: the answer is the oracle's, and filters, pages and nested items add up. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { casesOr } from '../../support/run/cases.ts'
import { type Database, fill, importedModel } from './database.ts'
import { anyKeyed, anyNarrowing, anyNesting, anyPaging, type Nesting, withoutLimits } from './laws.ts'
import { type Answer, expectedAnswer, makeWorld, singled } from './oracle.ts'
import { answerOf, answerOfOne, planOf, planOfOne, searchOf } from './reading.ts'
import { anyDraft, anyInsideDraft, type Draft, type Request, requestOf } from './request.ts'
import { makeRows, type Row } from './rows.ts'
import { announce, seed } from './seed.ts'
import { modelOf } from './shop.ts'
import { stockOf } from './stock.ts'
import { anyWalk, walk } from './walks.ts'

const cases = Math.ceil(casesOr(1000) / 5)

export function describeReads(database: Database): void {
  const { dialect, shop, storage } = database
  const title = [dialect.title, database.collation].filter((part) => part !== undefined).join(', ')
  const model = importedModel(modelOf(shop), database)
  const rows = makeRows(shop, storage, seed)
  const world = makeWorld(shop, rows)
  const stock = stockOf(database, rows)
  const collections = Object.keys(shop.collections)
  const keyed = collections.filter((name) => (model.byName.get(name)?.identity.length ?? 0) > 0)
  let driver: SqlDriver
  let close: () => Promise<void>

  beforeAll(async () => {
    announce(`reads on ${title}`)
    ;({ driver, close } = await database.start())
    await fill(driver, database, model, rows)
  })

  afterAll(() => close?.())

  const answer = async (draft: Draft): Promise<Answer> => {
    const { data, ...rest } = await answerOf(driver, dialect, planOf(model, draft))
    return { data: data.map((item) => singled(shop, draft.collection, item)), ...rest }
  }
  const list = async (draft: Draft): Promise<readonly Row[]> => (await answer(draft)).data

  describe(`a list read on ${title}`, () => {
    it.each(collections)('answers every value as it was sent: %s', async (collection) => {
      const draft = wholeOf(collection)

      const data = await list(draft)

      expect(data).toEqual(expectedAnswer(world, collection, draft.request, draft.limits).data)
      expect(data).toHaveLength(rows[collection]?.length ?? 0)
    })

    it('answers what the oracle answers', async () => {
      const property = fc.asyncProperty(anyDraft(stock, collections), async (draft) => {
        const request = requestOf(draft.request, 0, 'value')

        const actual = await answer(draft)

        expectSame(actual, expectedAnswer(world, draft.collection, request, draft.limits), draft)
      })
      await fc.assert(property, { seed, numRuns: casesOr(2000) })
    })

    it('finds by what lists and JSON values hold what the oracle finds', async () => {
      const property = fc.asyncProperty(anyInsideDraft(stock), async (draft) => {
        const request = requestOf(draft.request, 0, 'value')

        const actual = await answer(draft)

        expectSame(actual, expectedAnswer(world, draft.collection, request, draft.limits), draft)
      })
      await fc.assert(property, { seed, numRuns: casesOr(2000) })
    })

    it('finds every text in an index by how it begins', async () => {
      const prefixes = (rows.words ?? []).flatMap(({ id }) =>
        [...String(id)].map((_, end) => [...String(id)].slice(0, end)),
      )
      const beginnings = [...new Set(prefixes.map((points) => points.join('')))]
      const drafts = beginnings.map((_starts_with) => wholeOf('words', { filter: { id: { _starts_with } } }))

      const found = await Promise.all(drafts.map(list))

      const expected = drafts.map(({ request, limits }) => expectedAnswer(world, 'words', request, limits).data)
      expect(found).toEqual(expected)
    })

    it('is only narrowed by a further filter', async () => {
      const property = fc.asyncProperty(anyNarrowing(stock, collections), async ({ wide, narrow, opposite }) => {
        const [all, some, fewer, others] = await Promise.all(
          [wholeOf(wide.collection), wide, narrow, opposite].map(list),
        )

        expect(textsOf(all)).toEqual(expect.arrayContaining(textsOf(some)))
        expect(textsOf(some)).toEqual(expect.arrayContaining(textsOf(fewer)))
        expect((some?.length ?? 0) + (others?.length ?? 0)).toBeLessThanOrEqual(all?.length ?? 0)
      })
      await fc.assert(property, { seed, numRuns: casesOr(200) })
    })

    it('is whole when its pages are joined, whatever it is sorted by', async () => {
      const property = fc.asyncProperty(anyPaging(stock, collections), async ({ whole, pages }) => {
        const [all, ...parts] = await Promise.all([whole, ...pages].map(list))

        expectSame(parts.flat(), all, whole)
      })
      await fc.assert(property, { seed, numRuns: casesOr(100) })
    })
  })

  describe(`a walk by cursors on ${title}`, () => {
    it('has the rows of one list, forward and backward, in pages of any size', async () => {
      const property = fc.asyncProperty(anyWalk(stock, keyed), async (draft) => {
        const whole = await list(draft.whole)

        const { forward, backward } = await walk(draft, answer)

        const last = forward.at(-1)?.data ?? []
        expectSame(
          forward.flatMap(({ data }) => data),
          whole,
          draft.whole,
        )
        expectSame(
          backward.flatMap(({ data }) => data),
          whole.slice(0, whole.length - last.length),
          draft.whole,
        )
        expect(
          forward.slice(0, -1).every(({ data }, page) => data.length === draft.sizes[page % draft.sizes.length]),
        ).toBe(true)
      })
      await fc.assert(property, { seed, numRuns: cases })
    })
  })

  describe(`a read of one item on ${title}`, () => {
    it('answers what a list of its key does', async () => {
      const property = fc.asyncProperty(anyKeyed(stock, rows), async ({ one, key, list: keyed }) => {
        const item = await answerOfOne(driver, dialect, planOfOne(model, one, key))

        const items = item === undefined ? [] : [singled(shop, one.collection, item)]
        expectSame(items, await list(keyed), keyed)
      })
      await fc.assert(property, { seed, numRuns: casesOr(200) })
    })
  })

  describe(`a nested read on ${title}`, () => {
    it('equals separate reads joined by hand', async () => {
      const property = fc.asyncProperty(
        anyNesting(stock, collections),
        async ({ nested, name, childrenOf }: Nesting) => {
          const parents = await list(nested)

          const joined = await Promise.all(parents.map((parent) => childrenOf(parent, list)))

          expectSame(
            parents.map((parent) => parent[name]),
            joined,
            nested,
          )
        },
      )
      await fc.assert(property, { seed, numRuns: casesOr(200) })
    })

    it('holds the limits of each parent, at every level', async () => {
      const property = fc.asyncProperty(anyDraft(stock, collections), async (draft) => {
        const { unlimited, cut } = withoutLimits(shop, draft)

        const [limited, whole] = await Promise.all([list(draft), list(unlimited)])

        expectSame(limited, whole?.map(cut), draft)
      })
      await fc.assert(property, { seed: seed + 1, numRuns: casesOr(300) })
    })
  })
}

function wholeOf(collection: string, request: Request = {}): Draft {
  const limits = { default: 10, max: 10_000 }
  return { collection, form: 'text', request: { ...request, limit: -1 }, isDotted: false, limits }
}

/** Built-in equality first: it is much faster, and `expect` has the better words. */
function expectSame(actual: unknown, expected: unknown, draft: Draft): void {
  if (isDeepStrictEqual(actual, expected)) return
  expect(actual, `${draft.form} ${draft.collection}?${searchOf(draft)}`).toEqual(expected)
}

function textsOf(rows: readonly Row[] | undefined): string[] {
  return (rows ?? []).map((row) => JSON.stringify(row))
}
