/**
 * Slots of MariaDB and MySQL: user variables with an array of rows as JSON text. A row's members are `c0`, `c1`, …,
 * each the value's text after a `=`, so that every text differs from null. Values read back have no collation of their
 * own, so a comparison follows that of the column and can use its index.
 */
import type { ColumnShape, PrimitiveField } from '../../model/model.ts'
import { queryFault } from '../../query/parse.ts'
import type { Dialect, Insertion, KeptColumn, Slots } from '../dialect.ts'
import { absent, insert } from '../insert.ts'
import { empty, heeding, ident, integer, join, literal, type Sql, sql } from '../statement.ts'
import { type SessionSlots, sessionSlots } from '../write/session-slots.ts'
import type { Family } from './family.ts'
import { paging } from './rows.ts'

export type SlotParts = Pick<Dialect, 'allDefaults'> & {
  /** An expression that fails the statement when it is evaluated, and only then. */
  readonly overflow: Sql
  /** Casts a text in the database's own form to the type. */
  readonly cast: (shape: ColumnShape, text: Sql) => Sql
  readonly returning: Family['returning']
  readonly defaultClause: Sql
}

export function mysqlSlots({ allDefaults, overflow, cast, returning }: Omit<SlotParts, 'defaultClause'>): Slots {
  const read = (json: Sql, path: string, shape: ColumnShape) => {
    const text = sql`nullif(json_unquote(json_extract(${json}, ${literal(path)})), 'null')`
    return cast(shape, sql`substr(${text}, 2)`)
  }

  // An array larger than a packet is truncated with a mere warning.
  const whole = sql`case when j.a is null then '[]' when json_length(j.a) = j.c then j.a else ${overflow} end`

  const keep: SessionSlots['keep'] = (slot, { columns, from, cut }) => {
    const names = columns.map((_, position) => ident(columnName(position)))
    const values = columns.map(({ value }, position) => sql`${value} as ${names[position] ?? empty}`)
    const rows = sql`select ${join(values)}${from}${cut === undefined ? inOrder : paging(cut)} for update`
    const texts = row(columns.map(({ shape }, position) => ({ value: names[position] ?? empty, shape })))
    const array = sql`select json_arrayagg(${texts}) as a, count(*) as c from (${rows}) i`
    return [sql`set ${variable(slot)} = (select ${whole} from (${array}) j)`]
  }

  const keptTable: SessionSlots['table'] = (slot, shapes) => {
    const columns = shapes.map((shape, position) => {
      const name = columnName(position)
      return sql`${read(sql`x.e`, `$.${name}`, shape)} as ${ident(name)}`
    })
    const elements = sql`json_table(${variable(slot)}, '$[*]' columns (n for ordinality, e json path '$')) x`
    return sql`(select ${join([...columns, sql`x.n`])} from ${elements})`
  }

  /** Keeps a single row again, with the columns that the database has filled in. */
  const keepAgain = (slot: number, { table, key, kept }: Insertion) => {
    const columns = kept.map((field) => ({ value: ident('t0', field.dbName), shape: field }))
    const known = keptTable(slot, kept)
    const matches = key.map((field) => sql`k.${ident(columnName(kept.indexOf(field)))} = ${ident('t0', field.dbName)}`)
    return keep(slot, { columns, from: sql` from ${known} k, ${table} t0 where ${join(matches, sql` and `)}` })
  }

  /** Keeps the rows that are not there yet, inserts them, and keeps what they have become. */
  const keepAbsent = (slot: number, insertion: Insertion, unless: readonly PrimitiveField[]) => {
    const { table, fields, rows, provided, kept } = insertion
    const place = (field: PrimitiveField) => ident(columnName(fields.indexOf(field)))
    const sent = rows.map((cells) => row(fields.map((shape, at) => ({ value: cells[at] ?? sql`null`, shape }))))
    const all = sql`json_array(${join(sent)})`
    const known = keptTable(slot, fields)
    const columns = fields.map((shape) => ({ value: sql`v.${place(shape)}`, shape }))
    const isNew = absent(table, { unless, nameOf: place })
    const names = join(fields.map(({ dbName }) => ident(dbName)))
    const isSame = unless.map((field) => sql`${ident('t0', field.dbName)} = v.${place(field)}`)
    const made = kept.map((field) => ({ value: ident('t0', field.dbName), shape: field }))
    return [
      sql`set ${variable(slot)} = ${provided === undefined ? all : sql`if(${provided}, ${all}, '[]')`}`,
      ...keep(slot, { columns, from: sql` from ${known} v where ${isNew}` }),
      sql`insert into ${table} (${names}) select ${join(columns.map(({ value }) => value))} from ${known} v`,
      ...keep(slot, { columns: made, from: sql` from ${known} v join ${table} t0 on ${join(isSame, sql` and `)}` }),
    ]
  }

  /** Keeps rows with a key that only the database knows, each as it is inserted; what is returned stays small. */
  const keepReturned = (slot: number, insertion: Insertion) => {
    const made = row(insertion.kept.map((field) => ({ value: ident(field.dbName), shape: field })))
    const longer = sql`ifnull(json_array_append(${variable(slot)}, '$', ${made}), ${overflow})`
    const inserts = runsOf(insertion).map((run) => {
      return sql`${insert(run, { allDefaults })} returning (${variable(slot)} := ${longer}) is null`
    })
    return [sql`set ${variable(slot)} = '[]'`, ...inserts]
  }

  const keepInserted: SessionSlots['keepInserted'] = (slot, insertion) => {
    if (insertion.unless !== undefined) return keepAbsent(slot, insertion, insertion.unless)
    if (returning === 'known' && untoldKey(insertion) !== undefined) return keepReturned(slot, insertion)
    const inserts = runsOf(insertion).flatMap((run, index) => {
      const texts = sql`json_array(${join(run.rows.map((_, place) => row(keptCells(run, place))))})`
      const all = index === 0 ? texts : sql`json_merge_preserve(${variable(slot)}, ${texts})`
      const value = run.provided === undefined ? all : sql`if(${run.provided}, ${all}, '[]')`
      return [insertIf(run, { allDefaults }), sql`set ${variable(slot)} = ${value}`]
    })
    return isFilledIn(insertion) ? [...inserts, ...keepAgain(slot, insertion)] : inserts
  }

  return sessionSlots({
    keep,
    keepInserted,
    value: (slot, { row, position }, shape) => read(variable(slot), `$[${row}].${columnName(position)}`, shape),
    isEmpty: (slot) => sql`${variable(slot)} = '[]'`,
    isFilled: (slot) => sql`${variable(slot)} <> '[]'`,
    table: keptTable,
    assertion,
  })
}

