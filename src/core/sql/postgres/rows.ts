/**
 * Rendering of rows as JSON by the database: as text from the start, because its JSON functions look up each column's type for
 * each row, and parse nested JSON again. Every answer has a maximum size, at which the statement fails before the whole answer
 * is in memory.
 */

import { parseJson } from '../../exact-json.ts'
import type { Page } from '../../plan/plan.ts'
import { MAX_CHANGES } from '../../plan/relation-operation.ts'
import { MAX_TEXT } from '../answer-bound.ts'
import type { Marker, Rows } from '../dialect.ts'
import type { AnsweredWalk, Cursors, ReadList, RowQuery, RowsPart, RowWalk } from '../read/row-query.ts'
import { empty, ident, integer, join, literal, param, type Sql, sql } from '../statement.ts'

export function list(rows: RowQuery, total: Sql | undefined): Sql {
  return listWithin(bounded, rows, total)
}

/** The texts `a` of the list, and `c` of its cursors if requested. */
export function listText(rows: RowQuery): { readonly texts: Sql; readonly hasCursors: boolean } {
  if (rows.walk === undefined) return { texts: itemsText(rows), hasCursors: false }
  const { list, cursors, from } = walkList(rows, rows.walk)
  const cursorColumn = cursors === undefined ? empty : sql`, ${cursors} c`
  return { texts: sql`select concat('[', ${list}, ']') a${cursorColumn}${from}`, hasCursors: cursors !== undefined }
}

function listWithin(bound: Sql, rows: RowQuery, total: Sql | undefined): Sql {
  const counted = total === undefined ? empty : sql`, (${total})`
  const { texts, hasCursors } = listText(rows)
  return sql`select ${bound}${hasCursors ? sql`, a.c` : empty}${counted} from (${texts}) a`
}

export function answerList([row]: Rows, isCounted: boolean, walk?: AnsweredWalk): ReadList {
  const [data, ...others] = row ?? []
  const cursors = walk?.cursorOptions === undefined ? undefined : (parseJson(others.shift() ?? '') as Cursors)
  return { data: data ?? '[]', total: isCounted ? Number(others[0]) : undefined, ...(cursors && { cursors }) }
}

export function writtenList(rows: RowQuery, total?: Sql): Sql {
  return listWithin(boundedTogether, rows, total)
}

/** Returns only the first of several rows with the same key. */
export function requiredList(rows: RowQuery, marker: Marker): Sql {
  return listOfOne(sql`select concat('[', i.j, ']') a from (${select(rows)}) i`, marker)
}

/** The list `a` in the first row of `texts`; without rows, there is no answer, or with a marker a failure. */
export function listOfOne(texts: Sql, marker: Marker | undefined): Sql {
  if (marker === undefined) return sql`select case ${ifShort} end from (${texts} limit 1) a`
  const text = sql`select (${texts} limit 1) a offset 0`
  return sql`select case when a.a is null then ${failingBy(marker)} ${ifShort} end from (${text}) a`
}

/** The first row as the text of a list; no row if there is none. */
export function confirmedRow(rows: RowQuery): Sql {
  const { members, from, order, page, parts } = rows
  if (page !== undefined || parts !== undefined)
    return sql`select concat('[', i.j, ']') a from (${select(rows)}) i limit 1`
  return sql`select ${listOfRow(members)} a${from}${order === undefined ? empty : sql` order by ${order}`} limit 1`
}

export function pieces(rows: RowQuery): Sql {
  const texts = sql`${select(rows)} offset 0`
  const items = sql`select j, row_number() over w n, ${weigh(sql`j`, MAX_ANSWER)} over w total from (${texts}) i window w as (rows unbounded preceding)`
  const isWhole = sql`${weigh(sql`j`, MAX_TEXT)} is not null and max(total) is not null`
  const piece = sql`case when ${isWhole} then string_agg(j, ',' order by n) end`
  const pieces = sql`select ${piece} a, min(n) n from (${items}) i group by (n - 1) / ${integer(ITEMS_PER_PIECE)}`
  const isAllowed = sql`sum(octet_length(p.a)) over () <= ${integer(MAX_ANSWER)} and max(octet_length(p.a)) over () <= ${integer(MAX_TEXT)}`
  return sql`select case when ${isAllowed} then p.a else ${failingText(TOO_LONG_MARK)} end from (${pieces}) p order by p.n`
}

