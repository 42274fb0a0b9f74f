/**
 * `npm run bench -- --figures batch`: a batch of 20 operations over the same statements written by hand in one transaction, on
 * PostgreSQL and MariaDB, from its operations as JSON to its answer; and the same operations one by one over HTTP. All sides
 * take turns, so that other load counts for each.
 */
import { fullAccess } from '../../src/core/access/access.ts'
import { type Form, formName, planForm } from '../../src/core/plan/batch/form.ts'
import { type Operation, parseOperations } from '../../src/core/plan/batch/operation.ts'
import { planBatch } from '../../src/core/plan/batch/plan.ts'
import type { Statement } from '../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { inParts } from '../../src/sources/in-parts.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { type Database, mariadbDatabase, postgresDatabase } from '../../test/property/support/database.ts'
import { build } from '../../test/support/data/build.ts'
import { findCase } from './cases.ts'
import { median } from './compare.ts'
import type { Measured } from './figures.ts'
import type { Lab } from './lab.ts'

const OPERATIONS = 20
const ROUNDS = 200

export async function measureBatch(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const database of [postgresDatabase, mariadbDatabase]) {
    progress(`${database.dialect.title}, beside the statements by hand`)
    const { driver, close } = await database.start()
    try {
      measured.push(await measureByHand(driver, database))
    } finally {
      await close()
    }
  }
  progress('beside the same calls one by one')
  return [...measured, await measureCalls(lab)]
}

const model = build.model({ entries: { id: 'int32', title: 'string(40)', views: 'int32' } })

type Change = { readonly kind: 'create' | 'update' | 'read'; readonly id: number }

/** Half of them new, the others read and changed. */
function changes(round: number): readonly Change[] {
  return Array.from({ length: OPERATIONS }, (_, index): Change => {
    const id = round * OPERATIONS + index
    if (index % 2 === 0) return { kind: 'create', id }
    return { kind: index % 4 === 1 ? 'update' : 'read', id: id - 1 }
  })
}

function operationOf({ kind, id }: Change): object {
  const collection = 'entries'
  if (kind === 'create') return { kind, collection, data: [{ id, title: `Entry ${id}`, views: id }] }
  return kind === 'update' ? { kind, collection, key: id, data: { views: 7 } } : { kind, collection, key: id }
}

async function measureByHand(driver: SqlDriver, { dialect }: Database): Promise<Measured> {
  const create = 'create table entries (id int primary key, title varchar(40) not null, views int not null)'
  await driver.query({ text: create, params: [] })
  const source = openSqlSource({ driver, dialect })
  const viewer = { accessTo: () => fullAccess, seesModel: true }
  const collection = model.byName.get('entries')
  if (collection === undefined) throw new Error('the model has no entries')
  const read = { viewer, collection, access: fullAccess, limits: { default: 100, max: 100 }, maxRows: 10_000 }
  const generators = { uuid: () => '', now: () => '' }
  const open = () => ({ collection, read })
  const forms = new Map<string, Form | undefined>()
  // As the service keeps them (src/services/data/item-batch.ts).
  const formOf = (operation: Operation) => {
    const name = formName(operation) ?? ''
    if (!forms.has(name)) forms.set(name, planForm({ viewer, generators, collection, read }, operation))
    return forms.get(name)
  }
  const ours = async (round: number) => {
    const operations = parseOperations({ operations: changes(round).map(operationOf) })
    const plan = await inParts(planBatch({ viewer, generators, open, formOf, most: 1_000 }, operations))
    return source.prepareBatch(plan)(() => null, {})
  }
  const isPostgres = dialect === postgresDatabase.dialect
  const byHand = (round: number) =>
    driver.batch(
      changes(round).flatMap((change) => handwritten(change, isPostgres)),
      { isWriting: true },
    )
  // By hand with what the driver itself does for a batch: in one message, its rows demanded by what is heard.
  const confirmedByHand = (round: number) => {
    const confirm = (answers: readonly (readonly unknown[])[]) => {
      if (isPostgres && answers.some((rows) => rows.length === 0)) throw new Error('a row is missing')
    }
    const statements = changes(round).flatMap((change) => handwritten(change, isPostgres))
    return driver.batch(statements, { isWriting: true, confirm })
  }
  const [hand = 0, confirmed = 0, batch = 0] = await inTurns([byHand, confirmedByHand, ours])
  const apart = driver.confirms ? `, by hand as the driver sends it ${confirmed.toFixed(2)} ms` : ''
  const detail = `${batch.toFixed(2)} ms, by hand ${hand.toFixed(2)} ms${apart}`
  const what = `batch of ${OPERATIONS} on ${dialect.title}: throughput over the same by hand`
  return { what, bound: { kind: 'atLeast', value: 0.8 }, value: hand / batch, unit: '', detail }
}

/** What somebody would write who wants the same answers: the row as JSON, which MariaDB reads after it has changed it. */
function handwritten({ kind, id }: Change, isPostgres: boolean): readonly Statement[] {
  const row = isPostgres
    ? `concat('{"id":', id, ',"title":', to_json(title), ',"views":', views, '}')`
    : `concat('{"id":', id, ',"title":', json_quote(title), ',"views":', views, '}')`
  const [one, two, three] = isPostgres ? ['$1::int', '$2', '$3::int'] : ['?', '?', '?']
  const found: Statement = { text: `select ${row} from entries where id = ${one}`, params: [String(id)] }
  if (kind === 'read') return [found]
  if (kind === 'create') {
    const text = `insert into entries (id, title, views) values (${one}, ${two}, ${three}) returning ${row}`
    return [{ text, params: [String(id), `Entry ${id}`, String(id)] }]
  }
  const change = `update entries set views = 7 where id = ${one}`
  if (isPostgres) return [{ text: `${change} returning ${row}`, params: [String(id)] }]
  return [{ text: change, params: [String(id)] }, found]
}

/** Median milliseconds of each. */
async function inTurns(sides: readonly ((round: number) => Promise<unknown>)[]): Promise<readonly number[]> {
  const times: number[][] = sides.map(() => [])
  let round = 1
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const [index, run] of sides.entries()) {
      const start = performance.now()
      await run(round)
      round += 1
      // The first rounds warm up.
      if (turn >= ROUNDS / 10) times[index]?.push(performance.now() - start)
    }
  }
  return times.map(median)
}

/** Inserts, each with its answer. */
async function measureCalls(lab: Lab): Promise<Measured> {
  const { token } = await lab.data()
  const { port, child } = await lab.ourNode()
  const post = async (path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const address = `http://127.0.0.1:${port}/api/bench/items${path}`
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    await response.text()
  }
  const { item } = findCase('insert')
  const numbers = Array.from({ length: OPERATIONS })
  const operations = numbers.map(() => ({ kind: 'create', collection: 'entries', data: [item] }))
  const alone = async () => {
    for (const _ of numbers) await post('/entries', [item])
  }
  const [single = 0, batch = 0] = await inTurns([alone, () => post('', { operations })])
  await child.close()
  const detail = `${batch.toFixed(1)} ms, one by one ${single.toFixed(1)} ms`
  const what = `batch of ${OPERATIONS}: times as fast as the same calls one by one`
  return { what, bound: { kind: 'atLeast', value: 5 }, value: single / batch, unit: '', detail }
}
