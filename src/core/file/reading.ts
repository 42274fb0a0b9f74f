/** Reads the parts of a JSON body, each fault with its place. */
import { nested, type ServiceError } from '../error.ts'
import { faultOfJson, parseExactJson, rawNumbers } from '../exact-json.ts'
import { hasPrototypeMember, oversizedJson } from '../json-limits.ts'
import { lineFault, shortName } from '../message-text.ts'
import { didYouMean, listKnown } from '../nearest.ts'
import type { Parts } from '../parts.ts'
import { repeatedMember } from './repeated-member.ts'

/** The 422 of a body: its place, such as `model.collections.articles`, and the reason. */
export function fileFault(place: string, reason: string): ServiceError {
  const messages = ['Failed to read the JSON body', place, reason].filter((part) => part !== '')
  return nested('invalid', messages as [string, ...string[]])
}

/** `ids` alone has a line for each field of a model. */
const bounds = { depth: 1_100, members: 500_000 }

/** Parses the text of a body; numbers keep their digits. */
export function* readJsonBody(text: string): Parts<unknown> {
  const excess = oversizedJson(text, bounds)
  if (excess !== undefined) throw fileFault('', excess)
  yield
  const value = parsed(text)
  yield
  if (hasPrototypeMember(text, value)) throw fileFault('', 'has a member __proto__')
  yield
  const repeated = repeatedMember(text)
  if (repeated !== undefined) throw fileFault(repeated, 'is given twice')
  return value
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text, rawNumbers())
  } catch (error) {
    throw fileFault('', faultOfJson(text, error))
  }
}

export type Members = Readonly<Record<string, unknown>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object; a fault names one that is not among `known`. */
export function membersAt(value: unknown, place: string, known?: readonly string[]): Members {
  if (!isMembers(value)) throw fileFault(place, value === undefined ? 'is required' : 'must be an object')
  const unknown = known === undefined ? undefined : Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined || known === undefined) return value
  const hint = known.length > 12 ? didYouMean(unknown, known) : listKnown(unknown, known)
  throw fileFault(place, `unknown field ${shortName(unknown)}${hint}`)
}

export function textAt(value: unknown, place: string): string {
  if (typeof value !== 'string') throw fileFault(place, value === undefined ? 'is required' : 'must be a string')
  if (value === '') throw fileFault(place, 'must not be empty')
  return value
}

/** A text that no database can hold is a fault. */
export function requireStorable(text: string, place: string): void {
  if (!text.isWellFormed() || text.includes('\0')) throw fileFault(place, 'must be valid text without NUL')
}

/** A name that is more than one line is a fault. */
export function requireLine(text: string, place: string): void {
  const reason = lineFault(text)
  if (reason !== undefined) throw fileFault(place, reason)
}

export function optionalText(value: unknown, place: string): string | undefined {
  return value === undefined ? undefined : textAt(value, place)
}

export function flagAt(value: unknown, place: string, absent: boolean): boolean {
  if (value === undefined) return absent
  if (typeof value !== 'boolean') throw fileFault(place, 'must be true or false')
  return value
}

export function oneOfAt<T extends string>(value: unknown, place: string, names: readonly T[], absent: T): T {
  if (value === undefined) return absent
  const found = names.find((name) => name === value)
  if (found !== undefined) return found
  throw fileFault(
    place,
    `must be one of ${names.join(', ')}${typeof value === 'string' ? didYouMean(value, names) : ''}`,
  )
}

export function textsAt(value: unknown, place: string): readonly string[] {
  if (!Array.isArray(value)) throw fileFault(place, value === undefined ? 'is required' : 'must be an array')
  const texts = value.map((one, at) => textAt(one, `${place}[${at}]`))
  const seen = new Set<string>()
  const twice = texts.findIndex((text) => seen.size === seen.add(text).size)
  if (twice >= 0) throw fileFault(`${place}[${twice}]`, 'is given twice')
  return texts
}

/** `place.name`, bounded. */
export function within(place: string, name: string): string {
  return `${place}.${shortName(name)}`
}