/**
 * `insert … select` locks the counter of the table until the statement has ended, even while it waits for a row. Where the
 * transaction of that row wants the counter, MariaDB may end another one than those two, which then wait for good.
 */
function insertIf({ provided, ...insertion }: Insertion, dialect: Pick<Dialect, 'allDefaults'>): Sql {
  const inserted = insert({ ...insertion, provided: undefined }, dialect)
  if (provided === undefined) return inserted
  return heeding(sql`select ${provided}`, ([row]) => (row?.[0] === '1' ? inserted : undefined))
}

/** Not a select, since constants that fail may be evaluated before their branch is chosen. */
export function assertion(condition: Sql, marker: string): Sql {
  return sql`set time_zone = if(${condition}, @@time_zone, ${literal(marker)})`
}

/** True if some rows have a number in an auto-increment column and others do not. */
export function isMixed(insertion: Insertion): boolean {
  const isGiven = countedCells(insertion).map((cell) => cell !== undefined)
  return isGiven.includes(true) && isGiven.includes(false)
}

/** Without a limit these databases ignore the order of a subquery. */
const inOrder = sql` limit 18446744073709551615`

function variable(slot: number): Sql {
  return sql`@slot${integer(slot)}`
}

function columnName(position: number): string {
  return `c${position}`
}

function row(columns: readonly KeptColumn[]): Sql {
  const members = columns.map(({ value, shape }, position) => {
    return sql`${literal(columnName(position))}, concat('=', ${plain(value, shape)})`
  })
  return sql`json_object(${join(members)})`
}

/** A text of the value that `concat` converts without loss. */
export function plain(value: Sql, { type, native }: ColumnShape): Sql {
  // A `bit` is a number here, and would be bytes in a text.
  if (native?.name === 'bit') return sql`${value} + 0`
  if (type.name === 'bytes') return sql`to_base64(${value})`
  // MariaDB cuts JSON off at a width that has no room for escapes; a repetition has no known width.
  if (type.name === 'string') return sql`${value}, repeat('', length(${value}))`
  return type.name === 'float32' ? sql`cast(${value} as double)` : value
}

/**
 * Inserts rows with and without an auto-increment value separately: `default` beside a given number counts as 0, and
 * only rows that are all auto-incremented get consecutive numbers.
 */
export function runsOf(insertion: Insertion): readonly Insertion[] {
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

export function isCounting({ defaultValue }: PrimitiveField): boolean {
  return defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
}

/** The known cells of a row after its insertion; null for what the database has filled in. */
function keptCells({ fields, rows, kept }: Insertion, place: number): readonly KeptColumn[] {
  const step = place === 0 ? empty : sql` + ${integer(place)} * @@auto_increment_increment`
  return kept.map((field) => {
    const cell = rows[place]?.[fields.indexOf(field)]
    return { value: cell ?? (isCounting(field) ? sql`last_insert_id()${step}` : sql`null`), shape: field }
  })
}

/** True if the database fills in a kept column. The key is excluded, since the row could not be found again. */
export function isFilledIn(insertion: Insertion): boolean {
  const unknown = untoldKey(insertion)
  if (unknown !== undefined) throw queryFault(unknown.apiName, 'must be given: the database does not tell its default')
  return filledIn(insertion).length > 0
}

/** A field of the key that the database fills in. */
export function untoldKey(insertion: Insertion): PrimitiveField | undefined {
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