/** The offset keeps the planner from rendering the row once per reference. */
export function one(rows: RowQuery): Sql {
  return sql`select ${bounded} from (select i.j a from (${select(rows)}) i offset 0) a`
}

export function nestedOne(rows: RowQuery): Sql {
  return sql`(${select(rows)} limit 1)`
}

export function nestedMany(rows: RowQuery): Sql {
  const { aggregate } = rows
  const items = relatedText(rows, aggregate === undefined ? sql`}'` : sql`'`)
  return aggregate === undefined ? items : sql`concat(${items}, ',"aggregate":', ${aggregate}, '}')`
}

function relatedText(rows: RowQuery, end: Sql): Sql {
  if (rows.walk !== undefined) {
    const { list, cursors, from } = walkList(rows, rows.walk)
    const ending = cursors === undefined ? sql`']${end}` : sql`'],"meta":', ${cursors}, '${end}`
    return sql`(select concat('{"data":[', ${list}, ${ending})${from})`
  }
  return sql`(select ${joined(sql`'{"data":['`, sql`']${end}`)} from (${select(rows)} offset 0) i)`
}

/** Cuts a page before its rows are rendered, so that no relations are read and no values converted for other rows. */
function select(rows: RowQuery): Sql {
  const { members, mark, from, order, page, row, keyed } = rows
  const rendered = sql`select ${object(members)} j${mark === undefined ? empty : sql`, ${mark} c`}`
  if (rows.parts !== undefined && page !== undefined) {
    return sql`${rendered} from (${inTurn(rows.parts, { row, limit: page.limit })}) ${ident(row.alias)}`
  }
  const ordered = sql`${from}${order === undefined ? empty : sql` order by ${order}`}`
  if (page === undefined) return sql`${rendered}${ordered}`
  const key = page.limit <= LARGEST_SMALL_PAGE ? keyed : undefined
  const expected = rows.isIndexed && key === undefined ? expectedRows(page) : undefined
  const chosen = cut(sql`select ${columnsOf(row.alias, key?.key ?? row.columns)}${ordered}`, { ...page, expected })
  if (key === undefined) return sql`${rendered} from (${chosen}) ${ident(row.alias)}`
  return sql`${rendered} from (${chosen}) k, lateral (${lookUp(row, key)}) ${ident(row.alias)}`
}

/**
 * Reads the parts one after the other, each only if the previous ones do not fill the page. Numbers the rows, because a union
 * has no order.
 */
function inTurn(parts: readonly RowsPart[], { row, limit }: Pick<RowQuery, 'row'> & { readonly limit: number }): Sql {
  const [part, place] = [unusedName('part', row.columns), unusedName('place', row.columns)]
  const tables = parts.flatMap(({ from }) => from.parts.flatMap((one) => (one.kind === 'ident' ? one.names : [])))
  const names = parts.map((_, index) => ident(unusedName(`rows${index}`, tables)))
  const lists = parts.map(({ from, order }, index) => {
    const ordered = order === undefined ? empty : sql` order by ${order}`
    const rows = cut(sql`select ${columnsOf(row.alias, row.columns)}${from}${ordered}`, {
      limit,
      offset: 0,
      expected: undefined,
    })
    const before = names.slice(0, index).map((name) => sql`(select count(*) from ${name})`)
    const own =
      before.length === 0 ? rows : sql`select * from (${rows}) p where ${join(before, sql` + `)} < ${size(limit)}`
    return sql`${names[index] ?? empty} as materialized (${own})`
  })
  const numbered = names.map((name, index) => {
    return sql`select p.*, ${integer(index)} ${ident(part)}, row_number() over () ${ident(place)} from ${name} p`
  })
  const columns = columnsOf('u', row.columns)
  const union = sql`(${join(numbered, sql` union all `)}) u`
  const all = sql`with ${join(lists)} select ${columns} from ${union} order by ${ident('u', part)}, ${ident('u', place)}`
  return cut(all, { limit, offset: 0, expected: undefined })
}

function unusedName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? unusedName(`${name}_`, taken) : name
}

const LARGEST_SMALL_PAGE = 100
const usualSizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, LARGEST_SMALL_PAGE]

