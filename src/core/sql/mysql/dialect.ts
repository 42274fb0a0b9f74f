/**
 * The dialects of MariaDB 10.7 and MySQL 8.0.17 and later. Rows are rendered as JSON text by `concat`, member by
 * member: the databases' own JSON functions quote the result of a `case` or a subquery twice (MariaDB), and change the
 * form of numbers. `wire`, `nestedOne` and `nestedMany` are therefore JSON texts, or null for a JSON null.
 *
 * Required session settings: utf8mb4, time zone UTC, a strict sql_mode, and on MariaDB group_concat_max_len = 1 GiB
 * (MySQL sets it in the statement). `dateTimeWithTimezone` is a timestamp(6), which ranges from 1970 to 2038. `order
 * by` and joins of strings follow the column's collation, which is binary in columns that the service created; filters
 * are exact under any collation (decision 050). One file for two dialects, which differ only in the few members of
 * `Family`.
 */
import type { ServiceError } from '../../error.ts'
import { hex } from '../../hex.ts'
import type { FieldType } from '../../model/field-type.ts'
import type { ColumnShape } from '../../model/model.ts'
import type { Comparison } from '../../query/filter.ts'
import type { Operand } from '../../query/placeholder.ts'
import { databaseError, disconnectedError } from '../database-error.ts'
import type { Dialect, DirectWrite, RowQuery, Rows, RowsPart, Setting, Targets } from '../dialect.ts'
import { CANCELED, type SqlFault, TIMED_OUT, TOO_LARGE } from '../fault.ts'
import { insert } from '../insert.ts'
import { compareExactly, comparison } from '../operators.ts'
import { empty, ident, integer, join, literal, param, type Sql, sql, type TemplateParam } from '../statement.ts'
import { mysqlDdl, NULL_FOUND, OUT_OF_RANGE } from './ddl.ts'
import { isMixed, mysqlSlots } from './slots.ts'

/** The differences between the two. */
type Family = {
  readonly title: string
  /** The start of every statement. */
  readonly select: Sql
  /** An expression that fails the statement when it is evaluated, and only then. */
  readonly overflow: Sql
  /** Compares and stores strings byte by byte, trailing spaces included. */
  readonly collation: Sql
  readonly maxScale: number
  readonly uuidType: Sql
  readonly uuid: (value: Sql) => Sql
  readonly json: (value: Sql) => Sql
  /** A stored JSON value as JSON. */
  readonly jsonText: (column: Sql) => Sql
  /** Tests JSON values for equality. */
  readonly isSameJson: (column: Sql, operand: Sql) => Sql
  /** A string as `like` searches it. */
  readonly searched: (column: Sql) => Sql
  /** The `default` of a definition, from a row of information_schema.columns. */
  readonly defaultClause: Sql
  /** True if `insert` and `delete` support `returning`. */
  readonly returning: 'known' | 'unknown'
  /** `content` of all rows separated by commas; null if there are none. */
  readonly joined: (rows: RowQuery, content: Sql) => { readonly list: Sql; readonly from: Sql }
}

const allDefaults = sql`() values ()`

/** The beginning of an overflow, which the server repeats in its message. */
const OVERFLOW = sql`exp(1000`

