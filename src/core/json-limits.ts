/**
 * Limits on depth and size of JSON from outside, checked before any code recurses over it or allocates for it. The
 * checks use loops, since the input may be nested a million times.
 */

/**
 * Limits of any JSON body. A JSON field alone may have 1,000 levels, inside of nested writes. Of numbers that are kept as they
 * were sent, each value takes microseconds.
 */
export const bodyBounds: TextBounds = { depth: 1_100, members: 20_000, values: 500_000, containers: 500_000 }

export type JsonLimits = {
  /** Nesting of arrays and objects. */
  readonly depth: number
  /** Scalars, and empty arrays and objects. */
  readonly values: number
  /** Elements of one array. */
  readonly elements: number
  /** Characters of all strings and names together. */
  readonly length: number
  /** Characters of one name. */
  readonly nameLength: number
}

export type TextBounds = {
  readonly depth: number
  readonly members: number
  readonly values?: number
  /** Arrays and objects, also the empty ones, of which two characters take as much memory as a text. */
  readonly containers?: number
}

const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c

/**
 * Returns about how many bytes of memory a body takes while it is parsed and worked on, by what it has of commas, colons and brackets:
 * twice its bytes, 48 for each value and 96 for each array and object. Texts that hold such characters count as more than they are.
 */
export function weightOfJson(body: Uint8Array): number {
  let [values, containers] = [0, 0]
  for (const byte of body) {
    if (byte === COMMA || byte === COLON) values += 1
    // The two differ in one bit.
    else if ((byte | 0x20) === OPEN_OBJECT) containers += 1
  }
  return 2 * body.byteLength + 48 * values + 96 * containers
}

/**
 * Returns the reason why a JSON text exceeds the limits: arrays and objects nested too deep, an object with too many
 * members, or too many values, arrays and objects in all. Undefined where it does not. The result for a text that is not JSON is unspecified.
 */
export function oversizedJson(
  text: string,
  { depth: deepest, members: most, values = Infinity, containers = Infinity }: TextBounds = bodyBounds,
): string | undefined {
  if (text.length <= deepest) return undefined
  /** By depth: the number of commas in the current object; negative for an array. */
  const commas = new Int32Array(deepest + 1)
  let depth = 0
  let separated = 0
  let opened = 0
  let isQuoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (isQuoted) {
      if (character === BACKSLASH) index++
      else if (character === QUOTE) isQuoted = false
    } else if (character === QUOTE) isQuoted = true
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      opened++
      if (opened > containers) return `has more than ${containers} arrays and objects`
      depth++
      if (depth > deepest) return `is nested deeper than ${deepest} levels`
      commas[depth] = character === OPEN_OBJECT ? 0 : -1
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth = Math.max(0, depth - 1)
    else if (character === COMMA) {
      separated++
      if (separated >= values) return `has more than ${values} values`
      const before = commas[depth] ?? -1
      if (before < 0) continue
      if (before + 1 >= most) return `has an object of more than ${most} members`
      commas[depth] = before + 1
    }
  }
  return undefined
}

/**
 * Returns true if any object in `value`, parsed from `text`, has a member `__proto__`. Searches only where the text may
 * contain the name, in a loop: a JSON.parse reviver would cost one or two microseconds per value of every body.
 */
export function hasPrototypeMember(text: string, value: unknown): boolean {
  if (!text.includes('__proto__') && !text.includes('\\u')) return false
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one !== 'object' || one === null) continue
    if (Object.hasOwn(one, '__proto__')) return true
    for (const part of Object.values(one)) if (typeof part === 'object') waiting.push(part)
  }
  return false
}

/** Returns the reason why `value`, as JSON.parse returns it, exceeds `bounds`; undefined where it does not. */
export function exceedsLimits(value: unknown, bounds: Partial<JsonLimits>): string | undefined {
  const { depth: deepest = Infinity, values: most = Infinity, elements = Infinity } = bounds
  const { length: longest = Infinity, nameLength = Infinity } = bounds
  const waiting: unknown[] = [value]
  const depths: number[] = [0]
  let values = 0
  let length = 0
  while (waiting.length > 0) {
    const one = waiting.pop()
    const depth = depths.pop() ?? 0
    if (typeof one === 'string') length += one.length
    if (typeof one !== 'object' || one === null) values++
    else {
      if (depth >= deepest) return `is nested deeper than ${deepest} levels`
      if (Array.isArray(one) && one.length > elements) return `has a list of more than ${elements} elements`
      const names = Array.isArray(one) ? [] : Object.keys(one)
      const inner: readonly unknown[] = Object.values(one)
      if (inner.length === 0) values++
      // Every pending array or object holds at least one value.
      if (values + waiting.length + inner.length > most) return `has more than ${most} values`
      for (const name of names) {
        if (name.length > nameLength) return `has a name longer than ${nameLength} characters`
        length += name.length
      }
      for (const part of inner) {
        waiting.push(part)
        depths.push(depth + 1)
      }
    }
    if (values > most) return `has more than ${most} values`
    if (length > longest) return `is longer than ${longest} characters`
  }
  return undefined
}
