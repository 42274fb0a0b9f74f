/**
 * Slots of MariaDB and MySQL (decision 123): each statement runs after the answer to the previous one, and gets kept values as
 * parameters.
 */
import type { ColumnShape, PrimitiveField } from '../../model/model.ts'
import { queryFault } from '../../query/parse.ts'
import { SqlFault } from '../fault.ts'
import { insert } from '../insert.ts'
import {
  answered,
  empty,
  ident,
  integer,
  join,
  literal,
  param,
  type Sql,
  type SqlParam,
  sql,
  withRowHandler,
} from '../statement.ts'
import type { Insertion, KeptColumn, KeptRows, Keyed, Slots } from '../write/slots.ts'
import type { Family } from './family.ts'
import { inTable } from './names.ts'
import { paging } from './rows.ts'
import { cast } from './values.ts'

/** Keys per statement: few enough for an order by position, and for the database's range optimizer. */
const MAX_KEYS = 500

/** The slots of one transaction, in our memory. */
export function mysqlSlots(own: Family): Slots {
  const memory = new Map<number, KeptRow[]>()
  const keptIn = (slot: number) => memory.get(slot) ?? []

  const keep: Slots['keep'] = (slot, { columns, from, cut }) => {
    const rows: KeptRow[] = []
    memory.set(slot, rows)
    return from.map((part) =>
      withRowHandler(sql`select ${textsOf(columns)}${part}${paging(cut)} for update`, (answer) => {
        for (const row of answer) rows.push(constants(row, columns))
        return undefined
      }),
    )
  }

  const constant = (text: string | null, shape: ColumnShape) =>
    text === null ? nothing : cast(shape, param(text), own)
  const constants = (row: readonly SqlParam[], columns: readonly KeptColumn[]): KeptRow =>
    columns.map(({ shape }, position) => {
      const text = row[position] ?? null
      return { value: constant(text, shape), text: param(text) }
    })

  /** Adds the evaluated column default as a value for each row that lacks this part of the key. */
  function* withKeys(insertion: Insertion, field: PrimitiveField): Generator<Sql, Insertion> {
    const found = yield* fetchRows(
      sql`select ${own.attributes.defaultClause} from information_schema.columns where ${columnCondition(insertion, field)}`,
    )
    const expression = /^ default (.+)$/s.exec(found[0]?.[0] ?? '')?.[1]
    if (expression === undefined) return insertion
    const value = sql`concat(${plain(answered(expression), field)})`
    const [values = []] = yield* fetchRows(sql`select ${join(insertion.rows.map(() => value))}`)
    const at = insertion.fields.indexOf(field)
    const fields = at === -1 ? [...insertion.fields, field] : insertion.fields
    const rows = insertion.rows.map((cells, row) =>
      fields.map((one, place) => cells[place] ?? (one === field ? constant(values[row] ?? null, field) : undefined)),
    )
    return { ...insertion, fields, rows }
  }

  const rows: Slots['rows'] = (slot, keyed) => {
    const all = keptIn(slot)
    return Array.from({ length: Math.ceil(all.length / MAX_KEYS) }, (_, index) =>
      portion(all.slice(index * MAX_KEYS, (index + 1) * MAX_KEYS), keyed, own),
    )
  }

  return {
    keep,
    *keepInserted(slot, { provided, unless, ...wanted }) {
      const inserted: KeptRow[] = []
      memory.set(slot, inserted)
      if (provided === no) return
      const absent = unless ? yield* absentRows(wanted, unless) : wanted.rows
      if (absent.length === 0) return
      const all = { ...wanted, provided: undefined, unless: undefined, rows: absent }
      if (own.returning === 'known') {
        const columns = wanted.kept.map((field) => ({ value: ident(field.dbName), shape: field }))
        for (const run of runsOf(all)) {
          const made = yield* fetchRows(sql`${insert(run, { allDefaults })} returning ${textsOf(columns)}`)
          for (const row of made) inserted.push(constants(row, columns))
        }
        return
      }
      const keyField = filledInKey(all)
      const insertion = keyField ? yield* withKeys(all, keyField) : all
      const isIncomplete = isFilledIn(insertion)
      for (const run of runsOf(insertion)) {
        yield insert(run, { allDefaults })
        const counted = yield* countedIn(run)
        const cell = (field: PrimitiveField, place: number) =>
          cellOf(run, field, place) ?? (isCounting(field) ? constant(counted(place), field) : nothing)
        for (const place of run.rows.keys()) {
          const columns = run.kept.map((field) => ({ value: cell(field, place), shape: field }))
          inserted.push(columns.map((column) => ({ value: column.value, text: textOf(column) })))
        }
      }
      if (!isIncomplete) return
      const { table, key, kept } = insertion
      const column = (field: PrimitiveField) => ident('t0', field.dbName)
      const keyed = key.map((field) => ({ column: column(field), shape: field, value: undefined }))
      const from = rows(slot, { table, alias: 't0', key: keyed, isPrimary: false }).map((part) => part.from(undefined))
      yield* keep(slot, { columns: kept.map((field) => ({ value: column(field), shape: field })), from })
    },
    value: (slot, { row, position }) => keptIn(slot)[row]?.[position]?.value ?? nothing,
    isEmpty: (slot) => (keptIn(slot).length > 0 ? no : yes),
    isFilled: (slot) => (keptIn(slot).length > 0 ? yes : no),
    found(slot, { count, provided, absent, marker }) {
      const found = keptIn(slot).length
      const isFound = count === 1 ? found > 0 : found === count
      const isApplicable = provided === undefined || keptIn(provided).length > 0
      if (!isFound && isApplicable && (absent === undefined || keptIn(absent).length === 0)) throw unmet(marker)
      return []
    },
    bounded(slot, most, marker) {
      if (keptIn(slot).length > most) throw unmet(marker)
      return []
    },
    rows,
    assertion,
    // A plain select reads the snapshot from the transaction's first read; rows that `keep` has locked may be newer.
    share: sql` lock in share mode`,
  }
}

