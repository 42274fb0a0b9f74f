/** JSON values: what a text holds, the type check of objects and the canonical text. */

import { isRawNumber, parseJson } from './exact-json.ts'

/** Returns the value of a text; undefined where it is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Returns true for an object that is neither null nor a list, nor a number that is kept as its text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

/** Sorts members at every depth, since databases do not keep their order: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))) : part,
  )
}
