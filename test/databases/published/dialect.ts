/** What the two families say differently where published schemas are filled and asked. */
import type { Arbitrary } from 'fast-check'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { type Column, catalogs, type Table } from './catalog.ts'
import { mariadbValues, postgresValues } from './values.ts'

export type PublishedDialect = {
  readonly title: string
  readonly catalog: (typeof catalogs)[keyof typeof catalogs]
  readonly quote: (name: string) => string
  readonly values: (column: Column) => Arbitrary<string> | undefined
  /** A text as `text` answers it, in a statement. */
  readonly literal: (text: string, column: Column) => string
  /** A column as a text that says all of it. */
  readonly text: (column: Column) => string
  /** Takes away what changes rows by itself, and brings what is made of others up to date. */
  settle(driver: SqlDriver, tables: readonly Table[]): Promise<void>
  /** An insert that gives nothing. */
  readonly empty: (table: string) => string
  /** How the database compares the column: itself, or by its text where the type has no order. */
  readonly compared: (operand: string, column: Column) => string
  /** `operand < other` and the like, as filters define it for texts. */
  readonly less: (operand: string, other: string, column: Column) => string
  readonly same: (operand: string, other: string, column: Column) => string
  /** A text that a search looks at. */
  readonly searched: (operand: string, column: Column) => string
  readonly within: (part: string, whole: string) => string
  readonly lower: (text: string) => string
  readonly ends: (whole: string, part: string) => string
}

const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Types that PostgreSQL does not compare. */
const isUnordered = ({ type }: Column) => /^(xml|point|box|polygon|path|line|lseg|circle|jsonpath|aclitem)$/.test(type)
const isJson = ({ type }: Column) => type === 'json' || type === 'jsonb'

export const postgresDialect: PublishedDialect = {
  title: 'PostgreSQL',
  catalog: catalogs.postgres,
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  values: postgresValues,
  literal: (text, { type }) =>
    type === 'hstore' && text.startsWith('{')
      ? `(select coalesce(hstore(array_agg(key), array_agg(value)), '') from json_each_text(${quoteText(text)}))`
      : `${quoteText(text)}::${type}`,
  text: (column) => {
    const name = `"${column.name.replaceAll('"', '""')}"`
    return isJson(column) || column.type.endsWith('[]') || column.type === 'hstore'
      ? `to_json(${name})::text`
      : written(name, column)
  },
  async settle(driver, tables) {
    const views = `select format('refresh materialized view %I.%I', schemaname, matviewname) from pg_matviews`
    for (const [text] of await driver.query({ text: views, params: [] })) {
      await driver.query({ text: text ?? '', params: [] })
    }
    for (const { schema, name, isView } of tables) {
      if (isView) continue
      await driver.query({ text: `alter table "${schema}"."${name}" disable trigger user`, params: [] })
    }
  },
  empty: (table) => `insert into ${table} default values`,
  compared: (operand, column) => {
    if (isJson(column)) return `(${operand})::jsonb`
    return isUnordered(column) ? written(operand, column) : operand
  },
  less: (operand, other) => `${operand} < ${other}`,
  same: (operand, other) => `${operand} = ${other}`,
  searched: written,
  within: (part, whole) => `strpos(${whole}, ${part}) > 0`,
  lower: (text) => `lower(${text})`,
  ends: (whole, part) => `right(${whole}, length(${part})) = ${part}`,
}

/** What the type's output function writes; a cast writes something else for some types. */
function written(operand: string, { type }: Column): string {
  // Blanks that fill a text up to its length are none of it.
  if (type.startsWith('character(')) return `(${operand})::text`

  return `case when ${operand} is not null then concat(${operand}) end`
}

const quoteName = (name: string) => `\`${name.replaceAll('`', '``')}\``
const isBinary = ({ type }: Column) => /^(binary|varbinary|bit|\w*blob)/.test(type)
const isShape = ({ type }: Column) => /^(geometry|point|linestring|polygon|multi\w+|geometrycollection)$/.test(type)
const isText = ({ type }: Column) => /^(char|varchar|\w*text)/.test(type)

export const mariadbDialect: PublishedDialect = {
  title: 'MariaDB',
  catalog: catalogs.mariadb,
  quote: quoteName,
  values: mariadbValues,
  literal: (text, column) => {
    if (isShape(column)) return /^point\(/.test(text) ? text : `st_geomfromwkb(unhex('${text}'))`
    if (/^bit/.test(column.type)) return /^\\x/.test(text) ? String(BigInt(`0x${text.slice(2)}`)) : `b'${text}'`
    if (isBinary(column)) return /^\\x/.test(text) ? `x'${text.slice(2)}'` : quoteText(text)
    if (/^(float|double)/.test(column.type)) return `${Number(text)}`
    if (/^-?[0-9.]+$/.test(text) && /int|decimal|year/.test(column.type)) return text
    return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
  },
  text: (column) => {
    const name = quoteName(column.name)
    if (isShape(column)) return `hex(st_aswkb(${name}))`
    if (/^bit/.test(column.type))
      return `concat('\\\\x', lpad(hex(${name}), ceil(${/\d+/.exec(column.type)?.[0] ?? 1} / 8) * 2, '0'))`
    // All of its digits, of which the text of a float has six.
    if (/^float/.test(column.type)) return `cast(${name} as double)`
    if (isBinary(column)) return `concat('\\\\x', hex(${name}))`
    return name
  },
  async settle(driver) {
    const text = 'select trigger_name from information_schema.triggers where trigger_schema = database()'
    for (const [name = ''] of await driver.query({ text, params: [] })) {
      await driver.query({ text: `drop trigger ${quoteName(name ?? '')}`, params: [] })
    }
  },
  empty: (table) => `insert into ${table} () values ()`,
  compared: (operand) => operand,
  less: (operand, other, column) =>
    isText(column)
      ? `(${operand} < ${other} or ${operand} = ${other} and ${bytes(operand)} < ${bytes(other)})`
      : `${operand} < ${other}`,
  same: (operand, other, column) => (isText(column) ? `${bytes(operand)} = ${bytes(other)}` : `${operand} = ${other}`),
  searched: (operand) => `convert(${operand} using utf8mb4)`,
  within: (part, whole) => `instr(binary ${whole}, binary ${part}) > 0`,
  lower: (text) => `lower(${text})`,
  ends: (whole, part) =>
    `right(${whole}, char_length(${part})) = ${part} and binary right(${whole}, char_length(${part})) = binary ${part}`,
}

function bytes(operand: string): string {
  return `cast(convert(${operand} using utf8mb4) as binary)`
}
