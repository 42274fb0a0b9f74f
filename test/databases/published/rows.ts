/** Fills the tables of an imported schema with rows that its keys and checks let pass, the same ones for the same seed. */
import fc from 'fast-check'
import type { SqlDriver } from '../../../src/ports/database.ts'
import type { Column, ForeignKey, Table } from './catalog.ts'
import type { PublishedDialect } from './dialect.ts'
import { drawn, tame } from './values.ts'

export type Filling = {
  readonly driver: SqlDriver
  readonly dialect: PublishedDialect
  readonly tables: readonly Table[]
  readonly seed: number
  /** Rows for each table that has fewer. */
  readonly size: number
}

const ATTEMPTS = 30
/** From here on nothing odd is tried. */
const TAME = 6

/** Returns the tables that got no row. */
export async function fillTables({ driver, dialect, tables, seed, size }: Filling): Promise<readonly string[]> {
  const run = async (text: string) => driver.query({ text, params: [] })
  const name = ({ schema, name: own }: Table) => `${dialect.quote(schema)}.${dialect.quote(own)}`
  const byId = new Map(tables.map((table) => [table.id, table]))
  let next = seed
  const random = (below: number) => {
    next = (Math.imul(next, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((next / 2 ** 32) * below)
  }

  async function fill(table: Table): Promise<void> {
    const [[count = '0'] = []] = await run(`select count(*) from ${name(table)}`)
    const pools = new Map(table.columns.map((column) => [column.name, poolOf(column)]))
    for (let row = Number(count); row < size; row += 1) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const values = await draw(table, pools, attempt >= TAME)
        const columns = [...values.keys()].map(dialect.quote)
        const all = [...values.values()]
        const text = `insert into ${name(table)} (${columns}) values (${all})`
        if (
          await run(columns.length === 0 ? dialect.empty(name(table)) : text).then(
            () => true,
            () => false,
          )
        )
          break
      }
    }
  }

  function poolOf(column: Column): readonly string[] {
    const values = drawn(dialect.values(column), column)
    next += 1
    return values === undefined ? [] : fc.sample(values, { seed: next, numRuns: 24 })
  }

  async function draw(
    table: Table,
    pools: ReadonlyMap<string, readonly string[]>,
    isTame: boolean,
  ): Promise<ReadonlyMap<string, string>> {
    const values = new Map<string, string>()
    const byLength = [...table.foreignKeys].sort((one, other) => other.columns.length - one.columns.length)
    for (const key of byLength) await refer(table, key, values)
    for (const column of table.columns) {
      const { name: own, isNullable, isGenerated, hasDefault } = column
      if (isGenerated || values.has(own) || (hasDefault && random(isTame ? 2 : 4) === 0)) continue
      const pool = isTame ? tame(column) : (pools.get(own) ?? [])
      const value = pool[random(pool.length)]
      if (isNullable && (value === undefined || random(isTame ? 2 : 5) === 0)) values.set(own, 'null')
      else if (value !== undefined) values.set(own, dialect.literal(value, column))
    }
    for (const { target, columns, targetColumns } of byLength) {
      if (target !== table.id || columns.every((column) => values.get(column) !== SELF)) continue
      columns.forEach((column, place) => {
        values.set(column, values.get(targetColumns[place] ?? '') ?? 'null')
      })
    }
    return values
  }

  /** What a foreign key refers to: a row that is there, or null, or the row itself. */
  async function refer(table: Table, key: ForeignKey, values: Map<string, string>): Promise<void> {
    const optional = key.columns.filter((column) => isNullable(table, column) && !values.has(column))
    const target = byId.get(key.target)
    if (target === undefined) return
    const fixed = key.columns.flatMap((column, place) =>
      values.has(column) ? [`${dialect.quote(key.targetColumns[place] ?? '')} = ${values.get(column)}`] : [],
    )
    const condition = fixed.length === 0 ? '' : ` where ${fixed.join(' and ')}`
    const typed = key.targetColumns.map((one) => target.columns.find((column) => column.name === one))
    const wanted = typed.map((column, at) => `${column === undefined ? 'null' : dialect.text(column)} as c${at}`)
    const rows = await run(`select ${wanted} from ${name(target)}${condition} limit 30`)
    const row = rows[random(rows.length)]
    const isSelf = table.id === target.id && rows.length === 0
    if (optional.length > 0 && (row === undefined || random(4) === 0)) {
      for (const column of optional) values.set(column, 'null')
    } else if (row !== undefined) {
      key.columns.forEach((column, place) => {
        const of = table.columns.find((one) => one.name === column)
        const value = row[place]
        if (of !== undefined) values.set(column, value == null ? 'null' : dialect.literal(value, of))
      })
    } else if (isSelf) {
      for (const column of key.columns) if (!values.has(column)) values.set(column, SELF)
    }
  }

  const order = inOrder(
    tables.filter(({ isView }) => !isView),
    byId,
  )
  for (const table of [...order, ...order]) await fill(table)
  const empty: string[] = []
  for (const table of order) {
    if ((await run(`select 1 from ${name(table)} limit 1`)).length === 0) empty.push(table.id)
  }
  return empty
}

const SELF = 'self'

function isNullable(table: Table, name: string): boolean {
  return table.columns.find((column) => column.name === name)?.isNullable === true
}

/** What is referred to first, as far as there are no circles. */
function inOrder(tables: readonly Table[], byId: ReadonlyMap<string, Table>): readonly Table[] {
  const seen = new Set<Table>()
  const visit = (table: Table | undefined): readonly Table[] => {
    if (table === undefined || table.isView || seen.has(table)) return []
    seen.add(table)
    return [...table.foreignKeys.flatMap(({ target }) => visit(byId.get(target))), table]
  }
  return tables.flatMap(visit)
}