/** A query that fails the transaction unless its result is true. */
export function assertion(condition: Sql, marker: string): Sql {
  return withRowHandler(sql`select ${condition}`, ([row]) => {
    if (row?.[0] !== '1') throw unmet(marker)
    return undefined
  })
}

/** A query that fails the transaction unless it finds a row; `next` follows it. */
export function nonEmpty(query: Sql, marker: string, next?: Sql): Sql {
  return withRowHandler(query, ([row]) => {
    if (row === undefined) throw unmet(marker)
    return next
  })
}

/** Fails like a statement of the database, with a state that nothing else uses. */
function unmet(marker: string): SqlFault {
  return new SqlFault(marker, { state: '45000' })
}

/** Follows the table of a row with defaults only. */
export const allDefaults = sql`() values ()`

const nothing = sql`null`
const yes = sql`1 = 1`
const no = sql`1 = 0`

/** The values of a row, and their texts in the database's form. */
type KeptRow = readonly { readonly value: Sql; readonly text: Sql }[]

function textsOf(columns: readonly KeptColumn[]): Sql {
  return join(columns.map(textOf))
}

function textOf({ value, shape }: KeptColumn): Sql {
  return sql`concat(${plain(value, shape)})`
}

function cellOf({ fields, rows }: Insertion, field: PrimitiveField, place: number): Sql | undefined {
  return rows[place]?.[fields.indexOf(field)]
}

/** Runs a query and returns its rows. */
function* fetchRows(question: Sql): Generator<Sql, readonly (readonly SqlParam[])[]> {
  const rows: (readonly SqlParam[])[] = []
  yield withRowHandler(question, (answer) => {
    rows.push(...answer)
    return undefined
  })
  return rows
}

/** The condition for the column's row in the catalog. */
function columnCondition({ table: { parts } }: Insertion, { dbName }: PrimitiveField): Sql {
  const names = parts[0]?.kind === 'ident' ? parts[0].names : []
  return sql`${inTable({ schema: names.at(-2), dbName: names.at(-1) ?? '' })} and column_name = ${literal(dbName)}`
}

/** Queries which of the rows exist, with the same values in these fields; returns the others. */
function* absentRows(
  { table, fields, rows }: Pick<Insertion, 'table' | 'fields' | 'rows'>,
  unless: readonly PrimitiveField[],
): Generator<Sql, Insertion['rows']> {
  const present = new Set<number>()
  const matches = rows.map((cells) => {
    const values = unless.map((field) => sql`${ident('t0', field.dbName)} = ${cells[fields.indexOf(field)] ?? nothing}`)
    return sql`(${join(values, sql` and `)})`
  })
  for (let start = 0; start < matches.length; start += MAX_KEYS) {
    const some = matches.slice(start, start + MAX_KEYS)
    const places = some.map((match, place) => sql` when ${match} then ${integer(start + place)}`)
    const from = sql` from ${table} ${ident('t0')} where ${join(some, sql` or `)} lock in share mode`
    yield withRowHandler(sql`select case${join(places, empty)} end${from}`, (answer) => {
      for (const [place] of answer) present.add(Number(place))
      return undefined
    })
  }
  return rows.filter((_, place) => !present.has(place))
}

/** Queries the auto-increment numbers if any are kept; returns the number for a row's index. */
function* countedIn(run: Insertion): Generator<Sql, (place: number) => string> {
  let first = 0n
  let step = 0n
  if (run.kept.some((field) => isCounting(field) && cellOf(run, field, 0) === undefined)) {
    yield withRowHandler(sql`select last_insert_id(), @@auto_increment_increment`, ([row]) => {
      first = BigInt(row?.[0] ?? 0)
      step = BigInt(row?.[1] ?? 1)
      return undefined
    })
  }
  return (place) => String(first + BigInt(place) * step)
}

/**
 * Compares with constants, so that an index serves whatever the collation. The keys are sorted as texts, because the database
 * converts each constant again for each row.
 */
