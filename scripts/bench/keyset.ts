/**
 * `npm run bench -- --figures keyset`: page 10,000 of a million rows by cursor over page 1, on PostgreSQL and MariaDB, and for
 * comparison by offset. Both pages are read in turns by the statements of a list, so that other load counts for both; as that
 * only adds time, the quick tenth of each counts.
 */
import { fullAccess } from '../../src/core/access/access.ts'
import type { Collection, Index, PrimitiveField } from '../../src/core/model/model.ts'
import { planList } from '../../src/core/plan/read.ts'
import { writeCursor } from '../../src/core/query/cursor.ts'
import { parseList } from '../../src/core/query/raw-query.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { ListAnswer } from '../../src/sources/source.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { type Database, mariadbDatabase, postgresDatabase } from '../../test/property/support/database.ts'
import { build } from '../../test/support/data/build.ts'
import type { Bound, Measured } from './figures.ts'

const ROWS = 1_000_000
const SIZE = 25
const PAGE = 10_000
const ROUNDS = 600
const MOST = 1.1
/** Milliseconds of one statement that count little beside the rest of a request. */
const SMALL = 0.02

/** Sorts that an index serves: of a column with ties, and of one with nulls behind its values. */
const sorts = [
  { title: 'ties', sort: 'sort[0][rank][direction]=asc' },
  { title: 'nulls', sort: 'sort[0][due][direction]=asc' },
]

export async function measureKeyset(progress: (text: string) => void): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const database of [postgresDatabase, mariadbDatabase]) {
    const { title } = database.dialect
    progress(`filling ${title}`)
    const { driver, close } = await database.start()
    try {
      await fill(driver, database)
      for (const { title: name, sort } of sorts) {
        progress(`${title}, ${name}`)
        measured.push(
          await measure(driver, database, { name: `keyset on ${title}: page 10,000 over page 1, ${name}`, sort }),
        )
      }
    } finally {
      await close()
    }
  }
  return measured
}

async function fill(driver: SqlDriver, { dialect }: Database): Promise<void> {
  const isPostgres = dialect === postgresDatabase.dialect
  const numbers = isPostgres ? `generate_series(1, ${ROWS}) s(n)` : `(select seq n from seq_1_to_${ROWS}) s`
  const statements = [
    'create table entries (id int primary key, rank int not null, due int null, title varchar(40) not null)',
    `insert into entries select n, n % 1000, case when n % 3 = 0 then null else n % 5000 end, concat('Entry ', n) from ${numbers}`,
    'create index by_rank on entries (rank, id)',
    'create index by_due on entries (due, id)',
    isPostgres ? 'vacuum analyze entries' : 'analyze table entries',
  ]
  // `rank` is a word of MariaDB's own.
  for (const text of statements)
    await driver.query({ text: isPostgres ? text : text.replaceAll(/\brank\b/g, '`rank`'), params: [] })
}

const model = build.model({ entries: { id: 'int32', rank: 'int32', due: 'int32?', title: 'string(40)' } })

/** The collection with the indexes that the statements above make. */
function entries(): Collection {
  const known = model.byName.get('entries')
  if (known === undefined) throw new Error('the model has no entries')
  const indexes = ['rank', 'due'].map((name): Index => {
    const fields = [name, 'id'].map((one) => known.fields.get(one) as PrimitiveField)
    return { id: name, dbName: `by_${name}`, kind: 'normal', fields }
  })
  return { ...known, indexes: [...known.indexes, ...indexes] }
}

async function measure(
  driver: SqlDriver,
  { dialect }: Database,
  { name, sort }: { readonly name: string; readonly sort: string },
): Promise<Measured> {
  const source = openSqlSource({ driver, dialect })
  const collection = entries()
  const context = {
    viewer: { accessTo: () => fullAccess, seesModel: true },
    collection,
    access: fullAccess,
    limits: { default: SIZE, max: SIZE },
    maxRows: SIZE,
  }
  const prepare = (search: string) => {
    const run = source.prepareList(planList(context, parseList(`${sort}&meta=cursor${search}`)))
    return () => run(() => null)
  }
  const before = await prepare(`&limit=1&offset=${SIZE * (PAGE - 1) - 1}`)()
  const early = await prepare('')()
  const behind = ({ cursors }: Pick<ListAnswer, 'cursors'>) => `&after=${cursors?.next ?? writeCursor('')}`
  const sides = [prepare(''), prepare(behind(before)), prepare(behind(early)), prepare(`&offset=${SIZE * (PAGE - 1)}`)]
  const times: number[][] = sides.map(() => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    // By offset it takes so long that a few rounds tell.
    const turn = round % 120 === 0 ? [0, 1, 2, 3] : round % 2 === 0 ? [0, 1, 2] : [2, 1, 0]
    for (const index of turn) {
      const start = performance.now()
      await sides[index]?.()
      times[index]?.push(performance.now() - start)
    }
  }
  const [first = 0, far = 0, second = 0, offset = 0] = times.map(quick)
  const detail = `${far.toFixed(2)} ms, page 1 ${first.toFixed(2)} ms, page 2 ${second.toFixed(2)} ms, by offset ${offset.toFixed(0)} ms`
  const isSmall = far - first <= SMALL
  const bound: Bound = { kind: 'atMost', value: MOST, ...(isSmall && { isReached: true }) }
  return { what: name, bound, value: far / first, unit: '', detail }
}

function quick(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 10)] ?? 0
}