export const mariadb: Dialect = family({
  title: 'MariaDB',
  select: sql`select `,
  overflow: sql`${OVERFLOW})`,
  collation: sql`utf8mb4_nopad_bin`,
  maxScale: 38,
  uuidType: sql`uuid`,
  uuid: (value) => sql`cast(${value} as uuid)`,
  json: (value) => value,
  // What is no JSON is shown as the text that it is.
  jsonText: (column) =>
    sql`case when ${column} not regexp ${literal(DOUBTFUL_JSON)} or ${column} regexp ${literal(STRICT_JSON)} then ${column} else json_quote(${column}) end`,
  // JSON is stored as the text that was sent. Without `= 1` the function's null would count as true; the added space
  // keeps it from reading the exponent of a number past the end of its text.
  isSameJson: (column, operand) => sql`json_equals(concat(${column}, ' '), concat(${operand}, ' ')) = 1`,
  // An index with a binary collation searches prefixes only up to U+FFFF and misses emoji.
  searched: (column) => sql`concat(${column})`,
  // The catalog has it as a literal.
  defaultClause: sql`if(column_default is null or column_default = 'NULL', '', concat(' default ', column_default))`,
  returning: 'known',
  // A derived table cannot refer to the outer row, but the aggregate has its own order and limit.
  joined: ({ from, order, page }, content) => {
    const limit =
      page === undefined
        ? empty
        : sql` limit ${page.offset === 0 ? empty : sql`${integer(page.offset)}, `}${integer(page.limit)}`
    return { list: sql`group_concat(${content}${ordering(order)} separator ','${limit})`, from }
  },
})

/** What the check of MariaDB's JSON lets pass although it is none, `1.` and unknown escapes, may be in such a text only. */
const DOUBTFUL_JSON = '[.](?![0-9])|\\\\(?!["/bfnrtu\\\\])'
/** Of what passes that check, what is JSON. */
const STRICT_JSON = '^(?:[^".]++|[.][0-9]|"(?:[^"\\\\]++|\\\\(?:["/bfnrt\\\\]|u[0-9A-Fa-f]{4}))*+")*+$'

export const mysql: Dialect = family({
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
  defaultClause: sql`case when column_default is null then ''
    when extra not like '%DEFAULT_GENERATED%' then concat(' default ', quote(column_default))
    when column_default like 'CURRENT_TIMESTAMP%' then concat(' default ', column_default)
    else concat(' default (', column_default, ')') end`,
  returning: 'unknown',
  joined: ({ from, order, page }, content) => {
    const place = order === undefined ? sql`1` : sql`row_number() over (order by ${order})`
    const rows = sql`select ${content} as r, ${place} as n${from}${order === undefined ? empty : sql` order by n`}${paging(page)}`
    return { list: sql`group_concat(r.r order by r.n separator ',')`, from: sql` from (${rows}) r` }
  },
})

function family(own: Family): Dialect {
  const listOf: Dialect['list'] = (rows, total) => {
    const page = pageOf(rows, own)
    if (total === undefined) return page
    const all = rows.parts === undefined ? page : sql`select r from (${page}) p`
    return sql`(${own.select}cast((${total}) as char) as r) union all (${all})`
  }
  const nestedMany = (rows: RowQuery) => {
    const { list, from } = own.joined(rows, row(rows, own))
    const content = sql`concat('{"data":[', ifnull(${list}, ''), ']}')`
    return sql`(select ifnull(${content}, ${own.overflow})${from})`
  }
  return {
    title: own.title,
    quote: (name) => `\`${name.replaceAll('`', '``')}\``,
    quoteText,
    placeholder: () => '?',

    typed: (shape, value) => typed(shape, value, own),
    assigned: (shape, value) => assigned(shape, value, own),
    compared: (column) => column,
    compare: (column, field, { operator, operand }) => compare(column, field, { operator, operand, own }),
    isOneOf: (column, field, operands) => isOneOf(column, field, { operands, own }),
    matches: (column, _field, { pattern, ignoreCase }) =>
      ignoreCase
        ? sql`lower(${column}) like lower(${unicode(param(pattern))}) collate ${own.collation} escape '!'`
        : sql`${own.searched(column)} like ${exactly(param(pattern), own)} escape '!'`,
    ordered,
    splitsNulls: true,
    wire: (column, { type }) => wire(column, type, own),

    pieces: undefined,
    list: listOf,
    // The driver bounds all answers of a transaction together.
    writtenList: (rows) => listOf(rows, undefined),
    one: (rows) => sql`${own.select}${row(rows, own)} as r${rows.from}`,
    nestedOne: (rows) => sql`(select ${row(rows, own)}${rows.from})`,
    nestedMany,
    answerList,
    answerOne: ([first]) => first?.[0] ?? undefined,

    allDefaults,
    update,
    delete: remove,
    written: (write, rendered) => (own.returning === 'known' ? written(write, rendered, own) : undefined),
    slots: mysqlSlots({ allDefaults, overflow: own.overflow, cast: (shape, text) => cast(shape, text, own) }),

    columnType: (type, isList) => (isList ? undefined : columnType(type, own)),
    ddl: mysqlDdl(own.defaultClause),
    explain,
  }
}

