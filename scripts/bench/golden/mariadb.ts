/**
 * `npm run bench -- --figures golden-mariadb`: the same on MariaDB, whose own profile of a statement takes its time. It keeps
 * no plans, so that planning is part of every run.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { mariadb } from '../../../src/core/sql/mysql/dialect.ts'
import type { Statement } from '../../../src/core/sql/statement.ts'
import { connectionOptions, sessionSetup } from '../../../src/platform/drivers/mysql/session.ts'
import { startMariadb } from '../../../test/support/servers/mariadb.ts'
import { median } from '../compare.ts'
import type { Measured } from '../figures.ts'
import { goldenCases } from './cases.ts'
import { figureOf, ourStatement } from './ours.ts'
import { mariadbStatements } from './stock.ts'

const ROWS = 10_000
const MOST = 1.25
const ROUNDS = 10
/** As many statements as a profile remembers. */
const RUNS = 20

export async function measureGoldenOnMariadb(progress: (text: string) => void): Promise<readonly Measured[]> {
  progress('starting MariaDB')
  const server = await startMariadb()
  try {
    const connection = await createConnection(connectionOptions(server))
    try {
      progress('making the rows')
      for (const text of sessionSetup(0)) await connection.query(text)
      await connection.query("set @mode = @@sql_mode, sql_mode = concat(@@sql_mode, ',PIPES_AS_CONCAT,ANSI_QUOTES')")
      for (const text of mariadbStatements(ROWS)) await connection.query(text)
      await connection.query(`set sql_mode = @mode, profiling_history_size = ${RUNS}`)
      const measured: Measured[] = []
      for (const subject of goldenCases) {
        const golden = goldenTexts[subject.name]
        if (golden === undefined) continue
        progress(subject.name)
        const best = { text: golden, params: subject.params ?? [] }
        const times = await measure(connection, subject.name, [ourStatement(subject, mariadb), best])
        measured.push(figureOf(`golden on MariaDB: ${subject.name}`, times, MOST))
      }
      return measured
    } finally {
      await connection.end()
    }
  } finally {
    await server.close()
  }
}

type Side = Pick<Statement, 'text' | 'params'>

async function measure(connection: Connection, name: string, sides: readonly Side[]): Promise<readonly number[]> {
  const answers: unknown[] = []
  for (const { text, params } of sides) {
    const [rows] = await connection.execute<RowDataPacket[][]>({ sql: text, rowsAsArray: true }, [...params])
    answers.push(rows.map(([value]) => JSON.parse(String(value))))
  }
  if (!isDeepStrictEqual(answers[0], answers[1])) {
    const [ours, golden] = answers.map((answer) => JSON.stringify(answer).slice(0, 600))
    throw new Error(`${name}: we answer\n${ours}\nand the golden statement\n${golden}`)
  }
  const times: number[][] = sides.map(() => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [side, statement] of sides.entries()) times[side]?.push(...(await profile(connection, statement)))
  }
  return times.map(median)
}

async function profile(connection: Connection, { text, params }: Side): Promise<readonly number[]> {
  await connection.query('set profiling = 1')
  for (let run = 0; run < RUNS; run += 1) await connection.execute(text, [...params])
  await connection.query('set profiling = 0')
  const statement =
    'select sum(duration) * 1e6 from information_schema.profiling group by query_id order by query_id desc'
  const [rows] = await connection.query<RowDataPacket[][]>({ sql: `${statement} limit ${RUNS - 1}`, rowsAsArray: true })
  return rows.map(([duration]) => Number(duration))
}

const json: Readonly<Record<string, (column: string) => string>> = {
  id: quoted,
  authorId: quoted,
  views: (column) => column,
  featured: (column) => `if(${column}, 'true', 'false')`,
  score: (column) => column,
  publishedOn: quoted,
}

function quoted(column: string): string {
  return `'"', ${column}, '"'`
}

function row(
  columns: readonly string[],
  { alias = 't', more = {} }: { readonly alias?: string; readonly more?: Readonly<Record<string, string>> } = {},
): string {
  const members = columns.map((name) => [
    name,
    (json[name] ?? ((column) => `json_quote(${column})`))(`${alias}.${name}`),
  ])
  const parts = [...members, ...Object.entries(more)].map(
    ([name, value], index) => `'${index === 0 ? '{' : ','}"${name}":', ${value}`,
  )
  return `concat(${parts.join(', ')}, '}')`
}

