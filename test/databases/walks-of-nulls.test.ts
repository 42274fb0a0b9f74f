/** Walks by a nullable column, with an index and without: pages of any size, forward and backward, are the list that they are pages of. */
import { expect, it } from 'vitest'
import type { ReadPlan } from '../../src/core/plan/plan.ts'
import { unbound } from '../../src/core/query/placeholder.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { type Database, mariadbDatabase, postgresDatabase } from '../property/support/database.ts'
import { build } from '../support/data/build.ts'

const model = build.model({ entries: { id: 'int32', due: 'int32?' } })

/** Seven of ten rows have a value, some of them the same one. */
const rows = Array.from({ length: 10 }, (_, id) => [id, id % 3 === 1 ? 'null' : id % 4])

function planOf(search: string, isIndexed: boolean): ReadPlan {
  const plan = build.read(model, 'entries', search)
  if (!isIndexed) return plan
  const fields = ['due', 'id'].flatMap((name) => plan.collection.primitives.filter(({ apiName }) => apiName === name))
  const index = { id: 'due', dbName: 'by_due', kind: 'normal', fields } as const
  return { ...plan, collection: { ...plan.collection, indexes: [...plan.collection.indexes, index] } }
}

const orders = ['asc', 'desc'].flatMap((direction) =>
  ['first', 'last'].flatMap((nulls) => [true, false].map((isIndexed) => ({ direction, nulls, isIndexed }))),
)

type Walk = {
  readonly search: string
  readonly isIndexed: boolean
  readonly toward: 'after' | 'before'
  readonly start?: string | null | undefined
}

/** All pages from one end to the other, in the order of the list. */
async function walk(
  driver: SqlDriver,
  { dialect }: Database,
  { search, isIndexed, toward, start }: Walk,
): Promise<unknown[]> {
  const source = openSqlSource({ driver, dialect })
  const pages: unknown[][] = []
  let place = start ? `&${toward}=${start}` : ''
  for (;;) {
    const { data, cursors } = await source.prepareList(planOf(`${search}&meta=cursor${place}`, isIndexed))(unbound)
    pages.push(JSON.parse(data))
    const cursor = toward === 'after' ? cursors?.next : cursors?.previous
    if (!cursor || pages.length > rows.length) break
    place = `&${toward}=${cursor}`
  }
  return (toward === 'after' ? pages : pages.toReversed()).flat()
}

it.each([postgresDatabase, mariadbDatabase])('loses and doubles no row on $dialect.title', async (database) => {
  const { driver, close } = await database.start()
  try {
    for (const text of [
      'create table entries (id int primary key, due int null)',
      `insert into entries values ${rows.map((row) => `(${row.join()})`).join()}`,
      'create index by_due on entries (due, id)',
    ]) {
      await driver.query({ text, params: [] })
    }
    const source = openSqlSource({ driver, dialect: database.dialect })
    for (const { direction, nulls, isIndexed } of orders) {
      const sort = `sort[0][due][direction]=${direction}&sort[0][due][nulls]=${nulls}`
      const { data } = await source.prepareList(planOf(sort, isIndexed))(unbound)
      const whole: unknown[] = JSON.parse(data)
      expect(whole).toHaveLength(rows.length)
      for (const limit of [1, 2, 3, 4, 6, 7, 9, 10]) {
        const search = `${sort}&limit=${limit}`
        const of = { search, isIndexed }
        expect(await walk(driver, database, { ...of, toward: 'after' }), search).toEqual(whole)
        const last = await source.prepareList(
          planOf(`${sort}&limit=1&offset=${rows.length - 1}&meta=cursor`, isIndexed),
        )(unbound)
        const back = { ...of, toward: 'before', start: last.cursors?.previous } as const
        expect(await walk(driver, database, back), search).toEqual(whole.slice(0, -1))
      }
    }
  } finally {
    await close()
  }
})
