/**
 * The dialect of PostgreSQL 14 and later, Neon and the embedded database. Long, because every member of `Dialect` has its
 * SQL here, in the order of that type; DDL, introspection and locks have files of their own.
 */
import type { ServiceError } from '../../error.ts'
import type { FieldType, TypeName } from '../../model/field-type.ts'
import type { ColumnShape, NativeType, PrimitiveField } from '../../model/model.ts'
import type { Comparison } from '../../query/filter.ts'
import { boundText, type Operand } from '../../query/placeholder.ts'
import { MAX_TEXT } from '../answer-bound.ts'
import { databaseError, disconnectedError } from '../database-error.ts'
import type { Comparing, Dialect, DirectWrite, RowQuery, Setting, Targets } from '../dialect.ts'
import { CANCELED, type SqlFault, TIMED_OUT, TOO_LARGE } from '../fault.ts'
import { insert } from '../insert.ts'
import { compareExactly, comparison } from '../operators.ts'
import {
  empty,
  ident,
  integer,
  join,
  literal,
  param,
  type Sql,
  type SqlParam,
  sql,
  type TemplateParam,
} from '../statement.ts'
import { postgresDdl } from './ddl.ts'

export const postgres: Dialect = {
  title: 'PostgreSQL',
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  quoteText: (text) => `'${text.replaceAll("'", "''")}'`,
  placeholder: (position) => `$${position}`,

  typed,
  assigned,
  compare,
  isOneOf: (column, field, operands) => {
    const among = sql`= any(${anyOf(field, arrayText(operands))})`
    return isLoose(field) ? sql`(${column} ${among} and ${bytes(column, field)} ${among})` : sql`${column} ${among}`
  },
  matches: (column, field, { pattern, ignoreCase }) => {
    const text = field.native ? shownText(column, field.native) : column
    if (!ignoreCase) {
      return sql`${isLoose(field) ? bytes(column, field) : text} like ${param(pattern)}::text escape '!'`
    }
    // Bytes have no case. The database's default collation has, and is never nondeterministic, which `ilike` does not
    // support.
    const searched = isLoose(field) ? sql`${asText(column, false)} collate "default"` : text
    return sql`${searched} ilike ${param(pattern)}::text escape '!'`
  },
  compared,
  ordered,
  splitsNulls: false,
  wire,

  list: (rows, total) => {
    const counted = total === undefined ? empty : sql`, (${total})`
    return sql`select ${bounded}${counted} from (${itemsText(rows)}) a`
  },
  writtenList: (rows) => sql`select ${boundedTogether} from (${itemsText(rows)}) a`,
  pieces: (rows) => {
    const texts = sql`select row_to_json(r)::text j from (${select(rows)}) r offset 0`
    const items = sql`select j, row_number() over w n, ${weigh(sql`j`, MAX_ANSWER)} over w total from (${texts}) i window w as (rows unbounded preceding)`
    const isWhole = sql`${weigh(sql`j`, MAX_TEXT)} is not null and max(total) is not null`
    const piece = sql`case when ${isWhole} then string_agg(j, ',' order by n) end`
    const pieces = sql`select ${piece} a, min(n) n from (${items}) i group by (n - 1) / ${integer(ITEMS_PER_PIECE)}`
    const isAllowed = sql`sum(octet_length(p.a)) over () <= ${integer(MAX_ANSWER)} and max(octet_length(p.a)) over () <= ${integer(MAX_TEXT)}`
    return sql`select case when ${isAllowed} then p.a else ${failing(BEYOND)}::text end from (${pieces}) p order by p.n`
  },
  // The offset keeps the planner from rendering the row once per reference.
  one: (rows) => sql`select ${bounded} from (select row_to_json(r)::text a from (${select(rows)}) r offset 0) a`,
  nestedOne: (rows) => sql`(select row_to_json(r) from (${select(rows)}) r)`,
  nestedMany: (rows) =>
    sql`(select json_build_object('data', case when ${weigh(sql`i.j::text`, MAX_TEXT)} is null then '[]'::json else json_agg(i.j) end) from (select row_to_json(r) j from (${select(rows)}) r offset 0) i)`,
  answerList: ([row], isCounted) => ({ data: row?.[0] ?? '[]', total: isCounted ? Number(row?.[1]) : undefined }),
  answerOne: ([row]) => row?.[0] ?? undefined,

  allDefaults: sql`default values`,
  update,
  delete: remove,
  written: (write, rendered) => {
    const alias = 't0'
    const written = ident(alias)
    const list = postgres.writtenList(rendered(sql` from ${written}`, alias))
    // A table without columns has nothing to return but a constant.
    const constant = write.kind === 'insert' && write.insertion.fields.length === 0 ? sql`, 1` : sql``
    return sql`with ${written} as (${directly(write, alias)} returning *${constant}) ${list}`
  },
  slots: {
    keep: (slot, { columns, from, lock }) => {
      const kept = join(columns.map(({ value }, position) => sql`${value}::text as ${columnName(position)}`))
      // A referring row locks its target with `key share`, which conflicts only with deletion and key changes.
      const held = lock === 'reference' ? sql`for key share` : sql`for no key update`
      return [keepRows(slot, sql`select ${kept}${from} ${held}`)]
    },
    keepInserted: (slot, insertion) => {
      const kept = join(
        insertion.kept.map(({ dbName }, position) => sql`${ident(dbName)}::text as ${columnName(position)}`),
      )
      return [sql`with i as (${insert(insertion, postgres)} returning *) ${keepRows(slot, sql`select ${kept} from i`)}`]
    },
    value: (slot, position, shape) =>
      sql`(${slotText(slot)}::json -> 0 ->> ${literal(`c${position}`)})::${ownType(shape)}`,
    isFilled: (slot) => sql`${slotText(slot)} <> '[]'`,
    rows: (slot, shapes) => {
      const columns = shapes.map(
        (shape, position) => sql`(e ->> ${literal(`c${position}`)})::${ownType(shape)} as ${columnName(position)}`,
      )
      return sql`(select ${join([...columns, sql`n`])} from json_array_elements(${slotText(slot)}::json) with ordinality x(e, n))`
    },
    assertion: (condition, marker) => sql`select case when ${condition} then 1
      else ${failing(marker)} end`,
  },

  columnType,
  ddl: postgresDdl,
  explain,
}