function portion(rows: readonly KeptRow[], { table, alias, key, isPrimary }: Keyed, own: Family): KeptRows {
  const fixed = key.flatMap(({ column, value }) => (value === undefined ? [] : [sql`${column} = ${value}`]))
  const varying = key.flatMap((one, position) => (one.value === undefined ? [{ ...one, position }] : []))
  const [single, ...others] = varying
  const among =
    single && others.length === 0
      ? sql`${single.column} in (${join(rows.map((row) => row[single.position]?.value ?? nothing))})`
      : sql`(${join(rows.map(isRow), sql` or `)})`
  const where = join(single ? [...fixed, among] : fixed, sql` and `)
  const from = (condition: Sql | undefined) =>
    sql` from ${table} ${ident(alias)} where ${where}${condition === undefined ? empty : sql` and ${condition}`}`
  return {
    targets: { table, alias, among: undefined, where, isByPrimaryKey: isPrimary && !own.isBehindVitess },
    from,
    fails: (condition, lock) =>
      sql`(select count(*) < ${integer(rows.length)} or coalesce(sum(case when ${condition} then 0 else 1 end), 0) > 0${from(undefined)}${lock})`,
    get order() {
      if (rows.length === 1 || !single) return undefined
      const place = together(varying.map(({ column, shape }) => textOf({ value: column, shape })))
      const places = rows.map((row) => together(varying.map(({ position }) => row[position]?.text ?? nothing)))
      return sql`field(${join([place, ...places])})`
    },
  }

  function isRow(row: KeptRow): Sql {
    const values = varying.map(({ column, position }) => sql`${column} = ${row[position]?.value ?? nothing}`)
    return sql`(${join(values, sql` and `)})`
  }
}

function together([text = nothing, ...others]: readonly Sql[]): Sql {
  return others.length === 0 ? text : sql`concat_ws(' ', ${join([text, ...others])})`
}

/** True if some rows have a number in an auto-increment column and others do not. */
export function isMixed(insertion: Insertion): boolean {
  const isGiven = countedCells(insertion).map((cell) => cell !== undefined)
  return isGiven.includes(true) && isGiven.includes(false)
}

/** A text of the value that `concat` converts without loss. */
function plain(value: Sql, { type, native }: ColumnShape): Sql {
  // A `bit` is a number here; in a text it would be bytes.
  if (native?.name === 'bit') return sql`${value} + 0`
  if (type.name === 'bytes') return sql`to_base64(${value})`
  // MariaDB truncates JSON at a width without room for escapes; the width of `repeat` is unknown, which prevents it.
  if (type.name === 'string') return sql`${value}, repeat('', length(${value}))`
  return type.name === 'float32' ? sql`cast(${value} as double)` : value
}

/**
 * Inserts rows with and without an auto-increment value separately: `default` beside a given number counts as 0, and
 * only rows that are all auto-incremented get consecutive numbers.
 */
function runsOf(insertion: Insertion): readonly Insertion[] {
  if (!isMixed(insertion)) return [insertion]
  const { fields, rows } = insertion
  const place = fields.findIndex(isCounting)
  const without = <T>(cells: readonly T[]) => cells.filter((_, index) => index !== place)
  const runs: { readonly isCounted: boolean; readonly rows: Insertion['rows'][number][] }[] = []
  for (const cells of rows) {
    const isCounted = cells[place] === undefined
    const last = runs.at(-1)
    // Rows with defaults only cannot share a statement.
    if (last?.isCounted === isCounted && !(isCounted && fields.length === 1)) last.rows.push(cells)
    else runs.push({ isCounted, rows: [cells] })
  }
  return runs.map((run) =>
    run.isCounted
      ? { ...insertion, fields: without(fields), rows: run.rows.map(without) }
      : { ...insertion, rows: run.rows },
  )
}

function countedCells({ fields, rows }: Insertion): readonly (Sql | undefined)[] {
  const place = fields.findIndex(isCounting)
  return place === -1 ? [] : rows.map((cells) => cells[place])
}

function isCounting({ defaultValue }: PrimitiveField): boolean {
  return defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
}

/** True if the database fills in a kept column. Throws for a key column, because the row could not be found again. */
function isFilledIn(insertion: Insertion): boolean {
  const unknown = filledInKey(insertion)
  if (unknown !== undefined) throw queryFault(unknown.apiName, 'must be given: the database does not tell its default')
  return filledIn(insertion).length > 0
}

/** A key field that the database fills in. */
function filledInKey(insertion: Insertion): PrimitiveField | undefined {
  const missing = filledIn(insertion)
  return insertion.key.find((field) => missing.includes(field))
}

function filledIn({ fields, rows, kept }: Insertion): readonly PrimitiveField[] {
  return kept.filter((field) => {
    if (isCounting(field) || (field.defaultValue?.source !== 'connectorManaged' && !field.isReadOnly)) return false
    const place = fields.indexOf(field)
    return place === -1 || rows.some((cells) => cells[place] === undefined)
  })
}