/**
 * For a limit or offset that is a parameter, the planner expects a tenth of the rows; it then estimates the generic plan as too
 * expensive, and plans every execution again. So small pages of usual sizes have their limit in the text. Others have the next
 * larger limit, with the parameter behind a barrier that hides it from the planner. If rows are skipped in the order of an
 * index, the text makes the planner expect about as many rows as are skipped.
 */
function cut(rows: Sql, { limit, offset, expected }: Cut): Sql {
  const given = sql` limit ${param(String(limit))}::bigint`
  const skipped = offset === 0 ? empty : sql` offset ${param(String(offset))}::bigint`
  const size = usualSizes.find((usual) => limit <= usual)
  if (size === undefined) return sql`${rows}${given}${skipped}`
  const most = sql` limit ${integer(size)}${skipped}`
  const page = expected === undefined ? sql`${rows}${most}` : sql`select * from (${rows}${expected}) c${most}`
  return size === limit ? page : sql`with c as materialized (${page}) table c${given}`
}

type Cut = Pick<Page, 'limit' | 'offset'> & { readonly expected: Sql | undefined }

/** A limit of ten times the skipped rows, or of the page if that is larger: rounded up, so that there are few different texts. */
function expectedRows({ limit, offset }: Pick<Page, 'limit' | 'offset'>): Sql | undefined {
  const rows = 10 * 2 ** Math.ceil(Math.log2(Math.max(limit, offset)))
  return offset > 0 && Number.isSafeInteger(rows) ? sql` limit ${integer(rows)}` : undefined
}

/** The limit keeps the planner from reading the whole table for a page. */
function lookUp({ alias, columns }: RowQuery['row'], { table, key, condition }: NonNullable<RowQuery['keyed']>): Sql {
  const isKey = key.map((name) => sql`${ident(alias, name)} = ${ident('k', name)}`)
  const isIt = join(condition === undefined ? isKey : [...isKey, condition], sql` and `)
  return sql`select ${columnsOf(alias, columns)} from ${table} ${ident(alias)} where ${isIt} limit 1`
}

function columnsOf(alias: string, columns: readonly string[]): Sql {
  return columns.length === 0 ? sql`1` : join(columns.map((name) => ident(alias, name)))
}

/** Members as the text of an object. A value may be null even if the model says otherwise, because others change tables, too. */
export function object(members: RowQuery['members']): Sql {
  return between('{', members, '}')
}

/** A row as the text of a list. */
export function listOfRow(members: RowQuery['members']): Sql {
  return between('[{', members, '}]')
}

function between(start: string, members: RowQuery['members'], end: string): Sql {
  const parts = members.map(({ name, value }, index) => {
    const opening = `${index === 0 ? start : ','}${JSON.stringify(name)}:`
    return sql`${literal(opening)}, coalesce(${value}, 'null')`
  })
  if (parts.length === 0) return sql`${literal(`${start}${end}`)}::text`
  const texts = Array.from({ length: Math.ceil(parts.length / MEMBERS_PER_CALL) }, (_, call) => {
    return sql`concat(${join(parts.slice(call * MEMBERS_PER_CALL, (call + 1) * MEMBERS_PER_CALL))})`
  })
  return sql`concat(${join(texts.length === 1 ? parts : texts)}, ${literal(end)})`
}

/** The entity tag of the row's UTF-8 bytes, whatever the encoding of the database. */
export function tag(members: RowQuery['members']): Sql {
  const hash = sql`encode(sha256(convert_to(${object(members)}, 'UTF8')), 'base64')`
  return sql`left(translate(${hash}, '+/', '-_'), 22)`
}

/** A function takes a hundred arguments; each member needs two. */
const MEMBERS_PER_CALL = 49

