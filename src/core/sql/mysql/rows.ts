/**
 * Rendering of rows as JSON text by `concat`, member by member: the databases' own JSON functions quote the result of a `case`
 * or a subquery twice (MariaDB), and change the form of numbers.
 */
import { writeCursor } from '../../query/cursor.ts'
import type { Rows } from '../dialect.ts'
import type { AnsweredWalk, ReadList, RowQuery, RowsPart } from '../read/row-query.ts'
import { walkPage } from '../read/walk-page.ts'
import { empty, ident, integer, join, literal, type Sql, sql } from '../statement.ts'
import type { Family } from './family.ts'

/**
 * A row as JSON text. A text beyond max_allowed_packet would become null with a mere warning, which would drop the row, so the
 * statement fails instead.
 */
export function row({ members }: Pick<RowQuery, 'members'>, own: Family): Sql {
  if (members.length === 0) return sql`'{}'`
  const parts = members.map(({ name, value }, index) => {
    const opening = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return sql`${literal(opening)}, ifnull(${value}, 'null')`
  })
  return sql`ifnull(concat(${join(parts)}, '}'), ${own.overflow})`
}

/** The entity tag of the row's UTF-8 bytes, whatever the character sets of the columns. */
export function tag(members: RowQuery['members'], own: Family): Sql {
  const hash = sql`to_base64(unhex(sha2(convert(${row({ members }, own)} using utf8mb4), 256)))`
  return sql`left(replace(replace(${hash}, '+', '-'), '/', '_'), 22)`
}

export function list(rows: RowQuery, total: Sql | undefined, own: Family): Sql {
  const page = pageOf(rows, own)
  if (total === undefined) return page
  const [none, mark] = rows.mark === undefined ? [empty, empty] : [sql`, null as c`, sql`, c`]
  const all = rows.parts === undefined ? page : sql`select r${mark} from (${page}) p`
  return sql`(${own.select}cast((${total}) as char) as r${none}) union all (${all})`
}

/** Both databases run the parts of a `union all` in order, and stop when the outer limit is reached. */
function pageOf(rows: RowQuery, own: Family): Sql {
  const answer = rows.mark === undefined ? sql`${row(rows, own)} as r` : sql`${row(rows, own)} as r, ${rows.mark} as c`
  if (rows.keyed !== undefined && rows.isIndexed && rows.parts === undefined)
    return pageByKey(rows, rows.keyed, { answer, own })
  const part = ({ from, order }: RowsPart) => sql`${own.select}${answer}${from}${ordering(order)}`
  if (rows.parts === undefined || rows.page === undefined) return sql`${part(rows)}${paging(rows.page)}`
  const most = sql` limit ${integer(rows.page.limit + rows.page.offset)}`
  const parts = join(
    rows.parts.map((one) => sql`(${part(one)}${most})`),
    sql` union all `,
  )
  return sql`${parts}${paging(rows.page)}`
}

/** Skips rows in the index alone, then looks up those of the page. Sorts need no look-up: they read texts late. */
function pageByKey(
  { row: { alias }, from, order, page }: RowQuery,
  { table, key, condition }: NonNullable<RowQuery['keyed']>,
  { answer, own }: { readonly answer: Sql; readonly own: Family },
): Sql {
  const keys = sql`select ${join(key.map((name) => ident(alias, name)))}${from}${ordering(order)}${paging(page)}`
  const isKey = key.map((name) => sql`${ident(alias, name)} = ${ident('k', name)}`)
  const isIt = join(condition === undefined ? isKey : [...isKey, condition], sql` and `)
  return sql`${own.select}${answer} from (${keys}) k join ${table} ${ident(alias)} on ${isIt}${ordering(order)}`
}

/** Cursors and aggregates stay outside of the query of the items, where MariaDB may return null (decision 077). */
export function nestedMany(rows: RowQuery, own: Family): Sql {
  const { mark, aggregate } = rows
  const { list, from } = own.joined(rows, row(rows, own))
  const end = aggregate === undefined ? sql`}'` : sql`'`
  const ending = mark === undefined ? sql`']${end}` : sql`'],"meta":', ${cursors(rows, mark, own)}, '${end}`
  const content = sql`concat('{"data":[', ifnull(${list}, ''), ${ending})`
  const items = sql`(select ifnull(${content}, ${own.overflow})${from})`
  return aggregate === undefined
    ? items
    : sql`ifnull(concat(${items}, ',"aggregate":', ${aggregate}, '}'), ${own.overflow})`
}

/** The cursors of a nested list, which goes forward. */
function cursors(rows: RowQuery, mark: Sql, own: Family): Sql {
  const options = rows.walk?.cursorOptions
  if (options === undefined) return sql`null`
  const { count, first, last } = own.cursors(rows, mark, options)
  const sentCursor = options.sentCursor === undefined ? sql`null` : sql`concat('"', ${options.sentCursor}, '"')`
  const isMore = sql`${count} > ${integer(options.limit + (rows.page?.offset ?? 0))}`
  const next = sql`case when ${isMore} then ${encoded(last)} end`
  const previous = options.isBehind ? sql`coalesce(${encoded(first)}, ${sentCursor})` : sql`null`
  return sql`concat('{"next":', ifnull(${next}, 'null'), ',"previous":', ifnull(${previous}, 'null'), '}')`
}

/** Base64url without line breaks, in quotes. */
function encoded(text: Sql): Sql {
  const changes = [
    [sql`char(10 using utf8mb4)`, sql`''`],
    [sql`'+'`, sql`'-'`],
    [sql`'/'`, sql`'_'`],
    [sql`'='`, sql`''`],
  ] as const
  const base64 = sql`to_base64(convert(${text} using utf8mb4))`
  const changed = changes.reduce((sent, [from, to]) => sql`replace(${sent}, ${from}, ${to})`, base64)
  return sql`concat('"', ${changed}, '"')`
}

export function ordering(order: Sql | undefined): Sql {
  return order === undefined ? empty : sql` order by ${order}`
}

export function paging(page: RowQuery['page']): Sql {
  if (page === undefined) return empty
  return sql` limit ${integer(page.limit)}${page.offset === 0 ? empty : sql` offset ${integer(page.offset)}`}`
}

export function answerList(rows: Rows, isCounted: boolean, walk?: AnsweredWalk): ReadList {
  const total = isCounted ? Number(rows[0]?.[0]) : undefined
  const items = isCounted ? rows.slice(1) : rows
  if (walk === undefined) return { data: `[${items.map(([text]) => text).join(',')}]`, total }
  const { shown, cursors } = walkPage(items, walk, (row) => writeCursor(row[1] ?? ''))
  return { data: `[${shown.map(([text]) => text).join(',')}]`, total, ...(cursors && { cursors }) }
}

/**
 * These databases sort nulls first, and MariaDB's group_concat sorts null as zero or empty text, so the position of nulls is
 * always explicit.
 */
export function ordered(
  expression: Sql,
  how: { direction: 'asc' | 'desc'; nulls: 'first' | 'last'; isNullable: boolean },
): Sql {
  const direction = how.direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`
  if (!how.isNullable) return direction
  return how.nulls === 'first'
    ? sql`${expression} is null desc, ${direction}`
    : sql`${expression} is null asc, ${direction}`
}
