/**
 * The dialects of MariaDB 10.7 and MySQL 8.0.17 and later; `Family` has their differences. Required session settings: utf8mb4,
 * time zone UTC, a strict sql_mode, and on MariaDB group_concat_max_len = 1 GiB (MySQL sets it in the statement). `order by`
 * and joins of strings follow the column's collation, which is binary in columns that the service created; filters are exact
 * under any collation (decision 050).
 */
import { hex } from '../../hex.ts'
import type { Dialect } from '../dialect.ts'
import { MAX_JOINED_ROWS } from '../joined-inserts.ts'
import { empty, integer, literal, type Sql, type SqlSyntax, sql } from '../statement.ts'
import { mariadbAttributes, mysqlAttributes } from './column-attributes.ts'
import { columnTexts } from './column-texts.ts'
import { columnType } from './column-type.ts'
import { compare, cursorValue, isOneOf, mark, matches, ranked } from './comparisons.ts'
import { mysqlDdl } from './ddl.ts'
import { explain } from './explain.ts'
import type { Family } from './family.ts'
import { testJson } from './inside.ts'
import { quotedName } from './names.ts'
import { answerList, list, nestedMany, ordered, ordering, paging, row, tag } from './rows.ts'
import { allDefaults, assertion, mysqlSlots, nonEmpty } from './slots.ts'
import { amount, assigned, typed } from './values.ts'
import { wire } from './wire.ts'
import { remove, update, updateOne, writeQueue, written } from './writes.ts'

/** The beginning of an overflowing expression, which the server repeats in its message. */
const OVERFLOW = sql`exp(1000`

const ofMariadb: Family = {
  title: 'MariaDB',
  select: sql`select `,
  overflow: sql`${OVERFLOW})`,
  collation: sql`utf8mb4_nopad_bin`,
  maxScale: 38,
  uuidType: sql`uuid`,
  uuid: (value) => sql`cast(${value} as uuid)`,
  json: (value) => value,
  // Text that is not JSON is answered as a string.
  jsonText: (column) =>
    sql`case when ${column} not regexp ${literal(DOUBTFUL_JSON)} or ${column} regexp ${literal(STRICT_JSON)} then ${column} else json_quote(${column}) end`,
  // JSON is stored as the text that was sent. Without `= 1` the function's null would count as true; the added space keeps the
  // function from reading the exponent of a number past the end of its text.
  isSameJson: (column, operand) => {
    const isSame = (text: Sql) => sql`json_equals(concat(${text}, ' '), concat(${operand}, ' ')) = 1`
    const isEscaped = sql`instr(${column}, ${literal('\\')}) > 0`
    return sql`(${isSame(column)} or ${isEscaped} and coalesce(${isSame(unescaped(column))}, 0))`
  },
  // An index with a binary collation searches prefixes only up to U+FFFF and misses emoji.
  searched: (column) => sql`concat(${column})`,
  // `not exists` would read the whole table, for however few rows.
  without: (found, lock) => sql`(${found} limit 1${lock}) is null`,
  attributes: mariadbAttributes,
  returning: 'known',
  isBehindVitess: false,
  // A derived table cannot refer to the outer row, but the aggregate has its own order and limit.
  joined: ({ from, order, page, walk, lock = empty }, content) => {
    const size = walk?.cursorOptions?.limit ?? page?.limit
    const limit =
      page === undefined || size === undefined
        ? empty
        : sql` limit ${page.offset === 0 ? empty : sql`${integer(page.offset)}, `}${integer(size)}`
    return { list: sql`group_concat(${content}${ordering(order)} separator ','${limit})`, from: sql`${from}${lock}` }
  },
  cursors: ({ order, page }, mark, { limit }) => {
    const offset = page?.offset ?? 0
    const at = (place: number) =>
      sql`group_concat(${mark}${ordering(order)} separator ',' limit ${integer(place - 1)}, 1)`
    return { count: sql`count(*)`, first: at(offset + 1), last: at(offset + limit) }
  },
}

/**
 * The same JSON without unnecessary escapes such as `\u00e9` and `\/`, which MariaDB's `json_equals` does not treat as `é` and
 * `/`. Everything else is escaped once more, and the whole is unquoted as one string.
 */
function unescaped(column: Sql): Sql {
  const others = sql`regexp_replace(${column}, ${literal(NEEDED_IN_JSON)}, ${literal(String.raw`\\\1\2\3`)})`
  return sql`json_unquote(concat('"', ${others}, '"'))`
}

/** Escaped backslashes, and other backslashes and quotes, except those of unnecessary escapes. */
const NEEDED_IN_JSON = String.raw`(?:\\/|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u(?!00[01]|0022|005[cC]|[dD][89a-fA-F])[0-9A-Fa-f]{4})(*SKIP)(*F)|(\\(\\))|(["\\])`

/** A text that passes MariaDB's JSON check although it is invalid matches this pattern: `1.` or unknown escapes. */
const DOUBTFUL_JSON = '[.](?![0-9])|\\\\(?!["/bfnrtu\\\\])'

/** Matches valid JSON among the texts that pass that check. */
const STRICT_JSON = '^(?:[^".]++|[.][0-9]|"(?:[^"\\\\]++|\\\\(?:["/bfnrt\\\\]|u[0-9A-Fa-f]{4}))*+")*+$'