const ten = ['id', 'title', 'slug', 'status', 'summary', 'views', 'featured', 'score', 'publishedOn', 'authorId']
const list = (what: string, where = '', order = 'order by t.id limit 25') =>
  `select ${what} from articles t ${where} ${order}`
const short = row(['id', 'title'])
const keysFirst = (page: string) =>
  `select ${row(ten)} from (select id from articles order by id ${page}) k join articles t on t.id = k.id order by k.id`
const children = (object: string, from: string, rest: string) =>
  `'{"data":[', ifnull((select group_concat(${object} ${rest}) from ${from}), ''), ']}'`
const one = (object: string, from: string) => `ifnull((select ${object} from ${from}), 'null')`
const country = one(row(['name'], { alias: 'o' }), 'countries o where o.id = c.countryId')
const city = one(row(['name'], { alias: 'c', more: { country } }), 'cities c where c.id = a.cityId')
const five =
  (more = {}) =>
  (columns: readonly string[]) =>
    children(
      row(columns, { alias: 'c', more }),
      'articles c where c.authorId = t.id',
      `order by c.id separator ',' limit 5`,
    )
const three = children(
  row(['id', 'body'], { alias: 'x' }),
  'comments x where x.articleId = c.id',
  `order by x.id separator ',' limit 3`,
)
const comment = (isSpam: string) => `(select 1 from comments x where x.articleId = t.id and ${isSpam} limit 1)`

/** By the name of the case; the parameters are those of the case, each once. */
const goldenTexts: Readonly<Record<string, string>> = {
  point: list(row(ten), 'where t.id = ?', ''),
  'list by index': list(row(ten), 'where t.id > ?'),
  'list, sort by index': list(row(ten), '', 'order by t.publishedOn, t.id limit 25'),
  'list, sort without index': list(row(ten), '', 'order by t.views, t.id limit 25'),
  'offset 0': list(row(ten)),
  'offset 1,000': keysFirst('limit 25 offset 1000'),
  'offset 100,000': keysFirst('limit 25 offset 100000'),
  '1 column': list(row(['title'])),
  'to-one at offset 240': list(
    row(ten, {
      more: { author: one(row(['id', 'name', 'email'], { alias: 'a' }), 'authors a where a.id = t.authorId') },
    }),
    '',
    'order by t.id limit 25 offset 240',
  ),
  'to-one over 3 hops at offset 240': list(
    row(['id', 'title'], {
      more: { author: one(row(['name'], { alias: 'a', more: { city } }), 'authors a where a.id = t.authorId') },
    }),
    '',
    'order by t.id limit 25 offset 240',
  ),
  '100 × 5 at offset 200': `select ${row(['id', 'name'], { more: { articles: five()(['id', 'title', 'status', 'views', 'publishedOn']) } })} from authors t order by t.id limit 100 offset 200`,
  '100 × 5 × 3': `select ${row(['id', 'name'], { more: { articles: five({ comments: three })(['id', 'title']) } })} from authors t order by t.id limit 100`,
  'many-to-many': list(
    row(['id', 'title'], {
      more: {
        tags: children(
          row(['id', 'name'], { alias: 'g' }),
          'tags g where g.id in (select l.tagId from articleTags l where l.articleId = t.id)',
          `order by g.id separator ',' limit 100`,
        ),
      },
    }),
    '',
    'order by t.id limit 25 offset 240',
  ),
  'filter by a to-one over 2 hops': list(
    short,
    'where exists (select 1 from authors a where a.id = t.authorId and exists (select 1 from cities c where c.id = a.cityId and c.countryId = ?))',
  ),
  'filter _every': list(short, `where ${comment(`x.isSpam <> (? = 'true')`)} is null`),
  'filter _none': list(short, `where ${comment(`x.isSpam = (? = 'true')`)} is null`),
  'filter _some': list(short, `where ${comment(`x.isSpam = (? = 'true')`)} = 1`),
  'filter by many-to-many': list(short, 'where t.id in (select l.articleId from articleTags l where l.tagId = ?)'),
  'policy: row filter': list(row(ten), 'where t.status = ?'),
  'policies: 5 on one column': list(row(ten), 'where t.authorId in (?, ?, ?, ?, ?)'),
}
