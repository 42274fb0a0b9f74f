/**
 * Published schemas, as they are: imported, filled, read, filtered, sorted and written back through HTTP, and compared
 * with the database in SQL (docs/testing.md#published-schemas).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { announce, seed } from '../../property/support/seed.ts'
import { readTables, type Table } from './catalog.ts'
import { filterFaults } from './filters.ts'
import { readFaults, type Subject, sortFaults, writeFaults } from './laws.ts'
import { type Offered, readOffers } from './offers.ts'
import { relationFaults } from './relations.ts'
import { fillTables } from './rows.ts'
import { statementsOf } from './script.ts'
import type { Imported, PublishedServer } from './served.ts'

/** Columns, of each schema, whose operators and sort are tried; `all` of them where that is asked for. */
const COLUMNS = process.env.SERVICE_TEST_SCHEMA_COLUMNS ?? '6'
/** So often rows are drawn where a table has none. */
const ROUNDS = 12
const ROWS = 6
/** Differences that a failing test prints. */
const TOLD = 20
/** Hundreds of columns take their time. */
const limit = COLUMNS === 'all' ? 30 * 60_000 : undefined

/** `place`: a folder of scripts; SERVICE_TEST_SCHEMAS names another one, with a folder per dialect. */
export function describeSchemas(dialect: 'postgres' | 'mariadb', start: () => Promise<PublishedServer>): void {
  const folder = join(process.env.SERVICE_TEST_SCHEMAS ?? import.meta.dirname, dialect)
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  let server: PublishedServer
  /** What was tried, for whoever reports of it. */
  const figures = { schemas: 0, tables: 0, columns: 0, 'columns filtered': 0, operators: 0, 'columns sorted': 0 }
  announce(`published schemas of ${dialect}`)

  beforeAll(async () => {
    server = await start()
  })

  afterAll(async () => {
    const told = Object.entries(figures).map(([name, count]) => `${count} ${name}`)
    process.stdout.write(`published schemas of ${dialect}: ${told.join(', ')}\n`)
    await server?.close()
  })

  describe.each(files)('%s', (file) => {
    const name = basename(file, '.sql').replaceAll('-', '_')
    const script = readFileSync(join(folder, file), 'utf8')
    let imported: Imported
    let tables: readonly Table[] = []
    let subjects: ReadonlyMap<string, Subject> = new Map()
    let skipped: readonly { readonly table: string; readonly reason: string }[] = []
    let withoutRows: readonly string[] = []

    beforeAll(async () => {
      imported = await server.database(name, statementsOf(script))
      const { driver } = imported
      tables = await readTables(driver, server.dialect.catalog)
      // Triggers may refuse what nothing has announced, and a smaller type the numbers of all rows that it can refer to: there are more then.
      for (let round = 0; round < ROUNDS; round += 1) {
        const filling = { driver, dialect: server.dialect, tables, seed: seed + round, size: ROWS + round }
        withoutRows = await fillTables(filling)
        await server.dialect.settle(driver, tables)
        if (withoutRows.every((table) => round > 0 && noted(script, 'empty').includes(table))) break
      }
      skipped = await imported.attach()
      subjects = subjectsOf(readOffers(await imported.manifest()))
      figures.schemas += 1
      figures.tables += tables.length
      figures.columns += tables.flatMap(({ columns }) => columns).length
    }, limit)

    function subjectsOf(offered: readonly Offered[]): ReadonlyMap<string, Subject> {
      return new Map(
        offered.map((collection) => {
          const table = tables.find(
            ({ schema, name: own }) => schema === collection.namespace && own === collection.dbName,
          )
          if (table === undefined)
            throw new Error(`${collection.namespace}.${collection.dbName} is not in the database`)
          return [collection.apiName, { imported, dialect: server.dialect, collection, table }]
        }),
      )
    }

    it('is imported with every table and column, by names without numbers of ours', () => {
      const found = [...subjects.values()].map(({ table, collection }) => `${table.id}: ${collection.fields.length}`)
      const wanted = tables.map(({ id, columns }) => `${id}: ${columns.length}`)
      const names = [...subjects.values()].flatMap(({ collection }) => numbered(collection))

      expect(skipped.map(({ table, reason }) => `${table}: ${reason}`)).toEqual(noted(script, 'skipped'))
      expect(found.sort()).toEqual(wanted.sort())
      expect(names).toEqual(noted(script, 'numbered'))
      expect(withoutRows).toEqual(noted(script, 'empty'))
    })

    it(
      'is read as it is',
      async () => {
        expect(await faults([...subjects.values()], readFaults)).toEqual([])
      },
      limit,
    )

    it(
      'is read with its relations, and with theirs',
      async () => {
        const related = (subject: Subject) => relationFaults(subject, subjects)

        expect(await faults([...subjects.values()], related)).toEqual([])
      },
      limit,
    )

    it(
      'is filtered by every operator, and sorted, as in SQL',
      async () => {
        const pairs = [...subjects.values()].flatMap((subject) =>
          subject.collection.fields.map((field) => ({ subject, field })),
        )
        const tried = chosen(pairs)
        const sorted = tried.filter(({ field }) => field.isSorted)
        figures['columns filtered'] += tried.length
        figures['columns sorted'] += sorted.length
        figures.operators += tried.flatMap(({ field }) => field.operators).length

        expect(await faults(tried, ({ subject, field }) => filterFaults(subject, field))).toEqual([])
        expect(await faults(sorted, ({ subject, field }) => sortFaults(subject, field))).toEqual([])
      },
      limit,
    )

    it(
      'is written back without a difference',
      async () => {
        const written = [...subjects.values()].filter(({ collection }) => collection.isWritten)

        expect(await faults(written, writeFaults)).toEqual([])
      },
      limit,
    )
  })
}

async function faults<Part>(
  parts: readonly Part[],
  law: (part: Part) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const all: string[] = []
  for (const part of parts) all.push(...(await law(part)))
  return all.length > TOLD ? [...all.slice(0, TOLD), `and ${all.length - TOLD} more`] : all
}

function chosen<Pair>(pairs: readonly Pair[]): readonly Pair[] {
  if (COLUMNS === 'all') return pairs
  const step = Math.max(1, Math.floor(pairs.length / Number(COLUMNS)))
  return pairs.filter((_, place) => (place + seed) % step === 0)
}

/** API names that end in a number which their tables and columns do not have. */
function numbered({ apiName, dbName, fields, relations }: Offered): readonly string[] {
  const own = fields.filter((field) => isNumbered(field.apiName, [field.dbName]))
  const related = relations.filter((relation) =>
    isNumbered(relation.apiName, relation.linked.flat().concat(relation.target)),
  )
  const all = [...own, ...related].map((one) => `${apiName}.${one.apiName}`)
  return isNumbered(apiName, [dbName]) ? [apiName, ...all] : all
}

function isNumbered(name: string, sources: readonly string[]): boolean {
  const [digits] = /\d+$/.exec(name) ?? []
  return digits !== undefined && !sources.some((source) => source.includes(digits))
}

/** What a script says of itself: `-- skipped: public.a: its reason`. */
function noted(script: string, word: string): readonly string[] {
  return [...script.matchAll(new RegExp(`^-- ${word}: (.*)$`, 'gm'))].map(([, note = '']) => note)
}
