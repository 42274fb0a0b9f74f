/** JSON whose members are in code unit order: a database that stores JSON as jsonb does not keep any other. */
import { isRawNumber } from '../exact-json.ts'
import { jsonInParts } from '../json-parts.ts'
import type { Parts } from '../parts.ts'
import { inOrder } from './file.ts'

/** The value with the members of every object in order. */
export function sortedValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value
  if (Array.isArray(value)) return value.map(sortedValue)
  return Object.fromEntries(inOrder(Object.entries(value)).map(([name, one]) => [name, sortedValue(one)]))
}

export function sortedJson(value: unknown): string {
  return JSON.stringify(sortedValue(value))
}

/** `sortedJson` of something large. */
export function sortedText(value: unknown): Parts<string> {
  const membersOf = (one: object) => inOrder(Object.entries(one))
  return jsonInParts(value, { depth: 3, membersOf, write: sortedJson })
}