function update({ table, alias, among, where }: Targets, settings: readonly Setting[]): Sql {
  const sets = join(settings.map(({ column, value }) => sql`${ident(column)} = ${value}`))
  const from = among === undefined ? empty : sql` from ${among}`
  return sql`update ${table} ${ident(alias)} set ${sets}${from} where ${where}`
}

function remove({ table, alias, among, where }: Targets): Sql {
  return sql`delete from ${table} ${ident(alias)}${among === undefined ? empty : sql` using ${among}`} where ${where}`
}

function directly(write: DirectWrite, alias: string): Sql {
  switch (write.kind) {
    case 'insert':
      return insert(write.insertion, postgres)
    case 'update':
      return update(write.targets(alias), write.settings)
    case 'delete':
      return remove(write.targets(alias))
  }
}

/**
 * Fails when it is evaluated: the setting does not exist, and reading it keeps the planner from evaluating it earlier.
 */
function failing(marker: string): Sql {
  return sql`(coalesce(current_setting('service.none', true), '') || ${literal(marker)})::int`
}

const ITEMS_PER_PIECE = 100

/** Maximum bytes of an answer in pieces. */
const MAX_ANSWER = 64 * 1024 * 1024
const BEYOND = 'service:tooLarge'
const bounded = sql`case when octet_length(a.a) <= ${integer(MAX_TEXT)} then a.a else ${failing(BEYOND)}::text end`

