/** `npm run bench -- --figures golden`: the database time of our statements over that of the best ones made by hand. */
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import type { Statement } from '../../../src/core/sql/statement.ts'
import { startPostgres } from '../../../test/support/servers/postgres.ts'
import type { Measured } from '../figures.ts'
import { type GoldenCase, goldenAggregates, goldenCases } from './cases.ts'
import { measureRuns, measureWrites, prepareMeasuring, prepareMeasuringWrites, prepareStatement } from './measure.ts'
import { figureOf, ourAggregates, ourStatement } from './ours.ts'
import { stockStatements } from './stock.ts'
import { type GoldenWrite, goldenWrites } from './writes.ts'

const ROWS = 10_000
export async function measureGolden(progress: (text: string) => void): Promise<readonly Measured[]> {
  progress('starting Postgres')
  const server = await startPostgres()
  try {
    const client = new pg.Client({ connectionString: server.url, options: '-c TimeZone=UTC' })
    await client.connect()
    try {
      progress('making the rows')
      for (const statement of stockStatements(ROWS)) await client.query(statement)
      await prepareMeasuring(client)
      const measured: Measured[] = []
      for (const each of goldenCases) {
        progress(each.name)
        measured.push(await measureCase(client, each, ourStatement(each, postgres)))
      }
      for (const each of goldenAggregates) {
        progress(each.name)
        // Nine tenths of what the bare statement does in the same time.
        measured.push(await measureCase(client, each, await ourAggregates(each, postgres), 1.11))
      }
      await prepareMeasuringWrites(client)
      for (const each of goldenWrites()) {
        progress(each.name)
        measured.push(await measureWrite(client, each))
      }
      return measured
    } finally {
      await client.end()
    }
  } finally {
    await server.close()
  }
}

async function measureCase(
  client: pg.Client,
  { name, golden, params = [] }: GoldenCase,
  ours: Statement,
  most?: number,
): Promise<Measured> {
  const own = await prepareStatement(client, ours)
  const best = await prepareStatement(client, { text: golden, params })
  await requireSameAnswer(client, name, [own, best])
  return figureOf(`golden: ${name}`, await measureRuns(client, [own, best]), most)
}

async function measureWrite(client: pg.Client, { name, ours, golden }: GoldenWrite): Promise<Measured> {
  const own: string[] = []
  for (const statement of ours) own.push(await prepareStatement(client, statement))
  const best = await prepareStatement(client, golden)
  return figureOf(`golden: ${name}, ${ours.length} statements`, await measureWrites(client, [own, [best]]))
}

async function requireSameAnswer(client: pg.Client, name: string, executions: readonly string[]): Promise<void> {
  const answers: unknown[] = []
  for (const text of executions) {
    const { rows } = await client.query({ text, rowMode: 'array' })
    const [row = []] = rows as (string | null)[][]
    answers.push([JSON.parse(row[0] ?? 'null'), row[1]])
  }
  if (isDeepStrictEqual(answers[0], answers[1])) return
  const [ours, golden] = answers.map((answer) => JSON.stringify(answer).slice(0, 600))
  throw new Error(`${name}: we answer\n${ours}\nand the golden statement\n${golden}`)
}
