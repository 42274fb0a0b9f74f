/**
 * Slots of MariaDB and MySQL: user variables with an array of rows as JSON text. A row's members are `c0`, `c1`, …,
 * each the value's text after a `=`, so that every text differs from null. Values read back have no collation of their
 * own, so a comparison follows that of the column and can use its index.
 */
import type { ColumnShape, PrimitiveField } from '../../model/model.ts'
import { queryFault } from '../../query/parse.ts'
import type { Dialect, Insertion, KeptColumn, Slots } from '../dialect.ts'
import { insert } from '../insert.ts'
import { empty, ident, integer, join, literal, type Sql, sql } from '../statement.ts'

type SlotParts = Pick<Dialect, 'allDefaults'> & {
  /** An expression that fails the statement when it is evaluated, and only then. */
  readonly overflow: Sql
  /** Casts a text in the database's own form to the type. */
  readonly cast: (shape: ColumnShape, text: Sql) => Sql
}

export function mysqlSlots({ allDefaults, overflow, cast }: SlotParts): Slots {
  const read = (json: Sql, path: string, shape: ColumnShape) => {
    const text = sql`nullif(json_unquote(json_extract(${json}, ${literal(path)})), 'null')`
    return cast(shape, sql`substr(${text}, 2)`)
  }

  // An array larger than a packet is truncated with a mere warning.
  const whole = sql`case when j.a is null then '[]' when json_length(j.a) = j.c then j.a else ${overflow} end`

  const keep: Slots['keep'] = (slot, { columns, from }) => {
    const names = columns.map((_, position) => ident(columnName(position)))
    const values = columns.map(({ value }, position) => sql`${value} as ${names[position] ?? empty}`)
    const rows = sql`select ${join(values)}${from}${inOrder} for update`
    const texts = row(columns.map(({ shape }, position) => ({ value: names[position] ?? empty, shape })))
    const array = sql`select json_arrayagg(${texts}) as a, count(*) as c from (${rows}) i`
    return [sql`set ${variable(slot)} = (select ${whole} from (${array}) j)`]
  }

  const rows: Slots['rows'] = (slot, shapes) => {
    const columns = shapes.map((shape, position) => {
      const name = columnName(position)
      return sql`${read(sql`x.e`, `$.${name}`, shape)} as ${ident(name)}`
    })
    const table = sql`json_table(${variable(slot)}, '$[*]' columns (n for ordinality, e json path '$')) x`
    return sql`(select ${join([...columns, sql`x.n`])} from ${table})`
  }

  /** Keeps a single row again, with the columns that the database has filled in. */
  const keepAgain = (slot: number, { table, key, kept }: Insertion) => {
    const columns = kept.map((field) => ({ value: ident('t0', field.dbName), shape: field }))
    const known = rows(slot, kept)
    const matches = key.map((field) => sql`k.${ident(columnName(kept.indexOf(field)))} = ${ident('t0', field.dbName)}`)
    return keep(slot, { columns, from: sql` from ${known} k, ${table} t0 where ${join(matches, sql` and `)}` })
  }

  return {
    keep,
    keepInserted: (slot, insertion) => [
      ...runsOf(insertion).flatMap((run, index) => {
        const texts = sql`json_array(${join(run.rows.map((_, place) => row(keptCells(run, place))))})`
        const all = index === 0 ? texts : sql`json_merge_preserve(${variable(slot)}, ${texts})`
        const value = run.provided === undefined ? all : sql`if(${run.provided}, ${all}, '[]')`
        return [insert(run, { allDefaults }), sql`set ${variable(slot)} = ${value}`]
      }),
      ...(isFilledIn(insertion) ? keepAgain(slot, insertion) : []),
    ],
    value: (slot, position, shape) => read(variable(slot), `$[0].${columnName(position)}`, shape),
    isFilled: (slot) => sql`${variable(slot)} <> '[]'`,
    rows,
    // Not a select, since constants that fail may be evaluated before their branch is chosen.
    assertion: (condition, marker) => sql`set time_zone = if(${condition}, @@time_zone, ${literal(marker)})`,
  }
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
function plain(value: Sql, { type, native }: ColumnShape): Sql {
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

/** The known cells of a row after its insertion; null for what the database has filled in. */
function keptCells({ fields, rows, kept }: Insertion, place: number): readonly KeptColumn[] {
  const step = place === 0 ? empty : sql` + ${integer(place)} * @@auto_increment_increment`
  return kept.map((field) => {
    const cell = rows[place]?.[fields.indexOf(field)]
    return { value: cell ?? (isCounting(field) ? sql`last_insert_id()${step}` : sql`null`), shape: field }
  })
}

/** True if the database fills in a kept column. The key is excluded, since the row could not be found again. */
function isFilledIn({ key, fields, rows, kept }: Insertion): boolean {
  const missing = kept.filter((field) => {
    if (isCounting(field) || (field.defaultValue?.source !== 'connectorManaged' && !field.isReadOnly)) return false
    const place = fields.indexOf(field)
    return place === -1 || rows.some((cells) => cells[place] === undefined)
  })
  const unknown = key.find((field) => missing.includes(field))
  if (unknown !== undefined) throw queryFault(unknown.apiName, 'must be given: the database does not tell its default')
  return missing.length > 0
}
