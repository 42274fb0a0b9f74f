/**
 * Keys of relations that no database enforces. Between data sources we compare them: integers of any two types, decimals
 * of any scale, and texts that hold UUIDs, count as equal where they mean the same. Within one the database does.
 */
import { withoutTrailing } from '../trailing.ts'
import { decodeText } from './codec.ts'
import type { FieldType } from './field-type.ts'
import type { ColumnShape } from './model.ts'

/**
 * Whether a key of one column can refer to a key of the other, across sources. A native type takes some texts only, and
 * which ones its own database alone knows.
 */
export function canRefer({ type: one, ...first }: ColumnShape, { type: other, ...second }: ColumnShape): boolean {
  if (isInteger(one)) return isInteger(other)
  if (first.native?.values !== undefined || nativeName(first) !== nativeName(second)) return false
  return one.name === other.name || isTextOfUuid(one, other) || isTextOfUuid(other, one)
}

/** Whether any database compares columns of both types with `=`. */
export function canJoin(one: ColumnShape, other: ColumnShape): boolean {
  if (nativeName(one) !== nativeName(other)) return false
  return one.type.name === other.type.name || (isInteger(one.type) && isInteger(other.type))
}

/** The text by which keys of both types are compared. */
export function comparableKey(text: string, one: FieldType, other: FieldType): string {
  if (one.name === 'decimal') return text.includes('.') ? withoutTrailing(withoutTrailing(text, '0'), '.') : text
  if (one.name === other.name || isInteger(one)) return text
  // In two cases at once no text is sought.
  return text === text.toUpperCase() ? text.toLowerCase() : text
}

/** How a column of the type `to` may hold the key of a column of the type `from`: not at all, or in several spellings. */
export function spellingsOfKey(text: string, from: FieldType, to: FieldType): readonly string[] {
  if (to.name === 'string' && from.name !== 'string') return [text.toLowerCase(), text.toUpperCase()]
  const decoded = decodeText(to, comparableKey(text, from, to))
  return 'fault' in decoded || everywhere[to.name]?.test(decoded.ok) === false ? [] : [decoded.ok]
}

const MOMENT = /^(?!0000)\d{4}-(?!00)\d\d-(?!00)\d\dT[^ ]+$/

/** The dates and times that all databases have. What only some have, `0000-00-00`, `24:00:00` or `infinity`, others refuse. */
const everywhere: Partial<Record<FieldType['name'], RegExp>> = {
  date: /^(?!0000)\d{4}-(?!00)\d\d-(?!00)\d\d$/,
  time: /^(?:[01]\d|2[0-3]):/,
  dateTime: MOMENT,
  dateTimeWithTimezone: MOMENT,
}

function nativeName({ native }: Pick<ColumnShape, 'native'>): string | undefined {
  return native ? [native.schema, native.name].join('.') : undefined
}

function isInteger({ name }: FieldType): boolean {
  return /^u?int/.test(name)
}

function isTextOfUuid(text: FieldType, uuid: FieldType): boolean {
  return text.name === 'string' && uuid.name === 'uuid'
}
