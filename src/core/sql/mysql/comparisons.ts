/** Exact comparisons of filters under any collation of a column (decision 050), and comparisons of walks (decision 070). */
import type { ColumnShape, PrimitiveField } from '../../model/model.ts'
import { TOO_LONG } from '../../query/cursor.ts'
import type { Comparison } from '../../query/filter.ts'
import type { Operand } from '../../query/placeholder.ts'
import type { Matching } from '../dialect.ts'
import { compareExactly, comparison } from '../operators.ts'
import { integer, join, literal, param, type Sql, sql, type TemplateParam } from '../statement.ts'
import type { Family } from './family.ts'
import { castOf, typed } from './values.ts'
import { wire } from './wire.ts'

/**
 * A column's collation may ignore case, accents and trailing spaces, and only a comparison by it can use the index.
 * Texts are therefore compared twice: by the collation, and by bytes.
 */
export function compare(
  column: Sql,
  field: ColumnShape,
  { operator, operand, own }: { operator: Comparison; operand: Operand; own: Family },
): Sql {
  const { type, native } = field
  if (isTruth(field)) return truth(column, (shown) => sql`${param(operand)} ${comparison[operator]} ${literal(shown)}`)
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

/**
 * Repeats the last operand up to a power of two, or above 1,024 to the next multiple of 1,024, so that a statement has few
 * variants and stays below 65,535 parameters.
 */
export function isOneOf(
  column: Sql,
  field: ColumnShape,
  { operands, own }: { operands: readonly string[]; own: Family },
): Sql {
  if (operands.length === 0) return sql`1 = 0`
  const many = 1024 * Math.ceil(operands.length / 1024)
  const size = Math.min(2 ** Math.ceil(Math.log2(operands.length)), many)
  const texts = Array.from({ length: size }, (_, index) => operands[index] ?? operands.at(-1) ?? null)
  if (isTruth(field)) return truth(column, (shown) => sql`${literal(shown)} in (${join(texts.map(param))})`)
  const list = join(texts.map((text) => typed(field, text, own)))
  return field.type.name === 'string' && castOf(field.native) === undefined
    ? sql`(${column} in (${list}) and ${exactly(column, own)} in (${list}))`
    : sql`${column} in (${list})`
}

/** A `bit(1)` holds only 0 and 1; a `tinyint(1)` any small number, and all but 0 count as true. */
function isTruth({ type, native }: ColumnShape): boolean {
  return type.name === 'boolean' && !native
}

/** `isRequested` tests by parameters whether the condition includes a truth value; the index serves the remaining condition. */
function truth(column: Sql, isRequested: (shown: 'true' | 'false') => Sql): Sql {
  return sql`(${isRequested('true')} and ${column} <> 0 or ${isRequested('false')} and ${column} = 0)`
}

export function matches(column: Sql, { pattern, ignoreCase }: Matching, own: Family): Sql {
  return ignoreCase
    ? sql`lower(${column}) like lower(${unicode(param(pattern))}) collate ${own.collation} escape '!'`
    : sql`${own.searched(column)} like ${exactly(param(pattern), own)} escape '!'`
}

function unicode(text: Sql): Sql {
  return sql`convert(${text} using utf8mb4)`
}

/** Makes a comparison of a text binary, whatever the other operand. */
function exactly(text: Sql, own: Family): Sql {
  return sql`${unicode(text)} collate ${own.collation}`
}

/** Enums are sorted by their number; so is a `set`, which the model does not distinguish from a text. */
export function ranked(column: Sql, field: PrimitiveField): Sql {
  if (isEnum(field)) return sql`${column} + 0`
  return isUnlimitedText(field) ? sql`concat(${column})` : column
}

/** A `tinyint(1)` may hold any small number, all of which but 0 count as true. */
export function mark(column: Sql, field: PrimitiveField, own: Family): Sql {
  if (isByNumber(field)) return sql`${column} + 0`
  const shown = wire(column, field.type, own)
  if (field.type.name !== 'string' || castOf(field.native) !== undefined) return shown
  return sql`case when char_length(${column}) > ${integer(MAX_TEXT)} then ${literal(TOO_LONG)} else ${shown} end`
}

export function cursorValue(field: PrimitiveField, value: TemplateParam, own: Family): Sql {
  return isByNumber(field) ? sql`cast(${param(value)} as signed)` : typed(field, value, own)
}

/** These databases sort by a text's first 1,024 bytes (`max_sort_length`), but compare the whole. */
const MAX_TEXT = 250

function isByNumber(field: PrimitiveField): boolean {
  return isEnum(field) || field.type.name === 'boolean'
}

function isEnum({ native }: PrimitiveField): boolean {
  return native?.values !== undefined
}

function isUnlimitedText({ type, native }: PrimitiveField): boolean {
  return type.name === 'string' && type.params.length === 'unlimited' && !native
}
