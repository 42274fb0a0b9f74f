/**
 * Keys of relations that no database enforces. Between data sources we compare them: integers of any two types, decimals
 * of any scale, and texts that hold UUIDs, count as equal where they mean the same. Within one the database does.
 */
import { withoutTrailing } from '../trailing.ts'
import { decodeText } from './codec.ts'
import type { FieldType } from './field-type.ts'
import type { ColumnShape } from './model.ts'

/** Whether a key of one type can refer to a key of the other, across sources. */
export function canRefer(one: FieldType, other: FieldType): boolean {
  if (one.name === other.name) return true
  return isInteger(one) ? isInteger(other) : isTextOfUuid(one, other) || isTextOfUuid(other, one)
}

/** Whether any database compares columns of both types with `=`. */
export function canJoin(one: ColumnShape, other: ColumnShape): boolean {
  const nativeName = ({ native }: ColumnShape) => native && [native.schema, native.name].join('.')
  if (nativeName(one) !== nativeName(other)) return false
  return one.type.name === other.type.name || (isInteger(one.type) && isInteger(other.type))
}

/** The text by which keys of both types are compared. */
export function comparableKey(text: string, one: FieldType, other: FieldType): string {
  if (one.name === 'decimal') return text.includes('.') ? withoutTrailing(withoutTrailing(text, '0'), '.') : text
  return one.name === other.name || isInteger(one) ? text : text.toLowerCase()
}

/** How a column of the type `to` may hold the key of a column of the type `from`: not at all, or in several spellings. */
export function spellingsOfKey(text: string, from: FieldType, to: FieldType): readonly string[] {
  if (from.name === to.name) return [text]
  if (to.name === 'string') return [text.toLowerCase(), text.toUpperCase()]
  const decoded = decodeText(to, text)
  return 'fault' in decoded ? [] : [decoded.ok]
}

function isInteger({ name }: FieldType): boolean {
  return /^u?int/.test(name)
}

function isTextOfUuid(text: FieldType, uuid: FieldType): boolean {
  return text.name === 'string' && uuid.name === 'uuid'
}
