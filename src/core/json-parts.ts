/** Large values as JSON, in parts. */
import { isRawNumber } from './exact-json.ts'
import type { Parts } from './parts.ts'

type Writing = {
  /** Each of what stands so many levels deep is a part. */
  readonly depth: number
  readonly membersOf?: (value: object) => readonly (readonly [string, unknown])[]
  readonly write?: (value: unknown) => string
}

/** The text that `JSON.stringify` gives. */
export function* jsonInParts(value: unknown, writing: Writing): Parts<string> {
  const { depth, membersOf = Object.entries, write = JSON.stringify } = writing
  if (depth === 0 || typeof value !== 'object' || value === null || isRawNumber(value)) {
    yield
    return write(value)
  }
  const texts: string[] = []
  const inner = { ...writing, depth: depth - 1 }
  if (Array.isArray(value)) {
    for (const one of value) texts.push(yield* jsonInParts(one, inner))
    return `[${texts.join()}]`
  }
  for (const [name, one] of membersOf(value)) {
    if (one !== undefined) texts.push(`${JSON.stringify(name)}:${yield* jsonInParts(one, inner)}`)
  }
  return `{${texts.join()}}`
}