const ofMysql: Family = {
  title: 'MySQL',
  select: sql`select /*+ set_var(group_concat_max_len = 1073741824) */ `,
  // A constant could be evaluated before its use.
  overflow: sql`${OVERFLOW} + rand())`,
  collation: sql`utf8mb4_0900_bin`,
  maxScale: 30,
  uuidType: sql`char(36) character set ascii collate ascii_bin`,
  uuid: (value) => value,
  json: (value) => sql`cast(${value} as json)`,
  jsonText: (column) => column,
  isSameJson: (column, operand) => sql`${column} = ${operand}`,
  searched: (column) => column,
  without: (found, lock) => sql`not exists (${found}${lock})`,
  attributes: mysqlAttributes,
  returning: 'unknown',
  isBehindVitess: false,
  joined: ({ from, order, page, mark, walk, lock = empty }, content) => {
    const place = order === undefined ? sql`1` : sql`row_number() over (order by ${order})`
    const marked = mark === undefined ? empty : sql`, ${mark} as c`
    const rows = sql`select ${content} as r${marked}, ${place} as n${from}${order === undefined ? empty : sql` order by n`}${paging(page)}${lock}`
    const most = walk?.cursorOptions === undefined ? undefined : integer(walk.cursorOptions.limit + (page?.offset ?? 0))
    const shown = most === undefined ? sql`r.r` : sql`case when r.n <= ${most} then r.r end`
    return { list: sql`group_concat(${shown} order by r.n separator ',')`, from: sql` from (${rows}) r` }
  },
  cursors: ({ page }, _mark, { limit }) => {
    const offset = page?.offset ?? 0
    const at = (place: number) => sql`max(case when r.n = ${integer(place)} then r.c end)`
    return { count: sql`max(r.n)`, first: at(offset + 1), last: at(offset + limit) }
  },
}

const syntax: SqlSyntax = {
  quote: quotedName,
  quoteText,
  placeholder: () => '?',
}

export const mariadb = family(ofMariadb)
export const mysql = family(ofMysql)
/** The dialects behind Vitess (decision 060). */
export const mariadbConversation = family(behindVitess(ofMariadb))
export const mysqlConversation = family(behindVitess(ofMysql))

function behindVitess(own: Family): Family {
  return { ...own, returning: 'unknown', isBehindVitess: true }
}

function family(own: Family, asserted = assertion): Dialect {
  const newSlots = () => ({ ...mysqlSlots(own), assertion: asserted })
  return {
    title: own.title,
    ...syntax,

    typed: (shape, value) => typed(shape, value, own),
    assigned: (shape, value) => assigned(shape, value, own),
    altered: (column, { field, text }) => sql`${column} + ${amount(field, text, own)}`,
    compared: (column) => column,
    compare: (column, field, { operator, operand }) => compare(column, field, { operator, operand, own }),
    isOneOf: (column, field, operands) => isOneOf(column, field, { operands, own }),
    matches: (column, _field, how) => matches(column, how, own),
    plannedOnce: empty,
    without: own.without,
    elements: noLists,
    isEmpty: noLists,
    testJson: (column, test) => testJson(column, test, own),
    ordered,
    ranked,
    mark: (column, field) => mark(column, field, own),
    cursorValue: (field, value) => cursorValue(field, value, own),
    comparesRows: false,
    splitsNulls: true,
    wire: (column, { type }) => wire(column, type, own),

    pieces: undefined,
    list: (rows, total) => list(rows, total, own),
    // The driver limits all answers of a transaction together.
    writtenList: (rows, total) => list(rows, total, own),
    requiredList: (rows, { text }) => [nonEmpty(list(rows, undefined, own), text)],
    one: (rows) => sql`${own.select}${row(rows, own)} as r${rows.from}`,
    nestedOne: (rows) => sql`(select ${row(rows, own)}${rows.from} limit 1${rows.lock ?? empty})`,
    nestedMany: (rows) => nestedMany(rows, own),
    tag: (members) => tag(members, own),
    answerList,
    answerOne: ([first]) => first?.[0] ?? undefined,
    aggregates: () => import('./aggregates.ts').then(({ mysqlAggregates }) => mysqlAggregates(own)),

    rowsOfTexts: () => undefined,
    maxJoinedRows: MAX_JOINED_ROWS,
    allDefaults,
    update,
    delete: remove,
    written(write, rendered, marker) {
      const direct = own.returning === 'known' ? written(write, rendered, own) : undefined
      return direct && marker ? nonEmpty(direct, marker.text) : direct
    },
    // Behind Vitess the driver does not report how many rows a change has found.
    updateOne: own.isBehindVitess ? undefined : updateOne,
    transaction: 'stepwise',
    slots: newSlots(),
    newSlots,

    writeQueue,

    columnTexts,
    columnType: (type, isList) => (isList ? undefined : columnType(type, own)),
    ddl: mysqlDdl({ own, syntax, assertion: asserted }),
    explain,
    // Omits statements that only check the migration, or block writers meanwhile.
    shown: () => family({ ...own, isBehindVitess: true }, () => empty),
  }
}

/** Unreachable: no model of these databases has lists, which have no column type. */
function noLists(): never {
  throw new Error('lists are not stored')
}

/** Whether a backslash escapes depends on sql_mode, which not every driver sets: a text with a backslash is written in hex. */
function quoteText(text: string): string {
  if (!text.includes('\\')) return `'${text.replaceAll("'", "''")}'`
  return `_utf8mb4 x'${hex(new TextEncoder().encode(text))}'`
}
