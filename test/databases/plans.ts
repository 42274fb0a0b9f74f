/**
 * Whether the index of a column serves what is asked of it: a filter by what a read shows, and a sort, for every type that
 * the database can index. Plans are asked for the statements that the service compiles.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildModel, type Model } from '../../src/core/model/model.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import type { Introspection } from '../../src/core/sql/introspect.ts'
import type { Statement } from '../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { id, workspace } from '../core/migration/build.ts'
import type { ColumnType } from '../property/support/types/column-type.ts'
import { build } from '../support/data/build.ts'
import { introspect, readItems } from '../support/data/imported.ts'

export type PlannedDatabase = {
  readonly title: string
  readonly types: readonly ColumnType[]
  readonly quote: (text: string, type: ColumnType) => string
  readonly dialect: Dialect
  readonly catalog: Introspection
  start(): Promise<{ readonly driver: SqlDriver; readonly close: () => Promise<void> }>
  /** Answers what the plan of a statement does without the index. */
  unserved(driver: SqlDriver, statement: Statement): Promise<readonly string[]>
}

const ids = Array.from({ length: 30 }, (_, place) => place + 1)

export function describePlans(database: PlannedDatabase): void {
  const { title, types, quote, dialect, catalog } = database
  const indexed = types.flatMap((type, index) => (type.isKey ? [[type.name, index, type] as const] : []))
  const shown = new Map<number, unknown>()
  let driver: SqlDriver
  let close: () => Promise<void>
  let model: Model
  let source: Parameters<typeof readItems>[0]

  beforeAll(async () => {
    ;({ driver, close } = await database.start())
    const run = (text: string) => driver.query({ text, params: [] })
    for (const [name, index, type] of indexed) {
      const values = fc.sample(type.values, { seed: index, numRuns: 300 }).map((text) => quote(text, type))
      await run(`create table p${index} (id int primary key, v ${name.replace(' not null', '')}, n int)`)
      await run(`insert into p${index} values ${values.map((value, place) => `(${place}, ${value}, 0)`).join(', ')}`)
      await run(`create index v${index} on p${index} (v)`)
      await run(`analyze ${dialect.title === 'PostgreSQL' ? '' : 'table'} p${index}`)
    }
    await run('create table places (id int primary key, n int)')
    await run('create index places_n on places (n)')
    await run(
      `insert into places values ${ids.map((one) => `(${one}, ${one % 3 === 0 ? 'null' : one % 5})`).join(', ')}`,
    )
    const crm = id('crm')
    const empty = { ...workspace, namespaces: workspace.namespaces.filter(({ sourceId }) => sourceId !== crm) }
    source = { driver, dialect, catalog }
    model = buildModel(1, (await introspect(source, empty, { sourceId: crm, scope: { kind: 'all' } })).records)
    for (const [, index] of indexed) {
      const [first] = await readItems(source, model, `p${index}`, 'fields=v&limit=1&sort[0][id][direction]=asc')
      shown.set(index, first?.v)
    }
  })

  afterAll(() => close?.())

  const plan = (index: number, query: string) =>
    database.unserved(driver, build.statement(build.read(model, `p${index}`, `fields=id&limit=10&${query}`), dialect))

  /** What a plan does without the index, or why there is none, with what was asked. */
  async function told(name: string, index: number, query: string): Promise<readonly string[]> {
    const lines = await plan(index, query).catch((error: unknown) => [String(error)])
    return lines.map((line) => `${name} by ${query}: ${line}`)
  }

  it.each([
    ['asc', 'last'],
    ['asc', 'first'],
    ['desc', 'first'],
    ['desc', 'last'],
  ])(`of ${title} is read %s, with nulls %s, page by page`, async (direction, nulls) => {
    const sorted = `fields=id&sort[0][n][direction]=${direction}&sort[0][n][nulls]=${nulls}`
    const values = ids.map((one) => ({ id: one, n: one % 3 === 0 ? undefined : one % 5 }))
    const present = values.filter(({ n }) => n !== undefined)
    const inOrder = (one: number, other: number) => (one - other) * (direction === 'asc' ? 1 : -1)
    present.sort((one, other) => inOrder(one.n ?? 0, other.n ?? 0) || inOrder(one.id, other.id))
    const absent = values.filter(({ n }) => n === undefined).sort((one, other) => inOrder(one.id, other.id))
    const expected = nulls === 'first' ? [...absent, ...present] : [...present, ...absent]

    const pages = [0, 7, 14, 21, 28].map((offset) => `${sorted}&limit=7&offset=${offset}&meta=totalCount`)
    const read = await Promise.all(pages.map((page) => readItems(source, model, 'places', page)))

    expect(read.flat()).toEqual(expected.map((one) => ({ id: one.id })))
  })

  describe(`an index of ${title}`, () => {
    it('of each type serves a filter', async () => {
      const unserved: string[] = []
      for (const [name, index] of indexed) {
        unserved.push(...(await told(name, index, `filter[v][_eq]=${encodeURIComponent(String(shown.get(index)))}`)))
      }

      expect(indexed.length).toBeGreaterThan(20)
      expect(unserved).toEqual([])
    })

    it('of each type with an order serves a sort', async () => {
      const unserved: string[] = []
      for (const [name, index] of indexed.filter(([, , { isOrdered }]) => isOrdered)) {
        unserved.push(...(await told(name, index, 'sort[0][v][direction]=asc')))
        unserved.push(...(await told(name, index, 'sort[0][v][direction]=desc')))
      }

      expect(unserved).toEqual([])
    })
  })
}