/** Adds up what the transaction has answered, in a setting that ends with it. */
const before = sql`coalesce(nullif(current_setting('service.answered', true), ''), '0')::int`
const answered = sql`set_config('service.answered', (${before} + octet_length(a.a))::text, true)::int`
const boundedTogether = sql`case when ${answered} <= ${integer(MAX_TEXT)} then a.a else ${failing(BEYOND)}::text end`

function itemsText(rows: RowQuery): Sql {
  const items = sql`select row_to_json(r)::text j from (${select(rows)}) r offset 0`
  return sql`select case when ${weigh(sql`i.j`, MAX_TEXT)} is null then '[]' else '[' || string_agg(i.j, ',') || ']' end a from (${items}) i`
}

/**
 * An aggregate beside the one that collects `text`, or a window over all so far: fails as soon as the text is longer than `most`, before all of it
 * is in memory. Adds parts of the largest double until they overflow, since no other sum fails row by row; null without
 * rows.
 */
function weigh(text: Sql, most: number): Sql {
  return sql`sum(octet_length(${text}) * ${literal(String(Number.MAX_VALUE / (most + 1)))}::float8)`
}

/** The server function that raises the overflow; messages are localised. */
const OVERFLOW = 'float_overflow_error'

/** Slots are settings that end with the transaction. */
function slotText(slot: number): Sql {
  return sql`current_setting(${slotName(slot)})`
}

function slotName(slot: number): Sql {
  return literal(`service.slot${slot}`)
}

function columnName(position: number): Sql {
  return ident(`c${position}`)
}

function keepRows(slot: number, rows: Sql): Sql {
  return sql`select set_config(${slotName(slot)}, coalesce((select json_agg(r)::text from (${rows}) r), '[]'), true)`
}

/**
 * Without known values the planner expects a tenth of the rows, finds that far dearer than any page, and plans every
 * execution anew. A small page is therefore limited twice, first by a constant that the planner sees; all small pages
 * share one text and one plan.
 */
function select({ members, from, order, page }: RowQuery): Sql {
  const list = join(members.map(({ name, value }) => sql`${value} as ${ident(name)}`))
  const rows = sql`select ${list}${from}${order === undefined ? empty : sql` order by ${order}`}`
  if (page === undefined) return rows
  const limit = sql` limit ${param(String(page.limit))}::bigint`
  const offset = page.offset === 0 ? empty : sql` offset ${param(String(page.offset))}::bigint`
  if (page.limit > SMALL_PAGE) return sql`${rows}${limit}${offset}`
  return sql`select * from (${rows} limit ${integer(SMALL_PAGE)}${offset}) s${limit}`
}

const SMALL_PAGE = 100

function typed(shape: ColumnShape, value: TemplateParam): Sql {
  const { type, isList, native } = shape
  if (native) return nativeValue(shape, native, value)
  if (isList) {
    const text = listText(value)
    return type.name === 'bytes'
      ? sql`(select case when l is not null then array(select decode(e, 'base64') from unnest(l) with ordinality x(e, n) order by n) end from (select ${param(text)}::text[]) y(l))`
      : sql`${param(text)}::${castType(type)}[]`
  }
  return type.name === 'bytes' ? sql`decode(${param(value)}::text, 'base64')` : sql`${param(value)}::${castType(type)}`
}

/** The server only converts a text to an enum implicitly if it is not declared as text. */
function assigned(shape: ColumnShape, value: TemplateParam): Sql {
  const { type, isList, native } = shape
  if (native || type.name !== 'string') return typed(shape, value)
  return param(isList ? listText(value) : value)
}

/** A list's text is made of its elements, so that it has to be known here. */
function listText(value: TemplateParam): SqlParam {
  return value === null ? null : arrayText(JSON.parse(boundText(value)) as (string | null)[])
}