/**
 * A row as JSON text. A text beyond max_allowed_packet becomes null with a mere warning, which would drop the row, so
 * the statement fails instead.
 */
function row({ members }: RowQuery, own: Family): Sql {
  if (members.length === 0) return sql`'{}'`
  const parts = members.map(({ name, value }, index) => {
    const opening = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return sql`${literal(opening)}, ifnull(${value}, 'null')`
  })
  return sql`ifnull(concat(${join(parts)}, '}'), ${own.overflow})`
}

/** Both databases run the parts of a `union all` in turn, and stop when a limit behind them is reached. */
function pageOf(rows: RowQuery, own: Family): Sql {
  const answer = row(rows, own)
  const part = ({ from, order }: RowsPart) => sql`${own.select}${answer} as r${from}${ordering(order)}`
  if (rows.parts === undefined || rows.page === undefined) return sql`${part(rows)}${paging(rows.page)}`
  const most = sql` limit ${integer(rows.page.limit + rows.page.offset)}`
  const parts = join(
    rows.parts.map((one) => sql`(${part(one)}${most})`),
    sql` union all `,
  )
  return sql`${parts}${paging(rows.page)}`
}

function ordering(order: Sql | undefined): Sql {
  return order === undefined ? empty : sql` order by ${order}`
}

function paging(page: RowQuery['page']): Sql {
  if (page === undefined) return empty
  return sql` limit ${integer(page.limit)}${page.offset === 0 ? empty : sql` offset ${integer(page.offset)}`}`
}

function answerList(rows: Rows, isCounted: boolean): ReturnType<Dialect['answerList']> {
  const texts = rows.map(([text]) => text)
  const total = isCounted ? Number(texts.shift()) : undefined
  return { data: `[${texts.join(',')}]`, total }
}

/**
 * Whether a backslash escapes depends on sql_mode, which not every driver sets: a text that contains one is written in
 * hex.
 */
function quoteText(text: string): string {
  if (!text.includes('\\')) return `'${text.replaceAll("'", "''")}'`
  return `_utf8mb4 x'${hex(new TextEncoder().encode(text))}'`
}

function update(targets: Targets, settings: readonly Setting[]): Sql {
  const sets = join(settings.map(({ column, value }) => sql`${ident(targets.alias, column)} = ${value}`))
  return sql`update ${rowsOf(targets)} set ${sets} where ${targets.where}`
}

function remove(targets: Targets): Sql {
  return sql`delete ${ident(targets.alias)} from ${rowsOf(targets)} where ${targets.where}`
}

/** A table scan would lock the whole table, so rows are looked up one by one. */
function rowsOf({ table, alias, among }: Targets): Sql {
  const rows = sql`${table} ${ident(alias)}`
  return among === undefined ? rows : sql`${among} straight_join ${rows}`
}

/** Uses `returning`, which supports no alias and, for deleted rows, no other tables. */
function written(write: DirectWrite, rendered: (from: Sql, alias: string) => RowQuery, own: Family): Sql | undefined {
  if (write.kind === 'update' || inner.test(write.name)) return undefined
  const rows = rendered(empty, write.name)
  if (rows.members.some(({ value }) => looksBeyond(value, write.name))) return undefined
  const answer = row(rows, own)
  if (write.kind === 'delete') {
    const { table, where } = write.targets(write.name)
    return sql`delete from ${table} where ${where} returning ${answer} as r`
  }
  if (isMixed(write.insertion)) return undefined
  return sql`${insert(write.insertion, { allDefaults })} returning ${answer} as r`
}

