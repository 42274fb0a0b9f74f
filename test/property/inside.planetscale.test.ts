/** Filters on what JSON holds behind PlanetScale's protocol: the oracle's answer, or 422 for what Vitess cannot be asked. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ServiceError } from '../../src/core/error.ts'
import { mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { casesOr } from '../support/run/cases.ts'
import { openBehindPlanetscale } from '../support/servers/planetscale-gateway.ts'
import { type Database, fill, mariadbDatabase } from './support/database.ts'
import { expectedAnswer, makeWorld, singled } from './support/oracle.ts'
import { answerOf, planOf } from './support/reading.ts'
import { anyInsideDraft, requestOf } from './support/request.ts'
import { makeRows } from './support/rows.ts'
import { announce, seed } from './support/seed.ts'
import { modelOf } from './support/shop.ts'
import { stockOf } from './support/stock.ts'

const database: Database = { ...mariadbDatabase, dialect: mariadbConversation }
const { shop, storage, dialect } = database
const model = modelOf(shop)
const rows = makeRows(shop, storage, seed)
let opened: Awaited<ReturnType<typeof openBehindPlanetscale>>

beforeAll(async () => {
  announce('JSON behind PlanetScale')
  opened = await openBehindPlanetscale()
  await fill(opened.driver, database, model, rows)
})
afterAll(() => opened?.close())

it('finds by what JSON values hold what the oracle finds, or says that it cannot', async () => {
  const world = makeWorld(shop, rows)
  let refused = 0
  const drafts = anyInsideDraft(stockOf(database, rows)).filter(({ request }) =>
    isExact(requestOf(request, 0, 'value')),
  )
  const property = fc.asyncProperty(drafts, async (draft) => {
    const expected = expectedAnswer(world, draft.collection, requestOf(draft.request, 0, 'value'), draft.limits)
    try {
      const { data } = await answerOf(opened.driver, dialect, planOf(model, draft))
      const found = data.map((item) => singled(shop, draft.collection, item))
      if (!isDeepStrictEqual(found, expected.data)) expect(found).toEqual(expected.data)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== '4010') throw error
      refused += 1
    }
  })

  await fc.assert(property, { seed, numRuns: casesOr(1000, { least: 300 }) })

  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThan(500)
})

/** MariaDB's `json_overlaps`, unlike MySQL's, has numbers near zero equal to it. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value !== 0
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}