/** A cast to a type with limits silently truncates or rounds. */
function castType(type: FieldType): Sql {
  if (type.name === 'string') return sql`text`
  return type.name === 'decimal' ? sql`numeric` : baseType(type)
}

/** The text form of an array; elements are always quoted, so that none has a special meaning. */
function arrayText(elements: readonly (string | null)[]): string {
  const texts = elements.map((element) =>
    element === null ? 'NULL' : `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  )
  return `{${texts.join(',')}}`
}

function ordered(
  expression: Sql,
  how: { direction: 'asc' | 'desc'; nulls: 'first' | 'last'; isNullable: boolean },
): Sql {
  const direction = how.direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`
  const isDefault = (how.direction === 'asc') === (how.nulls === 'last')
  if (!how.isNullable || isDefault) return direction
  return how.nulls === 'first' ? sql`${direction} nulls first` : sql`${direction} nulls last`
}

/**
 * Introspected columns may have types without a field type: these are read-only texts or JSON. A text of fixed length
 * may be a `char(n)`, whose padding is not part of its value. JSON may be stored as `json`, which has no `=`. A cast to
 * a column's own type costs nothing.
 */
function compared(column: Sql, { type, isList, isReadOnly, native }: PrimitiveField): Sql {
  if (native && type.name !== 'json') {
    if (isList) return column
    return native.isOrdered ? sql`${column}::${nameOf(native)}` : shownText(column, native)
  }
  if (type.name === 'string') return isReadOnly || isFixed(type) ? asText(column, isList) : column
  if (type.name !== 'json' || isList) return column
  return isReadOnly || native ? sql`to_jsonb(${column})` : sql`${column}::jsonb`
}

function nameOf({ schema, name }: NativeType): Sql {
  return schema === undefined ? ident(name) : ident(schema, name)
}

/** Without limits, which a cast would apply silently: as a name with a schema, `bit` and `bpchar` have none. */
function ownType({ type, native }: ColumnShape): Sql {
  return native ? nameOf(native) : baseType(type)
}

/** The database's own input function reads a text, and its functions for JSON read an object. */
function nativeValue({ type, isList }: ColumnShape, native: NativeType, value: TemplateParam): Sql {
  const own = nameOf(native)
  if (isList) return sql`${param(listText(value))}::${own}[]`
  if (type.name !== 'json' || native.name === 'json') return sql`${param(value)}::${own}`
  return sql`(select case when jsonb_typeof(j) = 'string' then (j #>> '{}')::${own} else ${fromObject(native)} end from (select ${param(value)}::jsonb) v(j))`
}

function fromObject(native: NativeType): Sql {
  if (native.name !== 'hstore') return sql`jsonb_populate_record(null::${nameOf(native)}, j)`
  const { schema = 'public' } = native
  return sql`coalesce((select ${ident(schema, 'hstore')}(array_agg(key), array_agg(value)) from jsonb_each_text(j)), ''::${nameOf(native)})`
}

/** The operands of a list as an array of what a column is compared with. */
function anyOf({ type, native }: PrimitiveField, texts: string): Sql {
  if (native && !native.isOrdered)
    return sql`array(select ${shownText(sql`(e::${nameOf(native)})`, native)} from unnest(${param(texts)}::text[]) e)`
  if (type.name === 'bytes') return sql`array(select decode(e, 'base64') from unnest(${param(texts)}::text[]) e)`
  return sql`${param(texts)}::${native ? nameOf(native) : castType(type)}[]`
}

/** The text that answers show; a cast would add the mask of an address, and the declaration of a document. */
function shownText(value: Sql, { schema, name }: NativeType): Sql {
  if (schema === 'pg_catalog' && name === 'inet') return sql`abbrev(${value})`
  if (schema === 'pg_catalog' && name === 'xml') return sql`case when ${value} is not null then concat(${value}) end`
  return asText(value, false)
}

/**
 * Different texts may be equal under a nondeterministic collation, and in citext. Only for such columns a text is
 * compared twice: the planner takes the two conditions for independent, and underestimates the rows.
 */
function isLoose({ type, isLoose }: PrimitiveField): boolean {
  return type.name === 'string' && isLoose
}

function bytes(column: Sql, { isList }: PrimitiveField): Sql {
  return sql`${asText(column, isList)} collate "C"`
}

function compare(column: Sql, field: PrimitiveField, { operator, operand }: Comparing): Sql {
  const value = comparedValue(field, operand)
  const plain = (how: Comparison) => sql`${column} ${comparison[how]} ${value}`
  if (!isLoose(field)) return plain(operator)
  return compareExactly(operator, plain, sql`${bytes(column, field)} ${comparison[operator]} ${value}`)
}

function comparedValue(field: PrimitiveField, operand: Operand): Sql {
  const { type, native } = field
  if (!native) return typed(field, operand)
  if (type.name === 'json') return sql`${param(operand)}::jsonb`
  return native.isOrdered ? typed(field, operand) : shownText(sql`(${typed(field, operand)})`, native)
}

function isFixed(type: FieldType): boolean {
  return type.name === 'string' && type.params.length === 'fixed'
}

function asText(column: Sql, isList: boolean): Sql {
  return sql`${column}::text${isList ? sql`[]` : empty}`
}

/** The conversion of a value before row_to_json; `own` for none. */
type WireForm = 'own' | 'text' | 'unfilled' | 'calendar' | 'utc' | 'base64'

/**
 * 64-bit integers and decimals become texts, times UTC, bytes base64 without line breaks, a `char(n)` loses its
 * padding.
 */
const wireForms: Readonly<Record<TypeName, WireForm>> = {
  int8: 'own',
  int16: 'own',
  int32: 'own',
  int64: 'text',
  uint8: 'own',
  uint16: 'own',
  uint32: 'own',
  uint64: 'text',
  float32: 'own',
  float64: 'own',
  decimal: 'text',
  string: 'unfilled',
  uuid: 'own',
  boolean: 'own',
  date: 'calendar',
  time: 'own',
  dateTime: 'calendar',
  dateTimeWithTimezone: 'utc',
  json: 'own',
  bytes: 'base64',
  geometry: 'own',
}

function wire(column: Sql, { type, isList }: ColumnShape): Sql {
  switch (wireForms[type.name]) {
    case 'own':
      return column
    case 'text':
      return asText(column, isList)
    case 'unfilled':
      return isFixed(type) ? asText(column, isList) : column
    case 'calendar':
      return isList ? column : calendarText(column)
    case 'utc':
      return isList ? each(column, utcText) : utcText(column)
    case 'base64':
      return isList ? each(column, base64) : base64(column)
  }
}

/** Converts each element of a list. */
function each(column: Sql, form: (element: Sql) => Sql): Sql {
  const elements = sql`select coalesce(json_agg(${form(sql`x.e`)} order by n), '[]'::json)`
  return sql`(${elements} from unnest(${column}) with ordinality x(e, n) where ${column} is not null having ${column} is not null)`
}

/** JSON's form of a time does not depend on the session. */
function calendarText(value: Sql): Sql {
  return sql`case when ${isCommon(value, empty)} then to_json(${value}) else to_json(${extended(value, value, empty)}) end`
}

function utcText(value: Sql): Sql {
  const utc = sql`(${value} at time zone 'UTC')`
  const zone = sql`Z`
  return sql`case when ${isCommon(value, zone)} then btrim(to_json(${utc})::text, '"') || 'Z' else ${extended(value, utc, zone)} end`
}

function isCommon(value: Sql, zone: Sql): Sql {
  return sql`${value} >= '0001-01-01${zone}' and ${value} < '10000-01-01${zone}'`
}

/** Years without four digits get a sign and six or more (ISO 8601, 1 BC is year 0); an infinite time has a name. */
function extended(value: Sql, utc: Sql, zone: Sql): Sql {
  const year = sql`to_char(extract(year from ${utc}) + (${utc} < '0001-01-01')::int, 'FMSG9000000')`
  const rest = sql`substring(to_json(${utc})::text, '-[0-9][0-9]-[0-9][0-9][^ "]*')`
  return sql`coalesce(${year} || ${rest} || '${zone}', ${value}::text)`
}

function base64(value: Sql): Sql {
  return sql`translate(encode(${value}, 'base64'), E'\\n', '')`
}

function columnType(type: FieldType, isList: boolean): Sql | undefined {
  const base = isStorable[type.name] ? baseType(type) : undefined
  return base === undefined || !isList ? base : sql`${base}[]`
}

/** Whether a column can be of the type; PostgreSQL lacks the others, which only introspected sources have. */
const isStorable: Readonly<Record<FieldType['name'], boolean>> = {
  int8: false,
  int16: true,
  int32: true,
  int64: true,
  uint8: false,
  uint16: false,
  uint32: false,
  uint64: false,
  float32: true,
  float64: true,
  decimal: true,
  string: true,
  uuid: true,
  boolean: true,
  date: true,
  time: true,
  dateTime: true,
  dateTimeWithTimezone: true,
  json: true,
  bytes: true,
  geometry: false,
}

/** Types that PostgreSQL lacks (of introspected sources) are read as the next larger one. */
function baseType(type: FieldType): Sql {
  switch (type.name) {
    case 'int8':
    case 'uint8':
    case 'int16':
      return sql`smallint`
    case 'uint16':
    case 'int32':
      return sql`integer`
    case 'uint32':
    case 'int64':
      return sql`bigint`
    case 'uint64':
      return sql`numeric(20)`
    case 'float32':
      return sql`real`
    case 'float64':
      return sql`double precision`
    case 'decimal':
      return type.params.kind === 'unconstrained'
        ? sql`numeric`
        : sql`numeric(${integer(type.params.precision)}, ${integer(type.params.scale)})`
    case 'string':
      return type.params.length === 'unlimited' ? sql`text` : sql`varchar(${integer(type.params.value)})`
    case 'uuid':
      return sql`uuid`
    case 'boolean':
      return sql`boolean`
    case 'date':
      return sql`date`
    case 'time':
      return sql`time`
    case 'dateTime':
      return sql`timestamp`
    case 'dateTimeWithTimezone':
      return sql`timestamptz`
    case 'json':
      return sql`jsonb`
    case 'bytes':
      return sql`bytea`
    case 'geometry':
      return sql`geometry`
    default:
      return type satisfies never
  }
}

/** The table docs/contract.md#what-the-caller-sees, for SQLSTATE codes. */
function explain({ state, message, routine }: SqlFault): ServiceError | undefined {
  if (state === TOO_LARGE || routine === OVERFLOW || message.includes(BEYOND)) return databaseError('tooLarge')
  // The same state as `out of shared memory`, which is not for the size of an answer.
  if (state === '53200' && message.startsWith('out of memory')) return databaseError('tooLarge')
  if (state.startsWith('08') || state === '57P01' || state === '57P03' || state === '53300')
    return databaseError('unreachable')
  switch (state) {
    case TIMED_OUT:
      return databaseError('overdue')
    case CANCELED:
      return disconnectedError()
    case '23505':
      return databaseError('unique')
    case '23502':
      return databaseError('null')
    case '23503':
    case '23001':
      return databaseError('foreignKey')
    case '23514':
    case 'P0001': // raised by a trigger
      return databaseError('check')
    case '42P01':
    case '42703':
    case '42704': // a type
    case '3F000':
      return databaseError('noTable')
    case '55000':
      return databaseError('notReady')
    case '42601': // an extension's type cannot read a text
      return databaseError('range')
    default:
      return state.startsWith('22') ? databaseError('range') : undefined
  }
}