/** Aliases of tables in subqueries. */
const inner = /^t\d+$/i

function looksBeyond({ parts }: Sql, name: string): boolean {
  return parts.some((part) => part.kind === 'ident' && part.names.length > 1 && part.names[0] !== name)
}

/** What a text is cast to for types of columns that the types of fields lack. */
const nativeTypes: Readonly<Record<string, Sql>> = { inet4: sql`inet4`, inet6: sql`inet6`, bit: sql`unsigned` }

/** Undefined for a column that is compared as its field's type is, such as an enum. */
function castOf(native: ColumnShape['native']): Sql | undefined {
  return native ? nativeTypes[native.name] : undefined
}

/** A text that a number cannot hold is no number; as it is, it would count as zero. */
function typed(shape: ColumnShape, value: TemplateParam, own: Family): Sql {
  switch (shape.type.name) {
    case 'float32':
    case 'float64':
    case 'decimal':
      return cast(shape, sql`nullif(nullif(nullif(${param(value)}, 'NaN'), 'Infinity'), '-Infinity')`, own)
    default:
      return assigned(shape, value, own)
  }
}

function assigned(shape: ColumnShape, value: TemplateParam, own: Family): Sql {
  switch (shape.type.name) {
    case 'boolean':
      return sql`(${param(value)} = 'true')`
    case 'dateTimeWithTimezone':
      // The session runs in UTC; MariaDB does not understand the suffix Z.
      return cast(shape, sql`replace(${param(value)}, 'Z', '')`, own)
    case 'bytes': {
      const bytes = sql`from_base64(${param(value)})`
      return shape.native ? cast(shape, sql`conv(hex(${bytes}), 16, 10)`, own) : bytes
    }
    default:
      return cast(shape, param(value), own)
  }
}

/** Casts a text in the database's own form to the type. */
function cast({ type, native }: ColumnShape, text: Sql, own: Family): Sql {
  const target = castOf(native)
  if (target !== undefined) return sql`cast(${text} as ${target})`
  switch (type.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'boolean':
      return sql`cast(${text} as signed)`
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
      return sql`cast(${text} as unsigned)`
    case 'float32':
      return sql`cast(${text} as float)`
    case 'float64':
      return sql`cast(${text} as double)`
    case 'decimal':
      return type.params.kind === 'unconstrained'
        ? sql`cast(${text} as decimal(65, 30))`
        : sql`cast(${text} as decimal(${integer(type.params.precision)}, ${integer(type.params.scale)}))`
    case 'string':
      return text
    case 'uuid':
      return own.uuid(text)
    case 'date':
      return sql`cast(${text} as date)`
    case 'time':
      return sql`cast(${text} as time(6))`
    case 'dateTime':
    case 'dateTimeWithTimezone':
      return sql`cast(${text} as datetime(6))`
    case 'json':
      return own.json(text)
    case 'bytes':
      return sql`from_base64(${text})`
    case 'geometry':
      return sql`st_geomfromgeojson(${text})`
    default:
      return type satisfies never
  }
}

function unicode(text: Sql): Sql {
  return sql`convert(${text} using utf8mb4)`
}

/** Makes a comparison of a text binary, whatever the other operand. */
function exactly(text: Sql, own: Family): Sql {
  return sql`${unicode(text)} collate ${own.collation}`
}

/**
 * A column's collation may ignore case, accents and trailing spaces, and only a comparison by it can use the index.
 * Texts are therefore compared twice: by the collation, and by bytes.
 */
function compare(
  column: Sql,
  field: ColumnShape,
  { operator, operand, own }: { operator: Comparison; operand: Operand; own: Family },
): Sql {
  const { type, native } = field
  const value = typed(field, operand, own)
  if (type.name === 'json') {
    const isSame = own.isSameJson(column, value)
    return operator === '<>' ? sql`not (${isSame})` : isSame
  }
  const plain = (how: Comparison) => sql`${column} ${comparison[how]} ${value}`
  if (castOf(native) !== undefined || type.name !== 'string') return plain(operator)
  const exact = sql`${column} ${comparison[operator]} ${exactly(value, own)}`
  return compareExactly(operator, plain, exact)
}