/** The items of a walk as a list, and the cursors of the adjacent pages, from rows that are numbered in the walk's direction. */
function walkList(
  rows: RowQuery,
  { direction, cursorOptions }: RowWalk,
): { readonly list: Sql; readonly cursors: Sql | undefined; readonly from: Sql } {
  const texts = sql`select i.*, row_number() over () n from (${select(rows)} offset 0) i`
  const from = sql` from (${texts}) i`
  const order = direction === 'forward' ? sql` order by i.n` : sql` order by i.n desc`
  const isShown = cursorOptions === undefined ? empty : sql` filter (where i.n <= ${size(cursorOptions.limit)})`
  const list = sql`case when ${weigh(sql`i.j`, MAX_TEXT)} is not null then string_agg(i.j, ','${order})${isShown} end`
  if (cursorOptions === undefined) return { list, cursors: undefined, from }
  const cursorAt = (place: Sql) => sql`'"' || ${encoded(sql`max(i.c) filter (where i.n = ${place})`)} || '"'`
  const onward = sql`case when count(*) > ${size(cursorOptions.limit)} then ${cursorAt(size(cursorOptions.limit))} end`
  const sentCursor =
    cursorOptions.sentCursor === undefined ? sql`null` : sql`'"' || ${cursorOptions.sentCursor}::text || '"'`
  const back = cursorOptions.isBehind ? sql`coalesce(${cursorAt(sql`1`)}, ${sentCursor})` : sql`null`
  const [next, previous] = direction === 'forward' ? [onward, back] : [back, onward]
  const cursors = sql`concat('{"next":', coalesce(${next}, 'null'), ',"previous":', coalesce(${previous}, 'null'), '}')`
  return { list, cursors, from }
}

function size(limit: number): Sql {
  return sql`${param(String(limit))}::bigint`
}

/** As base64url without line breaks. */
function encoded(text: Sql): Sql {
  return sql`translate(encode(convert_to(${text}, 'UTF8'), 'base64'), E'+/=\n', '-_')`
}

/** Joins the texts `i.j` of rows to a list between `start` and `end`. */
function joined(start: Sql, end: Sql): Sql {
  return sql`concat(${start}, case when ${weigh(sql`i.j`, MAX_TEXT)} is not null then string_agg(i.j, ',') end, ${end})`
}

export function itemsText(rows: RowQuery): Sql {
  return sql`select ${joined(sql`'['`, sql`']'`)} a from (${select(rows)} offset 0) i`
}

const ITEMS_PER_PIECE = 100

/** Maximum bytes of an answer in pieces. */
const MAX_ANSWER = 64 * 1024 * 1024
export const TOO_LONG_MARK = 'service:tooLarge'

const bounded = sql`case when octet_length(a.a) <= ${integer(MAX_TEXT)} then a.a else ${failingText(TOO_LONG_MARK)} end`

/** Adds up the size of the transaction's answers in a setting. This is expensive, so short texts are not counted. */
const before = sql`coalesce(nullif(current_setting('service.answered', true), ''), '0')::int`

export const answered = sql`set_config('service.answered', (${before} + octet_length(a.a))::text, true)::int`

/** In bytes: all statements of a transaction together cannot return more in uncounted short texts than one answer may have. */
const SHORT = Math.floor(MAX_TEXT / MAX_CHANGES)

const ifShort = sql`when octet_length(a.a) <= ${integer(SHORT)} then a.a when ${answered} <= ${integer(MAX_TEXT)} then a.a
  else ${failingText(TOO_LONG_MARK)}`

const boundedTogether = sql`case ${ifShort} end`

/**
 * Fails when it is evaluated: the setting does not exist, and reading it keeps the planner from evaluating it earlier.
 */
export function failing(marker: string): Sql {
  return sql`(coalesce(current_setting('service.none', true), '') || ${literal(marker)})::int`
}

/** The same as a text, but cheaper: the nonexistent parameter is only looked up when evaluated. */
export function failingText(marker: string): Sql {
  return sql`current_setting(${literal(marker)})`
}

/** The operation is a parameter, so that equal operations have the same text. */
function failingBy({ text, operation }: Marker): Sql {
  if (operation === undefined) return failingText(text)
  return sql`current_setting(${literal(`${text}@`)} || ${param(operation)})`
}

/**
 * An aggregate beside the one that collects `text`, or a window over all rows so far: fails as soon as the text is longer than
 * `most`, before all of it is in memory. Adds fractions of the largest double until they overflow, because no other sum fails
 * row by row; null without rows.
 */
function weigh(text: Sql, most: number): Sql {
  return sql`sum(octet_length(${text}) * ${literal(String(Number.MAX_VALUE / (most + 1)))}::float8)`
}

/** The server function that raises the overflow; messages are localized. */
export const OVERFLOW = 'float_overflow_error'