/** Repeats the last operand up to a power of two, so that a statement has eleven variants, not a thousand. */
function isOneOf(
  column: Sql,
  field: ColumnShape,
  { operands, own }: { operands: readonly string[]; own: Family },
): Sql {
  if (operands.length === 0) return sql`1 = 0`
  const size = 2 ** Math.ceil(Math.log2(operands.length))
  const values = Array.from({ length: size }, (_, index) =>
    typed(field, operands[index] ?? operands.at(-1) ?? null, own),
  )
  const list = join(values)
  return field.type.name === 'string' && castOf(field.native) === undefined
    ? sql`(${column} in (${list}) and ${exactly(column, own)} in (${list}))`
    : sql`${column} in (${list})`
}

/**
 * These databases sort nulls first, and MariaDB's group_concat sorts null as zero or empty text, so the position of
 * nulls is always written.
 */
function ordered(
  expression: Sql,
  how: { direction: 'asc' | 'desc'; nulls: 'first' | 'last'; isNullable: boolean },
): Sql {
  const direction = how.direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`
  if (!how.isNullable) return direction
  return how.nulls === 'first'
    ? sql`${expression} is null desc, ${direction}`
    : sql`${expression} is null asc, ${direction}`
}

function wire(column: Sql, type: FieldType, own: Family): Sql {
  switch (type.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return unfilled(column)
    case 'json':
      return own.jsonText(column)
    case 'float64':
      return numberText(column)
    case 'float32':
      // As text a float has six digits; where these are not exact, it is converted to double first.
      return sql`case when cast(concat(${column}) as float) = ${column} then ${numberText(column)} else ${numberText(sql`cast(${column} as double)`)} end`
    case 'int64':
    case 'uint64':
      return sql`concat('"', ${unfilled(column)}, '"')`
    case 'decimal':
    case 'uuid':
      return sql`concat('"', ${column}, '"')`
    case 'string':
      return sql`json_quote(${column})`
    case 'boolean':
      return sql`elt(1 + (${column} <> 0), 'false', 'true')`
    case 'date':
      return sql`date_format(${column}, '"%Y-%m-%d"')`
    case 'time':
      return sql`concat('"', ${withoutZeros(sql`time_format(${column}, '%H:%i:%s.%f')`)}, '"')`
    case 'dateTime':
      return sql`concat('"', ${withoutZeros(sql`date_format(${column}, '%Y-%m-%dT%H:%i:%s.%f')`)}, '"')`
    case 'dateTimeWithTimezone':
      return sql`concat('"', ${withoutZeros(sql`date_format(${column}, '%Y-%m-%dT%H:%i:%s.%f')`)}, 'Z"')`
    case 'bytes': {
      const text = sql`concat('"', replace(to_base64(${column}), char(10 using utf8mb4), ''), '"')`
      return sql`case when ${column} is not null then ifnull(${text}, ${own.overflow}) end`
    }
    case 'geometry':
      return sql`st_asgeojson(${column})`
    default:
      return type satisfies never
  }
}

/** Integers may be shown with leading zeros (`zerofill`, `year`), which JSON does not allow. */
function unfilled(column: Sql): Sql {
  return sql`${column} + 0`
}

/**
 * MariaDB assumes 22 characters for a double and 12 for a float, and truncates rows of temporary tables (a union, a
 * group_concat) to the sum of such widths. The text can have 34: a sign, `0.`, fourteen zeros and 17 digits.
 */
function numberText(value: Sql): Sql {
  return sql`rtrim(rpad(${value}, 40, ' '))`
}

/** Drops trailing zeros of a text with six fraction digits. */
function withoutZeros(text: Sql): Sql {
  return sql`trim(trailing '.' from trim(trailing '0' from ${text}))`
}

/** The most characters of four bytes in a row of 65,535 bytes. */
const MAX_VARCHAR = 16_383
const MAX_PRECISION = 65

function columnType(type: FieldType, own: Family): Sql | undefined {
  const text = (name: Sql) => sql`${name} character set utf8mb4 collate ${own.collation}`
  switch (type.name) {
    case 'int8':
      return sql`tinyint`
    case 'int16':
      return sql`smallint`
    case 'int32':
      return sql`int`
    case 'int64':
      return sql`bigint`
    case 'uint8':
      return sql`tinyint unsigned`
    case 'uint16':
      return sql`smallint unsigned`
    case 'uint32':
      return sql`int unsigned`
    case 'uint64':
      return sql`bigint unsigned`
    case 'float32':
      return sql`float`
    case 'float64':
      return sql`double`
    case 'decimal': {
      // An unconstrained decimal would be rounded to some scale, and values are never rounded.
      if (type.params.kind === 'unconstrained') return undefined
      const { precision, scale } = type.params
      return precision > MAX_PRECISION || scale > own.maxScale
        ? undefined
        : sql`decimal(${integer(precision)}, ${integer(scale)})`
    }
    case 'string':
      if (type.params.length === 'unlimited') return text(sql`longtext`)
      return type.params.value > MAX_VARCHAR ? undefined : text(sql`varchar(${integer(type.params.value)})`)
    case 'uuid':
      return own.uuidType
    case 'boolean':
      return sql`tinyint(1)`
    case 'date':
      return sql`date`
    case 'time':
      return sql`time(6)`
    case 'dateTime':
      return sql`datetime(6)`
    case 'dateTimeWithTimezone':
      return sql`timestamp(6)`
    case 'json':
      return sql`json`
    case 'bytes':
      return sql`longblob`
    case 'geometry':
      return sql`geometry`
    default:
      return type satisfies never
  }
}

/** The message of `overflow`, for a text that the server could not make whole. */
const overflown = /in 'exp\(+1000\b/

/** Maps server error numbers, since the SQLSTATEs of these databases are too coarse. */
function explain({ state, errno, message }: SqlFault): ServiceError | undefined {
  if (state === TIMED_OUT) return databaseError('overdue')
  if (state === CANCELED) return disconnectedError()
  if (state === TOO_LARGE || overflown.test(message)) return databaseError('tooLarge')
  if (state.startsWith('08')) return databaseError('unreachable')
  if (message.includes(NULL_FOUND)) return databaseError('null')
  if (message.includes(OUT_OF_RANGE)) return databaseError('range')
  switch (errno) {
    case 1317: // MariaDB and MySQL: the statement was killed
    case 1969: // MariaDB: max_statement_time
    case 3024: // MySQL: max_execution_time
      return databaseError('overdue')
    case 1040: // too many connections
    case 1053: // server is shutting down
    case 1203: // too many connections of this user
    case 1226: // a resource of this user is used up
    case 1927: // connection was killed
      return databaseError('unreachable')
    case 1062:
    case 1169:
    case 1586:
      return databaseError('unique')
    case 1048:
    case 1138:
    case 1364:
      return databaseError('null')
    case 1216:
    case 1217:
    case 1451:
    case 1452:
      return databaseError('foreignKey')
    case 3819: // MySQL
    case 4025: // MariaDB
    case 1644: // signalled by a trigger
      return databaseError('check')
    case 1264: // out of range
    case 1267: // a text that the column's character set does not have
    case 1265: // data truncated
    case 1292: // incorrect value
    case 1366: // incorrect value for the character set or type
    case 1406: // data too long
    case 3140: // invalid JSON text
      return databaseError('range')
    case 1049: // unknown database
    case 1054: // unknown column
    case 1146: // unknown table
      return databaseError('noTable')
    case 1356: // a view refers to something deleted
    case 1449: // the definer of a view was deleted
      return databaseError('notReady')
    default:
      return undefined
  }
}
